"""The overview shows every order of every method on one axis."""

from __future__ import annotations

import numpy as np

from edgecil.report.figures.canvas import COLOURS
from edgecil.report.figures.overview import build_overview


def test_every_order_is_one_dot_of_its_method_on_the_shared_axis(dataset) -> None:
    figure = build_overview(dataset)
    (axes,) = figure.drawing.axes
    groups = {line.get_gid(): line for line in axes.lines if line.get_gid()}
    assert set(groups) == set(figure.tooltips)
    for place, name in enumerate(("steady", "varied")):  # highest mean first
        rows = [line for gid, line in groups.items() if gid.startswith(f"dots-{place}-")]
        drawn = np.sort(np.concatenate([line.get_xdata() for line in rows]))
        expected = np.sort(list(dataset.table.orders(name).by_sequence().values()))
        np.testing.assert_array_equal(drawn, expected)
        assert all(place < y < place + 0.5 for line in rows for y in line.get_ydata())


def test_dots_have_the_colour_of_the_protocol_that_chose_them(dataset) -> None:
    (axes,) = build_overview(dataset).drawing.axes
    colours = {line.get_color() for line in axes.lines if line.get_gid()}
    assert {COLOURS["edge"], COLOURS["random"], COLOURS["latin"]} <= colours


def test_mean_worst_and_best_are_labelled(dataset) -> None:
    (axes,) = build_overview(dataset).drawing.axes
    texts = {text.get_text() for text in axes.texts}
    assert {"varied", "steady", "80.0", "40.0", "60.0"} <= texts


def test_every_dot_has_a_tooltip_in_drawing_order(dataset) -> None:
    figure = build_overview(dataset)
    groups = {line.get_gid(): line for line in figure.drawing.axes[0].lines if line.get_gid()}
    for gid, texts in figure.tooltips.items():
        accuracies = [float(text.split("\n")[0].split(": ")[1]) for text in texts]
        np.testing.assert_allclose(accuracies, groups[gid].get_xdata(), atol=0.005)
