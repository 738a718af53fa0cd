from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from edgecil.errors import UsageError
from edgecil.report.verb_tables import sequence_tables
from edgecil.sequences import ClassSequence, choose_sequences
from edgecil.sequences.protocols import PROTOCOLS, draw_protocols
from edgecil.sequences.task_orders import TaskOrderSpace, read_given_tasks, task_text
from edgecil.sequences.user_sequences import parse_sequences

TASKS = {"animals": [4, 0], "tools": [2], "food": [1, 3]}
SPACE = TaskOrderSpace(list(TASKS), list(TASKS.values()))


def test_there_are_t_factorial_orders_and_each_is_one_of_them() -> None:
    expected = {ClassSequence(order) for order in permutations([[0, 4], [2], [1, 3]])}
    assert SPACE.size == len(expected) == 6
    assert set(SPACE.enumerate()) == expected
    assert all(sequence in SPACE for sequence in expected)
    assert ClassSequence([[0, 1], [2], [3, 4]]) not in SPACE
    assert set(SPACE.sample(6, np.random.default_rng(0))) == expected


def test_expanding_and_collapsing_are_inverse() -> None:
    for order in SPACE.orders.enumerate():
        assert SPACE.collapse(SPACE.expand(order)) == order


@pytest.mark.parametrize("name", ["random", "latin", "enumerate"])
def test_a_protocol_draws_orders_of_the_tasks(name: str) -> None:
    runs = draw_protocols({name: None}, SPACE)[name]
    orders = [SPACE.collapse(run.sequence) for run in runs]
    plain = draw_protocols({name: None}, SPACE.orders)[name]
    assert orders == [run.sequence for run in plain]


def test_latin_orders_put_every_task_in_every_place() -> None:
    runs = PROTOCOLS["latin"].draw(SPACE, budget=3)
    places = np.array([SPACE.collapse(run.sequence).order for run in runs])
    assert (np.sort(places, axis=0) == np.arange(3)[:, None]).all()


def test_protocols_that_arrange_classes_are_refused() -> None:
    with pytest.raises(UsageError, match="given_tasks"):
        PROTOCOLS["edge"].draw(SPACE)


def test_orders_of_a_user_are_orders_of_tasks_or_of_their_classes() -> None:
    runs = parse_sequences(["2|0|1", "mine: 1 3|0 4|2"], SPACE)
    assert runs[0].sequence == runs[1].sequence == ClassSequence([[1, 3], [0, 4], [2]])


@pytest.mark.parametrize(
    "content",
    ["animals\ntools\n\nfood\n", '["animals", "tools", "food"]'],
    ids=["lines", "JSON"],
)
def test_names_are_read_from_files(content: str, tmp_path: Path) -> None:
    path = tmp_path / "tasks.txt"
    path.write_text(content, encoding="utf-8")
    tasks = read_given_tasks(path)
    assert [task.name for task in tasks] == ["animals", "tools", "food"]
    space = TaskOrderSpace.choose_tasks(tasks, ())
    assert space.classes_of_task == ((0,), (1,), (2,))


def test_classes_are_named_or_numbered() -> None:
    tasks = read_given_tasks({"pets": ["cat", "dog"], "rest": [2]})
    assert json.loads(task_text({"pets": ["cat", "dog"], "rest": [2]})) == {
        "pets": ["cat", "dog"],
        "rest": [2],
    }
    space = TaskOrderSpace.choose_tasks(tasks, ["dog", "cat", "owl"])
    assert space.classes_of_task == ((0, 1), (2,))


@pytest.mark.parametrize(
    ("tasks", "reason"),
    [
        (["one"], "at least two"),
        (["one", "one"], "each once"),
        ({"a": [], "b": [1]}, "list of class"),
        ({"a": [0, 1], "b": [1]}, "once"),
        ({"a": [0, 1], "b": ["owl"]}, "'owl'"),
        ({"a": ["dog"], "b": ["dog"]}, "1 of 2, without cat"),
        ([["a"], "b"], "JSON"),
    ],
)
def test_tasks_that_cannot_be_are_refused(tasks: object, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        TaskOrderSpace.choose_tasks(read_given_tasks(tasks), ["cat", "dog"])


def test_sequences_of_tasks_need_no_similarity() -> None:
    chosen = choose_sequences(given_tasks=["news", "reviews", "questions"], protocol="enumerate")
    assert chosen.names == ("news", "reviews", "questions")
    assert len(chosen) == 6
    assert chosen[0].profile is None
    assert chosen[5].task_names == ("questions", "reviews", "news")
    table = next(iter(sequence_tables(chosen)))
    assert [column.title for column in table.columns] == ["place", "task"]
    with pytest.raises(UsageError, match="leave out"):
        choose_sequences(given_tasks=["news", "reviews"], tasks=2)


def test_given_tasks_are_shown_by_name_with_their_classes() -> None:
    tasks = {"animals": ["cat", "dog"], "food": ["ice_cream", "bread"]}
    chosen = choose_sequences(given_tasks=tasks, protocol="enumerate")
    tables = list(sequence_tables(chosen))
    assert [column.title for column in tables[1].columns] == ["place", "task", "classes"]
    assert tables[1].rows[0] == (1, "food", "ice cream, bread")
