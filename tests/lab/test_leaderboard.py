"""The leaderboard of protocols and estimators on truth tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import t

from edgecil import lab
from edgecil.errors import EdgecilWarning, UsageError
from edgecil.lab._leaderboard import _groups, set_score
from edgecil.lab.estimators import Observations
from edgecil.lab.truth_tables import TruthTable, TruthValues
from edgecil.statistics import Distribution
from tests.analysis.tables import SPACE

NAMES = ("airplane", "bed", "bee", "bicycle", "bird", "bus")


def drawn_table(name: str, seed: int, *, classes: tuple[str, ...] | None = NAMES) -> TruthTable:
    """Accuracies that depend on the position of each class, with noise, of two methods."""
    rng = np.random.default_rng(seed)
    sequences = tuple(SPACE.enumerate())
    task = np.stack([sequence.task_of() for sequence in sequences])
    results = {}
    for method, centre in (("a", 60.0), ("b", 50.0)):
        effect = rng.normal(0, 2, (6, 3))
        value = centre + effect[np.arange(6), task].sum(axis=1) + rng.normal(0, 1, 90)
        results[method] = TruthValues((0,), "accuracy", value[None])
    return TruthTable(name, "drawings", classes, "enumerated", sequences, results)


def ranked(*tables: TruthTable, **options: Any) -> lab.Leaderboard:
    small = {"bundled": False, "protocol": [], "budgets": [3], "draws": 2}
    return lab.leaderboard(*tables, **{**small, "estimators": ["gaussian"], **options})


X, Y = drawn_table("x", 1), drawn_table("y", 2, classes=("cat", *NAMES[1:]))


def test_latin_orders_are_closer_than_random_ones_where_positions_decide() -> None:
    options = {"protocol": ["latin"], "estimators": ["gaussian-c4", "smoothed"]}
    board = ranked(X, Y, budgets=[3, 6], draws=40, **options)
    assert board.tables == ("x", "y")
    assert {(row.scale, row.truths) for row in board.rows} == {("6 in 3", 4)}
    assert {row.protocol for row in board.rows} == {"random", "latin"}
    for budget in (3, 6):
        assert board.row("random", "gaussian-c4", budget).relative.mean == 1.0
        latin = board.row("latin", "smoothed", budget)
        assert latin.relative.mean < 0.85
        assert latin.wasserstein.low is not None
        assert 0.8 < latin.mean_coverage.mean <= 1.0
    assert (
        board.row("random", "smoothed", 6).missed_range.mean
        < board.row("random", "smoothed", 3).missed_range.mean
    )


def test_an_estimate_from_every_order_has_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def everything(runs: Observations) -> list[Distribution]:
        return list(map(Distribution.of, runs.accuracies))

    nameless = drawn_table("x", 1, classes=None)
    monkeypatch.setitem(lab.ESTIMATORS, "everything", everything)
    board = ranked(nameless, estimators=["everything"], budgets=[90])
    row = board.row("random", "everything", 90)
    assert row.wasserstein.mean == pytest.approx(0.0, abs=1e-9)
    assert row.jsd.mean == pytest.approx(0.0, abs=1e-9)
    assert row.missed_range.mean == 0.0
    assert row.wasserstein.low is None, "one class set has no interval"
    assert board.row("random", "gaussian-c4", 90).wasserstein.mean > 0.01


def test_the_same_call_gives_the_same_board() -> None:
    one, other = (ranked(X, Y, protocol=["edge"], draws=5) for _ in range(2))
    assert one == other


def test_tables_with_all_classes_of_another_are_one_set() -> None:
    larger = replace(X, name="z", classes=(*NAMES, "cat", "dog"))
    assert _groups([X, Y, larger]) == [0, 0, 0]
    assert _groups([X, Y, replace(larger, classes=(*NAMES, "dog"))]) == [0, 1, 0]


def test_the_interval_of_a_mean_over_sets_is_students() -> None:
    values, sets = [1.0, 2.0, 4.0, 3.0, 7.0], [0, 0, 1, 1, 2]
    means = np.array([1.5, 3.5, 7.0])
    score = set_score(values, sets)
    low, high = t.interval(0.95, 2, means.mean(), means.std(ddof=1) / np.sqrt(3))
    assert (score.mean, score.low, score.high) == pytest.approx((means.mean(), low, high))
    assert set_score(values, sets, (values, sets)).mean == 1.0
    assert set_score(values, sets, (values, sets)).high == 1.0


def test_bad_arguments_are_named() -> None:
    with pytest.raises(UsageError, match="truth table"):
        ranked()
    with pytest.raises(UsageError, match="'enumerate'"):
        ranked(X, protocol=["enumerate"])
    with pytest.raises(UsageError, match="Budgets"):
        ranked(X, budgets=[])
    with pytest.raises(UsageError, match="no row"):
        ranked(X).row("latin", "gaussian", 3)


def test_a_sample_has_rows_for_protocols_whose_orders_it_contains() -> None:
    half = {name: TruthValues((0,), "accuracy", X.accuracies(name)[:, ::2]) for name in X.methods}
    some = replace(X, kind="sample", sequences=X.sequences[::2], results=half)
    with pytest.warns(EdgecilWarning, match=r"x does not have.*latin"):
        board = ranked(some, protocol=["latin"])
    assert {row.protocol for row in board.rows} == {"random"}


def test_protocols_that_need_a_similarity_are_named_where_there_is_none() -> None:
    table = drawn_table("x", 1, classes=None)
    with pytest.warns(EdgecilWarning, match=r"x does not have.*for edge\.$"):
        board = ranked(table, protocol=["latin", "edge"])
    assert {row.protocol for row in board.rows} == {"random", "latin"}
