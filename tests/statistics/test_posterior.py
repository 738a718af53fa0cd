"""What a few runs say about the population of orders and trainings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from edgecil.statistics.posterior import (
    Prior,
    combine,
    evidence,
    independent_variance,
    measured_prior,
    posterior,
)

RUNS = np.array([64.1, 66.2, 61.0])
PRIOR = measured_prior()


def test_without_a_prior_intervals_are_students() -> None:
    known = posterior(evidence(RUNS), prior=None)
    scale = RUNS.std(ddof=1)
    low, high = stats.t.interval(0.95, 2, RUNS.mean(), scale / np.sqrt(3))
    assert known.interval("mean") == pytest.approx((low, high), abs=0.01)
    low, high = stats.t.interval(0.95, 2, RUNS.mean(), scale * np.sqrt(4 / 3))
    assert known.interval("next") == pytest.approx((low, high), abs=0.02)
    low, high = (scale * np.sqrt(2 / stats.chi2.ppf(p, 2)) for p in (0.975, 0.025))
    assert known.interval("std") == pytest.approx((low, high), rel=0.03)


@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (3, 1, 2, 1), (4, 4)])
def test_the_posterior_is_that_of_the_nested_model_by_brute_force(sizes: tuple[int, ...]) -> None:
    """Every training is one normal number; mean, σ and the training's share are on grids."""
    rng = np.random.default_rng(8)
    groups = [60.0 + rng.normal(0.0, 4.0) + rng.normal(0.0, 2.0, size) for size in sizes]
    y = np.concatenate(groups)
    members = np.repeat(np.eye(len(sizes)), sizes, axis=0)
    odds = np.exp(np.arange(-6.0, 7.0)) if len(y) > len(sizes) else np.ones(1)
    means = y.mean() + np.linspace(-150.0, 150.0, 1_501)
    log_stds = np.linspace(-2.0, 6.0, 201)[:, None]
    logs = []
    for share in odds / (1.0 + odds):
        covariance = (1.0 - share) * members @ members.T + share * np.eye(len(y))
        inverse = np.linalg.inv(covariance)
        ones = np.ones(len(y))
        squares = y @ inverse @ y - 2.0 * means * (ones @ inverse @ y) + means**2 * inverse.sum()
        log_determinant = np.linalg.slogdet(covariance)[1] + 2.0 * len(y) * log_stds
        logs.append(-0.5 * (log_determinant + squares / np.exp(2.0 * log_stds)))
    joint = np.exp(logs - np.max(logs))
    joint /= joint.sum()
    of_std = joint.sum(axis=0)  # (σ, mean)
    known = posterior(
        evidence(
            [group.mean() for group in groups],
            repeats=sizes,
            within=sum(((group - group.mean()) ** 2).sum() for group in groups),
        ),
        prior=None,
    )
    points = float(known.mean) + np.array([-12.0, -6.0, -2.0, 0.0, 3.0, 9.0])
    step = means[1] - means[0]
    for point in points:
        below = np.interp(point, means + step / 2.0, of_std.sum(axis=0).cumsum())
        assert float(known.cdf("mean", point)) == pytest.approx(below, abs=0.0015)
        new_run = (of_std * stats.norm.cdf((point - means) / np.exp(log_stds))).sum()
        assert float(known.cdf("next", point)) == pytest.approx(new_run, abs=0.0015)
    for std in (1.0, 3.0, 5.0, 9.0):
        below = np.interp(np.log(std), log_stds[:, 0] + 0.02, of_std.sum(axis=1).cumsum())
        assert float(known.cdf("std", std)) == pytest.approx(below, abs=0.005)


def test_many_runs_outweigh_the_prior() -> None:
    values = np.random.default_rng(0).normal(60.0, 20.0, 400)
    known = posterior(evidence(values), prior=PRIOR)
    assert float(known.mean) == pytest.approx(values.mean())
    assert float(known.std) == pytest.approx(values.std(ddof=1), rel=0.02)
    low, high = known.interval("tail")
    assert low < 60.0 - 1.645 * 20.0 < high


def test_nearly_equal_runs_do_not_give_a_needle() -> None:
    known = posterior(evidence([64.0, 64.001, 64.002]), prior=PRIOR)
    assert float(known.std) > 0.1
    assert float(known.half_width()) > 0.1


def test_a_batch_equals_single_samples() -> None:
    values = np.random.default_rng(1).normal(60.0, 3.0, (4, 5))
    variance = np.array([1.0, 2.0, 3.0, 4.0])
    batch = posterior(evidence(values), prior=PRIOR, class_variance=variance)
    low, high = batch.ends("tail")
    for row in range(4):
        one = posterior(evidence(values[row]), prior=PRIOR, class_variance=variance[row])
        assert one.interval("tail") == pytest.approx((low[row], high[row]), abs=1e-6)
        assert float(one.std) == pytest.approx(batch.std[row], abs=1e-6)


def test_one_repeat_of_each_order_is_the_same_as_none() -> None:
    known = posterior(evidence(RUNS, repeats=np.ones(3), within=0.0), prior=PRIOR)
    assert known.interval("mean") == posterior(evidence(RUNS), prior=PRIOR).interval("mean")


def test_repeats_narrow_the_mean_but_not_the_next_run() -> None:
    rng = np.random.default_rng(2)
    orders = rng.normal(60.0, 1.0, 10)
    once = orders + rng.normal(0.0, 3.0, 10)
    groups = orders[:, None] + rng.normal(0.0, 3.0, (10, 8))
    means, within = groups.mean(axis=1), groups.var(axis=1).sum() * 8
    many = posterior(evidence(means, repeats=np.full(10, 8), within=within), prior=PRIOR)
    few = posterior(evidence(once), prior=PRIOR)
    assert float(many.half_width()) < 0.75 * float(few.half_width())
    low, high = many.interval("next")
    assert high - low == pytest.approx(2 * 1.96 * np.hypot(1.0, 3.0), rel=0.25)
    assert float(many.std) == pytest.approx(np.hypot(1.0, 3.0), rel=0.2)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.95])
def test_repeats_keep_the_mean_calibrated_whatever_the_share_of_the_order(
    share: float,
) -> None:
    rng = np.random.default_rng(4)
    orders = rng.normal(0.0, share**0.5, (600, 3, 1))
    runs = orders + rng.normal(0.0, (1.0 - share) ** 0.5, (600, 3, 3))
    means = runs.mean(axis=2)
    within = ((runs - means[..., None]) ** 2).sum(axis=(1, 2))
    known = posterior(evidence(means, repeats=np.full(3, 3), within=within), prior=PRIOR)
    low, high = known.ends("mean")
    assert 0.9 < np.mean((low < 0.0) & (high > 0.0)) <= 0.995


def test_the_seed_that_all_runs_share_widens_the_mean() -> None:
    values = np.random.default_rng(3).normal(60.0, 3.0, 30)
    own = posterior(evidence(values), prior=PRIOR)
    shared = posterior(evidence(values), prior=PRIOR, shared_seeds=1)
    assert float(shared.half_width()) > 1.2 * float(own.half_width())
    assert float(shared.std) > float(own.std)


def test_classes_that_vary_little_make_the_spread_smaller() -> None:
    stds = [
        float(posterior(evidence(RUNS), prior=PRIOR, class_variance=variance).std)
        for variance in (0.1, 5.0, 100.0)
    ]
    assert stds == sorted(stds)
    assert stds[0] < 0.8 * stds[-1]


def test_variance_of_independent_classes() -> None:
    """Classes that vary independently, around means of classes and of positions."""
    rng = np.random.default_rng(0)
    tasks = np.stack([rng.permutation(6) // 2 for _ in range(4_000)])
    effects, classes = np.array([0.0, 30.0, 60.0]), rng.normal(50.0, 20.0, 6)
    values = classes + effects[tasks] + rng.normal(0.0, 6.0, (4_000, 6))
    assert float(independent_variance(values, tasks)) == pytest.approx(6.0, rel=0.05)
    few = np.stack([values[:3], values[3:6]]), np.stack([tasks[:3], tasks[3:6]])
    assert independent_variance(*few).shape == (2,)


def test_datasets_weigh_the_same() -> None:
    one = posterior(evidence(np.array([1.0, 2.0, 3.0])), prior=PRIOR)
    other = posterior(evidence(np.linspace(-1.0, 1.0, 50)), prior=PRIOR)
    both = combine([one, other], [0.5, 0.5])
    low, high = both.interval("mean")
    assert both.mean == pytest.approx(1.0)
    assert low < both.mean < high
    assert 0.5 < both.above("mean", 0.0) < 1.0
    alone = combine([other], [1.0]).interval("mean")
    assert alone == pytest.approx(other.interval("mean"), abs=0.02)


@pytest.mark.parametrize("prior", [PRIOR, None])
def test_more_orders_give_what_all_orders_give(prior: Prior | None) -> None:
    """Further orders on both sides of the mean leave it where it is, for every share."""
    aside = 2.5
    for groups in ([[57.0], [60.0], [63.0]], [[56.0, 58.0], [62.0, 64.0]]):
        sizes = np.array([len(group) for group in groups])
        within = sum(float(np.sum((np.array(group) - np.mean(group)) ** 2)) for group in groups)
        means = [float(np.mean(group)) for group in groups]
        before = posterior(evidence(means, repeats=sizes, within=within), prior=prior)
        after = before.after(2, 2.0 * aside**2)
        whole = posterior(
            evidence([*means, 60.0 - aside, 60.0 + aside], repeats=[*sizes, 1, 1], within=within),
            prior=prior,
        )
        for name in ("log_determinant", "precision", "misfit", "squares", "freedom"):
            values = getattr(after.evidence, name), getattr(whole.evidence, name)
            np.testing.assert_allclose(*values, err_msg=name)
        assert after.interval("mean") == pytest.approx(whole.interval("mean"), abs=1e-6)
        assert after.interval("next") == pytest.approx(whole.interval("next"), abs=1e-6)
        assert after.interval("std") == pytest.approx(whole.interval("std"), abs=1e-6)


def test_a_batch_of_which_some_have_students_t_equals_single_samples() -> None:
    values = np.random.default_rng(6).normal(60.0, 3.0, (3, 8))
    values[1] = [60.0, 60.1, 59.9, 60.0, 60.1, 59.9, 60.0, 20.0]  # an outlier
    batch = posterior(evidence(values), prior=PRIOR)
    assert batch.is_student.tolist() == [True, False, True]
    ends = batch.ends("mean")
    for row in range(3):
        alone = posterior(evidence(values[row]), prior=PRIOR)
        at = float(alone.mean) + 1.0
        assert float(alone.cdf("mean", at)) == pytest.approx(batch.cdf("mean", at)[row], abs=1e-9)
        assert float(alone.above("next", at)) == pytest.approx(batch.above("next", at)[row])
        assert alone.interval("mean") == pytest.approx((ends[0][row], ends[1][row]), abs=1e-6)


def test_a_combination_gives_probabilities_on_both_sides() -> None:
    known = posterior(evidence(np.linspace(-1.0, 3.0, 12)), prior=None)
    both = combine([known, known], [0.5, 0.5])
    for quantity in ("mean", "next"):
        for at in (-0.5, 1.0, 1.4):
            below, above = both.cdf(quantity, at), both.above(quantity, at)
            assert below + above == pytest.approx(1.0, abs=1e-3)  # of 20,000 draws
            assert 0.0 < below < 1.0
        assert both.quantile(quantity, both.cdf(quantity, 1.4)) == pytest.approx(1.4, abs=0.01)
    moved = both.shifted(10.0)
    assert moved.interval("mean") == pytest.approx([end + 10.0 for end in both.interval("mean")])
    assert moved.mean == pytest.approx(11.0)


def test_the_tail_is_further_away_if_bad_runs_are_rare_and_unseen() -> None:
    """By draws from Student's posterior, which a prior without limits gives."""
    values = np.array([56.0, 58.5, 60.0, 61.5, 64.0])  # neither skew nor with heavy tails
    prior = replace(
        PRIOR, std_range=(1e-4, 1e4), tail_place=2.0, tail_far=5.0, tail_weight=0.8, tail_slope=0.5
    )
    known = posterior(evidence(values), prior=prior)
    rng = np.random.default_rng(0)
    draws = 60_000
    std = np.sqrt(values.var() * 5 / rng.chisquare(4, draws))
    mean = values.mean() + std * rng.standard_normal(draws) / np.sqrt(5)
    usual = 2.0 + 5 / 105 * (stats.norm.ppf(0.95) - 2.0)
    has_rare = rng.random(draws) < 0.8 * 0.9**5
    third = rng.integers(1, 4, draws)
    place = np.where(has_rare, usual + third / 3.0 * (5.0 - usual), usual)
    tail = mean - place * std
    for probability in (0.1, 0.3, 0.5, 0.7, 0.9):
        at = float(np.quantile(tail, probability))
        assert float(known.cdf("tail", at)) == pytest.approx(probability, abs=0.01)


def test_skew_runs_move_the_tail_by_what_is_uncertain() -> None:
    values = np.array([40.0, 58.0, 60.0, 61.0, 62.0, 63.0])
    prior = replace(PRIOR, std_range=(1e-4, 1e4), tail_weight=0.0)
    moved = {
        slope: posterior(evidence(values), prior=replace(prior, tail_slope=slope))
        for slope in (0.0, 0.5)
    }
    assert float(moved[0.5].quantile("tail", 0.5)) < float(moved[0.0].quantile("tail", 0.5))
    widths = {slope: np.diff(known.interval("tail"))[0] for slope, known in moved.items()}
    assert widths[0.5] > widths[0.0]
    mirrored = posterior(evidence(120.0 - values), prior=replace(prior, tail_slope=0.5))
    centred = posterior(evidence(120.0 - values), prior=replace(prior, tail_slope=0.0))
    assert float(mirrored.quantile("tail", 0.5)) > float(centred.quantile("tail", 0.5))
