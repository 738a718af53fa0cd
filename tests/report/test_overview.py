"""The overview shows every order of every method on one axis."""

from __future__ import annotations

import numpy as np
import pytest

from edgecil.report import overview
from edgecil.report.drawing import Dots, Line, Text
from edgecil.report.order_table import NamedOrder, OrderTable, rank
from edgecil.report.overview import build_overview


@pytest.fixture(scope="module")
def orders(dataset):
    return OrderTable.of(dataset)


@pytest.fixture(scope="module")
def figure(dataset, orders):
    return build_overview(dataset, rank(dataset), orders)


def dots_of(scene, method):
    return [m for m in scene.marks if isinstance(m, Dots) and m.data.get("method") == method]


def axis(scene):
    """The affine map from positions to values, from the labels of the axis."""
    ticks = {m.text: m.x for m in scene.marks if isinstance(m, Text) and m.text in ("50", "70")}
    slope = (70.0 - 50.0) / (ticks["70"] - ticks["50"])
    return lambda x: 50.0 + slope * (x - ticks["50"])


@pytest.mark.parametrize("size", ["wide", "narrow"])
def test_every_order_is_one_dot_of_its_method_on_the_shared_axis(
    dataset, orders, figure, size
) -> None:
    scene = getattr(figure, size)
    value = axis(scene) if size == "wide" else None
    for method in ("varied", "steady"):
        marks = dots_of(scene, method)
        places = [int(place) for mark in marks for place in mark.data["orders"].split()]
        assert sorted(places) == list(range(90))
        if value is None:
            continue
        x = np.concatenate([mark.x for mark in marks])
        expected = [orders.values[method][place] for place in places]
        np.testing.assert_allclose(value(x), expected, atol=1e-6)


def test_dots_have_the_colour_of_the_protocol_that_chose_them(figure) -> None:
    styles = {(mark.colour, mark.shape) for mark in dots_of(figure.wide, "varied")}
    assert styles == {("c0", "circle"), ("c3", "up"), ("c2", "square"), ("faint", "circle")}


def test_dots_stay_in_their_row(figure) -> None:
    rules = [
        m.points[0][1]
        for m in figure.wide.marks
        if isinstance(m, Line)
        and len(m.points) == 2
        and m.points[0][0] == 0.0
        and m.points[1][0] == figure.wide.width
    ]
    (border,) = rules
    assert all(mark.y.max() < border for mark in dots_of(figure.wide, "steady"))
    assert all(mark.y.min() > border for mark in dots_of(figure.wide, "varied"))


def test_mean_worst_and_best_are_columns_of_numbers(figure) -> None:
    texts = [mark.text for mark in figure.wide.marks if isinstance(mark, Text)]
    assert {"varied", "steady", "mean", "worst", "best"} <= set(texts)
    assert texts[texts.index("steady") + 1] == "80.0"
    assert texts[texts.index("varied") + 1 :][:4] == ["60.0", "40.0", "40.0", "80.0"]


def test_probes_are_columns_and_named_where_they_lie_outside(dataset, orders, monkeypatch) -> None:
    probes = tuple(
        NamedOrder("probes", label, value, "when so") for label, value in (("a", 95.0), ("b", 60.0))
    )
    own = {"steady": probes, "varied": ()}
    monkeypatch.setattr("edgecil.report.overview.named_orders", lambda _, name: own[name])
    figure = build_overview(dataset, rank(dataset), orders)
    texts = [mark for mark in figure.wide.marks if isinstance(mark, Text)]
    assert {"worst", "best"}.isdisjoint(mark.text for mark in texts)
    assert [mark.colour for mark in texts if mark.text == "a"] == ["faint", "c1"]
    steady = [mark.text for mark in texts].index("steady")
    assert [mark.text for mark in texts[steady + 1 :][:4]] == ["80.0", "80.0", "95.0", "60.0"]


def test_of_very_many_orders_the_ends_are_dots_and_all_are_the_hill(
    dataset, orders, monkeypatch
) -> None:
    monkeypatch.setattr(overview, "_MOST_DOTS", 20)
    monkeypatch.setattr(overview, "_ENDS", 3)
    scene = build_overview(dataset, rank(dataset), orders).wide
    marks = dots_of(scene, "varied")
    places = [int(place) for mark in marks for place in mark.data["orders"].split()]
    values = orders.values["varied"]
    assert len(places) < 90
    assert {values[places].min(), values[places].max()} == {values.min(), values.max()}
    areas = [m for m in scene.marks if isinstance(m, Line) and m.fill == "truth"]
    hills = [area for area in areas if len(area.points) > 10]  # the legend has one, too
    (base, *levels, _) = [y for _, y in hills[rank(dataset).index("varied")].points]
    heights = base - np.array(levels[::2])
    counts, _ = np.histogram(values, bins=80)
    np.testing.assert_allclose(heights, counts * heights.max() / counts.max())
