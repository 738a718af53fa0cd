"""Intervals cover as often as they claim, in simulations with known truths."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import edgecil
from edgecil.estimation.accuracy_steps import accuracy_step
from edgecil.estimation.calibration import describe_coverage, is_calibrated, reached_coverage
from edgecil.estimation.claims import Claim
from edgecil.estimation.intervals import LEVEL, Interval, posterior, posteriors
from edgecil.estimation.summary import summaries
from edgecil.lab.estimators import Observations, get_estimator, smoothed
from edgecil.report.method_tables import summary_table
from edgecil.report.metrics import metric_words
from edgecil.report.narrative import answer as page_answer
from edgecil.sequences.latin import latin
from edgecil.sequences.overlap import position_overlap
from edgecil.sequences.space import SequenceSpace
from tests.estimation.tables import noisy, rows, table_of, write

MEAN, STD = 50.0, 4.0


def coverage(hits: list[bool]) -> float:
    return float(np.mean(hits))


def covered(ends: np.ndarray, value: float | np.ndarray) -> float:
    """The share of intervals, given by both ends (2, n), that contain their value."""
    return float(np.mean((ends[0] <= value) & (value <= ends[1])))


def inside(interval: Interval | None, value: float) -> bool:
    assert interval is not None
    return interval[0] <= value <= interval[1]


@pytest.mark.parametrize("count", [3, 5, 10])
def test_intervals_of_normal_accuracies_have_their_level(count: int) -> None:
    values = np.random.default_rng(count).normal(MEAN, STD, (1_500, count + 1))
    made = posteriors(values[:, :-1])
    assert covered(made.mean_ends(), MEAN) == pytest.approx(LEVEL, abs=0.025)
    assert covered(made.next_ends(), values[:, -1]) == pytest.approx(LEVEL, abs=0.025)
    std = covered(made.std_ends(), STD)
    assert LEVEL - 0.025 < std < LEVEL + 0.045  # room for heavier tails than normal ones


@pytest.mark.parametrize("latin_design", [False, True])
def test_many_sets_of_values_at_once_are_each_alone(latin_design: bool) -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(MEAN, STD, (4, 5))
    designs = [latin(SPACE, 5, rng) for _ in values]
    overlap = np.stack([position_overlap(design) for design in designs]) if latin_design else None
    made = posteriors(values, overlap=overlap, space_size=90)
    mean, std, following = made.mean_ends(), made.std_ends(), made.next_ends()
    for row, one in enumerate(values):
        alone = posterior(one, overlap=None if overlap is None else overlap[row], space_size=90)
        assert alone is not None
        assert mean[:, row] == pytest.approx(alone.mean_interval())
        assert std[:, row] == pytest.approx(alone.std_interval())
        assert following[:, row] == pytest.approx(alone.next_interval())
        assert made.mean_cdf(MEAN)[row] == pytest.approx(alone.mean_below(MEAN))
        assert made.std_cdf(STD)[row] == pytest.approx(alone.std_below(STD))
        assert made.next_cdf(MEAN)[row] == pytest.approx(1.0 - alone.next_above(MEAN))


def test_a_mixture_of_one_component_is_students() -> None:
    values = np.random.default_rng(0).normal(MEAN, STD, 6)
    made = posterior(values)
    assert made is not None
    oracle = stats.ttest_1samp(values, 0.0).confidence_interval(0.9)
    assert made.mean_interval() == pytest.approx((oracle.low, oracle.high))
    assert made.mean_above(oracle.high) == pytest.approx(0.05)
    assert [made.std_below(end) for end in made.std_interval()] == pytest.approx([0.05, 0.95])


@pytest.mark.parametrize("count", [3, 10])
def test_the_next_of_ninety_skewed_orders_is_predicted(count: int) -> None:
    rng = np.random.default_rng(count)
    truths = [80.0 - rng.gamma(3.0, 2.0, 90) for _ in range(100)]
    values = np.array([rng.permutation(truth)[: count + 1] for truth in truths for _ in range(15)])
    made = posteriors(values[:, :-1], space_size=90)
    assert covered(made.next_ends(), values[:, -1]) == pytest.approx(LEVEL, abs=0.03)


SPACE = SequenceSpace.equal(6, 3)
ORDERS = {sequence: place for place, sequence in enumerate(SPACE.enumerate())}


@pytest.mark.parametrize("count", [3, 6])
def test_latin_designs_have_narrower_intervals_that_still_cover(count: int) -> None:
    """Truths of which positions explain a tenth to nine tenths."""
    rng = np.random.default_rng(count)
    designs = [latin(SPACE, count, rng) for _ in range(60)]
    task = np.array(
        [[one.tasks.index(t) for c in range(6) for t in one.tasks if c in t] for one in ORDERS]
    )
    sampled, truths, overlaps = [], [], []
    for share in (0.1, 0.35, 0.6):
        for design in designs:
            effects = rng.normal(size=(6, 3))
            by_position = effects[np.arange(6), task].sum(axis=1)
            noise = rng.normal(size=90)
            truth = np.sqrt(share) * _standard(by_position) + np.sqrt(1 - share) * _standard(noise)
            sampled.append(truth[[ORDERS[one] for one in design]])
            truths.append(truth.mean())
            overlaps.append(position_overlap(design))
    values = np.array(sampled)
    made = posteriors(values, overlap=np.stack(overlaps), space_size=90).mean_ends()
    as_random = posteriors(values, space_size=90).mean_ends()
    assert covered(made, np.array(truths)) == pytest.approx(LEVEL, abs=0.06)
    assert np.ptp(made, axis=0).mean() < 0.9 * np.ptp(as_random, axis=0).mean()


def _standard(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / values.std()


def test_overlap_of_a_latin_square_is_negative_and_averages_to_zero_over_all_orders() -> None:
    overlap = position_overlap(latin(SPACE, 3, np.random.default_rng(0)))
    # No class and no pair returns: (0 - 2)/(6 - 2) for classes, (0 - 0.2)/(3 - 0.2) for pairs.
    apart = (-1.0 / 2.0 - 1.0 / 14.0) / 2.0
    assert overlap == pytest.approx(np.eye(3) + apart * (1.0 - np.eye(3)))
    assert position_overlap(list(ORDERS)).mean() == pytest.approx(0.0)


@pytest.mark.slow
@pytest.mark.parametrize(("count", "rho"), [(3, 0.0), (5, 0.0), (5, 0.7)])
def test_intervals_by_regression_have_their_level(count: int, rho: float) -> None:
    rng = np.random.default_rng(10 + count)
    levels = (np.array([-1.0, 1.0]), np.full(2, 0.5))
    hits = []
    for _ in range(600):
        z, noise = rng.choice([-1.0, 1.0], count), rng.normal(size=count)
        values = MEAN + STD * (rho * z + np.sqrt(1.0 - rho**2) * noise)
        estimate = get_estimator("regression")(Observations(values, z, levels))
        hits.append((inside(estimate.mean_interval, MEAN), inside(estimate.std_interval, STD)))
    for own in zip(*hits, strict=True):
        assert coverage(list(own)) == pytest.approx(LEVEL, abs=0.045)  # 3 standard errors


@pytest.mark.parametrize("name", ["gaussian-c4", "smoothed"])
def test_equal_accuracies_have_no_intervals(name: str) -> None:
    estimate = get_estimator(name)(Observations(np.full(3, 70.0)))
    assert estimate.mean_interval is None
    assert estimate.std_interval is None
    assert estimate.prediction_interval is None


@pytest.mark.parametrize("count", [2, 3, 10, 40])
def test_smoothing_keeps_mean_and_variance(count: int) -> None:
    values = np.random.default_rng(0).gamma(2.0, 3.0, count)
    estimate = smoothed(Observations(values))
    assert estimate.distribution.mean == pytest.approx(values.mean())
    assert estimate.distribution.std == pytest.approx(values.std())
    assert (estimate.min, estimate.max) == (values.min(), values.max())
    assert 0.0 < estimate.distribution.width < values.std()


def test_tasks_of_one_class_have_no_pairs_to_agree_on() -> None:
    space = SequenceSpace.equal(4, 4)
    orders = list(space.enumerate())
    overlap = position_overlap(orders)
    assert np.diag(overlap) == pytest.approx(np.ones(24))
    assert overlap.mean() == pytest.approx(0.0)
    assert overlap.min() == pytest.approx(-1.0 / 3.0)


def test_a_few_test_images_make_steps_that_the_smoothed_estimate_keeps() -> None:
    """Accuracies of 240 images are multiples of 5/12."""
    correct = np.array([200, 201, 201, 203, 200, 202])
    estimate = smoothed(Observations(correct / 2.4)).distribution
    assert estimate.width == 0.0
    images = estimate.locations * 2.4
    assert images == pytest.approx(np.round(images), abs=1e-9)
    assert {200, 201, 202, 203} <= set(np.round(images))
    assert estimate.mean == pytest.approx(correct.mean() / 2.4, abs=0.05)
    many = smoothed(Observations(np.array([50.0, 61.0, 55.5, 70.0]))).distribution
    assert many.width > 0.0, "steps of 0.5 are small beside a spread of 7"


@pytest.mark.parametrize(
    ("values", "step"),
    [([80.0, 80.0 + 100 / 240], 100 / 240), ([50.0, 75.0], 25.0), ([12.3469131, 50.0], None)],
)
def test_the_step_follows_from_the_values(values: list[float], step: float | None) -> None:
    assert accuracy_step(np.array(values)) == pytest.approx(step)


def test_a_claim_that_misses_its_level_says_what_it_reaches() -> None:
    reaches = {"calibrated": 0.92, "rough": 0.94}
    labels = [
        Claim(50.0, (40.0, 60.0), "calibrated" if is_calibrated(reached) else "rough", 0.9, reached)
        for reached in (*reaches.values(), None)
    ]
    assert [claim.label for claim in labels] == [
        "90 %",
        "90 %, on truth tables 94 %",
        "90 %, not calibrated",
    ]
    assert describe_coverage("the mean", [0.87, 0.9, 0.93]) == ""
    assert " 82 to 94 % " in describe_coverage("the mean", [0.94, 0.9, 0.82])
    assert describe_coverage("the mean", [None, 0.9]).startswith("Some intervals")
    both = describe_coverage("the mean", [None, 0.82])
    assert " 82 % " in both
    assert "not been compared" in both


def test_two_random_orders_are_labelled_on_the_terminal_and_on_the_page(tmp_path: Path) -> None:
    """Their intervals cover 94 % of truths, which is not within three points of 90 %."""
    reached = reached_coverage("mean", "random", 2)
    assert reached is not None
    assert not is_calibrated(reached)
    figure = f"{100 * reached:.0f} %"
    runs = rows(table_of({"a": noisy(1), "b": noisy(2)}, ("random",)))
    two = {run.sequence for run in runs[:3]}  # seeds 0 and 42 give the same order
    write([run for run in runs if run.sequence in two], tmp_path / "two.csv")
    analysis = edgecil.analyze(tmp_path / "two.csv")
    assert str(analysis).count(f"on truth tables {figure}: ") == 4
    (dataset,) = analysis.datasets
    assert f"true value in {figure} of cases" in summary_table(dataset).caption
    said = page_answer(dataset, summaries(dataset), metric_words(dataset.metric))
    assert " ".join(said).count(f"on truth tables {figure}") == 2
