"""Sections of a page: titled figures and tables, the page's own and those of other packages.

A package adds a section by an entry point of the group `edgecil.sections`: a function of a
dataset's analysis and of a suffix for the names of its files. It returns a :class:`Section`, or
None if there is nothing to show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import TypeAlias

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.report.figure import ReportFigure
from edgecil.report.table import Table

ENTRY_POINTS = "edgecil.sections"


@dataclass(frozen=True)
class Part:
    """A figure, a table below it or both; `folded` is the line that opens the table."""

    title: str = ""
    figure: ReportFigure | None = None
    table: Table | None = None
    folded: str = ""


@dataclass(frozen=True)
class Section:
    """A section of a page, for one metric; the id, its anchor, is the same for every metric."""

    id: str
    title: str
    lede: str
    parts: tuple[Part, ...]

    @property
    def figures(self) -> list[ReportFigure]:
        """Every figure."""
        return [part.figure for part in self.parts if part.figure is not None]

    @property
    def tables(self) -> list[Table]:
        """Every table."""
        return [part.table for part in self.parts if part.table is not None]


SectionBuilder: TypeAlias = Callable[[DatasetAnalysis, str], "Section | None"]


def added_sections(dataset: DatasetAnalysis, suffix: str) -> Iterator[Section]:
    """Yield the sections that installed packages add to the page of a dataset."""
    for point in entry_points(group=ENTRY_POINTS):
        build: SectionBuilder = point.load()
        section = build(dataset, suffix)
        if section is not None:
            yield section
