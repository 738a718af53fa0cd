"""Differences of methods of which some are known by published means alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas
import pytest
from scipy import stats

import edgecil
from edgecil.analysis import MethodComparison

RUNS = np.array([64.1, 62.8, 65.3, 66.0, 61.7])


def compare(folder: Path, *published: str) -> MethodComparison:
    """Compare five runs of `ours` with published means, each `method,mean,std,n`."""
    lines = ["method,accuracy_mean,accuracy_std,n", *published]
    (folder / "paper.csv").write_text("".join(f"{line}\n" for line in lines))
    rows = [f"ours,{seed},{value}\n" for seed, value in enumerate(RUNS)]
    (folder / "ours.csv").write_text("method,seed,accuracy\n" + "".join(rows))
    return edgecil.compare([folder / "ours.csv", folder / "paper.csv"], std_ddof=1)


def test_runs_are_compared_with_a_published_mean_by_welchs_test(tmp_path: Path) -> None:
    pair = compare(tmp_path, "paper,60.5,1.5,4")["ours", "paper"]
    oracle = stats.ttest_ind_from_stats(
        RUNS.mean(), RUNS.std(ddof=1), 5, 60.5, 1.5, 4, equal_var=False
    )
    assert pair.ahead == "ours"
    assert pair.difference == pytest.approx(RUNS.mean() - 60.5)
    assert pair.unadjusted_p == pytest.approx(oracle.pvalue, rel=1e-6)


def test_two_published_means_are_compared_by_welchs_test(tmp_path: Path) -> None:
    pair = compare(tmp_path, "a,80.5,1.5,5", "b,76.1,1.2,3")["a", "b"]
    variances = 1.5**2 / 5, 1.2**2 / 3
    freedom = sum(variances) ** 2 / (variances[0] ** 2 / 4 + variances[1] ** 2 / 2)
    expected = stats.t.interval(0.95, freedom, 4.4, np.sqrt(sum(variances)))
    oracle = stats.ttest_ind_from_stats(80.5, 1.5, 5, 76.1, 1.2, 3, equal_var=False)
    assert (pair.ahead, pair.difference) == ("a", pytest.approx(4.4))
    assert pair.interval == pytest.approx(expected)
    assert pair.unadjusted_p == pytest.approx(oracle.pvalue, rel=1e-6)


def test_runs_are_compared_with_a_number_by_the_one_sample_t_test(tmp_path: Path) -> None:
    pair = compare(tmp_path, "number,61.0,,")["ours", "number"]
    assert pair.ahead == "ours"
    assert pair.unadjusted_p == pytest.approx(stats.ttest_1samp(RUNS, 61.0).pvalue, rel=1e-6)


def test_numbers_alone_and_two_runs_have_no_verdict(tmp_path: Path) -> None:
    comparison = compare(tmp_path, "a,80.5,,", "b,70.5,,", "few,75.5,1.2,2")
    numbers, few = comparison["a", "b"], comparison["ours", "few"]
    assert (numbers.interval, numbers.why_no_interval) == (None, "constants")
    assert (few.interval, few.why_no_interval) == (None, "published few")


OTHER = np.array([61.0, 64.1, 60.2, 59.9, 60.5])


def trainings(**columns: object) -> pandas.DataFrame:
    """Return five runs of two methods by seed, with further columns."""
    parts = [
        pandas.DataFrame({"method": name, "seed": range(5), "accuracy": values, **columns})
        for name, values in (("ours", RUNS), ("other", OTHER))
    ]
    return pandas.concat(parts)


def test_runs_whose_seeds_draw_order_and_training_are_compared_by_the_paired_t_test() -> None:
    pair = edgecil.compare(trainings(), seeds_are="both")["ours", "other"]
    oracle = stats.ttest_rel(RUNS, OTHER)
    assert pair.ahead == "ours"
    assert pair.difference == pytest.approx((RUNS - OTHER).mean())
    assert pair.unadjusted_p == pytest.approx(oracle.pvalue, rel=1e-6)
    assert (pair.n, pair.wins, pair.losses) == (5, 4, 1)
    error = (RUNS - OTHER).std(ddof=1) / np.sqrt(5)
    expected = stats.t.interval(0.95, 4, (RUNS - OTHER).mean(), error)
    assert pair.interval == pytest.approx(expected)


def test_trainings_of_one_order_are_compared_by_welchs_test() -> None:
    pair = edgecil.compare(trainings(), seeds_are="trainings")["ours", "other"]
    oracle = stats.ttest_ind(RUNS, OTHER, equal_var=False)
    assert not pair.paired
    assert pair.unadjusted_p == pytest.approx(oracle.pvalue, rel=1e-6)
