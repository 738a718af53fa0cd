"""Charts as lists of marks, in CSS pixels from the upper left corner; scales, axes and legends.

One description gives the page's SVG and the files for papers (:mod:`edgecil.report.figure`).
Colours are names of :mod:`edgecil.report.theme`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from rich.cells import cell_len

from edgecil.io.arrays import Floats
from edgecil.report.page_text import shorten
from edgecil.report.theme import Shape

WIDE = 1040.0  # pixels of a chart on a desk
NARROW = 360.0  # pixels of a chart on a phone, and of a column of a paper
_LEAST, _TALL = 230.0, 224.0  # pixels of a panel: its least width, its height
_LETTER = 0.57  # mean width of a letter in font sizes
_BOLD_LETTER = 0.66


@dataclass(frozen=True)
class Text:
    """A line of text whose base line starts, is centred or ends at a point."""

    x: float
    y: float
    text: str
    size: float = 12.0
    anchor: Literal["start", "middle", "end"] = "start"
    bold: bool = False
    colour: str = "ink"


@dataclass(frozen=True)
class Line:
    """A polyline, or the area that it encloses if `fill` is given; a page shows `tip` on hover."""

    points: tuple[tuple[float, float], ...]
    stroke: str = "ink"
    width: float = 1.0
    fill: str = ""
    opacity: float = 1.0
    dash: tuple[float, ...] = ()
    tip: str = ""


@dataclass(frozen=True, eq=False)
class Dots:
    """Equal markers at n points; a page's script reads `data`, by attribute name."""

    x: Floats
    y: Floats
    radius: float = 3.0
    colour: str = "ink"
    shape: Shape = "circle"
    opacity: float = 1.0
    data: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Cells:
    """Coloured cells of some width and height for values of shape (rows, columns), NaN for none.

    The colours go from `low` to `high`, which may be the lesser one.
    """

    x: float
    y: float
    width: float
    height: float
    values: Floats
    low: float = 0.0
    high: float = 100.0
    data: Mapping[str, str] = field(default_factory=dict)


Mark: TypeAlias = Text | Line | Dots | Cells


@dataclass(frozen=True, eq=False)
class Scene:
    """Marks in drawing order on an area of some width and height."""

    width: float
    height: float
    marks: tuple[Mark, ...]


def bar(x: float, y: float, width: float, height: float, fill: str, tip: str = "") -> Line:
    """A filled rectangle."""
    right, bottom = x + width, y + height
    return Line(((x, y), (right, y), (right, bottom), (x, bottom)), "", fill=fill, tip=tip)


def dot(x: float, y: float, radius: float, colour: str, shape: Shape, opacity: float = 1.0) -> Dots:
    """One marker."""
    return Dots(np.array([x]), np.array([y]), radius, colour, shape, opacity)


def diamond(x: float, y: float, radius: float, colour: str = "ink") -> list[Mark]:
    """A diamond with a halo of the paper's colour."""
    return [dot(x, y, radius + 1.6, "paper", "diamond"), dot(x, y, radius, colour, "diamond")]


def whisker(low: float, high: float, y: float, colour: str = "ink") -> list[Mark]:
    """A horizontal line with short ends."""
    ends = [Line(((at, y - 4.0), (at, y + 4.0)), colour, 1.4) for at in (low, high)]
    return [Line(((low, y), (high, y)), colour, 1.4), *ends]


@dataclass(frozen=True)
class Scale:
    """A linear map from values between `low` and `high` to positions from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def around(
        cls,
        values: Iterable[float],
        start: float,
        end: float,
        *,
        margin: float = 0.05,
        limits: tuple[float, float] | None = None,
    ) -> Scale:
        """A scale for some values, with a margin in shares of their range inside the limits."""
        numbers = list(values)
        low, high = min(numbers), max(numbers)
        room = margin * (high - low) or 1.0
        wide_low, wide_high = low - room, high + room
        if limits is not None:
            wide_low = min(max(wide_low, limits[0]), low)
            wide_high = max(min(wide_high, limits[1]), high)
        return cls(wide_low, wide_high, start, end)

    def __call__(self, value: float) -> float:
        """The position of a value."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def map(self, values: Floats) -> Floats:
        """The positions of values, shape (n,)."""
        return self.start + (values - self.low) / (self.high - self.low) * (self.end - self.start)


def nice_ticks(low: float, high: float, most: int = 8) -> list[float]:
    """Round numbers between two values: multiples of 1, 2 or 5 times a power of ten.

    >>> nice_ticks(47.3, 63.9, 6)
    [50.0, 55.0, 60.0]
    """
    if not high > low:
        return [low]
    least = (high - low) / most
    power = 10.0 ** math.floor(math.log10(least))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= least)
    digits = max(0, -math.floor(math.log10(step)))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(place * step, digits) + 0.0 for place in range(first, last + 1)]


def tick_text(value: float) -> str:
    """A tick's label, with a true minus sign.

    >>> tick_text(50.0), tick_text(-2.5)
    ('50', '−2.5')
    """
    return f"{value:g}".replace("-", "−")


def x_axis(
    scale: Scale, top: float, bottom: float, *, most: int = 8, title: str = "", size: float = 12.0
) -> list[Mark]:
    """Grid lines from top to bottom, labels below them and a title below the labels."""
    marks: list[Mark] = []
    for tick in nice_ticks(scale.low, scale.high, most):
        at = scale(tick)
        label = Text(at, bottom + size + 4.0, tick_text(tick), size, "middle", colour="faint")
        marks += [Line(((at, top), (at, bottom)), "line"), label]
    if title:
        middle = (scale.start + scale.end) / 2.0
        marks.append(Text(middle, bottom + 2.0 * size + 12.0, title, size, "middle"))
    return marks


def y_axis(
    scale: Scale, left: float, right: float, *, most: int = 6, title: str = "", size: float = 12.0
) -> list[Mark]:
    """Grid lines from left to right, labels to their left and a title above them."""
    marks: list[Mark] = []
    for tick in nice_ticks(scale.low, scale.high, most):
        at = scale(tick)
        label = Text(left - 7.0, at + 0.35 * size, tick_text(tick), size, "end", colour="faint")
        marks += [Line(((left, at), (right, at)), "line"), label]
    if title:
        marks.append(Text(left, min(scale.start, scale.end) - size - 2.0, title, size))
    return marks


def text_width(text: str, size: float = 12.0) -> float:
    """About how wide a text is drawn."""
    return _LETTER * size * cell_len(text)


def label_width(names: Iterable[str], size: float = 13.0, *, most: float = 190.0) -> float:
    """Room for the longest of some names."""
    return min(max((text_width(name, size) for name in names), default=0.0), most)


def cut_text(name: str, width: float, size: float = 13.0, *, bold: bool = False) -> str:
    """A name cut off where the room ends."""
    letter = _BOLD_LETTER if bold else _LETTER
    return shorten(name, max(int(width / (letter * size)), 2))


@dataclass(frozen=True)
class Entry:
    """An entry of a legend; its key is an area, a line, an interval, a whisker or a dot."""

    label: str
    colour: str
    kind: Shape | Literal["area", "line", "interval", "whisker"] = "area"
    dash: tuple[float, ...] = ()
    opacity: float = 1.0


def legend(
    entries: Sequence[Entry], x: float, y: float, width: float, size: float = 12.0
) -> tuple[list[Mark], float]:
    """The marks of a legend that breaks where the width ends, and the y below them."""
    marks: list[Mark] = []
    left, line = x, y
    for entry in entries:
        label = cut_text(entry.label, width - 22.0, size)
        needed = 22.0 + text_width(label, size) + 16.0
        if left > x and left + needed - 16.0 > x + width:
            left, line = x, line + size + 7.0
        marks += _key(entry, left, line + 0.5 * size)
        marks.append(Text(left + 22.0, line + 0.86 * size, label, size, colour="faint"))
        left += needed
    return marks, line + size + 8.0 if entries else y


def _key(entry: Entry, x: float, y: float) -> list[Mark]:
    colour = entry.colour
    match entry.kind:
        case "area":
            return [bar(x, y - 5.0, 15.0, 10.0, colour)]
        case "line":
            return [Line(((x, y), (x + 16.0, y)), colour, 2.2, dash=entry.dash)]
        case "interval":
            line = Line(((x - 1.0, y), (x + 17.0, y)), colour, 5.0)
            return [line, *diamond(x + 8.0, y, 3.8, colour)]
        case "whisker":
            return whisker(x, x + 16.0, y, colour)
        case shape:
            return [dot(x + 8.0, y, 4.0, colour, shape, entry.opacity)]


@dataclass(frozen=True)
class Box:
    """The area of a panel that its axes enclose."""

    left: float
    top: float
    right: float
    bottom: float


def draw_panels(
    titles: Sequence[str],
    draw: Callable[[str, Box], list[Mark]],
    *,
    width: float,
    entries: Sequence[Entry] = (),
    x_title: str,
    y_title: str,
) -> Scene:
    """Draw charts of equal size in rows that fill a width, each into the box of its title."""
    columns = max(1, min(len(titles), int(width // _LEAST)))
    step = min(width / columns, 1.8 * _LEAST)
    marks, top = legend(entries, 0.0, 2.0, width)
    for place, title in enumerate(titles):
        row, column = divmod(place, columns)
        x, y = column * step, top + row * _TALL
        box = Box(x + 40.0, y + 36.0, x + step - (18.0 if columns > 1 else 8.0), y + _TALL - 38.0)
        middle, room = (box.left + box.right) / 2.0, box.right - box.left + 30.0
        below = cut_text(x_title, room, 11.0)
        marks += [
            Text(box.left, y + 14.0, cut_text(title, step - 60.0), 13.0, bold=True),
            Text(box.left, y + 29.0, y_title, 11.0, colour="faint"),
            *draw(title, box),
            Text(middle, box.bottom + 31.0, below, 11.0, "middle", colour="faint"),
        ]
    rows = -(-len(titles) // columns)
    return Scene(width, top + rows * _TALL, tuple(marks))
