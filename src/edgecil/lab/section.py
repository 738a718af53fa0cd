"""The section of a report page that shows an experiment's stored audit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.lab._audit import audit_file, load_audit, runs_digest
from edgecil.lab.audits import DatasetAudit
from edgecil.lab.figures import build_budgets, build_closeness
from edgecil.lab.tables import (
    beside_random_table,
    budgets_table,
    closeness_table,
    estimates_table,
    outside_range_table,
    ranges_table,
    rankings_table,
)
from edgecil.report.metrics import metric_words
from edgecil.report.sections import Part, Section
from edgecil.report.table import Table
from edgecil.sequences.protocols import RANDOM

_ID, _TITLE = "audit", "Audit"


def build_section(dataset: DatasetAnalysis, suffix: str) -> Section | None:
    """Return the section on protocols and estimators; None if no audit is stored.

    Args:
        dataset: the analysis that the page shows.
        suffix: of the names of its files.
    """
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
    closeness = build_closeness(audit, name=f"closeness{suffix}")
    budgets = build_budgets(audit, name=f"budgets{suffix}")
    several = len(audit.methods) > 1

    def part(table: Table, *, folded: str = "") -> Part:
        shown = replace(table, name=f"{table.name}{suffix}") if table.rows else None
        return Part(table=shown, folded=folded)

    parts = (
        Part("Closeness to the truth", closeness) if closeness else Part(),
        part(beside_random_table(audit), folded="Protocols compared with random orders"),
        part(closeness_table(audit), folded="Distances of all estimators"),
        part(ranges_table(audit), folded="Range covered by each protocol"),
        Part("How many runs are enough", budgets) if budgets else Part(),
        part(outside_range_table(audit)),
        part(budgets_table(audit), folded="Numbers behind these curves"),
        part(estimates_table(audit), folded="All estimates"),
        *(
            [part(rankings_table(audit), folded="Ranks by worst order, best order and stability")]
            if several
            else []
        ),
    )
    filled = tuple(part for part in parts if part.figure or part.table)
    return Section(_ID, _TITLE, seen_by_random(audit), filled)


def seen_by_random(audit: DatasetAudit) -> str:
    """Return what a few random orders show of the most variable method, and what is true."""
    words = metric_words(audit.metric)
    true = {name: one.truth for name, one in audit.methods.items() if one.truth is not None}
    name = max(true, key=lambda one: true[one].max - true[one].min)
    truth, method = true[name], audit.methods[name]
    ends = method.range_of(RANDOM.name)
    if ends is None or truth.min == truth.max:
        return ""
    what = name if words.name == "accuracy" else f"{words.title} of {name}"
    shown, real = (
        f"{a:.1f} and {b:.1f} {words.unit}".rstrip() for a, b in (ends, (truth.min, truth.max))
    )
    orders = f"{len(truth.sequences):,}"
    over = f"all {orders} orders" if truth.kind == "enumerated" else f"{orders} random orders"
    return (
        f"{method.budget_of('random')} random orders show {what} between {shown} on average; "
        f"{over} lie between {real}."
    )
