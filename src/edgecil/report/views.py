"""What a page shows for one metric: the answer, the chart, comparisons and details."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.estimation.comparison import Comparison
from edgecil.estimation.order_table import OrderRow
from edgecil.estimation.sentences import describe_probability
from edgecil.estimation.summary import MethodSummary, compare_pair, summaries
from edgecil.report import narrative, tables
from edgecil.report.figures.curves import build_curves
from edgecil.report.figures.overview import build_overview, explain
from edgecil.report.figures.pairs import build_pairs
from edgecil.report.figures.prediction import build_prediction
from edgecil.report.figures.report_figure import SVG_ONLY, ReportFigure
from edgecil.report.method_tables import comparisons_table, summary_table
from edgecil.report.metrics import MetricWords, metric_words
from edgecil.report.scene.theme import is_dark_shade, shade_of
from edgecil.report.sections import Part, Section, added_sections
from edgecil.report.table import Table
from edgecil.sequences.sequence import ClassSequence

_LEAST_DOTS = 10  # orders for a chart of a predictor
_MOST_PAIRS = 15  # drawn without a fold


@dataclass(frozen=True)
class Win:
    """A cell of the matrix of wins.

    Attributes:
        text: the probability in per cent.
        shade: place of its colour.
        dark: whether its text must be white.
        tip: what it means.
    """

    text: str
    shade: int
    dark: bool
    tip: str


@dataclass(frozen=True)
class WinMatrix:
    """How surely the method of a row beats that of a column.

    Attributes:
        names: of the columns.
        rows: name and cells; None on the diagonal and where no order is shared.
        caption: what the numbers are.
    """

    names: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Win | None, ...]], ...]
    caption: str


@dataclass(frozen=True, eq=False)
class MetricView:
    """Everything on a page that changes with the metric.

    Attributes:
        words: of the metric.
        answer: the sentence, and sentences for details.
        next_step: one sentence; empty for none.
        warnings: sentences.
        overview: the first chart.
        explanation: how to read it; may be empty.
        curves: the metric after each task; None without results after each task.
        pairs: the interval plot of all pairs; None with one method.
        many_pairs: how many pairs there are if the plot is folded, else 0.
        matrix: of wins; None with one method.
        tables: by name, without empty ones.
        sections: after those of every page.
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
    matrix: WinMatrix | None
    tables: Mapping[str, Table | None]
    sections: tuple[Section, ...] = ()

    @property
    def figures(self) -> list[ReportFigure]:
        """Every figure."""
        shown = [one for one in (self.overview, self.curves, self.pairs) if one is not None]
        return shown + [figure for section in self.sections for figure in section.figures]


def build_view(
    dataset: DatasetAnalysis,
    orders: Sequence[OrderRow],
    places: Mapping[ClassSequence, int],
    *,
    suffix: str = "",
) -> MetricView:
    """Build the view of one metric.

    Args:
        dataset: its analysis.
        orders: its orders.
        places: of the orders in the page's table; others are not drawn.
        suffix: of the names of its files.
    """
    words = metric_words(dataset.metric)
    ranked = rank(dataset, words)
    drawn = [order for order in orders if order.sequence in places]
    pairs = _pairs(dataset, ranked)
    shown = _tables(dataset, ranked, orders, suffix)
    view = MetricView(
        words,
        narrative.answer(dataset, ranked, words),
        narrative.next_step(dataset, ranked),
        narrative.warnings(dataset),
        build_overview(dataset, ranked, drawn, places, name=f"overview{suffix}", words=words),
        explain(ranked),
        build_curves(dataset, words, name=f"curves{suffix}"),
        build_pairs(
            pairs,
            name=f"pairs{suffix}",
            is_small=len(pairs) <= _MOST_PAIRS,
            higher_is_better=words.higher_is_better,
        ),
        len(pairs) if len(pairs) > _MOST_PAIRS else 0,
        _win_matrix(dataset, ranked),
        shown,
        (
            *_details(dataset, drawn, places, shown, suffix, words),
            *added_sections(dataset, suffix),
        ),
    )
    return _without_papers(view) if suffix else view


def _without_papers(view: MetricView) -> MetricView:
    """The view of a further metric: its figures have SVG files only."""

    def plain(figure: ReportFigure | None) -> ReportFigure | None:
        return None if figure is None else replace(figure, kinds=SVG_ONLY)

    sections = tuple(section.svg_only() for section in view.sections)
    overview = replace(view.overview, kinds=SVG_ONLY)
    curves, pairs = plain(view.curves), plain(view.pairs)
    return replace(view, overview=overview, curves=curves, pairs=pairs, sections=sections)


def rank(dataset: DatasetAnalysis, words: MetricWords) -> list[MethodSummary]:
    """The methods from best to worst mean."""
    ranked = summaries(dataset)
    return ranked if words.higher_is_better else ranked[::-1]


def _pairs(
    dataset: DatasetAnalysis, ranked: Sequence[MethodSummary]
) -> list[tuple[str, str, Comparison]]:
    pairs = []
    for first, second in combinations([summary.name for summary in ranked], 2):
        pair = compare_pair(dataset, first, second)
        if pair is not None:
            pairs.append((first, second, pair))
    return pairs


def _win_matrix(dataset: DatasetAnalysis, ranked: Sequence[MethodSummary]) -> WinMatrix | None:
    names = tuple(summary.name for summary in ranked)
    if len(names) < 2:
        return None
    rows = []
    for first in names:
        cells: list[Win | None] = []
        for second in names:
            pair = None if first == second else compare_pair(dataset, first, second)
            cells.append(None if pair is None else _win(first, second, pair))
        rows.append((first, tuple(cells)))
    if not any(cell for _, cells in rows for cell in cells):
        return None
    pairs = [
        pair for pair in (compare_pair(dataset, *two) for two in combinations(names, 2)) if pair
    ]
    is_measured = any(pair.new_run_probability is None for pair in pairs)
    caption = (
        "Share of the common orders in % on which the method of the row is better."
        if is_measured
        else "Probability in % that the method of the row is better in a new run."
    ) + " Choose a cell to see both on their common orders."
    return WinMatrix(names, tuple(rows), caption)


def _win(first: str, second: str, pair: Comparison) -> Win:
    probability, won = pair.new_run_probability, pair.won
    share = won if probability is None else probability
    place = shade_of(share, 0.0, 1.0)
    on_new = (
        ""
        if probability is None
        else f"; in a new run with probability {describe_probability(probability)}"
    )
    tip = (
        f"{first} is better than {second} on {100.0 * won:.0f} % of the {pair.n} orders that both "
        f"ran{on_new}. Mean difference {pair.difference:+.2f} points."
    )
    text = f"{100.0 * share:.0f}"
    if probability is not None:  # never certain
        text = ">99" if probability > 0.995 else "<1" if probability < 0.005 else text
    return Win(text, place, is_dark_shade(place), tip)


def _tables(
    dataset: DatasetAnalysis,
    ranked: Sequence[MethodSummary],
    orders: Sequence[OrderRow],
    suffix: str,
) -> Mapping[str, Table | None]:
    """The tables by name; None for empty ones."""
    shown = {
        "summary": summary_table(dataset, ranked),
        "orders": tables.orders_table(dataset, orders),
        "comparisons": comparisons_table(dataset),
        "correlations": tables.correlations_table(dataset),
    }
    return {
        key: replace(table, name=f"{table.name}{suffix}") if table.rows else None
        for key, table in shown.items()
    }


def _details(
    dataset: DatasetAnalysis,
    orders: Sequence[OrderRow],
    places: Mapping[ClassSequence, int],
    shown: Mapping[str, Table | None],
    suffix: str,
    words: MetricWords,
) -> list[Section]:
    """The section on predictors of accuracy; empty without one."""
    prediction = None
    if len(orders) >= _LEAST_DOTS:
        prediction = build_prediction(
            dataset, orders, places, name=f"prediction{suffix}", metric=words.title
        )
    parts = (
        Part("Predictors of accuracy", prediction) if prediction else Part(),
        Part(table=shown["correlations"], folded="Correlations with every predictor"),
    )
    filled = tuple(part for part in parts if part.figure or part.table)
    return [Section("details", "Details", "", filled)] if filled else []
