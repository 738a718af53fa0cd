"""Room for text: widths of names, shortened names, legends that wrap."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from rich.cells import cell_len

from edgecil.report.scene.marks import Dots, Line, Mark, Rect, Shape, Text

_LETTER = 0.57  # mean width of a letter in font sizes
_BOLD_LETTER = 0.66
_RTL = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]+"
_RIGHT_TO_LEFT = re.compile(f"{_RTL}(?: {_RTL})*")


@dataclass(frozen=True)
class Entry:
    """An entry of a legend.

    Attributes:
        label: its text.
        colour: of its key.
        kind: the key: an area, a line, a dashed line, or a marker.
        dash: lengths of dashes and gaps of a line.
        opacity: of a marker.
    """

    label: str
    colour: str
    kind: Shape | str = "area"
    dash: tuple[float, ...] = ()
    opacity: float = 1.0


def text_width(text: str, size: float = 12.0) -> float:
    """About how wide a text is drawn."""
    return _LETTER * size * cell_len(text)


def printable(text: str) -> str:
    r"""A text whose control characters, also those of text direction, are blanks.

    Words that are written from right to left are isolated (U+2068, U+2069), so that they do not
    change the order of what stands beside them.

    >>> printable("a\u202eb\x07c")
    'a b c'
    """
    if not text.isprintable():
        text = "".join(one if one.isprintable() or one == "\n" else " " for one in text)
    return text if text.isascii() else _RIGHT_TO_LEFT.sub("\u2068\\g<0>\u2069", text)


def shorten(name: str, most: int = 28) -> str:
    """A name for a place with room for few letters; control characters become spaces.

    >>> shorten("icarl"), shorten("x" * 40, 5)
    ('icarl', 'xxxx…')
    """
    line = "".join(letter if letter.isprintable() else " " for letter in name)
    return line if len(line) <= most else line[: most - 1] + "…"


def label_width(names: Iterable[str], size: float = 13.0, *, most: float = 190.0) -> float:
    """Room for the longest of some names."""
    return min(max((text_width(name, size) for name in names), default=0.0), most)


def fit(name: str, width: float, size: float = 13.0, *, bold: bool = False) -> str:
    """A name cut off where the room ends."""
    letter = _BOLD_LETTER if bold else _LETTER
    return shorten(name, max(int(width / (letter * size)), 2))


def legend(
    entries: Sequence[Entry], x: float, y: float, width: float, size: float = 12.0
) -> tuple[list[Mark], float]:
    """A legend that starts at a point and breaks where the width ends.

    Returns:
        The marks, and the y below them.
    """
    marks: list[Mark] = []
    left, line = x, y
    for entry in entries:
        label = fit(entry.label, width - 22.0, size)
        needed = 22.0 + 0.93 * text_width(label, size) + 14.0
        if left > x and left + needed - 14.0 > x + width:
            left, line = x, line + size + 7.0
        marks += _key(entry, left, line + 0.5 * size)
        marks.append(Text(left + 22.0, line + 0.86 * size, label, size, colour="faint"))
        left += needed
    return marks, line + size + 8.0 if entries else y


def _key(entry: Entry, x: float, y: float) -> list[Mark]:
    if entry.kind == "area":
        return [Rect(x, y - 5.0, 15.0, 10.0, entry.colour, radius=2.0)]
    if entry.kind == "line":
        return [Line(((x, y), (x + 16.0, y)), entry.colour, 2.2, dash=entry.dash)]
    if entry.kind == "interval":
        return [
            Line(((x - 1.0, y), (x + 17.0, y)), entry.colour, 5.0),
            *marker(x + 8.0, y, 3.8, entry.colour),
        ]
    if entry.kind == "whisker":
        return whisker(x, x + 16.0, y, entry.colour)
    if entry.kind == "bar":
        ends = (x + 2.0, x + 14.0)
        return [Line(((at, y - 5.0), (at, y + 5.0)), entry.colour, 1.6) for at in ends]
    shape: Shape = entry.kind  # type: ignore[assignment]
    return [Dots(np.array([x + 8.0]), np.array([y]), 4.0, entry.colour, shape, entry.opacity)]


def marker(x: float, y: float, radius: float, colour: str = "ink") -> list[Mark]:
    """A diamond with a halo of the paper's colour."""
    at, level = np.array([x]), np.array([y])
    return [
        Dots(at, level, radius + 1.6, "paper", "diamond"),
        Dots(at, level, radius, colour, "diamond"),
    ]


def whisker(low: float, high: float, y: float, colour: str = "ink") -> list[Mark]:
    """A horizontal line with short ends."""
    ends = [Line(((at, y - 4.0), (at, y + 4.0)), colour, 1.4) for at in (low, high)]
    return [Line(((low, y), (high, y)), colour, 1.4), *ends]
