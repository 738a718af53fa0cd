"""A figure of a report: its files, its caption, and the tooltips of its marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from edgecil.report.figures.canvas import render

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class ReportFigure:
    """A figure and its description.

    Attributes:
        name: stem of its file names.
        caption: the text below it, and its text alternative.
        drawing: the Matplotlib figure.
        scale: of its largest size on a page to its size on paper.
        tooltips: by the id of a group of marks, one text per mark, in drawing order.
    """

    name: str
    caption: str
    drawing: Figure
    scale: float = 1.2
    tooltips: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @cached_property
    def svg(self) -> bytes:
        """The figure as an SVG file."""
        return render(self.drawing, ".svg")
