"""Scenes as PNG and PDF files, drawn by Matplotlib with embedded fonts."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from edgecil.io.garbage import no_collection
from edgecil.report.figures.canvas import drawing, small_fonts
from edgecil.report.scene.marks import Cells, Dots, Line, Mark, Rect, Scene, Text
from edgecil.report.scene.theme import LIGHT, shades

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_POINTS_PER_INCH = 72.0
_PNG_DOTS_PER_PIXEL = 2.0
_ALIGN = {"start": "left", "middle": "center", "end": "right"}
_MARKERS = {
    "circle": "o",
    "square": "s",
    "diamond": "D",
    "up": "^",
    "down": "v",
    "cross": "P",
}
_NO_DATES: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def paint(scene: Scene, kinds: Iterable[str], *, inches: float) -> dict[str, bytes]:
    """A scene as the content of files, by kind: the same scene always gives the same bytes.

    Letters that no installed font has are drawn as boxes.

    Args:
        scene: what to draw.
        kinds: `png`, two dots per pixel on white, and `pdf`, with embedded fonts.
        inches: width on paper; a PNG has the same proportions.
    """
    with no_collection(), drawing(), small_fonts(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        figure = _figure(scene, inches)
        return {kind: _content(figure, kind, scene.width / inches) for kind in kinds}


def _content(figure: Figure, kind: str, pixels_per_inch: float) -> bytes:
    file = io.BytesIO()
    figure.savefig(
        file,
        format=kind,
        dpi=_PNG_DOTS_PER_PIXEL * pixels_per_inch,
        metadata=_NO_DATES[kind],
        transparent=kind == "pdf",
    )
    return file.getvalue()


def _figure(scene: Scene, inches: float) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(inches, inches * scene.height / scene.width))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_xlim(0.0, scene.width)
    axes.set_ylim(scene.height, 0.0)
    unit = _POINTS_PER_INCH * inches / scene.width  # points per pixel of the scene
    for level, mark in enumerate(scene.marks):
        _draw(axes, mark, unit, level)
    return figure


def _draw(axes: Axes, mark: Mark, unit: float, level: int) -> None:
    """Add a mark to axes whose limits are fixed, so that no artist has to be measured."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import FancyBboxPatch

    if isinstance(mark, Text):
        axes.text(
            mark.x,
            mark.y,
            mark.text,
            fontsize=0.94 * mark.size * unit,  # DejaVu Sans is wider than the fonts of browsers
            fontweight="bold" if mark.bold else "normal",
            color=LIGHT[mark.colour],
            ha=_ALIGN[mark.anchor],
            va="baseline",
            rotation=mark.turn,
            rotation_mode="anchor",
            zorder=level,
        )
    elif isinstance(mark, Line):
        _draw_line(axes, mark, unit, level)
    elif isinstance(mark, Rect):
        style = f"round,pad=0,rounding_size={mark.radius}" if mark.radius else "square,pad=0"
        box = FancyBboxPatch(
            (mark.x, mark.y),
            mark.width,
            mark.height,
            boxstyle=style,
            facecolor=LIGHT[mark.fill],
            edgecolor="none",
            alpha=mark.opacity,
            zorder=level,
        )
        axes.add_artist(box)
    elif isinstance(mark, Dots):
        dots = Line2D(
            mark.x,
            mark.y,
            linestyle="none",
            marker=_MARKERS[mark.shape],
            color=LIGHT[mark.colour],
            markersize=2.0 * mark.radius * unit,
            markeredgewidth=0.0,
            alpha=mark.opacity,
            zorder=level,
        )
        axes.add_artist(dots)
    else:
        _draw_cells(axes, mark, level)


def _draw_line(axes: Axes, mark: Line, unit: float, level: int) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Polygon

    if mark.fill:
        area = Polygon(
            np.array(mark.points),
            facecolor=LIGHT[mark.fill],
            edgecolor="none",
            alpha=mark.opacity,
            lw=0.0,
            zorder=level,
        )
        axes.add_artist(area)
    if mark.stroke:
        width = mark.width * unit
        line = Line2D(
            *zip(*mark.points, strict=True),
            color=LIGHT[mark.stroke],
            lw=width,
            ls=(0.0, [part * unit / width for part in mark.dash]) if mark.dash else "solid",
            alpha=mark.opacity,
            solid_capstyle="butt",
            zorder=level,
        )
        axes.add_artist(line)


def _draw_cells(axes: Axes, mark: Cells, level: int) -> None:
    from matplotlib.colors import ListedColormap

    rows, columns = mark.values.shape
    axes.pcolormesh(
        mark.x + mark.width * np.arange(columns + 1),
        mark.y + mark.height * np.arange(rows + 1),
        np.ma.masked_invalid(mark.values),
        cmap=ListedColormap(list(shades() if mark.high >= mark.low else shades()[::-1])),
        vmin=min(mark.low, mark.high),
        vmax=max(mark.low, mark.high) if mark.high != mark.low else mark.low + 1.0,
        zorder=level,
    )
