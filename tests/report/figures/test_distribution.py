"""The picture shows the truth, its ends, and what each protocol makes of it."""

from __future__ import annotations

import numpy as np
import pytest

from edgecil.estimation import Distribution
from edgecil.report.figures.canvas import COLOURS
from edgecil.report.figures.distribution import Shape, draw_distribution

TRUTH = np.random.default_rng(0).normal(60.0, 5.0, 90)


def lines(axes, colour):
    return [line for line in axes.lines if line.get_color() == colour]


def draw(**changes):
    shape = {
        "truth": TRUTH,
        "guesses": {"edge": Distribution.normal(60.0, 3.0)},
        "ends": {"edge": (52.0, 66.0)},
        **changes,
    }
    return draw_distribution(Shape("icarl", **shape)).axes[0]


def test_the_truth_is_a_histogram_of_area_one_over_all_its_values() -> None:
    heights, edges, _ = draw().patches[0].get_data()
    assert heights @ np.diff(edges) == pytest.approx(1.0)
    counts = np.histogram(TRUTH, edges)[0]
    np.testing.assert_allclose(heights * np.diff(edges) * 90, counts)


def test_the_ends_of_the_truth_are_marked_and_told() -> None:
    axes = draw()
    assert {text.get_text() for text in axes.texts} == {f"{TRUTH.min():.1f}", f"{TRUTH.max():.1f}"}
    places = {text.xy[0] for text in axes.texts}
    assert places == {TRUTH.min(), TRUTH.max()}


def test_a_sample_in_place_of_the_truth_is_called_so() -> None:
    for sampled, label in ((False, "truth: 90 orders"), (True, "sample: 90 orders")):
        figure = draw_distribution(Shape("icarl", TRUTH, {}, sampled=sampled))
        assert [text.get_text() for text in figure.legends[0].get_texts()] == [label]


def test_a_guess_is_a_curve_with_its_peak_at_the_mean() -> None:
    curve = next(line for line in lines(draw(), COLOURS["edge"]) if len(line.get_xdata()) > 2)
    x, y = curve.get_xdata(), curve.get_ydata()
    assert x[y.argmax()] == pytest.approx(60.0, abs=x[1] - x[0])
    assert y.max() == pytest.approx(1.0 / (3.0 * np.sqrt(2.0 * np.pi)), rel=0.01)


def test_the_ends_that_a_protocol_found_lie_below_the_line() -> None:
    bar = next(line for line in lines(draw(), COLOURS["edge"]) if len(line.get_xdata()) == 2)
    assert list(bar.get_xdata()) == [52.0, 66.0]
    assert max(bar.get_ydata()) < 0.0


def test_every_draw_is_a_thin_curve() -> None:
    drawn = [Distribution.normal(55.0 + place, 2.0) for place in range(4)]
    axes = draw(draws={"random": drawn})
    assert len(lines(axes, COLOURS["random"])) == 4


def test_without_a_truth_the_runs_are_ticks() -> None:
    axes = draw(truth=None, measured=np.array([50.0, 61.0, 70.0]))
    assert not axes.patches
    ticks = next(line for line in axes.lines if line.get_marker() == "|")
    assert list(ticks.get_xdata()) == [50.0, 61.0, 70.0]


def test_a_single_run_is_a_spike() -> None:
    alone = Distribution.normal(61.25, 0.0)
    axes = draw(truth=None, measured=np.array([61.25]), guesses={"edge": alone}, ends={})
    curve = next(line for line in lines(axes, COLOURS["edge"]) if len(line.get_xdata()) > 2)
    x, y = curve.get_xdata(), curve.get_ydata()
    assert y.sum() * (x[1] - x[0]) == pytest.approx(1.0)
    assert np.count_nonzero(y) == 1


@pytest.mark.parametrize("truth", [np.full(90, 80.0), np.array([0.0, 100.0])])
def test_extreme_truths_can_be_drawn(truth) -> None:
    axes = draw(truth=truth, guesses={"edge": Distribution.normal(float(truth[0]), 0.0)})
    assert axes.get_xlim()[0] < truth.min()
    assert axes.get_xlim()[1] > truth.max()
