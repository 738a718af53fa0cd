"""Protocols beside random orders: one estimator, and a placebo that is not called better."""

from __future__ import annotations

import numpy as np
import pytest

from edgecil.estimation.truth import Truth
from edgecil.lab._audit import audit_table
from edgecil.lab.placebo import MEASURES, Ratio, compare_protocols
from edgecil.lab.redraws import Candidates
from tests.estimation.tables import SPACE, noisy, six_classes, table_of

ORDERS = tuple(SPACE.enumerate())


def candidates_of(accuracies: np.ndarray, pair: list[int]) -> Candidates:
    truth = Truth("enumerated", ("enumerate",), ORDERS, accuracies)
    return Candidates(truth, accuracies, None, None, {"edge": pair})


def test_the_true_ends_find_the_range_better_than_random_orders() -> None:
    rng = np.random.default_rng(0)
    methods = {}
    for name in "abcd":
        values = rng.normal(50.0, 5.0, 90)
        methods[name] = candidates_of(values, [int(values.argmin()), int(values.argmax())])
    measures = compare_protocols(methods, {"edge": 3}, SPACE)["edge"].measures
    assert measures["missed_range"].ratio < 1e-6
    assert measures["missed_range"].outcome == "better"
    assert measures["wasserstein"].ratio > 1.2
    assert measures["wasserstein"].outcome == "worse"


@pytest.mark.slow
def test_two_random_orders_are_rarely_called_better_or_worse() -> None:
    """The same pair for four methods whose accuracies agree on the orders."""
    rng = np.random.default_rng(1)
    called = []
    for _ in range(8):
        common, pair = rng.normal(size=90), rng.choice(90, 2, replace=False).tolist()
        methods = {
            str(m): candidates_of(50.0 + 5.0 * (common + rng.normal(size=90)), pair)
            for m in range(4)
        }
        made = compare_protocols(methods, {"edge": 3}, SPACE, seed=int(rng.integers(99)))
        called.append(made["edge"].measures["wasserstein"].outcome != "similar")
    assert sum(called) <= 2


def test_an_analysis_compares_by_the_same_estimator_and_latin_has_no_placebo() -> None:
    table = table_of({"low": noisy(0), "high": noisy(1, mean=60.0)})
    result = audit_table(table, similarities={"text": six_classes()}, draws=4)
    made = result.protocol_comparisons
    assert set(made) == {"edge", "latin"}
    for one in made.values():
        assert (one.runs, one.estimator, tuple(one.measures)) == (3, "gaussian", tuple(MEASURES))
        ratio = one.measures["wasserstein"]
        assert ratio.ratio == pytest.approx(np.exp(np.mean(np.log(list(ratio.methods.values())))))
    assert made["latin"].measures["jsd"].placebo == (1.0, 1.0)
    low, high = made["edge"].measures["jsd"].placebo
    assert low < 1.0 < high


@pytest.mark.parametrize(
    ("ratio", "interval", "placebo", "outcome"),
    [
        (0.7, (0.6, 0.8), (0.8, 1.2), "better"),
        (0.7, (0.6, 0.8), (0.6, 1.2), "similar"),
        (0.7, (0.5, 1.1), (0.8, 1.2), "similar"),
        (1.5, (1.2, 1.9), (0.8, 1.2), "worse"),
        (0.5, None, (0.8, 1.2), "similar"),
    ],
)
def test_a_difference_counts_beyond_interval_and_placebo(
    ratio: float,
    interval: tuple[float, float] | None,
    placebo: tuple[float, float],
    outcome: str,
) -> None:
    assert Ratio(ratio, interval, placebo, {}).outcome == outcome
