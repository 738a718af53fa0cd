"""The figures of an audit put every number where it belongs."""

from __future__ import annotations

import pytest

from edgecil.lab._audit import BudgetPoint
from edgecil.lab.figures import draw_budgets, draw_closeness
from edgecil.report.drawing import Dots, Line
from tests.report.test_charts import of, texts


def test_each_measure_has_a_panel_and_each_protocol_its_dots() -> None:
    measures = {
        "JSD": {"random": {"a": 0.1, "b": 0.2}, "edge": {"b": 0.3}},
        "W₁": {"random": {"a": 1.0, "b": 2.0}},
    }
    scene = draw_closeness(measures)
    random, edge, second = [mark for mark in of(Dots, scene) if mark.y.min() > 40.0]
    assert random.x[1] > random.x[0]
    assert edge.x[0] > random.x[1]
    assert len(second.x) == 2
    assert texts(scene).count("a") == 2


@pytest.mark.parametrize("sizes", [(3, 5, 10), (3,)])
def test_curves_of_the_number_of_runs_fall_with_their_means(sizes) -> None:
    points = [BudgetPoint(n, 0.1, 4.0 / n, (1.0 / n, 9.0 / n)) for n in sizes]
    scene = draw_budgets({"icarl": {"random": points}})
    assert {str(size) for size in sizes} <= set(texts(scene))
    lines = [m for m in of(Line, scene) if m.stroke == "c0" and m.points[0][1] > 40.0]
    assert len(lines) == (len(sizes) > 1)
    for line in lines:
        assert [y for _, y in line.points] == sorted(y for _, y in line.points)
