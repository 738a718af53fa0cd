"""A table of real runs, all 90 orders of six drawings: its analysis beside SciPy's numbers."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from edgecil.analysis import Analysis, analyze
from edgecil.paper import normality

RUNS = Path(__file__).parents[1] / "demo" / "accuracies.csv"


@pytest.fixture(scope="module")
def accuracies() -> pd.DataFrame:
    """Accuracies by sequence (rows) and method (columns), one training each."""
    frame = pd.read_csv(RUNS)
    every = frame[frame.protocol == "enumerate"]
    table = every.pivot(index="sequence", columns="method", values="accuracy")
    assert table.shape == (90, 4)
    return table


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analyze(RUNS)


def test_means_and_extremes_are_those_of_all_orders(analysis, accuracies) -> None:
    for name, method in analysis.datasets[0].methods.items():
        values = accuracies[name]
        assert method.claims.mean.value == pytest.approx(values.mean())
        assert method.claims.lowest == pytest.approx(values.min())
        assert method.claims.highest == pytest.approx(values.max())
        assert method.claims.order_count == 90


def test_pairs_have_the_mean_difference_and_the_share_of_wins(analysis, accuracies) -> None:
    for first, second in combinations(accuracies.columns, 2):
        comparison = analysis.datasets[0].compare(first, second)
        apart = accuracies[first] - accuracies[second]
        difference = apart.mean() * (1 if comparison.ahead == first else -1)
        assert comparison.difference == pytest.approx(difference)
        assert comparison.difference >= 0.0
        signs = np.sign(apart * (1 if comparison.ahead == first else -1))
        assert comparison.wins == (signs > 0).sum()
        assert comparison.ties == (signs == 0).sum()


def test_normality_is_scipys(accuracies) -> None:
    [by_method] = normality(RUNS).values()
    transformed_methods = {
        name: answer for name, answer in by_method.items() if answer.boxcox_lambda is not None
    }
    assert set(transformed_methods) == {"finetune", "icarl", "ranpac"}
    for name, answer in transformed_methods.items():
        transformed, power = stats.boxcox(accuracies[name].to_numpy())
        assert answer.boxcox_lambda == pytest.approx(power, rel=1e-4)
        assert answer.shapiro_p == pytest.approx(stats.shapiro(transformed).pvalue, rel=1e-3)
