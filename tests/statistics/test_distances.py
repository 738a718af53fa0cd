from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import norm, wasserstein_distance

from edgecil.errors import UsageError
from edgecil.statistics import Distribution
from edgecil.statistics.distances import Target, jensen_shannon, wasserstein
from edgecil.statistics.distributions import grid

TRUTH = np.random.default_rng(0).normal(50.0, 5.0, 90)


@pytest.mark.parametrize("count", [1, 2, 7, 90, 200])
def test_w1_between_samples_is_scipys(count: int) -> None:
    other = np.random.default_rng(1).normal(52.0, 3.0, count)
    result = wasserstein(TRUTH, Distribution.of(other))
    assert result == pytest.approx(wasserstein_distance(TRUTH, other))


def test_w1_of_one_point_to_a_normal_around_it_is_its_mean_absolute_deviation() -> None:
    result = wasserstein([50.0], Distribution.normal(50.0, 3.0))
    assert result == pytest.approx(3.0 * np.sqrt(2.0 / np.pi))


@pytest.mark.parametrize("std", [0.5, 3.0, 20.0])
def test_the_jsd_is_scipys_on_the_same_bins(std: float) -> None:
    edges = grid(TRUTH)
    assert len(edges) == 10, "⌈2 · 90^(1/3)⌉ = 9 bins"
    all_edges = np.concatenate([[-np.inf], edges, [np.inf]])
    first = np.histogram(TRUTH, all_edges)[0] / 90
    second = np.diff(norm(51.0, std).cdf(all_edges))
    result = jensen_shannon(TRUTH, Distribution.normal(51.0, std))
    assert result == pytest.approx(jensenshannon(first, second) ** 2)


@pytest.mark.parametrize(
    ("truth", "estimate", "jsd"),
    [
        ([3.0, 3.0], Distribution.normal(3.0, 0.0), 0.0),
        ([3.0, 3.0 + 1e-13], Distribution.of([3.0, 3.0, 3.0]), 0.0),
        ([3.0], Distribution.normal(3.1, 0.0), np.log(2.0)),
        ([3.0], Distribution.normal(3.0, 1.0), np.log(2.0)),
        ([1.0, 2.0], Distribution.normal(9.0, 0.1), np.log(2.0)),
        ([1.0, 2.0], Distribution.of([1.0, 2.0]), 0.0),
        ([1.0, 2.0], Distribution.normal(1.0, 0.0), 0.75 * np.log(4 / 3)),
    ],
)
def test_point_masses_are_exact(truth: list[float], estimate: Distribution, jsd: float) -> None:
    # The last: P = (1/2, 1/2), Q = (1, 0), M = (3/4, 1/4), so that JSD = 1/2 [1/2 ln(2/3) +
    # 1/2 ln 2 + ln(4/3)] = 1/2 [1/2 ln(4/3) + ln(4/3)].
    assert jensen_shannon(truth, estimate) == pytest.approx(jsd, abs=1e-7)


def test_both_move_and_scale_with_the_accuracies() -> None:
    moved = 2.0 * TRUTH - 30.0
    near, far = Distribution.normal(51.0, 4.0), Distribution.normal(72.0, 8.0)
    assert jensen_shannon(moved, far) == pytest.approx(jensen_shannon(TRUTH, near), abs=1e-6)
    assert wasserstein(moved, far) == pytest.approx(2.0 * wasserstein(TRUTH, near))


@pytest.mark.parametrize("truth", [[], [np.nan], [[1.0], [2.0]]])
def test_no_truth_is_an_error(truth: list[float]) -> None:
    with pytest.raises(UsageError, match="true distribution"):
        wasserstein(truth, Distribution.normal(1.0, 1.0))


def test_what_lies_on_an_edge_counts_half_for_either_bin() -> None:
    """8 accuracies have 4 bins: of width 0.5 here, so that the one at 1 lies between two."""
    result = Target.of([0.0, 0.0, 0.0, 1.0, 2.0, 2.0, 2.0, 2.0])
    np.testing.assert_allclose(result.shares, [0, 3 / 8, 1 / 16, 1 / 16, 4 / 8, 0])


# Of 240 images each, so that many of them lie just on edges.
LATTICE = np.random.default_rng(4).binomial(240, 0.4, 90) / 2.4


@pytest.mark.parametrize("shift", [0.1, 7.0, 1 / 3, -20.0])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    ("locations", "width"), [([41.0], 3.0), ([LATTICE[0]], 0.0), ([38.0, 44.0], 2.0)]
)
def test_shifted_and_mirrored_accuracies_have_the_same_distances(
    sign: float, shift: float, locations: list[float], width: float
) -> None:
    here, weights = np.array(locations), np.ones(len(locations))
    estimate = Distribution(here, weights, width)
    moved = Distribution(sign * here + shift, weights, width)
    for distance in (jensen_shannon, wasserstein):
        result = distance(sign * LATTICE + shift, moved)
        assert result == pytest.approx(distance(LATTICE, estimate), rel=1e-7)


def test_many_normals_at_once_are_as_far_as_each_of_them_alone() -> None:
    """A normal is also a mixture of two equal ones, whose distance is result in another way."""
    rng = np.random.default_rng(2)
    means, stds = rng.normal(50.0, 6.0, 40), rng.exponential(4.0, 40)
    stds[:3] = 0.0
    result = Target.of(TRUTH).distances(
        [Distribution.normal(mean, std) for mean, std in zip(means, stds, strict=True)]
    )
    for (jsd, distance), mean, std in zip(result, means, stds, strict=True):
        (alone,) = Target.of(TRUTH).distances([Distribution(np.full(2, mean), np.ones(2), std)])
        assert (jsd, distance) == (pytest.approx(alone[0]), pytest.approx(alone[1]))


@pytest.mark.parametrize("width", [0.0, 0.5, 5.0])
def test_w1_to_a_mixture_is_exact_where_accuracies_are_many(width: float) -> None:
    """The mean of |F - G| over a fine grid is the oracle."""
    rng = np.random.default_rng(3)
    truth = rng.normal(50.0, 5.0, 3_000).round(2)
    estimate = Distribution(rng.normal(50.0, 5.0, 40), rng.random(40), width)
    at = np.linspace(0.0, 100.0, 400_001)
    reached = np.searchsorted(np.sort(truth), at, side="right") / len(truth)
    expected = np.abs(reached - estimate.cdf(at)).mean() * 100.0
    assert wasserstein(truth, estimate) == pytest.approx(expected, rel=1e-3)
