"""A figure of a report: on the page for wide and narrow screens, and as files for papers.

PNG and PDF files are drawn by Matplotlib with embedded fonts, with the same bytes each time. It is
imported when the first file is painted, so that a page alone is written quickly.
"""

from __future__ import annotations

import html
import io
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from edgecil.report.drawing import NARROW, WIDE, Cells, Dots, Line, Mark, Scene, Text
from edgecil.report.page_text import printable
from edgecil.report.theme import DARK, LIGHT, SHADES, Shape, shade_of

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

_FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif'
# A marker of radius 1 around the current point; circles and squares are caps of a line instead.
_OUTLINES: dict[Shape, tuple[tuple[float, float], ...]] = {
    "diamond": ((-1.25, 0.0), (1.25, -1.25), (1.25, 1.25), (-1.25, 1.25)),
    "up": ((0.0, -1.2), (1.2, 2.2), (-2.4, 0.0)),
    "down": ((0.0, 1.2), (1.2, -2.2), (-2.4, 0.0)),
    "cross": (
        *((-0.4, -1.2), (0.8, 0.0), (0.0, 0.8), (0.8, 0.0), (0.0, 0.8), (-0.8, 0.0)),
        *((0.0, 0.8), (-0.8, 0.0), (0.0, -0.8), (-0.8, 0.0), (0.0, -0.8), (0.8, 0.0)),
    ),
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


def inline_svg(
    scene: Scene, label: str, *, css_class: str = "", cells: str = "", again: bool = False
) -> Markup:
    """A scene as part of a page; the second drawing of a figure (`again`) refers to its cells."""
    attributes = f'class="chart {css_class}" role="img" aria-label="{_escape(label)}"'
    return Markup(_svg(scene, attributes, cells=cells, again=again))


def svg_file(scene: Scene, label: str) -> bytes:
    """A scene as the content of an SVG file that follows the reader's light or dark theme."""
    style = f"svg{{font-family:{_FONT}}}{theme_css('svg')}"
    head = f"<title>{_escape(label)}</title><style>{style}</style>"
    size = f'role="img" width="{_number(scene.width)}" height="{_number(scene.height)}"'
    return f"{_svg(scene, size, head)}\n".encode()


def theme_css(root: str = ":root") -> str:
    """The style sheet of all charts: variables for both themes, and a class for every colour."""
    light, dark = (";".join(f"--{k}:{v}" for k, v in theme.items()) for theme in (LIGHT, DARK))
    rules = [
        f"{root}{{{light}}}",
        f"@media screen and (prefers-color-scheme:dark){{{root}{{{dark}}}}}",
        *(f".f-{name}{{fill:var(--{name})}}.s-{name}{{stroke:var(--{name})}}" for name in LIGHT),
        *(f".h{place}{{stroke:{colour}}}" for place, colour in enumerate(SHADES)),
    ]
    return "\n".join(rules)


def _svg(
    scene: Scene, attributes: str, head: str = "", *, cells: str = "", again: bool = False
) -> str:
    box = f"0 0 {_number(scene.width)} {_number(scene.height)}"
    body = "\n".join(_element(mark, cells, again=again) for mark in scene.marks)
    start = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" {attributes}>'
    return f"{start}{head}\n{body}\n</svg>"


def _element(mark: Mark, cells: str, *, again: bool) -> str:
    if isinstance(mark, Cells):
        return _cells(mark, cells if mark.data else "", again=again)
    if not isinstance(mark, Text):
        return _line(mark) if isinstance(mark, Line) else _dots(mark)
    parts = [f'x="{_number(mark.x)}" y="{_number(mark.y)}" font-size="{_number(mark.size)}"']
    parts += [] if mark.anchor == "start" else [f'text-anchor="{mark.anchor}"']
    parts += ['font-weight="600"'] if mark.bold else []
    return f'<text class="f-{mark.colour}" {" ".join(parts)}>{_escape(mark.text)}</text>'


def _line(mark: Line) -> str:
    classes = [f"f-{mark.fill}"] if mark.fill else []
    parts = [] if mark.fill else ['fill="none"']
    if mark.stroke:
        classes.append(f"s-{mark.stroke}")
        parts += [] if mark.width == 1.0 else [f'stroke-width="{_number(mark.width)}"']
        parts.append('stroke-linejoin="round"')
    if mark.dash:
        parts.append(f'stroke-dasharray="{" ".join(map(_number, mark.dash))}"')
    path = "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in mark.points)
    end = "Z" if mark.fill else ""
    attributes = " ".join([*parts, *_opacity(mark.opacity)])
    start = f'<path class="{" ".join(classes)}" {attributes} d="{path}{end}"'
    return f"{start}><title>{_escape(mark.tip)}</title></path>" if mark.tip else f"{start}/>"


def _dots(mark: Dots) -> str:
    points = [f"{_tenth(x)} {_tenth(y)}" for x, y in zip(mark.x, mark.y, strict=True)]
    attributes = " ".join([*_opacity(mark.opacity), *_data(mark.data)])
    outline = _OUTLINES.get(mark.shape)
    if outline is None:
        cap = "round" if mark.shape == "circle" else "square"
        width = 2.0 * mark.radius * (1.0 if mark.shape == "circle" else 0.9)
        path = "".join(f"M{point}h0" for point in points)
        # A square cap adds half the width on both sides of a line of no length.
        style = f'fill="none" stroke-width="{_number(width)}" stroke-linecap="{cap}"'
        return f'<path class="dots s-{mark.colour}" {style} {attributes} d="{path}"/>'
    (x, y), *steps = ((mark.radius * a, mark.radius * b) for a, b in outline)
    shape = f"m{_number(x)} {_number(y)}" + "".join(f"l{_number(a)} {_number(b)}" for a, b in steps)
    path = "".join(f"M{point}{shape}z" for point in points)
    return f'<path class="dots f-{mark.colour}" {attributes} d="{path}"/>'


def _cells(mark: Cells, name: str, *, again: bool) -> str:
    """A path for every colour: lines as thick as a row, in units of one cell."""
    unit = f"scale({mark.width:.5g} {mark.height:.5g})"
    place = f"translate({_number(mark.x)} {_number(mark.y + 0.5 * mark.height)}) {unit}"
    box = " ".join(f"{part:.5g}" for part in (mark.x, mark.y, mark.width, mark.height))
    data = {"box": box, **({} if again else mark.data)} if name else mark.data
    start = f'<g class="cells" {" ".join(_data(data))} transform="{place}">'
    if again and name:
        return f'{start}<use href="#{_escape(name)}"/></g>'
    group = f'<g id="{_escape(name)}">' if name else "<g>"
    paths: dict[int, list[str]] = {}
    for row, values in enumerate(mark.values.tolist()):
        column = 0
        shades = [None if np.isnan(v) else shade_of(v, mark.low, mark.high) for v in values]
        for shade, run in groupby(shades):
            length = len(list(run))
            if shade is not None:
                paths.setdefault(shade, []).append(f"M{column} {row}h{length}")
            column += length
    body = "".join(f'<path class="h{shade}" d="{"".join(d)}"/>' for shade, d in paths.items())
    return f"{start}{group}{body}</g></g>"


def _opacity(opacity: float) -> list[str]:
    return [] if opacity == 1.0 else [f'opacity="{_number(opacity)}"']


def _data(data: Mapping[str, str]) -> list[str]:
    return [f'data-{name}="{_escape(value)}"' for name, value in data.items()]


def _number(value: float) -> str:
    """A coordinate with at most two digits after the point."""
    text = f"{float(value):.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _tenth(value: float) -> str:
    """The coordinate of one of very many dots."""
    return f"{float(value):.1f}".removesuffix(".0")


def _escape(text: str) -> str:
    """Text that cannot close its element; control characters and text direction have no effect."""
    return html.escape(printable(text))
