"""The tables of an audit: how far each protocol and estimator is from the truth."""

from __future__ import annotations

from edgecil.io.csv_files import Cell
from edgecil.lab.audits import PAPER_ESTIMATOR, DatasetAudit, ProtocolRanking
from edgecil.lab.placebo import MEASURES
from edgecil.report.metrics import metric_words
from edgecil.report.table import Column, Table

_CRITERIA = (("lower", "worst order"), ("upper", "best order"), ("stability", "stability"))
_SIGNS = {"better": "✓", "similar": "○", "worse": "✗"}


def audit_tables(audit: DatasetAudit) -> list[Table]:
    """Every table, empty ones left out."""
    tables = [
        ranges_table(audit),
        beside_random_table(audit),
        closeness_table(audit),
        estimates_table(audit),
        budgets_table(audit),
        outside_range_table(audit),
        *([rankings_table(audit)] if len(audit.methods) > 1 else []),
    ]
    return [table for table in tables if table.rows]


def ranges_table(audit: DatasetAudit) -> Table:
    """How much of each method's range the runs of each protocol cover."""
    protocols = audit.compared_protocols
    rows: list[tuple[Cell, ...]] = []
    for name, method in audit.methods.items():
        low, high = method.lowest, method.highest
        ends = [method.range_of(protocol) for protocol in protocols]
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


def beside_random_table(audit: DatasetAudit) -> Table:
    """Every protocol's mean distance from the truth, beside random orders and a placebo."""
    rows: list[tuple[Cell, ...]] = []
    for protocol, comparison in audit.protocol_comparisons.items():
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


def closeness_table(audit: DatasetAudit) -> Table:
    """Mean distance of every protocol's estimate from the truth, over draws."""
    rows: list[tuple[Cell, ...]] = []
    for name, method in audit.methods.items():
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
            *(Column(end, 2) for end in metric_words(audit.metric).ends),
        ),
        tuple(rows),
    )


def estimates_table(audit: DatasetAudit) -> Table:
    """Every estimator's result from every protocol's runs."""
    words = metric_words(audit.metric)
    rows: list[tuple[Cell, ...]] = []
    for name, method in audit.methods.items():
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


def rankings_table(audit: DatasetAudit) -> Table:
    """Ranks of the methods by three criteria: the true ones, and each protocol's."""
    rankings = {
        protocol: by_estimator[PAPER_ESTIMATOR]
        for protocol, by_estimator in audit.rankings.items()
        if PAPER_ESTIMATOR in by_estimator
    }
    rows: list[tuple[Cell, ...]] = []
    for criterion, title in _CRITERIA:
        for name in audit.methods:
            true = audit.true_ranking
            ranks = [
                None if ranked.ranking is None else getattr(ranked.ranking, criterion).get(name)
                for ranked in rankings.values()
            ]
            rows.append(
                (title, name, None if true is None else getattr(true, criterion)[name], *ranks)
            )
    has_truth = audit.true_ranking is not None
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


def budgets_table(audit: DatasetAudit) -> Table:
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
            for name, method in audit.methods.items()
            for protocol, points in method.by_budget.items()
            for point in points
        ),
    )


def outside_range_table(audit: DatasetAudit) -> Table:
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
            for name, method in audit.methods.items()
            for protocol, outside in method.outside_range.items()
        ),
    )
