"""The tables that papers print: a row per method, and a row per pair, with the best in bold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from edgecil.estimation.analysis import DatasetAnalysis, MethodAnalysis
from edgecil.estimation.sentences import count
from edgecil.estimation.summary import MethodSummary, compare_pair, summaries
from edgecil.io.csv_files import Cell
from edgecil.report.metrics import MetricWords, metric_words
from edgecil.report.table import Column, Table

_BOLD = (
    "Bold: the best value; for the mean also every method whose difference from the best, on the "
    "orders of both, has a 90 % interval that includes 0."
)


def summary_table(dataset: DatasetAnalysis, ranked: Sequence[MethodSummary] | None = None) -> Table:
    """Mean with its interval, central interval, worst and best order of every method.

    Args:
        dataset: the analysis.
        ranked: its methods in the order of the rows; highest mean first by default.
    """
    words = metric_words(dataset.metric)
    shown = summaries(dataset) if ranked is None else ranked
    has_intervals = any(summary.mean_interval is not None for summary in shown)
    correlations = {summary.name: _pearson(dataset.methods[summary.name]) for summary in shown}
    has_correlations = any(r is not None for r in correlations.values())
    rows: list[tuple[Cell, ...]] = []
    for summary in shown:
        low, high = summary.central or (None, None)
        interval = (summary.mean_interval or (None, None)) if has_intervals else ()
        rows.append(
            (
                summary.name,
                summary.mean,
                *interval,
                low,
                high,
                summary.lowest,
                summary.highest,
                summary.range,
                summary.order_count,
                *((correlations[summary.name],) if has_correlations else ()),
                _basis(summary, dataset),
            )
        )
    mean = (
        " 'From' and 'to' are the 90 % interval of the mean."
        if has_intervals
        else " The mean is that of all orders and has no interval."
        if all(summary.basis == "enumerated" for summary in shown)
        else ""
    )
    correlation = (
        ""
        if dataset.predictor is None or not has_correlations
        else f" r is the correlation of {words.title} with {dataset.predictor.label}."
    )
    unit = "Accuracies in %, the range in points." if words.unit == "%" else "In points."
    columns = (
        Column("method"),
        Column("mean", 1),
        *((Column("from", 1), Column("to", 1)) if has_intervals else ()),
        Column("5 %", 1),
        Column("95 %", 1),
        *(Column(end, 1) for end in words.ends),
        Column("range", 1),
        Column("orders run", 0),
        *((Column("r", 2, signed=True),) if has_correlations else ()),
        Column("mean and 90 % from"),
    )
    return Table(
        "summary",
        _over_orders(words),
        f"{unit}{mean}{_explain_central(shown)}"
        f" 'Worst' and 'best' are measured on the orders that "
        f"were run.{_explain_fewer(dataset, shown)}{_explain_ranks(dataset, shown)}{correlation}",
        columns,
        tuple(rows),
        frozenset(_best_cells(dataset, shown, columns)),
        _BOLD,
        _paper_summary(dataset, shown),
    )


def _paper_summary(dataset: DatasetAnalysis, shown: Sequence[MethodSummary]) -> Table:
    """The summary in the columns that fit the text of a paper."""
    words = metric_words(dataset.metric)
    has_intervals = any(summary.mean_interval is not None for summary in shown)
    measured = all(summary.basis in ("enumerated", "sample") for summary in shown)
    rows: list[tuple[Cell, ...]] = []
    for summary in shown:
        mean = f"{summary.mean:.1f}"
        if summary.mean_interval is not None:
            low, high = summary.mean_interval
            mean += f" ({low:.1f}–{high:.1f})"
        central = "" if summary.central is None else "{:.1f}–{:.1f}".format(*summary.central)
        ends = summary.lowest, summary.highest
        rows.append((summary.name, mean, central, *ends, summary.order_count))
    columns = (
        Column("method"),
        Column("mean", 0),
        Column("90 % of orders" if measured else "next order, 90 %", 0),
        *(Column(end, 1) for end in words.ends),
        Column("orders", 0),
    )
    range_ = "the range of 90 % of the orders" if measured else "the 90 % range of the next order"
    interval = " with its 90 % interval" if has_intervals else ""
    return Table(
        "summary",
        _over_orders(words),
        f"Mean{interval}, {range_}, and the worst and the best order that was "
        f"run{f', in {words.unit}' if words.unit else ''}.",
        columns,
        tuple(rows),
        frozenset(_best_cells(dataset, shown, columns)),
        _BOLD,
    )


def _over_orders(words: MetricWords) -> str:
    return f"{words.title[0].upper()}{words.title[1:]} over class orders"


def _explain_central(shown: Sequence[MethodSummary]) -> str:
    """What lies between '5 %' and '95 %': measured orders, or the next order."""
    measured = {summary.basis in ("enumerated", "sample") for summary in shown}
    if measured == {True}:
        return " 90 % of the orders lie between '5 %' and '95 %'."
    if not any(summary.central is not None for summary in shown):
        return ""
    if measured == {False}:
        return " The next run lies between '5 %' and '95 %' with probability 90 %."
    return (
        " Between '5 %' and '95 %' lie 90 % of the orders or, for methods with few orders, the "
        "next run with probability 90 %."
    )


def _explain_fewer(dataset: DatasetAnalysis, shown: Sequence[MethodSummary]) -> str:
    """Why claims rest on fewer orders than were run, where they do."""
    answers = [(dataset.methods[summary.name].answer, summary.order_count) for summary in shown]
    if not any(said.blind and said.order_count < run for said, run in answers):
        return ""
    return " Orders chosen by similarity or by results were run, but do not count for claims."


def _explain_ranks(dataset: DatasetAnalysis, shown: Sequence[MethodSummary]) -> str:
    """What follows from the number of orders alone, if that is the same for all methods."""
    answers = [dataset.methods[summary.name].answer for summary in shown]
    worse = {answer.worse.value for answer in answers}
    one = answers[0]
    if len(worse) > 1 or not one.worse.value or len({it.order_count for it in answers}) > 1:
        return ""
    if one.order_count == 1:
        return " Nothing can be said about other orders from one order."
    tolerance = (
        f", and at least {100.0 * one.not_worse.value:.0f} % of all orders are no worse than the "
        f"worst of them (confidence {100.0 * one.not_worse.level:.0f} %)"
        if one.not_worse.value and all(it.not_worse.validity == "exact" for it in answers)
        else ""
    )
    chance = f"{100.0 * one.worse.value:.0f} %"
    at_most = "at most " if any(it.lowest == it.highest for it in answers) else ""
    return (
        f" The next order is worse than all {one.order_count} with probability {at_most}{chance}"
        f"{tolerance}."
    )


def comparisons_table(dataset: DatasetAnalysis) -> Table:
    """Pairs of methods on the orders that both ran."""
    rows: list[tuple[Cell, ...]] = []
    bold: set[tuple[int, int]] = set()
    higher_is_better = metric_words(dataset.metric).higher_is_better
    for first, others in dataset.comparisons.items():
        for second, pair in others.items():
            low, high = pair.interval or (None, None)
            if low is not None and high is not None and not low <= 0.0 <= high:
                bold.add((len(rows), 0 if (low > 0.0) == higher_is_better else 1))
            better = 100.0 * pair.won
            rows.append(
                (first, second, pair.n, pair.difference, low, high, better, pair.adjusted_p)
            )
    return Table(
        "comparisons",
        "Pairs of methods on the same orders",
        "Mean difference in points with its 90 % interval, the share of orders on which the first "
        "method is better (ties count half), and the p-value of the difference, adjusted for the "
        "number of pairs (Holm).",
        (
            Column("first"),
            Column("second"),
            Column("orders", 0),
            Column("difference", 2, signed=True),
            Column("from", 2, signed=True),
            Column("to", 2, signed=True),
            Column("first better, %", 0),
            Column("p", 4),
        ),
        tuple(rows),
        frozenset(bold),
        "Bold: the better method, if the interval excludes 0.",
    )


def _best_cells(
    dataset: DatasetAnalysis, shown: Sequence[MethodSummary], columns: Sequence[Column]
) -> Iterator[tuple[int, int]]:
    """Row and column of the best mean, worst and best order; none for a single method."""
    if len(shown) < 2:
        return
    places = {column.title: place for place, column in enumerate(columns)}
    choose = max if metric_words(dataset.metric).higher_is_better else min
    leader = choose(shown, key=lambda summary: summary.mean).name
    for row, summary in enumerate(shown):
        pair = compare_pair(dataset, leader, summary.name)
        low, high = (1.0, 1.0) if pair is None or pair.interval is None else pair.interval
        if summary.name == leader or low <= 0.0 <= high:
            yield row, places["mean"]
    ends = zip(*((summary.lowest, summary.highest) for summary in shown), strict=True)
    for title, values in zip(metric_words(dataset.metric).ends, ends, strict=True):
        column = columns[places[title]]
        texts = [column.format(value) for value in values]
        best = column.format(choose(values))
        yield from ((row, places[title]) for row, text in enumerate(texts) if text == best)


def _basis(summary: MethodSummary, dataset: DatasetAnalysis) -> str:
    truth = dataset.methods[summary.name].truth
    if truth is not None:
        n = len(truth)
        if summary.basis == "sample":
            return f"sample of {n:,} random orders"
        return (
            f"all {n:,} orders"
            if n == truth.space_size
            else f"{n:,} of {truth.space_size:,} orders"
        )
    answer = dataset.methods[summary.name].answer
    return f"{count(answer.order_count, 'order')} of {' + '.join(answer.protocols)}"


def _pearson(method: MethodAnalysis) -> float | None:
    if method.predictor is None:
        return None
    correlation = method.correlations[method.predictor]
    return correlation.pearson if correlation.stable else None
