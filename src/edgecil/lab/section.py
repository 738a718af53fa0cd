"""The audit of an experiment as tables, and as a section of its report page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.io.csv_files import Cell
from edgecil.lab._audit import MEASURES, DatasetAudit, audit_file, load_audit, runs_digest
from edgecil.report.metrics import metric_words
from edgecil.report.sections import Part, Section
from edgecil.report.table import Column, Table, make_table
from edgecil.sequences.protocols import RANDOM

_ID, _TITLE = "audit", "Audit"
_SIGNS = {"better": "✓", "similar": "○", "worse": "✗"}


def build_section(dataset: DatasetAnalysis, suffix: str) -> Section | None:
    """Return the section on protocols and estimators; None if no audit is stored."""
    if len(dataset.experiments) != 1:
        return None
    directory = Path(dataset.experiments[0].directory)
    files = sorted(audit_file(directory, "x").parent.glob(f"{dataset.metric}*.json"))
    if not files:
        return None
    digest = runs_digest(dataset.table)
    for audit in filter(None, map(load_audit, files)):
        for own in audit.datasets:
            if (own.metric, own.runs_digest) == (dataset.metric, digest):
                return _section(own, suffix)
    lede = (
        f"The stored audit is of other runs or of another version; 'edgecil lab audit {directory}' "
        "makes it again."
    )
    return Section(_ID, _TITLE, lede, ())


def _section(audit: DatasetAudit, suffix: str) -> Section:
    named = (replace(table, name=f"{table.name}{suffix}") for table in audit_tables(audit))
    parts = tuple(Part(table=table, folded=table.title) for table in named)
    return Section(_ID, _TITLE, seen_by_random(audit), parts)


def seen_by_random(audit: DatasetAudit) -> str:
    """Return what a few random orders show of the most variable method, and what is true."""
    words = metric_words(audit.metric)
    name = max(
        audit.methods, key=lambda it: audit.methods[it].truth.max - audit.methods[it].truth.min
    )
    method = audit.methods[name]
    truth, seen = method.truth, method.averages.get(RANDOM.name, {}).get("gaussian")
    if seen is None:
        return ""
    what = name if words.name == "accuracy" else f"{words.title} of {name}"
    shown, real = (
        f"{a:.1f} and {b:.1f} {words.unit}".rstrip()
        for a, b in ((seen.low, seen.high), (truth.min, truth.max))
    )
    orders = f"{len(truth.accuracies):,}"
    over = f"all {orders} orders" if truth.kind == "enumerated" else f"{orders} random orders"
    return (
        f"{method.budget_of(RANDOM.name)} random orders show {what} between {shown} on average; "
        f"{over} lie between {real}."
    )


def audit_tables(audit: DatasetAudit) -> list[Table]:
    """Every table, empty ones left out."""
    tables = beside_random_table(audit), closeness_table(audit), budgets_table(audit)
    return [table for table in tables if table.rows]


def beside_random_table(audit: DatasetAudit) -> Table:
    """Every protocol's mean distance from the truth, beside random orders and a placebo."""
    rows: list[tuple[Cell, ...]] = []
    for protocol, by_measure in audit.beside_random.items():
        for measure, title in MEASURES.items():
            one = by_measure[measure]
            low, high = one.interval or (None, None)
            own = one.ratio, low, high, *one.placebo, len(one.methods), _SIGNS[one.outcome]
            rows.append((protocol, title, *own))
    numbers = (Column(title, 2) for title in ("ratio", "from", "to", "placebo", "to "))
    return make_table(
        ("protocol", "measure", *numbers, Column("methods", 0), ""),
        rows,
        name="beside-random",
        title="Protocols compared with random orders",
        caption="Mean distance from the truth divided by that of as many random orders, with the "
        "same estimator: W₁, JSD, and the part of the range that is missed. Geometric mean over "
        "methods with its 90 % interval. Placebo: 90 % range if random orders take the place of "
        "constructed ones. ✓ better, ✗ worse than random orders if neither interval nor placebo "
        "explains it, ○ otherwise.",
    )


def closeness_table(audit: DatasetAudit) -> Table:
    """Mean distance of every protocol's estimate from the truth, over draws."""
    rows: list[tuple[Cell, ...]] = []
    for name, method in audit.methods.items():
        for protocol, by_estimator in method.averages.items():
            for estimator, one in by_estimator.items():
                numbers = one.wasserstein, one.jsd, one.low, one.high, one.high - one.low
                rows.append((name, protocol, estimator, *numbers))
    ends = (Column(title, 1) for title in ("lowest", "highest", "range"))
    return make_table(
        ("method", "protocol", "estimator", Column("W₁", 2), Column("JSD", 3), *ends),
        rows,
        name="closeness",
        title="Distance from the truth",
        caption="Means over draws of the protocol's random part: W₁ in points, JSD in nats, lowest "
        "and highest accuracy of the runs and their range.",
    )


def budgets_table(audit: DatasetAudit) -> Table:
    """Mean distance from the truth against the number of runs."""
    return make_table(
        ("method", "protocol", Column("runs", 0), Column("JSD", 3), Column("W₁", 2)),
        [
            (name, protocol, point.budget, point.jsd, point.wasserstein)
            for name, method in audit.methods.items()
            for protocol, points in method.by_budget.items()
            for point in points
        ],
        name="budgets",
        title="Distance from the truth with n runs",
        caption="Mean over draws, with the Gaussian estimator. JSD in nats, W₁ in points.",
    )
