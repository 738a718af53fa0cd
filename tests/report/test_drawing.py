"""One scene gives the page's SVG, an SVG file, PNG and PDF; names cannot break out of it."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, strategies as st

from edgecil.report.drawing import (
    Cells,
    Dots,
    Entry,
    Line,
    Scale,
    Scene,
    Text,
    bar,
    cut_text,
    legend,
    nice_ticks,
    text_width,
)
from edgecil.report.figure import inline_svg, paint, svg_file
from edgecil.report.theme import DARK, DARK_SHADES, LIGHT, SHADES

HOSTILE = "</text><script>alert(1)</script>\"' & \u202eevil\x07"
SCENE = Scene(
    200.0,
    100.0,
    (
        Text(10.0, 20.0, HOSTILE, bold=True),
        Line(((0.0, 0.0), (9.0, 9.0)), "c0", 2.0, dash=(3.0, 2.0)),
        Line(((0.0, 0.0), (9.0, 9.0), (0.0, 9.0)), "", fill="truth", opacity=0.5),
        bar(1.0, 2.0, 3.0, 4.0, "line", HOSTILE),
        *(
            Dots(np.array([5.0, 6.5]), np.array([7.0, 8.0]), 2.0, "c1", shape, data={"k": HOSTILE})
            for shape in ("circle", "square", "diamond", "up", "down", "cross")
        ),
        Cells(0.0, 0.0, 5.0, 5.0, np.array([[0.0, 100.0], [np.nan, 50.0]])),
    ),
)
SVG = "{http://www.w3.org/2000/svg}"


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_hostile_names_are_text_in_svg() -> None:
    root = ElementTree.fromstring(svg_file(SCENE, HOSTILE))
    assert not list(root.iter(f"{SVG}script"))
    (text,) = root.iter(f"{SVG}text")
    shown = "".join(text.itertext())
    assert "<script>alert(1)</script>" in shown
    assert "\u202e" not in shown
    assert "\x07" not in shown


def test_every_mark_of_the_page_has_a_colour_of_the_theme() -> None:
    svg = inline_svg(SCENE, "A <label>")
    assert "&lt;label&gt;" in svg
    used = set(re.findall(r"\b[fs]-([\w-]+)", svg))
    assert used <= set(LIGHT) == set(DARK)
    assert not re.search(r"#[0-9a-f]{6}", svg)


def test_dots_are_one_path_with_a_start_for_each() -> None:
    paths = re.findall(r'class="dots[^"]*"[^>]* d="([^"]*)"', inline_svg(SCENE, ""))
    assert [path.count("M") for path in paths] == [2] * 6
    for path in paths:
        assert [
            tuple(map(float, start.split()[:2])) for start in re.findall(r"M([\d. ]+)", path)
        ] == [(5.0, 7.0), (6.5, 8.0)]


def test_files_are_the_same_every_time_and_a_png_has_two_dots_per_pixel() -> None:
    files = paint(SCENE, ["png", "pdf"], inches=3.4)
    assert files == {kind: paint(SCENE, [kind], inches=3.4)[kind] for kind in ("png", "pdf")}
    png = files["png"]
    assert (int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")) == (400, 200)
    assert (png[:4], files["pdf"][:4]) == (b"\x89PNG", b"%PDF")


def test_a_pdf_has_its_width_and_embeds_its_font() -> None:
    scene = Scene(200.0, 100.0, (Text(10.0, 50.0, "accuracy"),))
    pdf = paint(scene, ["pdf"], inches=3.4)["pdf"]
    box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+) ?\]", pdf)
    assert float(box[1]) == pytest.approx(3.4 * 72.0)
    assert b"/FontFile2" in pdf  # a TrueType font, as publishers ask for
    assert b"/Type3" not in pdf


@given(st.floats(-1e3, 1e3), st.floats(0.01, 1e3), st.integers(2, 12))
def test_ticks_are_round_and_inside(low: float, width: float, most: int) -> None:
    ticks = nice_ticks(low, low + width, most)
    assert len(ticks) <= most + 1
    assert all(low - 1e-6 * width <= tick <= low + width + 1e-6 * width for tick in ticks)
    steps = np.diff(ticks)
    if len(steps):
        np.testing.assert_allclose(steps, steps[0], rtol=1e-6)


def test_a_scale_keeps_its_values_inside_and_its_limits() -> None:
    scale = Scale.around([0.5, 99.0], 10.0, 110.0, limits=(0.0, 100.0))
    assert (scale.low, scale.high) == (0.0, 100.0)
    assert scale(50.0) == 60.0
    same = Scale.around([5.0], 0.0, 10.0)
    assert same(5.0) == 5.0


def test_a_legend_wraps_at_its_width() -> None:
    entries = [Entry(f"protocol {place}", "c0") for place in range(8)]
    marks, below = legend(entries, 0.0, 0.0, 300.0)
    lines = {mark.y for mark in marks if isinstance(mark, Text)}
    assert len(lines) > 1
    assert below > max(lines)
    for mark in marks:
        if isinstance(mark, Text):
            assert mark.x + text_width(mark.text) <= 300.0 + 1.0


def test_names_are_cut_to_their_room() -> None:
    assert cut_text("x" * 100, 70.0).endswith("…")
    assert text_width(cut_text("x" * 100, 70.0), 13.0) <= 70.0


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_text_has_the_contrast_of_wcag_aa(theme) -> None:
    for paper in ("paper", "panel"):
        for ink in ("ink", "faint", "accent", "good", "bad"):
            assert contrast(theme[ink], theme[paper]) >= 4.5, (ink, paper)
    for place in range(8):
        assert contrast(theme[f"c{place}"], theme["paper"]) >= 3.0, place


def test_numbers_on_heat_maps_have_the_contrast_of_wcag_aa() -> None:
    for place, colour in enumerate(SHADES):
        ink = LIGHT["on-dark"] if place < DARK_SHADES else LIGHT["on-light"]
        assert contrast(colour, ink) >= 4.5, place


def test_letters_that_no_font_has_are_drawn_without_a_warning() -> None:
    assert paint(Scene(90.0, 20.0, (Text(0.0, 9.0, "学习 $x_1$"),)), ["png"], inches=1.0)
