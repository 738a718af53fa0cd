"""The audit of an experiment as tables, and as a section of its report page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from edgecil.analysis.answers import DatasetAnalysis
from edgecil.errors import DataError
from edgecil.io.csv_files import CsvCell
from edgecil.lab._audit import MEASURES, Audit, DatasetAudit, audit_file, runs_digest
from edgecil.report.sections import Part, Section
from edgecil.report.table import Column, Table, make_table
from edgecil.sequences.protocols import RANDOM
from edgecil.wording.metric_words import metric_words

_SIGNS = {"better": "✓", "similar": "○", "worse": "✗"}


def build_section(dataset: DatasetAnalysis, suffix: str) -> Section | None:
    """Return the section about protocols and estimators; None if no audit is stored."""
    if len(dataset.experiments) != 1:
        return None
    directory = Path(dataset.experiments[0].directory)
    files = sorted(audit_file(directory, "x").parent.glob(f"{dataset.metric}*.json"))
    if not files:
        return None
    digest = runs_digest(dataset.table)
    for file in files:
        with suppress(DataError):  # of another version
            for audit in Audit.load(file).datasets:
                if audit.metric == dataset.metric and audit.runs_digest == digest:
                    return _section_of(audit, suffix)
    lede = (
        "The stored audit is of other runs or of another version; "
        f"'python -m edgecil.lab audit {directory}' makes it again."
    )
    return Section("audit", "Audit", lede, ())


def _section_of(audit: DatasetAudit, suffix: str) -> Section:
    parts = []
    for table in audit_tables(audit):
        named = replace(table, name=f"{table.name}{suffix}")
        parts.append(Part(table=named, folded=named.title))
    return Section("audit", "Audit", compare_random_with_truth(audit), tuple(parts))


def compare_random_with_truth(audit: DatasetAudit) -> str:
    """Return a sentence about a few random orders of the most variable method, and the truth."""
    words = metric_words(audit.metric)
    ranges = {name: np.ptp(method.truth.accuracies) for name, method in audit.methods.items()}
    name = max(ranges, key=ranges.__getitem__)
    method = audit.methods[name]
    truth = method.truth
    closeness = method.averages.get(RANDOM.name, {}).get("gaussian")
    if closeness is None:
        return ""
    what = name if words.name == "accuracy" else f"{words.title} of {name}"
    of_runs = f"{closeness.low:.1f} and {closeness.high:.1f} {words.unit}".rstrip()
    low, high = truth.accuracies.min(), truth.accuracies.max()
    of_truth = f"{low:.1f} and {high:.1f} {words.unit}".rstrip()
    orders = f"{len(truth.accuracies):,}"
    over = f"all {orders} orders" if truth.kind == "enumerated" else f"{orders} random orders"
    return (
        f"{method.budget_of(RANDOM.name)} random orders show {what} between {of_runs} on average; "
        f"{over} lie between {of_truth}."
    )


def show_audit(audit: Audit) -> Iterator[Table | str]:
    """Yield what `python -m edgecil.lab audit` prints."""
    for dataset in audit.datasets:
        yield f"{dataset.dataset}: {compare_random_with_truth(dataset)}\n"
        yield from audit_tables(dataset)


def audit_tables(audit: DatasetAudit) -> list[Table]:
    """Return the non-empty tables of ratios to random orders, distances and budgets."""
    beside: list[tuple[CsvCell, ...]] = []
    for protocol, by_measure in audit.beside_random.items():
        for measure, title in MEASURES.items():
            ratio = by_measure[measure]
            low, high = ratio.interval or (None, None)
            numbers = ratio.ratio, low, high, *ratio.placebo, len(ratio.methods)
            beside.append((protocol, title, *numbers, _SIGNS[ratio.outcome]))
    closeness: list[tuple[CsvCell, ...]] = []
    budgets: list[tuple[CsvCell, ...]] = []
    for name, method in audit.methods.items():
        for protocol, by_estimator in method.averages.items():
            for estimator, mean in by_estimator.items():
                distances = mean.wasserstein, mean.jsd
                ends_and_range = mean.low, mean.high, mean.high - mean.low
                closeness.append((name, protocol, estimator, *distances, *ends_and_range))
        for protocol, points in method.by_budget.items():
            for point in points:
                budgets.append((name, protocol, point.budget, point.jsd, point.wasserstein))
    ratios = (Column(title, 2) for title in ("ratio", "from", "to", "placebo", "to "))
    ends = (Column(title, 1) for title in ("lowest", "highest", "range"))
    jsd, w1 = Column("JSD", 3), Column("W₁", 2)
    tables = (
        make_table(
            ("protocol", "measure", *ratios, Column("methods", 0), ""),
            beside,
            name="beside-random",
            title="Protocols compared with random orders",
            caption="Mean distance from the truth divided by that of as many random orders, with "
            "the same estimator: W₁, JSD, and the part of the range that is missed. Geometric mean "
            "over methods with its 90 % interval. Placebo: 90 % range if random orders take the "
            "place of constructed ones. ✓ better, ✗ worse than random orders if neither interval "
            "nor placebo explains it, ○ otherwise.",
        ),
        make_table(
            ("method", "protocol", "estimator", w1, jsd, *ends),
            closeness,
            name="closeness",
            title="Distance from the truth",
            caption="Means over draws of the protocol's random part: W₁ in points, JSD in nats, "
            "lowest and highest accuracy of the runs and their range.",
        ),
        make_table(
            ("method", "protocol", Column("runs", 0), jsd, w1),
            budgets,
            name="budgets",
            title="Distance from the truth with n runs",
            caption="Mean over draws, with the Gaussian estimator. JSD in nats, W₁ in points.",
        ),
    )
    return [table for table in tables if table.rows]
