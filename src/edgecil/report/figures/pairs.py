"""The mean difference of every pair of methods with its interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgecil.estimation.comparison import Comparison
from edgecil.estimation.population import LEVEL
from edgecil.report.figures.report_figure import FILE_KINDS, NARROW, SVG_ONLY, WIDE, ReportFigure
from edgecil.report.scene.layout import fit, label_width
from edgecil.report.scene.marks import Dots, Line, Scene, Text
from edgecil.report.scene.scale import Scale, x_axis

Pair = tuple[str, str, Comparison]


def build_pairs(
    pairs: Sequence[Pair], *, name: str, is_small: bool = True, higher_is_better: bool = True
) -> ReportFigure | None:
    """The interval plot of all pairs; None without pairs.

    Args:
        pairs: first method, second method, and their comparison.
        name: stem of its file names.
        is_small: whether it has PNG and PDF files.
        higher_is_better: whether a positive difference speaks for the first method.
    """
    if not pairs:
        return None
    caption = (
        "Mean difference of each pair of methods on the orders that both ran, with its "
        f"{100.0 * LEVEL:g} % interval. An interval that does not touch 0 is coloured."
        + ("" if higher_is_better else " Lower is better: a negative difference is a gain.")
    )
    wide, narrow = draw_pairs(pairs), draw_pairs(pairs, width=NARROW)
    return ReportFigure(name, caption, wide, narrow, tuple(FILE_KINDS) if is_small else SVG_ONLY)


def draw_pairs(pairs: Sequence[Pair], *, width: float = WIDE) -> Scene:
    """Draw one row per pair, in the given order from top to bottom."""
    is_narrow = width < 600.0
    height = 38.0 if is_narrow else 26.0 if len(pairs) <= 20 else 19.0
    labels = [f"{first} − {second}" for first, second, _ in pairs]
    room = width if is_narrow else label_width(labels, 12.5, most=320.0)
    numbers = 0.0 if is_narrow else 190.0
    left, right = (8.0, width - 8.0) if is_narrow else (room + 24.0, width - numbers)
    values = [0.0]
    for _, _, pair in pairs:
        values += [pair.difference, *(pair.interval or ())]
    scale = Scale.around(values, left, right, margin=0.04)
    top = 20.0
    bottom = top + height * len(pairs)
    title = "difference, points"
    marks = x_axis(scale, top, bottom, most=5 if is_narrow else 9, title=title)
    marks.append(Line(((scale(0.0), top), (scale(0.0), bottom)), "faint", 1.2))
    if not is_narrow:
        heads = ((right + 128.0, "difference"), (width, "first wins"))
        marks += [Text(x, top - 7.0, text, 11.5, "end", colour="faint") for x, text in heads]
    for place, (label, (_, _, pair)) in enumerate(zip(labels, pairs, strict=True)):
        upper = top + place * height
        base = upper + (0.72 if is_narrow else 0.5) * height
        wins = f"{100.0 * pair.won:.0f} %"
        low, high = pair.interval or (pair.difference, pair.difference)
        difference = f"{pair.difference:+.1f}".replace("-", "−")
        if is_narrow:
            marks.append(Text(0.0, upper + 14.0, fit(label, width - 110.0, 12.0), 12.0))
            text = f"{difference}  ·  wins {wins}"
            marks.append(Text(width, upper + 14.0, text, 11.5, "end", colour="faint"))
        else:
            span = "" if pair.interval is None else f" ({low:+.1f} to {high:+.1f})"
            marks.append(Text(0.0, base + 4.0, fit(label, room, 12.5), 12.5))
            text = difference + span.replace("-", "−")
            marks.append(Text(right + 128.0, base + 4.0, text, 12.0, "end"))
            marks.append(Text(width, base + 4.0, wins, 12.0, "end"))
        colour = "accent" if low > 0.0 or high < 0.0 else "faint"
        marks.append(Line(((scale(low), base), (scale(high), base)), colour, 3.0))
        x, y = np.array([scale(pair.difference)]), np.array([base])
        marks.append(Dots(x, y, 4.0, colour, "diamond"))
    return Scene(width, bottom + 44.0, tuple(marks))
