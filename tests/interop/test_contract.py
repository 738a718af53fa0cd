"""The two files: what another program is told, and how little it may say."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from edgecil.errors import DataError
from edgecil.experiments import RunResult
from edgecil.interop.exchange_files import read_result, with_cost, write_order
from edgecil.sequences import ClassSequence


def read(tmp_path, answer, tasks: int = 2):
    path = tmp_path / "result.json"
    path.write_text(answer if isinstance(answer, str) else json.dumps(answer), encoding="utf-8")
    run = with_cost(read_result(path, tasks), 12.5, 1000)
    sequence = ClassSequence([[task] for task in range(tasks)])
    return RunResult("own", 0, sequence, run.nodes, {}, run.reported)


def test_the_order_file_has_the_datasets_own_ids(tmp_path) -> None:
    path = tmp_path / "order.json"
    write_order(path, ClassSequence([[2, 0], [1]]), ids=(10, 7, 3), seed=5)
    assert json.loads(path.read_text(encoding="utf-8")) == {
        "order": [3, 10, 7],
        "tasks": [[3, 10], [7]],
        "seed": 5,
    }


def test_counts_give_every_metric(tmp_path) -> None:
    actual = read(tmp_path, {"correct": [[8], [5, 27]], "totals": [10, 30]})
    assert actual.classifiers == ("main",)
    assert actual.accuracy == pytest.approx((50 + 90) / 2)
    assert actual.metric("last") == pytest.approx(100 * 32 / 40)
    assert actual.metric("average") == pytest.approx((80 + 80) / 2)
    assert actual.metric("forgetting") == pytest.approx(30)
    assert (actual.seconds, actual.peak_memory) == (12.5, 1000)


def test_a_matrix_in_per_cent_gives_what_follows_from_it(tmp_path) -> None:
    actual = read(tmp_path, {"matrix": [[80], [50.0, 90.0]]})
    np.testing.assert_allclose(actual.matrix(), [[80, np.nan], [50, 90]])
    assert (actual.accuracy, actual.metric("forgetting")) == (70.0, 30.0)
    assert (actual.metric("last"), actual.metric("average")) == (None, None)
    assert (actual.seconds, actual.peak_memory) == (12.5, 1000)


def test_a_final_accuracy_alone_is_enough(tmp_path) -> None:
    actual = read(tmp_path, {"accuracy": 61.25}, tasks=3)
    assert actual.accuracy == 61.25
    assert actual.matrix().shape == (3, 3)
    assert np.isnan(actual.matrix()).all()
    assert [actual.metric(name) for name in ("last", "average", "forgetting")] == [None] * 3


def test_what_else_a_tool_knows_may_stand_beside(tmp_path) -> None:
    run = read(tmp_path, {"accuracy": 61, "last": 62, "average": 70.5})
    assert [run.metric(name) for name in ("accuracy", "last", "average")] == [61.0, 62.0, 70.5]


def test_classifiers_keep_their_names_and_the_first_is_the_main_one(tmp_path) -> None:
    said = {"accuracy": {"nme": 70, "head": 60}, "last": {"head": 65}}
    actual = read(tmp_path, said)
    assert actual.classifiers == ("nme", "head")
    assert actual.accuracy == 70.0
    assert (actual.metric("last", "nme"), actual.metric("last", "head")) == (None, 65.0)
    counted = read(
        tmp_path, {"correct": {"b": [[1], [1, 0]], "a": [[0], [0, 1]]}, "totals": [1, 1]}
    )
    assert counted.classifiers == ("b", "a")
    assert counted.metric("accuracy", "a") == 50.0


def test_nothing_right_is_no_share(tmp_path) -> None:
    assert read(tmp_path, {"accuracy": 0}).accuracy == 0.0
    assert read(tmp_path, {"matrix": [[1.5], [0.5, 0.5]]}).accuracy == 0.5


COUNTS = {"totals": [10, 10]}
UNUSABLE: dict[str, tuple[Any, str]] = {
    "no file": (None, "Cannot read"),
    "no JSON": ("accuracy: 60", "not valid JSON"),
    "a list": ([60], "object"),
    "nothing in it": ({}, "one of 'correct', 'matrix' and 'accuracy'"),
    "no totals": ({"correct": [[8], [5, 9]]}, "'totals' must be 2 integers"),
    "an empty task": ({"correct": [[0], [0, 1]], "totals": [0, 1]}, "totals"),
    "too few rows": ({"correct": [[8]], **COUNTS}, "must be 2 lists, of 1 to 2 numbers"),
    "a full matrix": ({"matrix": [[80, 0], [50, 90]]}, "must be 2 lists, of 1 to 2 numbers"),
    "no matrix": ({"matrix": 60}, "matrix"),
    "no rows": ({"matrix": {}}, "must be 2 lists"),
    "more than there are": ({"correct": [[8], [5, 11]], **COUNTS}, "11 of 10"),
    "less than none": ({"correct": [[8], [5, -1]], **COUNTS}, "correct"),
    "no whole number": ({"correct": [[8], [5, 0.9]], **COUNTS}, "correct"),
    "truth": ({"correct": [[8], [5, True]], **COUNTS}, "correct"),
    "above 100": ({"accuracy": 100.5}, "accuracy"),
    "not a number": ('{"accuracy": NaN}', "accuracy"),
    "text": ({"matrix": [["80"], [50, 90]]}, "matrix"),
    "a slip": ({"accuracy": 60, "lsat": 61}, "lsat"),
    "a share": ({"accuracy": 0.73}, "in per cent.*The best is 0.73"),
    "shares": ({"matrix": [[1.0], [0.0, 0.9]]}, "in per cent.*The best is 1"),
    "a bare last": ({"accuracy": {"head": 60, "nme": 61}, "last": 62}, "by classifier.*head, nme"),
    "another classifier": ({"accuracy": {"head": 60}, "average": {"nme": 6}}, "by classifier"),
    "bad beside": ({"accuracy": 60, "last": -1}, "last"),
}


@pytest.mark.parametrize(("answer", "sentence"), UNUSABLE.values(), ids=UNUSABLE)
def test_an_unusable_result_is_one_sentence(tmp_path, answer, sentence) -> None:
    with pytest.raises(DataError, match=sentence) as caught:
        read_result(tmp_path / "none.json", 2) if answer is None else read(tmp_path, answer)
    assert "\n" not in str(caught.value)
