"""Small charts of equal size side by side, one for each method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from edgecil.report.scene.layout import Entry, fit, legend
from edgecil.report.scene.marks import Mark, Scene, Text


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
    x_title: str = "",
    y_title: str = "",
    height: float = 150.0,
    least: float = 230.0,
    indent: float = 40.0,
) -> Scene:
    """Draw panels in rows that fill a width.

    Args:
        titles: one for each panel.
        draw: draws a panel into its box.
        width: of the drawing.
        entries: of the legend.
        x_title: of all x-axes.
        y_title: of all y-axes.
        height: of a panel's box.
        least: least width of a panel.
        indent: of the panels' titles.
    """
    columns = max(1, min(len(titles), int(width // least)))
    step = min(width / columns, 1.8 * least)
    marks, top = legend(entries, 0.0, 2.0, width)
    tall = height + 74.0
    for place, title in enumerate(titles):
        row, column = divmod(place, columns)
        x, y = column * step, top + row * tall
        box = Box(x + 40.0, y + 36.0, x + step - (18.0 if columns > 1 else 8.0), y + 36.0 + height)
        marks.append(Text(x + indent, y + 14.0, fit(title, step - 60.0), 13.0, bold=True))
        if y_title:
            marks.append(Text(x + indent, y + 29.0, y_title, 11.0, colour="faint"))
        marks += draw(title, box)
        if x_title:
            middle = (box.left + box.right) / 2.0
            text = fit(x_title, box.right - box.left + 30.0, 11.0)
            marks.append(Text(middle, box.bottom + 31.0, text, 11.0, "middle", colour="faint"))
    rows = -(-len(titles) // columns)
    return Scene(width, top + rows * tall, tuple(marks))
