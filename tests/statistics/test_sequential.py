"""Confidence sequences hold at all times at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from edgecil.errors import UsageError
from edgecil.statistics import confidence_interval

DRAWS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda rng, n: rng.normal(0.0, 1.0, n),
    "skewed": lambda rng, n: 3.0 - rng.gamma(3.0, 1.0, n),
    "bimodal": lambda rng, n: rng.choice([-1.0, 1.0], n) + 0.3 * rng.normal(size=n),
}


@pytest.mark.parametrize("name", DRAWS)
def test_looking_after_every_value_is_wrong_at_most_as_often_as_nominal(name: str) -> None:
    """300 series of 40 values, each looked at 36 times; 0.05 and two standard errors."""
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(300):
        values = DRAWS[name](rng, 40).tolist()
        intervals = (confidence_interval(values[:n]) for n in range(5, 41))
        wrong += any(not low <= 0.0 <= high for low, high in filter(None, intervals))
    assert wrong / 300 <= 0.05 + 2.0 * np.sqrt(0.05 * 0.95 / 300)


def test_the_bayes_factor_is_at_its_bound_at_both_ends() -> None:
    values = np.random.default_rng(1).normal(50.0, 2.0, 12)
    interval = confidence_interval(values.tolist(), 0.95)
    assert interval is not None
    room = 2.0 * values.std(ddof=1) / 13.0  # for an outlier that has not been seen
    for end, sign in zip(interval, (1.0, -1.0), strict=True):
        t2 = 12 * (values.mean() - end - sign * room) ** 2 / values.var(ddof=1)
        ratio = (1.0 + t2 / 11) / (1.0 + t2 / (11 * 19.0))
        assert ratio**6 / np.sqrt(19.0) == pytest.approx(20.0)


def test_it_narrows_and_is_scale_equivariant() -> None:
    values = np.tile([1.0, -1.0], 20).tolist()
    short, long = confidence_interval(values[:10]), confidence_interval(values)
    assert long[1] - long[0] < 0.6 * (short[1] - short[0])
    scaled = confidence_interval([5.0 + 3.0 * value for value in values])
    assert scaled == pytest.approx((5.0 + 3.0 * long[0], 5.0 + 3.0 * long[1]))


def test_few_and_equal_values_have_no_interval() -> None:
    assert confidence_interval([1.0, 2.0, 3.0, 4.0]) is None
    assert confidence_interval([2.0] * 9) is None
    with pytest.raises(UsageError, match="finite"):
        confidence_interval([1.0, float("nan")])
