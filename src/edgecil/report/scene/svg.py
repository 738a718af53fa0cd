"""Scenes as SVG: on a page, with its colours, or as a file with its own."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping

import numpy as np
from markupsafe import Markup

from edgecil.report.scene.marks import Cells, Dots, Line, Mark, Rect, Scene, Shape, Text
from edgecil.report.scene.theme import DARK, LIGHT, shade_of, shades

FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif'

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


def inline_svg(scene: Scene, label: str, *, css_class: str = "") -> Markup:
    """A scene as part of a page whose style sheet has :func:`theme_css`.

    Args:
        scene: what to draw.
        label: the text alternative.
        css_class: of the element.
    """
    attributes = f'class="chart {css_class}" role="img" aria-label="{_escape(label)}"'
    return Markup(_svg(scene, attributes))


def svg_file(scene: Scene, label: str) -> bytes:
    """A scene as the content of an SVG file that follows the reader's light or dark theme."""
    head = (
        f"<title>{_escape(label)}</title><style>svg{{font-family:{FONT}}}{theme_css('svg')}</style>"
    )
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
    for place, colour in enumerate(shades()):
        rules.append(f".h{place}{{fill:{colour}}}.b{place}{{background:{colour}}}")
    return "\n".join(rules)


def _svg(scene: Scene, attributes: str, head: str = "") -> str:
    box = f"0 0 {_number(scene.width)} {_number(scene.height)}"
    body = "\n".join(_element(mark) for mark in scene.marks)
    start = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" {attributes}>'
    return f"{start}{head}\n{body}\n</svg>"


def _element(mark: Mark) -> str:
    if isinstance(mark, Text):
        return _text(mark)
    if isinstance(mark, Line):
        return _line(mark)
    if isinstance(mark, Rect):
        return _rect(mark)
    return _dots(mark) if isinstance(mark, Dots) else _cells(mark)


def _text(mark: Text) -> str:
    parts = [f'x="{_number(mark.x)}" y="{_number(mark.y)}" font-size="{_number(mark.size)}"']
    if mark.anchor != "start":
        parts.append(f'text-anchor="{mark.anchor}"')
    if mark.bold:
        parts.append('font-weight="600"')
    if mark.turn:
        turn = f"rotate({_number(-mark.turn)} {_number(mark.x)} {_number(mark.y)})"
        parts.append(f'transform="{turn}"')
    start = f'<text class="f-{mark.colour}" {" ".join(parts)}>'
    return f"{start}{_tip(mark.tip)}{_escape(mark.text)}</text>"


def _line(mark: Line) -> str:
    classes = [f"f-{mark.fill}"] if mark.fill else []
    parts = [] if mark.fill else ['fill="none"']
    if mark.stroke:
        classes.append(f"s-{mark.stroke}")
        if mark.width != 1.0:
            parts.append(f'stroke-width="{_number(mark.width)}"')
        parts.append('stroke-linejoin="round"')
    if mark.dash:
        parts.append(f'stroke-dasharray="{" ".join(map(_number, mark.dash))}"')
    path = "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in mark.points)
    end = "Z" if mark.fill else ""
    attributes = " ".join([*parts, *_opacity(mark.opacity)])
    start = f'<path class="{" ".join(classes)}" {attributes} d="{path}{end}"'
    return _closed(start, "path", mark.tip)


def _rect(mark: Rect) -> str:
    size = {"x": mark.x, "y": mark.y, "width": mark.width, "height": mark.height}
    parts = [f'{name}="{_number(value)}"' for name, value in size.items()]
    if mark.radius:
        parts.append(f'rx="{_number(mark.radius)}"')
    attributes = " ".join([*parts, *_opacity(mark.opacity), *_data(mark.data)])
    return _closed(f'<rect class="f-{mark.fill}" {attributes}', "rect", mark.tip)


def _dots(mark: Dots) -> str:
    points = [f"{_number(x)} {_number(y)}" for x, y in zip(mark.x, mark.y, strict=True)]
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


def _cells(mark: Cells) -> str:
    """One path for every colour."""
    paths: dict[int, list[str]] = {}
    width, height = _number(mark.width), _number(mark.height)
    for row, column in zip(*np.nonzero(~np.isnan(mark.values)), strict=True):
        place = shade_of(float(mark.values[row, column]), mark.low, mark.high)
        x, y = mark.x + column * mark.width, mark.y + row * mark.height
        cell = f"M{_number(x)} {_number(y)}h{width}v{height}h-{width}z"
        paths.setdefault(place, []).append(cell)
    body = "".join(f'<path class="h{place}" d="{"".join(d)}"/>' for place, d in paths.items())
    return f'<g class="cells" {" ".join(_data(mark.data))}>{body}</g>'


def _closed(start: str, tag: str, tip: str) -> str:
    return f"{start}>{_tip(tip)}</{tag}>" if tip else f"{start}/>"


def _tip(tip: str) -> str:
    return f"<title>{_escape(tip)}</title>" if tip else ""


def _opacity(opacity: float) -> list[str]:
    return [] if opacity == 1.0 else [f'opacity="{_number(opacity)}"']


def _data(data: Mapping[str, str]) -> Iterable[str]:
    return [f'data-{name}="{_escape(value)}"' for name, value in data.items()]


def _number(value: float) -> str:
    """A coordinate with at most two digits after the point."""
    text = f"{float(value):.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _escape(text: str) -> str:
    """Text that cannot close its element; control characters and text direction have no effect."""
    plain = "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in text)
    return html.escape(plain)
