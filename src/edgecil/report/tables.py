"""The tables of an analysis: one function each, for the page, its files and the terminal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.estimation.order_table import OrderRow, list_orders
from edgecil.io.csv_files import Cell
from edgecil.report.class_names import class_name, class_names, describe
from edgecil.report.method_tables import comparisons_table, summary_table
from edgecil.report.metrics import metric_words
from edgecil.report.table import Column, Table


def terminal_tables(dataset: DatasetAnalysis) -> list[Table]:
    """The tables that `edgecil analyze` prints, empty ones left out."""
    several = len(dataset.methods) > 1
    tables = [
        summary_table(dataset),
        *([comparisons_table(dataset)] if several else []),
    ]
    return [table for table in tables if table.rows]


def correlations_table(dataset: DatasetAnalysis) -> Table:
    """Correlation of every method's accuracy with every predictor."""
    rows: list[tuple[Cell, ...]] = []
    for name, method in dataset.methods.items():
        for predictor, correlation in method.correlations.items():
            if not correlation.stable:
                rows.append((name, predictor, correlation.n, *(None,) * 6))
                continue
            low, high = correlation.pearson_interval or (None, None)
            r, rho = correlation.pearson, correlation.spearman
            p_values = correlation.p_value, correlation.adjusted_p
            rows.append((name, predictor, correlation.n, r, low, high, rho, *p_values))
    few = " Fewer than 8 orders have no correlation." if any(row[3] is None for row in rows) else ""
    return Table(
        "correlations",
        "Correlation of accuracy with each predictor",
        "Pearson's r over orders with its 95 % interval, and Spearman's ρ; 'adjacent' is the "
        "paper's S. p is the share of relabellings of the classes that give an |r| at least as "
        f"large; 'p, Holm' is adjusted for the number of methods.{few}",
        (
            Column("method"),
            Column("predictor"),
            Column("orders", 0),
            *(Column(title, 2, signed=True) for title in ("r", "from", "to", "ρ")),
            *(Column(title, 3) for title in ("p", "p, Holm")),
        ),
        tuple(rows),
    )


def early_classes_table(dataset: DatasetAnalysis, method: str) -> Table:
    """What each class loses by coming in the first task instead of the last."""
    positions = dataset.class_positions[method]
    words = metric_words(dataset.metric)
    last = int(np.flatnonzero(positions.order_counts.any(axis=0))[-1])
    is_last = last == positions.order_counts.shape[1] - 1
    costs = positions.cost_of_first
    ranked = sorted(
        (class_ for class_ in range(len(costs)) if not np.isnan(costs[class_])),
        key=lambda class_: -costs[class_],
    )
    rows = [
        (
            class_name(dataset.table, class_),
            float(positions.mean[class_, 0]),
            float(positions.mean[class_, last]),
            float(costs[class_]),
            None if np.isnan(error := positions.cost_error[class_]) else float(error),
        )
        for class_ in ranked
    ]
    return Table(
        "early-classes",
        "Who suffers from coming early",
        f"The number in the map, in {words.unit}, if the class comes in the first and in the "
        f"{'last' if is_last else 'last but one'} task; by how many points it is worse off in the "
        "first, and the standard error of that.",
        (
            Column("class"),
            Column("first", 1),
            Column("last" if is_last else f"task {last + 1}", 1),
            Column("worse by", 1, signed=True),
            Column("±", 1),
        ),
        tuple(rows),
    )


def orders_table(dataset: DatasetAnalysis, orders: Sequence[OrderRow] | None = None) -> Table:
    """Every class order that was run, with the accuracy of every method; never cut.

    Args:
        dataset: the analysis.
        orders: its orders, if they were listed before.
    """
    orders = list_orders(dataset) if orders is None else orders
    has_predictor = any(order.z is not None for order in orders)
    repeated = any(count > 1 for order in orders for count in order.repeats.values())
    label = "" if dataset.predictor is None else dataset.predictor.label
    names = class_names(dataset.table)
    rows: list[tuple[Cell, ...]] = []
    for order in orders:
        z: tuple[Cell, ...] = (order.z,) if has_predictor else ()
        repeats: tuple[Cell, ...] = (max(order.repeats.values()),) if repeated else ()
        accuracies = [order.accuracies.get(name) for name in dataset.methods]
        classes = describe(names, order.sequence)
        rows.append((*accuracies, *z, *repeats, order.chosen_by, classes))
    explained = f"; z is {label} in standard deviations from its mean" if has_predictor else ""
    return Table(
        "orders",
        "All class orders that were run",
        f"Accuracy of each method in %, lowest mean first{explained}. Tasks are separated by |.",
        (
            *(Column(name, 1) for name in dataset.methods),
            *((Column("z", 2, signed=True),) if has_predictor else ()),
            *((Column("repeats", 0),) if repeated else ()),
            Column("chosen by"),
            Column("classes"),
        ),
        tuple(rows),
    )
