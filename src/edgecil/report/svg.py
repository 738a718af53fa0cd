"""Scenes as SVG: on a page, with its colours, or as a file with its own."""

from __future__ import annotations

import html
from collections.abc import Mapping
from itertools import groupby

import numpy as np
from markupsafe import Markup

from edgecil.report.drawing import Cells, Dots, Line, Mark, Scene, Text
from edgecil.report.text import printable
from edgecil.report.theme import DARK, LIGHT, SHADES, Shape, shade_of

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
    ]
    for name in LIGHT:
        rules.append(f".f-{name}{{fill:var(--{name})}}.s-{name}{{stroke:var(--{name})}}")
    for place, colour in enumerate(SHADES):
        rules.append(f".h{place}{{stroke:{colour}}}")
    return "\n".join(rules)


def _svg(
    scene: Scene, attributes: str, head: str = "", *, cells: str = "", again: bool = False
) -> str:
    box = f"0 0 {_number(scene.width)} {_number(scene.height)}"
    body = "\n".join(
        _cells(mark, cells if mark.data else "", again=again)
        if isinstance(mark, Cells)
        else _element(mark)
        for mark in scene.marks
    )
    start = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" {attributes}>'
    return f"{start}{head}\n{body}\n</svg>"


def _element(mark: Mark) -> str:
    if isinstance(mark, Text):
        parts = [f'x="{_number(mark.x)}" y="{_number(mark.y)}" font-size="{_number(mark.size)}"']
        parts += [] if mark.anchor == "start" else [f'text-anchor="{mark.anchor}"']
        parts += ['font-weight="600"'] if mark.bold else []
        return f'<text class="f-{mark.colour}" {" ".join(parts)}>{_escape(mark.text)}</text>'
    assert isinstance(mark, Line | Dots)
    return _line(mark) if isinstance(mark, Line) else _dots(mark)


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
