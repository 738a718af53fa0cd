"""Runs on class sequences that the user gives, and states kept for more of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from edgecil.errors import DataError, UsageError
from edgecil.experiments.results import Summary
from edgecil.sequences import ClassSequence, LabelledSequence
from tests.grouped import train


def labelled(toy: dict[str, Any], name: str = "given", **options: Any) -> dict[str, str]:
    return {run.label: str(run.sequence) for run in train(**toy, **options).sequences()[name]}


def test_a_file_of_orders_is_trained_in_place_of_a_protocol(toy, tmp_path) -> None:
    path = tmp_path / "orders.json"
    path.write_text(json.dumps([[3, 1, 0, 2], {"label": "mine", "tasks": [[0, 1], [2, 3]]}]))
    assert labelled(toy, sequences=path) == {"1 3|0 2": "1 3|0 2", "mine": "0 1|2 3"}
    again = train(**toy, sequences=path)
    assert again.summary == Summary(0, 4, ())
    assert list(again.sequences()) == ["given"]
    assert again.status().complete


def test_given_sequences_add_to_earlier_ones_and_to_protocols(toy) -> None:
    labelled(toy, sequences=[ClassSequence([[0, 3], [1, 2]])])
    both = labelled(toy, sequences=["0 1|2 3"], protocol="latin")
    assert list(both) == ["0 3|1 2", "0 1|2 3"]
    named = [LabelledSequence("x", ClassSequence([[2, 3], [0, 1]]))]
    assert labelled(toy, "probe", sequences={"probe": named}) == {"x": "2 3|0 1"}
    experiment = train(**toy, sequences={"probe": named})
    assert set(experiment.sequences()) == {"given", "latin", "probe"}


def test_the_order_inside_a_task_changes_no_bit(toy, tmp_path) -> None:
    """Two sequences that differ only inside their tasks, each of them trained first once."""

    def bits(out: str, *orders: str) -> tuple[Any, dict[str, bytes]]:
        for order in orders:
            options = {**toy, "out": tmp_path / out}
            experiment = train(**options, sequences=[order], keep_states=True)
        (result,) = experiment.results()
        states = (tmp_path / out / "states").iterdir()
        counts = [(node.class_correct, node.confusion) for node in result.nodes]
        return counts, {path.name: path.read_bytes() for path in states}

    ascending, mixed = "a: 0 3|1 2", "b: 3 0|2 1"
    first, second = bits("first", ascending, mixed), bits("second", mixed, ascending)
    assert first == second
    assert first[1]
    both = train(**{**toy, "out": tmp_path / "first"}, sequences=[mixed])
    assert both.summary == Summary(0, 2, ())
    orders = {run.label: run.sequence.order for run in both.sequences()["given"]}
    assert orders == {"a": (0, 3, 1, 2), "b": (3, 0, 2, 1)}


def test_kept_states_save_the_tasks_that_a_later_sequence_shares(toy, tmp_path) -> None:
    def summary(out: str, order: str, **options: Any) -> Summary | None:
        own = {**toy, "tasks": None, "sizes": (2, 1, 1), "out": tmp_path / out, **options}
        return train(**own, sequences=[order]).summary

    first, second, shared = "0 1|2|3", "0 1|3|2", {"one_seed": True}
    summary("kept", first, keep_states=True, **shared)
    assert summary("kept", second, keep_states=True, **shared) == Summary(2, 1, ())
    assert summary("kept", second, **shared) == Summary(0, 3, ())
    summary("plain", first, **shared)
    assert summary("plain", second, **shared) == Summary(3, 0, ())
    assert not list((tmp_path / "plain" / "states").iterdir())
    summary("own seeds", first, keep_states=True)
    assert summary("own seeds", second, keep_states=True) == Summary(3, 0, ())


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ([[0, 1, 2]], "sum to the number of classes"),
        (["0 1|2 9"], "has the class 9, but the classes are 0 to 3"),
        (["0 1|2 x"], "written '0 1|2 3|4 5'"),
        (["a: 0 1|2 3", "a: 2 3|0 1"], "Two different sequences have the label 'a'"),
        ([], "at least one"),
        ({"next": []}, "at least one"),
        ({"latin": ["0 1|2 3"]}, "'latin'"),
        ([7], "must be a list of tasks"),
    ],
)
def test_sequences_that_do_not_fit_are_refused(given, complaint, toy) -> None:
    with pytest.raises(UsageError, match=complaint.replace("|", r"\|")):
        train(**toy, sequences=given)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("{}", UsageError),
        *((text, DataError) for text in ("3", "[]", '{"next": []}', '{"sequences": []}')),
    ],
)
def test_a_file_without_sequences_is_refused(text, error, toy, tmp_path) -> None:
    path = tmp_path / "orders.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(error, match="class sequence"):
        train(**toy, sequences=path)
