"""Tables of the analysis of a dataset, for its page, its files and the terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from edgecil.analysis.answers import DatasetAnalysis, MethodAnalysis
from edgecil.io.csv_files import CsvCell
from edgecil.io.numbers import per_cent
from edgecil.report.order_table import NamedOrder, OrderTable, named_orders, rank
from edgecil.report.page_text import class_names, describe_sequence
from edgecil.report.pair_tables import pairs_table, select_pairs
from edgecil.report.table import Column, Table, filled_columns, latex_lines
from edgecil.sequences.protocols import GOALS, USER_SEQUENCES, find_protocol, origin_sentences
from edgecil.wording.metric_words import metric_words
from edgecil.wording.phrases import count
from edgecil.wording.populations import unit_of

_BOLD = (
    "Bold: the best mean, and every method whose difference from it, on the {units} of both, has "
    "an interval that includes 0."
)


def terminal_tables(dataset: DatasetAnalysis) -> list[Table]:
    """The tables that `edgecil analyze` prints, empty ones left out."""
    pairs, note = select_pairs(dataset.comparisons, dataset.compared_groups)
    comparisons = pairs_table("comparisons", pairs, note)
    tables = [summary_table(dataset), boundary_table(dataset), comparisons]
    return [table for table in tables if table.rows]


def comparisons_table(dataset: DatasetAnalysis) -> Table:
    """Pairs of methods on the orders that both ran."""
    return pairs_table("comparisons", dataset.comparisons)


def latex_rows(dataset: DatasetAnalysis) -> list[str]:
    """The header and the row of each method of the summary in LaTeX."""
    return latex_lines(summary_table(dataset))


def latex_row_of(method: MethodAnalysis) -> str:
    """The row of one method in LaTeX, with the cells that it has in the table of all."""
    claims = method.claims
    lowest, highest = _end_columns(method.metric)
    ends: dict[Column, CsvCell] = {lowest: claims.lowest, highest: claims.highest}
    probes: dict[Column, CsvCell] = {Column(name, 1): claims.probes[name] for name in claims.probes}
    count_column = Column(f"{unit_of(claims.population)}s", 0)
    row = _paper_row(method, probes or ends, count_column)
    columns, rows = filled_columns([row])
    return latex_lines(Table("summary", "", "", columns, rows))[-1]


def summary_table(
    dataset: DatasetAnalysis, ranked: Sequence[str] | None = None, about: str = ""
) -> Table:
    """Mean with its interval, tail, 90 % of the runs, constructed orders, worst and best.

    The rows are `ranked`, best mean first; `about` is a sentence for the caption in LaTeX.
    """
    words = metric_words(dataset.metric)
    methods = rank(dataset) if ranked is None else ranked
    constructed = {name: named_orders(dataset, name) for name in methods}
    columns, rows = filled_columns(_summary_rows(dataset, constructed))
    noun = _noun(dataset)
    table = Table(
        "summary",
        f"{words.title[0].upper()}{words.title[1:]} over {noun}s",
        " ".join(_summary_notes(dataset, columns, has_constructed=any(constructed.values()))),
        columns,
        rows,
        _best_means(dataset, methods, columns),
        _BOLD.format(units=f"{dataset.unit}s"),
    )
    probes = _probe_labels(constructed)
    columns, rows = filled_columns(_paper_rows(dataset, constructed, probes))
    ends = f"the {' and '.join(words.ends)} {noun}"
    caption = (
        f"Mean with its {per_cent(dataset.level)} interval, the value that 95 % of runs exceed, "
        f"and {'grouped and spread similar classes' if probes else ends}"
        f"{f', in {words.unit}' if words.unit else ''}. {about}"
    ).rstrip()
    bold = _best_means(dataset, methods, columns)
    return replace(
        table, paper=replace(table, caption=caption, columns=columns, rows=rows, bold=bold)
    )


def _noun(dataset: DatasetAnalysis) -> str:
    """What the rows of a dataset are counted in: `class order`, `task order`, `run`, `training`."""
    return dataset.table.order_name if dataset.unit == "order" else dataset.unit


def _count_column(dataset: DatasetAnalysis) -> Column:
    return Column(f"{_noun(dataset).split()[-1]}s", 0)


def _probe_labels(constructed: Mapping[str, Sequence[NamedOrder]]) -> list[str]:
    """Labels of the constructed orders, of all methods, that have a meaning."""
    labels = [order.label for orders in constructed.values() for order in orders if order.meaning]
    return list(dict.fromkeys(labels))


def _end_columns(metric: str) -> tuple[Column, Column]:
    """The columns of the lowest and the highest value; one of them is called best."""
    lowest, highest = metric_words(metric).ends
    return Column(lowest, 1), Column(highest, 1)


def _summary_rows(
    dataset: DatasetAnalysis, constructed: Mapping[str, Sequence[NamedOrder]]
) -> list[dict[Column, CsvCell]]:
    """Return a row per method, with a column for each constructed order of any method."""
    titles = []
    for orders in constructed.values():
        titles += [f"{order.protocol} {order.label}" for order in orders]
    lowest, highest = _end_columns(dataset.metric)
    rows = []
    for name, orders in constructed.items():
        method = dataset.methods[name]
        claims = method.claims
        low, high = claims.mean.interval or (None, None)
        run_low, run_high = claims.next_run.interval or (None, None)
        row: dict[Column, CsvCell] = {
            Column("method"): name,
            Column("mean", 1): claims.mean.value,
            Column("low", 1): low,
            Column("high", 1): high,
            Column("tail", 1): claims.tail.value,
            Column("run low", 1): run_low,
            Column("run high", 1): run_high,
        }
        values = {f"{order.protocol} {order.label}": order.value for order in orders}
        for title in dict.fromkeys(titles):
            row[Column(title, 1)] = values.get(title)
        row[lowest] = claims.lowest
        row[highest] = claims.highest
        share = method.order_effect.order_share
        row[Column("order, %", 0)] = None if share is None else 100.0 * share
        row[Column("r", 2, signed=True)] = _stable_correlation(method)
        row[_count_column(dataset)] = claims.order_count
        row[Column("claims from")] = _basis(method)
        rows.append(row)
    return rows


def _paper_rows(
    dataset: DatasetAnalysis,
    constructed: Mapping[str, Sequence[NamedOrder]],
    probes: Sequence[str],
) -> list[dict[Column, CsvCell]]:
    """Return a row per method with the few columns that have room in a paper."""
    lowest, highest = _end_columns(dataset.metric)
    rows = []
    for name, orders in constructed.items():
        claims = dataset.methods[name].claims
        values = {order.label: order.value for order in orders}
        ends: dict[Column, CsvCell] = {Column(label, 1): values.get(label) for label in probes}
        if not probes:
            ends = {lowest: claims.lowest, highest: claims.highest}
        rows.append(_paper_row(dataset.methods[name], ends, _count_column(dataset)))
    return rows


def _paper_row(
    method: MethodAnalysis, ends: Mapping[Column, CsvCell], count_column: Column
) -> dict[Column, CsvCell]:
    """Return a method's row for a paper; `ends` are constructed orders, or worst and best."""
    claims = method.claims
    mean = f"{claims.mean.value:.1f}"
    if claims.mean.interval is not None:
        low, high = claims.mean.interval
        mean += f" ({low:.1f}–{high:.1f})"
    return {
        Column("method"): method.name,
        Column("mean", 0): mean,
        Column("95 % exceed", 1): claims.tail.value,
        **ends,
        count_column: claims.order_count,
    }


def _stable_correlation(method: MethodAnalysis) -> float | None:
    """Return the correlation with the predictor, if there are enough orders for one."""
    correlation = method.correlation
    return correlation.pearson if correlation is not None and correlation.stable else None


def _summary_notes(
    dataset: DatasetAnalysis, columns: Sequence[Column], *, has_constructed: bool
) -> list[str]:
    """Return the sentences that explain the columns of the summary."""
    words, level = metric_words(dataset.metric), per_cent(dataset.level)
    explanations = {
        "low": f"Low and high are the ends of the {level} interval of the mean.",
        "tail": "95 % of runs exceed the tail.",
        "run low": f"A new run lies between 'run low' and 'run high' with probability {level}.",
        "order, %": "'Order' is the share of the variance of runs that is due to the order.",
    }
    if dataset.predictor is not None:
        explanations["r"] = f"r is the correlation of {words.title} with {dataset.predictor.label}."
    titles = {column.title for column in columns}
    notes = [f"In {words.unit}."] if words.unit else []
    notes += [text for title, text in explanations.items() if title in titles]
    all_claims = [method.claims for method in dataset.methods.values()]
    if any(claims.trainings > claims.order_count for claims in all_claims):
        notes.append(f"Worst and best are {_noun(dataset)}s, each the mean of its trainings.")
    if has_constructed and any(claims.mean.validity != "measured" for claims in all_claims):
        notes.append("Constructed orders do not count for mean, worst and best.")
    return notes


def _best_means(
    dataset: DatasetAnalysis, methods: Sequence[str], columns: Sequence[Column]
) -> frozenset[tuple[int, int]]:
    """Row and column of every mean that may be the best; none for a single method."""
    if len(methods) < 2:
        return frozenset()
    leader = rank(dataset)[0]
    mean_column = [column.title for column in columns].index("mean")
    cells = set()
    for row, name in enumerate(methods):
        pair = dataset.compare(leader, name)
        may_be_equal = pair is not None and pair.interval is not None and pair.better is None
        if name == leader or may_be_equal:
            cells.add((row, mean_column))
    return frozenset(cells)


def _basis(method: MethodAnalysis) -> str:
    """The orders that the claims about a method rest on, and who chose them."""
    claims = method.claims
    orders = count(claims.order_count, unit_of(claims.population))
    if claims.mean.validity == "measured":
        return f"all {orders}"
    chosen_by = " + ".join(name for name in claims.protocols if name != USER_SEQUENCES)
    return f"{orders} of {chosen_by}" if chosen_by else orders


def boundary_table(dataset: DatasetAnalysis) -> Table:
    """The paper's view of each protocol, if hard, easy and random orders were run."""
    extreme, random = [], []
    for name in dataset.table.protocols:
        constructed = find_protocol(name).constructed if name else None
        if constructed == ():
            random.append(name)
        elif constructed is not None and {*GOALS} <= {*constructed}:
            extreme.append(name)
    rows: list[tuple[CsvCell, ...]] = []
    if extreme and random:
        rows = _boundary_rows(dataset, {*extreme, *random})
    table = Table(
        "boundaries",
        "The paper's view: boundaries by protocol",
        "Lowest and highest accuracy of each protocol's orders, and their mean and standard "
        "deviation (ddof 0) as the EDGE paper reports them. Constructed orders are not random, so "
        "these are not estimates over all orders.",
        (
            Column("method"),
            Column("protocol"),
            Column("orders", 0),
            *(Column(title, 2) for title in ("lowest", "highest", "mean", "std")),
        ),
        tuple(rows),
    )
    caption = " ".join([table.caption, *origin_sentences(dataset.provenance)])
    return replace(table, paper=replace(table, caption=caption))


def _boundary_rows(dataset: DatasetAnalysis, protocols: set[str]) -> list[tuple[CsvCell, ...]]:
    """Return a row for every method and each of the protocols that it ran."""
    rows: list[tuple[CsvCell, ...]] = []
    for method in dataset.methods:
        for name in dataset.table.protocols:
            values = dataset.table.orders(method, name).accuracies
            if name in protocols and len(values):
                lowest, highest = float(values.min()), float(values.max())
                rows.append(
                    (method, name, len(values), lowest, highest, values.mean(), values.std())
                )
    return rows


def orders_table(dataset: DatasetAnalysis, orders: OrderTable) -> Table:
    """Every order that was run, with the value of every method; never cut."""
    table = dataset.table
    columns: dict[Column, Sequence[CsvCell]] = {}
    for name in dataset.methods:
        columns[Column(name, 1)] = _without_nan(orders.values[name].tolist())
    explained = ""
    if orders.z is not None:
        columns[Column("z", 2, signed=True)] = _without_nan(orders.z.tolist())
        label = "" if dataset.predictor is None else dataset.predictor.label
        explained = f"; z is {label} in standard deviations from its mean"
    if (orders.repeats > 1).any():
        columns[Column("repeats", 0)] = orders.repeats.tolist()
    columns[Column("chosen by" if table.counts_orders else "run")] = orders.chosen_by
    names = class_names(table)
    if names:
        columns[Column("classes")] = [
            describe_sequence(names, sequence) for sequence in orders.sequences
        ]
    return Table(
        "orders",
        f"All {table.order_name}s that were run" if table.counts_orders else "All runs",
        f"Accuracy of each method in %, lowest mean first{explained}."
        f"{' Tasks are separated by |.' if names else ''}",
        tuple(columns),
        tuple(zip(*columns.values(), strict=True)),
    )


def _without_nan(values: Sequence[float]) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values]
