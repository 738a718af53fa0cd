"""The smaller figures put every number where it belongs."""

from __future__ import annotations

import numpy as np
import pytest

from edgecil.estimation import BudgetPoint
from edgecil.report.figures.budgets import draw_budgets
from edgecil.report.figures.closeness import draw_closeness
from edgecil.report.figures.matrices import draw_matrices
from edgecil.report.figures.prediction import draw_prediction


def test_a_matrix_shows_its_lower_triangle_and_its_last_row_s_mean() -> None:
    matrix = np.array([[90.0, np.nan], [30.0, 80.0]])
    axes = draw_matrices({"hard": matrix}).axes[0]
    shown = {text.get_position(): text.get_text() for text in axes.texts}
    assert shown == {(0.5, 0.5): "90", (0.5, 1.5): "30", (1.5, 1.5): "80"}
    assert axes.get_title() == "hard: 55.0"
    top, bottom = axes.get_ylim()[1], axes.get_ylim()[0]
    assert top < bottom


def test_many_tasks_are_shown_without_numbers() -> None:
    matrix = np.where(np.tri(10) > 0, 50.0, np.nan)
    axes = draw_matrices({"hard": matrix, "easy": matrix}).axes[0]
    assert not axes.texts


def test_every_order_is_a_dot_and_the_line_is_the_least_squares_fit() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=50)
    accuracies = 60.0 + 3.0 * z + rng.normal(size=50)
    marked = {("edge", "hard"): (z[0], accuracies[0])}
    figure = draw_prediction("icarl", z, accuracies, marked, predictor="S", correlation="r = +0.95")
    dots, fit, hard = figure.axes[0].lines
    np.testing.assert_array_equal(dots.get_xdata(), z)
    slope, height = np.linalg.lstsq(np.c_[z, np.ones(50)], accuracies, rcond=None)[0]
    np.testing.assert_allclose(fit.get_ydata(), slope * fit.get_xdata() + height)
    assert hard.get_xydata().tolist() == [[z[0], accuracies[0]]]
    assert figure.axes[0].get_title(loc="left") == "icarl: r = +0.95"


def test_a_predictor_that_is_constant_has_no_line() -> None:
    figure = draw_prediction("a", np.zeros(5), np.arange(5.0), {}, predictor="S", correlation="")
    assert len(figure.axes[0].lines) == 1


def test_each_measure_has_a_panel_and_each_protocol_its_dots() -> None:
    measures = {
        "JSD": {"random": {"a": 0.1, "b": 0.2}, "edge": {"b": 0.3}},
        "W₁": {"random": {"a": 1.0, "b": 2.0}},
    }
    first, second = draw_closeness(measures).axes
    random, edge = first.lines
    assert list(random.get_xdata()) == [0.1, 0.2]
    assert [round(y) for y in random.get_ydata()] == [0, 1]
    assert [round(y) for y in edge.get_ydata()] == [1]
    assert [text.get_text() for text in first.get_yticklabels()] == ["a", "b"]
    assert len(second.lines) == 1


@pytest.mark.parametrize("sizes", [(3, 5, 10), (3,)])
def test_curves_of_the_number_of_runs_hold_their_means(sizes) -> None:
    points = [BudgetPoint(n, 0.1, (0.05, 0.2), 4.0 / n, (1.0 / n, 9.0 / n)) for n in sizes]
    axes = draw_budgets("icarl", {"random": points}).axes[0]
    (curve,) = axes.lines
    assert list(curve.get_ydata()) == [4.0 / n for n in sizes]
    assert [text.get_text() for text in axes.get_xticklabels()] == [str(n) for n in sizes]
