"""Plots of notebooks: what is claimed, drawn from the numbers of the claims and from no others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from edgecil.analysis.pair_verdicts import Comparison, Verdict
from edgecil.io.numbers import per_cent
from edgecil.statistics.posterior import Interval
from edgecil.wording.metric_words import metric_words
from edgecil.wording.phrases import is_per_cent
from edgecil.wording.populations import unit_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from edgecil.analysis.answers import DatasetAnalysis

CLAIM_HEIGHT, COMPARISON_HEIGHT = 0.8, 0.45
"""Inches of a row of a plot."""
_COLOUR, _PROBE = "#0072B2", "#D55E00"


@dataclass(frozen=True)
class ClaimRow:
    """What is drawn of one method.

    Attributes:
        label: the method, and the dataset if there are several.
        values: of the orders (or runs) behind the claims.
        mean: the claimed mean.
        mean_interval: its interval; None if there is none.
        new_run: the interval of a new run; None if there is none.
        probes: values of constructed orders.
    """

    label: str
    values: tuple[float, ...]
    mean: float | None
    mean_interval: Interval | None
    new_run: Interval | None
    probes: tuple[float, ...]


def claim_rows(datasets: Sequence[DatasetAnalysis]) -> list[ClaimRow]:
    """Return what is drawn of each method of each dataset."""
    rows = []
    for dataset in datasets:
        for name, method in dataset.methods.items():
            claims = method.claims
            rows.append(
                ClaimRow(
                    f"{name}\n{dataset.dataset}" if len(datasets) > 1 else name,
                    tuple(dataset.claimed_orders(name).accuracies.tolist()),
                    claims.mean.value,
                    claims.mean.interval,
                    claims.next_run.interval,
                    tuple(claims.probes.values()),
                )
            )
    return rows


def draw_claims(datasets: Sequence[DatasetAnalysis], ax: Axes) -> Axes:
    """Draw each method's claims: the mean with its interval, a new run, and the runs behind."""
    rows = claim_rows(datasets)
    all_claims = [method.claims for dataset in datasets for method in dataset.methods.values()]
    populations = list(dict.fromkeys(claims.population for claims in all_claims))
    unit = unit_of(populations[0])
    level = per_cent(all_claims[0].level)
    over = f" over {populations[0]}" if len(populations) == 1 else ""
    labels = {
        "mean": f"mean{over}, {level} interval",
        "new run": f"a new run, {level}",
        "values": f"{unit}s",
        "probes": "constructed orders",
    }

    def label(part: str) -> str:
        """Return the label of the first mark of a kind, so that the legend has it once."""
        return labels.pop(part, "_")

    for place, row in enumerate(rows):
        if row.new_run is not None:
            ax.plot(
                row.new_run, (place, place), color=_COLOUR, linewidth=1.2, label=label("new run")
            )
        if row.mean_interval is not None:
            ax.plot(
                row.mean_interval, (place, place), color=_COLOUR, linewidth=5, label=label("mean")
            )
        if row.mean is not None:
            kind = "_" if row.mean_interval is not None else label("mean").partition(",")[0]
            ax.plot([row.mean], [place], "D", color=_COLOUR, markeredgecolor="white", label=kind)
        below = [place + 0.28] * len(row.values)
        shown = label("values")
        ax.scatter(row.values, below, s=12, color="0.5", linewidths=0, alpha=0.6, label=shown)
        if row.probes:
            below = [place + 0.28] * len(row.probes)
            ax.scatter(row.probes, below, s=22, color=_PROBE, marker="D", label=label("probes"))
    ax.set_yticks(range(len(rows)), [row.label for row in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    words = metric_words(datasets[0].metric)
    ax.set_xlabel(f"{words.title}, {words.unit}" if words.unit else words.title)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False, fontsize="small")
    return ax


def draw_comparisons(verdicts: Sequence[Verdict], ax: Axes) -> Axes:
    """Draw the difference of each pair with its interval; at 0 both methods are equal."""
    labels = []
    for place, verdict in enumerate(verdicts):
        colour = "0.5" if verdict.better is None else _COLOUR
        if verdict.interval is not None:
            ax.plot(verdict.interval, (place, place), color=colour, linewidth=4)
        ax.plot([verdict.difference], [place], "D", color=colour, markeredgecolor="white")
        label = f"{verdict.ahead} − {verdict.behind}"
        if isinstance(verdict, Comparison) and verdict.dataset:
            label += f"\n{verdict.dataset}"
        labels.append(label)
    ax.axvline(0.0, color="0.3", linewidth=1.0)
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    populations = {verdict.population for verdict in verdicts if isinstance(verdict, Comparison)}
    over = f"\nover {populations.pop()}" if len(populations) == 1 else ""
    words = metric_words(verdicts[0].metric)
    of_metric = f"{words.title}, points" if is_per_cent(verdicts[0].metric) else words.title
    level = per_cent(verdicts[0].level)
    ax.set_xlabel(f"mean difference in {of_metric}, with its {level} interval{over}")
    return ax
