"""The smaller figures put every number where it belongs."""

from __future__ import annotations

import numpy as np
import pytest

from edgecil.analysis.details import TaskCurve
from edgecil.report.charts import (
    draw_class_map,
    draw_confusion,
    draw_curves,
    draw_intervals,
    draw_prediction,
)
from edgecil.report.drawing import Cells, Dots, Line, Text
from edgecil.wording.metric_words import metric_words

WORDS = metric_words("accuracy")


def texts(scene):
    return [mark.text for mark in scene.marks if isinstance(mark, Text)]


def of(kind, scene):
    return [mark for mark in scene.marks if isinstance(mark, kind)]


def inside(scene) -> None:
    """No mark starts outside the drawing."""
    for mark in of(Text, scene):
        assert -1.0 <= mark.x <= scene.width + 1.0
        assert 0.0 <= mark.y <= scene.height


@pytest.mark.parametrize("width", [1040.0, 360.0])
def test_curves_end_at_their_last_accuracy(width) -> None:
    curves = {}
    for place in range(12):
        mean = np.linspace(90.0, 50.0 + 0.1 * place, 10)
        curves[f"learner {place}"] = TaskCurve(5, mean, mean - 2, mean + 2)
    scene = draw_curves(curves, WORDS, width=width)
    inside(scene)
    lines = {mark.tip: mark for mark in of(Line, scene) if mark.tip}
    assert list(lines) == [f"learner {place} {50.0 + 0.1 * place:.1f}" for place in range(12)]
    ends = [line.points[-1][1] for line in lines.values()]
    assert ends == sorted(ends, reverse=True)


def test_few_curves_have_bands_of_ninety_per_cent() -> None:
    mean = np.array([90.0, 60.0])
    scene = draw_curves({"icarl": TaskCurve(9, mean, mean - 5.0, mean + 5.0)}, WORDS)
    (band,) = [mark for mark in of(Line, scene) if mark.fill]
    (line,) = [mark for mark in of(Line, scene) if mark.tip == "icarl 60.0"]
    low, high = band.points[:2], band.points[:1:-1]
    for (_, lower), (_, upper), (_, middle) in zip(low, high, line.points, strict=True):
        assert (lower + upper) / 2.0 == pytest.approx(middle)


def test_a_heat_map_holds_every_value_and_numbers_few_classes() -> None:
    values = np.array([[10.0, 90.0], [np.nan, 40.0]])
    scene = draw_class_map("icarl", ["bear", "apple"], values, (0.0, 100.0))
    grid = of(Cells, scene)[0]
    np.testing.assert_array_equal(grid.values, values)
    assert grid.data["values"] == "10.0,90.0;,40.0"
    assert {"bear", "apple", "10", "90", "40"} <= set(texts(scene))
    names = [f"c{i}" for i in range(200)]
    many = draw_class_map("icarl", names, np.full((200, 10), 50.0), (0.0, 100.0))
    assert "c0" not in texts(many)
    assert many.height < 800.0


@pytest.mark.parametrize("width", [1040.0, 360.0])
def test_every_pair_has_its_interval_and_zero_is_marked(width) -> None:
    rows = [("a − b", 2.0, (1.0, 3.0), "clear"), ("a − c", 0.5, (-1.0, 2.0), "cannot tell")]
    scene = draw_intervals(rows, width)
    inside(scene)
    clear, unclear = [mark for mark in of(Line, scene) if mark.width == 3.0]
    assert (clear.stroke, unclear.stroke) == ("accent", "faint")
    (zero,) = [mark for mark in of(Line, scene) if mark.stroke == "faint" and mark.width == 1.2]
    assert clear.points[0][0] > zero.points[0][0] > unclear.points[0][0]
    assert any("cannot tell" in text for text in texts(scene))


def test_every_order_is_a_dot_at_its_predictor_and_accuracy() -> None:
    z = np.array([-1.0, 0.0, 2.0])
    cloud = (z, np.array([40.0, 50.0, 60.0]), [5, 6, 7], "r = +0.95")
    scene = draw_prediction({"icarl": cloud}, "S", "accuracy")
    (dots,) = of(Dots, scene)
    assert dots.data == {"method": "icarl", "orders": "5 6 7"}
    assert (dots.x[1] - dots.x[0]) * 2.0 == pytest.approx(dots.x[2] - dots.x[1])
    assert dots.y[0] > dots.y[1] > dots.y[2]
    assert "r = +0.95" in texts(scene)


def test_confusion_fills_a_bar_for_each_task() -> None:
    answers = np.array([[50.0, 0.0, 10.0, 40.0], [80.0, 15.0, 5.0, 0.0]])
    scene = draw_confusion({"icarl": answers})
    bars = [mark for mark in scene.marks if isinstance(mark, Line) and mark.tip]
    heights = [bar.points[2][1] - bar.points[0][1] for bar in bars]
    assert len(bars) == 8
    assert sum(heights[:4]) == pytest.approx(sum(heights[4:]))
    assert heights[0] / sum(heights[:4]) == pytest.approx(0.5)
    tips = [bar.tip for bar in bars]
    assert "task 1: wrong, later task 40 %" in tips
    assert "task 2: wrong, earlier task 15 %" in tips
