"""The marks of a chart, in units of one CSS pixel from the upper left corner.

Colours are names of the theme (:mod:`edgecil.report.scene.theme`), so that a page can change them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from edgecil.io.arrays import Floats

Anchor = Literal["start", "middle", "end"]
Shape = Literal["circle", "square", "diamond", "up", "down", "cross"]


@dataclass(frozen=True)
class Text:
    """A line of text whose base line starts, is centred or ends at a point.

    Attributes:
        x: of the point.
        y: of the point.
        text: plain text.
        size: of the font.
        anchor: what lies at the point.
        bold: whether the font is bold.
        colour: a name of the theme.
        tip: a longer text that a page shows on hover; empty for none.
        turn: degrees by which the text is turned counter-clockwise.
    """

    x: float
    y: float
    text: str
    size: float = 12.0
    anchor: Anchor = "start"
    bold: bool = False
    colour: str = "ink"
    tip: str = ""
    turn: float = 0.0


@dataclass(frozen=True)
class Line:
    """A polyline, or a filled area if `fill` is given.

    Attributes:
        points: at least two.
        stroke: colour of the line; empty for none.
        width: of the line.
        fill: colour of the area that the points enclose; empty for none.
        opacity: of line and area.
        dash: lengths of dashes and gaps; empty for a solid line.
        tip: a text that a page shows on hover; empty for none.
    """

    points: tuple[tuple[float, float], ...]
    stroke: str = "ink"
    width: float = 1.0
    fill: str = ""
    opacity: float = 1.0
    dash: tuple[float, ...] = ()
    tip: str = ""


@dataclass(frozen=True)
class Rect:
    """A filled rectangle.

    Attributes:
        x: of the left side.
        y: of the upper side.
        width: horizontal size.
        height: vertical size.
        fill: its colour.
        opacity: of the colour.
        radius: of its corners.
        tip: a text that a page shows on hover; empty for none.
        data: what a page's script reads, by attribute name.
    """

    x: float
    y: float
    width: float
    height: float
    fill: str = "line"
    opacity: float = 1.0
    radius: float = 0.0
    tip: str = ""
    data: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Dots:
    """Many equal markers.

    Attributes:
        x: (n,) centres.
        y: (n,) centres.
        radius: half the width of a marker.
        colour: a name of the theme.
        shape: of the markers.
        opacity: of the markers.
        data: what a page's script reads, by attribute name.
    """

    x: Floats
    y: Floats
    radius: float = 3.0
    colour: str = "ink"
    shape: Shape = "circle"
    opacity: float = 1.0
    data: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Cells:
    """A grid of coloured cells.

    Attributes:
        x: of the left side.
        y: of the upper side.
        width: of a cell.
        height: of a cell.
        values: (rows, columns); NaN leaves a cell empty.
        low: the value with the first colour of the scale.
        high: the value with the last colour.
        data: what a page's script reads, by attribute name.
    """

    x: float
    y: float
    width: float
    height: float
    values: Floats
    low: float = 0.0
    high: float = 100.0
    data: Mapping[str, str] = field(default_factory=dict)


Mark: TypeAlias = Text | Line | Rect | Dots | Cells


@dataclass(frozen=True, eq=False)
class Scene:
    """A drawing.

    Attributes:
        width: in CSS pixels.
        height: in CSS pixels.
        marks: in drawing order.
    """

    width: float
    height: float
    marks: tuple[Mark, ...]
