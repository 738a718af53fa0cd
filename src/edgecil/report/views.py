"""What a page shows for one metric: the answer, the chart, comparisons, classes and details."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from edgecil.estimation.analysis import Analysis, DatasetAnalysis
from edgecil.estimation.sentences import describe_overall
from edgecil.io.arrays import Floats
from edgecil.report import narrative, tables
from edgecil.report.charts import (
    build_class_map,
    build_curves,
    build_over_datasets,
    build_pairs,
    build_prediction,
    draw_profiles,
)
from edgecil.report.figure import ReportFigure
from edgecil.report.metrics import MetricWords, metric_words
from edgecil.report.orders import OrderTable
from edgecil.report.overview import build_overview, explain
from edgecil.report.sections import Part, Section, added_sections
from edgecil.report.summary import list_pairs, rank
from edgecil.report.table import Table

_LEAST_DOTS = 10  # orders for a chart of a predictor
_MOST_PAIRS = 15  # drawn without a fold


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
    def figures(self) -> Iterator[ReportFigure]:
        """Every figure."""
        shown = (self.overview, self.curves, self.pairs, *self.maps.values())
        yield from (one for one in shown if one is not None)
        for section in self.sections:
            yield from section.figures


def build_view(
    dataset: DatasetAnalysis,
    orders: OrderTable,
    values: Mapping[str, Floats],
    *,
    suffix: str = "",
) -> MetricView:
    """Build the view of one metric from its analysis and its values on the page's orders."""
    words = metric_words(dataset.metric)
    ranked = rank(dataset)
    pairs = list_pairs(dataset, ranked)
    about = narrative.about_training(dataset)
    shown = {
        "summary": tables.summary_table(dataset, ranked, about),
        "orders": tables.orders_table(dataset, replace(orders, values=dict(values))),
        "boundaries": tables.boundary_table(dataset),
        "comparisons": tables.comparisons_table(dataset),
    }
    filled = {
        key: replace(table, name=f"{table.name}{suffix}") if table.rows else None
        for key, table in shown.items()
    }
    maps = {name: build_class_map(dataset, name, suffix=suffix) for name in ranked}
    prediction = None
    if len(orders) >= _LEAST_DOTS:
        prediction = build_prediction(dataset, orders, values, name=f"prediction{suffix}")
    details = (Part("Predictors of accuracy", prediction),)
    return MetricView(
        words,
        narrative.answer(dataset, ranked, words),
        narrative.next_step(dataset, ranked),
        narrative.warnings(dataset),
        build_overview(dataset, ranked, orders, values, name=f"overview{suffix}"),
        explain(dataset),
        build_curves(dataset, words, name=f"curves{suffix}"),
        build_pairs(pairs, name=f"pairs{suffix}", higher_is_better=words.higher_is_better),
        len(pairs) if len(pairs) > _MOST_PAIRS else 0,
        {name: one for name, one in maps.items() if one is not None},
        filled,
        (
            *([Section("details", "Details", "", details)] if prediction else ()),
            *added_sections(dataset, suffix),
        ),
    )


def datasets_section(analysis: Analysis) -> Section | None:
    """Pairs and performance profiles over several datasets; None with one."""
    differences = build_over_datasets(analysis, name="datasets")
    if differences is None:
        return None
    words = metric_words(analysis.options.metric)
    caption = (
        "Share of each method's runs above a score, a mean over the datasets, with its 90 % band: "
        "a higher line is better."
    )
    profile = ReportFigure.of(
        "profiles",
        caption,
        lambda width: draw_profiles(analysis.profiles, f"{words.title}, {words.unit}", width),
    )
    parts = [Part(figure=differences), *([Part(figure=profile)] if analysis.profiles else ())]
    lede = " ".join(
        describe_overall(analysis.over_datasets, higher_is_better=words.higher_is_better)
    )
    return Section("datasets", "All datasets", lede, tuple(parts))
