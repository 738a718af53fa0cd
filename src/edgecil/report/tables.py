"""The tables of an analysis: one function each, for the page, its files and the terminal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgecil.estimation.analysis import DatasetAnalysis, ProtocolRanking
from edgecil.estimation.order_table import OrderRow, list_orders
from edgecil.estimation.placebo import MEASURES
from edgecil.estimation.summary import PAPER_ESTIMATOR, protocol_range
from edgecil.report.class_names import class_name, class_names, describe
from edgecil.report.method_tables import comparisons_table, summary_table
from edgecil.report.metrics import metric_words
from edgecil.report.table import Cell, Column, Table

_CRITERIA = (("lower", "worst order"), ("upper", "best order"), ("stability", "stability"))
_SIGNS = {"better": "✓", "similar": "○", "worse": "✗"}


def terminal_tables(dataset: DatasetAnalysis, *, full: bool = False) -> list[Table]:
    """The tables that `edgecil analyze` prints, empty ones left out.

    Args:
        dataset: the analysis.
        full: whether to add the tables about protocols, estimators and predictors.
    """
    several = len(dataset.methods) > 1
    tables = [summary_table(dataset), *([comparisons_table(dataset)] if several else [])]
    if full:
        tables += [
            ranges_table(dataset),
            beside_random_table(dataset),
            closeness_table(dataset),
            estimates_table(dataset),
            correlations_table(dataset),
            *([rankings_table(dataset)] if several else []),
        ]
    return [table for table in tables if table.rows]


def ranges_table(dataset: DatasetAnalysis) -> Table:
    """How much of each method's range the runs of each protocol cover."""
    protocols = dataset.compared_protocols
    rows: list[tuple[Cell, ...]] = []
    for name, method in dataset.methods.items():
        low, high = dataset.accuracy_range(name)
        ends = [protocol_range(method, protocol) for protocol in protocols]
        widths = [None if end is None else end[1] - end[0] for end in ends]
        rows.append((name, None if method.truth is None else high - low, *widths))
    return Table(
        "ranges",
        "Range covered by each protocol",
        "Distance between the worst and the best order, in points: of all orders, and of each "
        "protocol's runs (the mean over draws of its random part, if the truth is available).",
        (
            Column("method"),
            Column("all orders", 1),
            *(Column(protocol, 1) for protocol in protocols),
        ),
        tuple(rows) if protocols else (),
    )


def beside_random_table(dataset: DatasetAnalysis) -> Table:
    """Every protocol's mean distance from the truth, beside random orders and a placebo."""
    rows: list[tuple[Cell, ...]] = []
    for protocol, comparison in dataset.protocol_comparisons.items():
        for measure, title in MEASURES.items():
            one = comparison.measures[measure]
            low, high = one.interval or (None, None)
            sign = _SIGNS[one.outcome]
            methods = len(one.methods)
            rows.append((protocol, title, one.ratio, low, high, *one.placebo, methods, sign))
    return Table(
        "beside-random",
        "Protocols compared with random orders",
        "Mean distance from the truth divided by that of as many random orders, with the same "
        "estimator: W₁, JSD, and the part of the range that is missed. Geometric mean over methods "
        "with its 90 % interval. Placebo: 90 % range if two random orders take the place of hard "
        "and easy. ✓ better, ✗ worse than random orders if neither interval nor placebo explains "
        "it, ○ otherwise.",
        (
            Column("protocol"),
            Column("measure"),
            *(Column(title, 2) for title in ("ratio", "from", "to", "placebo", "to ")),
            Column("methods", 0),
            Column(""),
        ),
        tuple(rows),
    )


def closeness_table(dataset: DatasetAnalysis) -> Table:
    """Mean distance of every protocol's estimate from the truth, over draws."""
    rows: list[tuple[Cell, ...]] = []
    for name, method in dataset.methods.items():
        for protocol, by_estimator in method.averages.items():
            for estimator, average in by_estimator.items():
                errors = average.standard_errors or {}
                rows.append(
                    (
                        name,
                        protocol,
                        estimator,
                        average.draws,
                        average.jsd,
                        errors.get("jsd"),
                        average.wasserstein,
                        errors.get("wasserstein"),
                        average.min_error,
                        average.max_error,
                    )
                )
    return Table(
        "closeness",
        "Distance from the truth",
        "Mean over draws of the protocol's random part, ± its standard error (0 if every possible "
        "draw was made). JSD in nats; W₁ and the absolute errors of the worst and the best order "
        "in points.",
        (
            Column("method"),
            Column("protocol"),
            Column("estimator"),
            Column("draws", 0),
            Column("JSD", 3),
            Column("± JSD", 4),
            Column("W₁", 2),
            Column("± W₁", 3),
            *(Column(end, 2) for end in metric_words(dataset.metric).ends),
        ),
        tuple(rows),
    )


def estimates_table(dataset: DatasetAnalysis) -> Table:
    """Every estimator's result from every protocol's runs."""
    words = metric_words(dataset.metric)
    rows: list[tuple[Cell, ...]] = []
    for name, method in dataset.methods.items():
        for protocol, results in method.estimates.items():
            for estimator, result in results.items():
                if result.estimate is None:
                    continue
                estimate, near = result.estimate, result.closeness
                rows.append(
                    (
                        name,
                        protocol,
                        estimator,
                        result.runs,
                        estimate.distribution.mean,
                        estimate.distribution.std,
                        estimate.min,
                        estimate.max,
                        None if near is None else near.jsd,
                        None if near is None else near.wasserstein,
                    )
                )
    return Table(
        "estimates",
        "Estimates by protocol and estimator",
        f"Estimated mean, standard deviation, worst and best {words.title} over all orders"
        f"{f', in {words.unit}' if words.unit else ''}. JSD and W₁ are distances from the truth.",
        (
            Column("method"),
            Column("protocol"),
            Column("estimator"),
            Column("runs", 0),
            *(Column(title, 2) for title in ("mean", "std", *words.ends)),
            Column("JSD", 3),
            Column("W₁", 2),
        ),
        tuple(rows),
    )


def rankings_table(dataset: DatasetAnalysis) -> Table:
    """Ranks of the methods by three criteria: the true ones, and each protocol's."""
    rankings = {
        protocol: by_estimator[PAPER_ESTIMATOR]
        for protocol, by_estimator in dataset.rankings.items()
        if PAPER_ESTIMATOR in by_estimator
    }
    rows: list[tuple[Cell, ...]] = []
    for criterion, title in _CRITERIA:
        for name in dataset.methods:
            true = dataset.true_ranking
            ranks = [
                None if ranked.ranking is None else getattr(ranked.ranking, criterion).get(name)
                for ranked in rankings.values()
            ]
            rows.append(
                (title, name, None if true is None else getattr(true, criterion)[name], *ranks)
            )
    has_truth = dataset.true_ranking is not None
    if has_truth:
        rows += _ranking_errors(list(rankings.values()))
    else:
        rows = [(*row[:2], *row[3:]) for row in rows]
    error = (
        " The error is Σ |rank − true rank|: of these runs, and over draws of the protocol's "
        "random part."
    )
    numbers = [cell for row in rows for cell in row[2:] if isinstance(cell, (int, float))]
    digits = 0 if all(float(number).is_integer() for number in numbers) else 1
    return Table(
        "rankings",
        "Ranks of the methods",
        "1 is the best, by the worst and by the best order and by the standard deviation, from the "
        f"runs of each protocol.{error if has_truth else ''}",
        (
            Column("by"),
            Column("method"),
            *((Column("truth", digits),) if has_truth else ()),
            *(Column(protocol, digits) for protocol in rankings),
        ),
        tuple(rows) if rankings else (),
    )


def _ranking_errors(rankings: list[ProtocolRanking]) -> list[tuple[Cell, ...]]:
    """Rows on the distance of each ranking from the true one: of the runs, and over draws."""
    averages = [ranked.average for ranked in rankings]
    errors: dict[str, list[float | None]] = {
        "error of these runs": [ranked.error for ranked in rankings],
        "mean error over draws": [None if a is None else a.error for a in averages],
        "draws without error, %": [
            None if a is None else 100.0 * a.correct_share for a in averages
        ],
    }
    return [(title, "all", None, *cells) for title, cells in errors.items()]


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


def budgets_table(dataset: DatasetAnalysis) -> Table:
    """Mean distance from the truth against the number of runs."""
    return Table(
        "budgets",
        "Distance from the truth with n runs",
        "Mean over draws, with the Gaussian estimator. JSD in nats, W₁ in points.",
        (
            Column("method"),
            Column("protocol"),
            Column("runs", 0),
            Column("JSD", 3),
            Column("W₁", 2),
        ),
        tuple(
            (name, protocol, point.budget, point.jsd, point.wasserstein)
            for name, method in dataset.methods.items()
            for protocol, points in method.by_budget.items()
            for point in points
        ),
    )


def outside_range_table(dataset: DatasetAnalysis) -> Table:
    """How many orders lie outside the range between a protocol's hard and easy order."""
    return Table(
        "outside-range",
        "Orders outside the range of hard and easy",
        "Number of orders with an accuracy below the lower or above the higher one of a protocol's "
        "hard and easy orders, which are meant to be the ends of the range; its other orders do "
        "not count. Protocols without such orders, such as random and latin, are left out.",
        (
            Column("method"),
            Column("protocol"),
            Column("lower", 1),
            Column("higher", 1),
            Column("orders below", 0),
            Column("orders above", 0),
            Column("of", 0),
        ),
        tuple(
            (name, protocol, outside.low, outside.high, outside.below, outside.above, outside.n)
            for name, method in dataset.methods.items()
            for protocol, outside in method.outside_range.items()
        ),
    )


def normality_table(dataset: DatasetAnalysis) -> Table:
    """Tests of normality of the accuracies, as in the paper."""
    return Table(
        "normality",
        "Tests of normality",
        "p-values after a Box-Cox transformation with parameter λ; a small value is evidence "
        "against a normal distribution.",
        (
            Column("method"),
            Column("λ", 2),
            Column("Shapiro-Wilk", 3),
            Column("D'Agostino", 3),
            Column("Kolmogorov-Smirnov", 3),
            Column("not tested because"),
        ),
        tuple(
            (
                name,
                method.normality.boxcox_lambda,
                method.normality.shapiro_p,
                method.normality.dagostino_p,
                method.normality.ks_p,
                method.normality.reason,
            )
            for name, method in dataset.methods.items()
        ),
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
