"""Metrics against an oracle in plain Python that follows their definitions word by word."""

from __future__ import annotations

from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, strategies as st

from edgecil.runs.metrics import METRICS, Counts, Metric, find_metric


@st.composite
def runs(draw: st.DrawFn) -> tuple[list[list[int]], list[int]]:
    """Right answers on task s after task t, s <= t, and test images of each task."""
    totals = draw(st.lists(st.integers(1, 40), min_size=1, max_size=6))
    rows = [[draw(st.integers(0, total)) for total in totals[: t + 1]] for t in range(len(totals))]
    return rows, totals


def counts_of(rows: list[list[int]], totals: list[int]) -> Counts:
    tasks = len(totals)
    return Counts.of([row + [np.nan] * (tasks - len(row)) for row in rows], totals)


def oracle(name: str, rows: list[list[int]], totals: list[int]) -> float:
    shares = [[100.0 * right / totals[s] for s, right in enumerate(row)] for row in rows]
    old = range(len(totals) - 1)
    if name == "accuracy":
        return fmean(shares[-1])
    if name == "last":
        return 100.0 * sum(rows[-1]) / sum(totals)
    if name == "average":
        return fmean(100.0 * sum(row) / sum(totals[: len(row)]) for row in rows)
    if name == "learning":
        return fmean(shares[s][s] for s in range(len(totals)))
    if not old:
        return float("nan")
    if name == "forgetting":
        return fmean(
            max(shares[t][s] for t in range(s, len(rows) - 1)) - shares[-1][s] for s in old
        )
    return fmean(shares[-1][s] - shares[s][s] for s in old)


@pytest.mark.parametrize("name", ["accuracy", "last", "average", "forgetting", "bwt", "learning"])
@given(run=runs())
def test_values_curves_and_batches(name: str, run: tuple[list[list[int]], list[int]]) -> None:
    rows, totals = run
    counts, chosen = counts_of(rows, totals), METRICS[name]
    assert chosen.compute(counts) == pytest.approx(oracle(name, rows, totals), nan_ok=True)
    end = "last" if name == "average" else name
    expected = [oracle(end, rows[:t], totals[:t]) for t in range(1, len(rows) + 1)]
    np.testing.assert_allclose(chosen.curve(counts), expected)
    both = Counts(*(np.stack([part, part]) for part in vars(counts).values() if part is not None))
    np.testing.assert_array_equal(chosen.compute(both), [chosen.compute(counts)] * 2)


@pytest.mark.parametrize("name", METRICS)
def test_the_metric_of_a_class_is_that_of_a_run_which_begins_with_it(name: str) -> None:
    late = Counts.of([[np.nan], [6], [9], [3]], [12])
    begins = Counts.of([[6], [9], [3]], [12])
    compute = METRICS[name].compute
    np.testing.assert_array_equal(compute(late), compute(begins))


def test_training_accuracy_is_the_mean_of_the_tasks_so_far() -> None:
    accuracies = np.array([100.0, 80.0, np.nan])
    counts = Counts.of([[5, np.nan, np.nan], [4, 3, np.nan], [4, 3, 2]], [10, 10, 10], accuracies)
    assert METRICS["training_accuracy"].compute(counts) == 90.0
    assert METRICS["training_accuracy"].curve(counts).tolist() == [100.0, 90.0, 90.0]
    assert np.isnan(METRICS["training_accuracy"].compute(counts_of([[5]], [10])))


def test_forgetting_is_from_the_best_and_backward_transfer_from_the_first_accuracy() -> None:
    counts = counts_of([[5], [8, 4], [2, 4, 9]], [10, 10, 10])
    assert METRICS["forgetting"].compute(counts) == pytest.approx((60.0 + 0.0) / 2)
    assert METRICS["bwt"].compute(counts) == pytest.approx((-30.0 + 0.0) / 2)


def test_a_column_of_a_file_is_a_metric_without_bounds() -> None:
    column = find_metric("psnr")
    assert isinstance(column, Metric)
    assert (column.bounds, column.higher_is_better) == ((-np.inf, np.inf), True)
    assert np.isnan(column.compute(counts_of([[5]], [10])))
