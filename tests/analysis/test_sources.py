from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import edgecil
from edgecil.analysis.sources import export_runs
from edgecil.errors import EdgecilError
from edgecil.runs.run_files import read_runs
from tests.analysis.experiments import write_experiment
from tests.analysis.tables import noisy, rows, table_of


def test_a_failed_run_that_finished_elsewhere_is_exported_once(tmp_path: Path) -> None:
    first = table_of({"a": lambda sequence: None, "b": lambda sequence: 40.0}, ("latin",))
    second = table_of({"a": lambda sequence: 50.0}, ("latin",))
    export_runs([first, second], tmp_path / "both.csv", pool="one program")
    (table,) = read_runs(tmp_path / "both.csv")
    assert sorted((run.method, run.accuracy) for run in rows(table)) == [
        *[("a", 50.0)] * 3,
        *[("b", 40.0)] * 3,
    ]


WRONG: list[Any] = [
    {"a": 1},
    np.zeros((3, 3)),
    pandas.Series(["a", "b"]),
    b"x" * 500,
    object(),
    [None],
    {1, 2},
    "x" * 5000,
    pandas.DataFrame(),
]
OPTIONS = ["metric", "classifier", "predictor", "pool", "seeds_are", "orders_from", "tasks"]
CALLS: dict[str, Callable[[Any], object]] = {
    "analyze": edgecil.analyze,
    "compare": edgecil.compare,
    "next": edgecil.next_runs,
    "open": edgecil.Experiment.open,
    "target": lambda value: edgecil.next_runs(table_of({"a": noisy(0)}), target=value),
    "method": lambda value: edgecil.compare(table_of({"a": noisy(0)}), method=value),
    "similarity": lambda value: edgecil.analyze(table_of({"a": noisy(0)}), similarity={"a": value}),
}


@pytest.mark.parametrize("value", WRONG, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("call", CALLS)
def test_a_value_of_any_type_ends_in_one_short_sentence(call: str, value: Any) -> None:
    with pytest.raises(EdgecilError) as refused:
        CALLS[call](value)
    assert len(str(refused.value)) < 400
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_of_a_wrong_type_is_refused(name: str) -> None:
    for value in WRONG[:7]:
        with pytest.raises(EdgecilError, match=f"'{name}'"):
            edgecil.analyze(table_of({"a": noisy(0)}), **{name: value})


def test_a_saved_moment_does_not_change(tmp_path: Path) -> None:
    live = write_experiment(tmp_path / "run", {"a": noisy(0)}, ("random",))
    moment = live.snapshot()
    write_experiment(tmp_path / "run", {"a": noisy(0), "b": noisy(1)}, ("random",))
    assert (live.table().methods, moment.table().methods) == (("a", "b"), ("a",))
    assert len(moment.results()) == 3


def scores(change: Callable[[float], float] = lambda value: value) -> pandas.DataFrame:
    """Values of a metric that edgecil does not know."""
    return pandas.DataFrame({"seed": range(4), "f1": [change(it) for it in (61, 63, 60, 62.5)]})


def test_a_metric_of_a_file_is_in_one_unit_over_all_sources() -> None:
    right = {"a": scores(), "b": scores(lambda it: it - 3)}
    fractions = {name: frame.assign(f1=frame["f1"] / 100) for name, frame in right.items()}
    pairs = [edgecil.compare(it, metric="f1") for it in (right, fractions)]
    assert pairs[0]["a", "b"].difference == pytest.approx(pairs[1]["a", "b"].difference)
    assert [any("times 100" in note for note in pair.notes) for pair in pairs] == [False, True]
    mixed = edgecil.compare({"a": right["a"], "b": fractions["b"]}, metric="f1")
    assert mixed["a", "b"].difference == pytest.approx(pairs[0]["a", "b"].difference)
    losses = {name: frame.rename(columns={"f1": "loss"}) for name, frame in fractions.items()}
    assert edgecil.compare(losses, metric="loss")["a", "b"].difference == pytest.approx(0.03)


def test_tables_are_given_as_a_list_or_by_name() -> None:
    one, other = scores(), scores(lambda it: it - 3)
    named = edgecil.compare({"ours": one, "theirs": other}, metric="f1")
    assert [pair.methods for pair in named] == [{"ours", "theirs"}]
    assert named.source == "ours, theirs"
    both = {name: it.assign(method="m") for name, it in (("ours", one), ("theirs", other))}
    assert edgecil.analyze(both, metric="f1").datasets[0].table.methods == (
        "m (ours)",
        "m (theirs)",
    )
    unnamed = edgecil.compare(one, other, metric="f1")
    assert (unnamed.verdict.ahead[-8:], unnamed.verdict.behind[-8:]) == ("table 1)", "table 2)")
    with pytest.raises(EdgecilError, match="for each name"):
        edgecil.compare({"ours": one, "theirs": "a.csv"}, metric="f1")  # type: ignore[arg-type]
