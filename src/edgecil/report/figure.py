"""A figure of a report: on the page for wide and narrow screens, and as files for papers.

PNG and PDF files are drawn by Matplotlib with embedded fonts, with the same bytes each time. It is
imported when the first file is painted, so that a page alone is written quickly.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from edgecil.report.drawing import NARROW, WIDE, Dots, Line, Mark, Scene, Text
from edgecil.report.svg import inline_svg, svg_file
from edgecil.report.theme import LIGHT, SHADES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TEXT_INCHES = 7.0  # width of a page's text in a paper
_COLUMN_INCHES = 3.4  # width of one of two columns
_COLUMN = "column.pdf"
KINDS = {"svg": "SVG", "png": "PNG", "pdf": "PDF", _COLUMN: "PDF, one column"}
SVG_ONLY = {"svg": "SVG"}
_PNG_DOTS_PER_PIXEL = 2.0
_ALIGN = {"start": "left", "middle": "center", "end": "right"}
_MARKERS = {"circle": "o", "square": "s", "diamond": "D", "up": "^", "down": "v", "cross": "P"}
# Without these entries files hold no date and no random id.
_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


@dataclass(frozen=True, eq=False)
class ReportFigure:
    """A figure, drawn wide for desks and papers, and narrow for phones and a paper's column."""

    name: str
    caption: str
    wide: Scene
    narrow: Scene

    @classmethod
    def of(
        cls, name: str, caption: str, draw: Callable[[float], Scene], wide: float = WIDE
    ) -> ReportFigure:
        """A figure of which a function draws both widths."""
        return cls(name, caption, draw(wide), draw(NARROW))

    @property
    def html(self) -> Markup:
        """Both drawings; the page's style sheet shows the one that fits."""
        cells = f"cells-{self.name}"
        wide = inline_svg(self.wide, self.caption, css_class="wide", cells=cells)
        narrow = inline_svg(self.narrow, self.caption, css_class="narrow", cells=cells, again=True)
        return Markup(f"{wide}\n{narrow}")

    def files(self, kinds: Iterable[str] = KINDS) -> Iterator[tuple[str, bytes]]:
        """The files for papers and slides of some kinds, by name."""
        yield f"{self.name}.svg", svg_file(self.wide, self.caption)
        if "pdf" in kinds:
            inches = _TEXT_INCHES * self.wide.width / WIDE
            for kind, content in paint(self.wide, ["png", "pdf"], inches=inches).items():
                yield f"{self.name}.{kind}", content
            column = paint(self.narrow, ["pdf"], inches=_COLUMN_INCHES)
            yield f"{self.name}.{_COLUMN}", column["pdf"]


def paint(scene: Scene, kinds: Iterable[str], *, inches: float) -> dict[str, bytes]:
    """A scene as the content of `png` and `pdf` files, by kind; the same bytes each time."""
    import matplotlib
    from matplotlib.figure import Figure

    files = {}
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({"text.parse_math": False, "pdf.fonttype": 42})
        figure = Figure(figsize=(inches, inches * scene.height / scene.width))
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_axis_off()
        axes.set_xlim(0.0, scene.width)
        axes.set_ylim(scene.height, 0.0)
        unit = 72.0 * inches / scene.width  # points per pixel of the scene
        for level, mark in enumerate(scene.marks):
            _draw(axes, mark, unit, level)
        for kind in kinds:
            file = io.BytesIO()
            figure.savefig(
                file,
                format=kind,
                dpi=_PNG_DOTS_PER_PIXEL * scene.width / inches,
                metadata=_METADATA[kind],
                transparent=kind == "pdf",
            )
            files[kind] = file.getvalue()
    return files


def _draw(axes: Axes, mark: Mark, unit: float, level: int) -> None:
    """Add a mark to axes whose limits are fixed, so that no artist has to be measured."""
    from matplotlib.colors import ListedColormap
    from matplotlib.lines import Line2D
    from matplotlib.patches import Polygon

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
            zorder=level,
        )
    elif isinstance(mark, Line):
        shared: dict[str, Any] = {"alpha": mark.opacity, "zorder": level}
        if mark.fill:
            fill = LIGHT[mark.fill]
            axes.add_artist(Polygon(np.array(mark.points), facecolor=fill, lw=0.0, **shared))
        if mark.stroke:
            shared |= {"color": LIGHT[mark.stroke], "lw": mark.width * unit}
            if mark.dash:
                shared["ls"] = (0.0, [part / mark.width for part in mark.dash])
            axes.add_artist(
                Line2D(*zip(*mark.points, strict=True), solid_capstyle="butt", **shared)
            )
    elif isinstance(mark, Dots):
        shared = {"color": LIGHT[mark.colour], "alpha": mark.opacity, "zorder": level}
        shared |= {"marker": _MARKERS[mark.shape], "ms": 2.0 * mark.radius * unit, "mew": 0.0}
        axes.add_artist(Line2D(mark.x, mark.y, linestyle="none", **shared))
    else:
        rows, columns = mark.values.shape
        low, high = sorted((mark.low, mark.high))
        axes.pcolormesh(
            mark.x + mark.width * np.arange(columns + 1),
            mark.y + mark.height * np.arange(rows + 1),
            np.ma.masked_invalid(mark.values),
            cmap=ListedColormap(list(SHADES if mark.high >= mark.low else SHADES[::-1])),
            vmin=low,
            vmax=high if high > low else low + 1.0,
            zorder=level,
        )
