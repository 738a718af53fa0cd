"""What a page shows: sections of figures and tables, its own and further ones of other packages.

A package adds a section by an entry point of the group `edgecil.sections`: a function of a
dataset's analysis and of a suffix for the names of its files. It returns a :class:`Section`, or
None if there is nothing to show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import entry_points

from edgecil.analysis.answers import Analysis, DatasetAnalysis
from edgecil.errors import name_parameters
from edgecil.report import analysis_tables as tables, charts, narrative
from edgecil.report.figure import ReportFigure
from edgecil.report.order_table import OrderTable, list_pairs, rank
from edgecil.report.overview import build_overview, explain
from edgecil.report.table import Table
from edgecil.wording.comparison_sentences import describe_comparisons
from edgecil.wording.metric_words import MetricWords, metric_words

ENTRY_POINTS = "edgecil.sections"
_MOST_PAIRS = 15  # drawn without a fold


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


@dataclass(frozen=True, eq=False)
class MetricView:
    """Everything on a page that changes with the metric; what there is no data for is None.

    `many_pairs` is how many pairs there are if their plot is folded, else 0; `maps` are the heat
    maps of classes by method.
    """

    words: MetricWords
    answer: list[str]
    next_step: str
    warnings: list[str]
    overview: ReportFigure
    explanation: str
    curves: ReportFigure | None
    pairs: ReportFigure | None
    many_pairs: int
    maps: Mapping[str, ReportFigure]
    tables: Mapping[str, Table | None]
    sections: tuple[Section, ...] = ()

    @property
    def figures(self) -> list[ReportFigure]:
        """Every figure."""
        added = (part.figure for section in self.sections for part in section.parts)
        shown = (self.overview, self.curves, self.pairs, *self.maps.values(), *added)
        return [figure for figure in shown if figure is not None]

    @property
    def all_tables(self) -> list[Table]:
        """Every table."""
        added = (part.table for section in self.sections for part in section.parts)
        return [table for table in (*self.tables.values(), *added) if table is not None]


def build_view(dataset: DatasetAnalysis, orders: OrderTable, *, suffix: str = "") -> MetricView:
    """Build the view of one metric from its analysis and its values on the page's orders."""
    words = metric_words(dataset.metric)
    ranked = rank(dataset)
    pairs = list_pairs(dataset, ranked)
    shown = {
        "summary": tables.summary_table(dataset, ranked, narrative.about_training(dataset)),
        "orders": tables.orders_table(dataset, orders),
        "boundaries": tables.boundary_table(dataset),
        "comparisons": tables.comparisons_table(dataset),
    }
    maps = {name: charts.build_class_map(dataset, name, suffix) for name in ranked}
    sections = [point.load()(dataset, suffix) for point in entry_points(group=ENTRY_POINTS)]
    if prediction := charts.build_prediction(dataset, orders, name=f"prediction{suffix}"):
        part = Part("Predictors of accuracy", prediction)
        sections.insert(0, Section("details", "Details", "", (part,)))
    return MetricView(
        words,
        narrative.describe_answer(dataset, ranked, words),
        narrative.next_step(dataset, ranked),
        [name_parameters(warning, repr) for warning in narrative.warnings(dataset)],
        build_overview(dataset, ranked, orders, name=f"overview{suffix}"),
        explain(dataset),
        charts.build_curves(dataset, words, suffix),
        charts.build_pairs(pairs, name=f"pairs{suffix}"),
        len(pairs) if len(pairs) > _MOST_PAIRS else 0,
        {name: figure for name, figure in maps.items() if figure is not None},
        {
            key: replace(table, name=f"{table.name}{suffix}") if table.rows else None
            for key, table in shown.items()
        },
        tuple(section for section in sections if section is not None),
    )


def datasets_section(analysis: Analysis) -> Section | None:
    """Pairs and performance profiles over several datasets; None with one."""
    differences = charts.build_over_datasets(analysis)
    if differences is None:
        return None
    words = metric_words(analysis.options.metric)
    parts = [Part(figure=differences)]
    if analysis.profiles:
        parts.append(Part(figure=charts.build_profiles(analysis.profiles, words)))
    overall = [group for group in analysis.compared_groups if group.dataset is None]
    lede = " ".join(describe_comparisons(overall))
    return Section("datasets", "All datasets", lede, tuple(parts))
