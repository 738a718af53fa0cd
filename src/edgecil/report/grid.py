"""Protocols compared with random orders and with a placebo, one sign for each measure."""

from __future__ import annotations

from dataclasses import dataclass

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.estimation.placebo import MEASURES, Ratio

SIGNS = {"better": "✓", "similar": "○", "worse": "✗"}

_WHAT = {
    "wasserstein": "distance W₁ from the truth",
    "jsd": "divergence (JSD) from the truth",
    "missed_range": "part of the range that is missed",
}


@dataclass(frozen=True)
class GridCell:
    """One comparison.

    Attributes:
        sign: ✓, ○ or ✗.
        outcome: the same as a word.
        tip: the numbers behind it.
    """

    sign: str
    outcome: str
    tip: str


@dataclass(frozen=True)
class Grid:
    """Signs by protocol and measure.

    Attributes:
        columns: titles of the measures.
        rows: name of a protocol and its cells.
        caption: what the signs mean.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[GridCell, ...]], ...]
    caption: str


def protocol_grid(dataset: DatasetAnalysis) -> Grid | None:
    """Each protocol compared with as many random orders; None without a truth."""
    rows = []
    for protocol, comparison in dataset.protocol_comparisons.items():
        cells = [
            _cell(protocol, measure, comparison.runs, comparison.measures[measure])
            for measure in MEASURES
        ]
        rows.append((protocol, tuple(cells)))
    if not rows:
        return None
    caption = (
        "Each protocol compared with as many random orders: ✓ better, ○ no clear difference, "
        "✗ worse."
    )
    return Grid(tuple(MEASURES.values()), tuple(rows), caption)


def _cell(protocol: str, measure: str, runs: int, ratio: Ratio) -> GridCell:
    between = (
        ""
        if ratio.interval is None
        else f" (90 %: {ratio.interval[0]:.2f} to {ratio.interval[1]:.2f})"
    )
    low, high = ratio.placebo
    placebo = (
        "" if low == high else f" Two random orders as a placebo give {low:.2f} to {high:.2f}."
    )
    methods = f"{len(ratio.methods)} method{'' if len(ratio.methods) == 1 else 's'}"
    tip = (
        f"{protocol}, {runs} runs: {_WHAT[measure]} is {ratio.ratio:.2f} times that of random "
        f"orders{between}, over {methods}.{placebo}"
    )
    return GridCell(SIGNS[ratio.outcome], ratio.outcome, tip)
