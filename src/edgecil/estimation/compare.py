"""`compare`: two or more methods on the class orders that they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from edgecil.errors import UsageError, unknown
from edgecil.estimation.comparison import Comparison, compare_pairs
from edgecil.estimation.oddities import warn_of_failures
from edgecil.estimation.sentences import count, explain_differences
from edgecil.estimation.sources import (
    Source,
    default_metric,
    describe_source,
    gather_runs,
    list_sources,
)
from edgecil.io.notebook import new_axes, show_printed

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class Pair:
    """Two methods on one dataset.

    Attributes:
        dataset: its name.
        first: a method.
        second: another method.
        comparison: the first against the second.
    """

    dataset: str
    first: str
    second: str
    comparison: Comparison

    def __repr__(self) -> str:
        one = self.comparison
        between = (
            "" if one.interval is None else " (90 %: {:+.1f} to {:+.1f})".format(*one.interval)
        )
        return (
            f"<Pair on {self.dataset}: {self.first} - {self.second} = {one.difference:+.1f} points"
            f"{between} on {count(one.n, 'order')}>"
        )


@dataclass(frozen=True, repr=False)
class MethodComparison:
    """All pairs of methods that share class orders.

    Attributes:
        source: the experiments or files, as they were given.
        metric: that was compared.
        pairs: by dataset, in the order of the methods; p-values are adjusted within a dataset.
        unfinished: a sentence for each method and protocol with orders that have no result.
    """

    source: str
    metric: str
    pairs: tuple[Pair, ...]
    unfinished: tuple[str, ...] = ()

    def __getitem__(self, names: tuple[str, str]) -> Comparison:
        """Return the first method against the second, if there is one dataset."""
        first, second = names
        for pair in self.pairs:
            if (pair.first, pair.second) == (first, second):
                return pair.comparison
            if (pair.first, pair.second) == (second, first):
                return pair.comparison.swapped()
        raise KeyError(f"No class order was run by both {first!r} and {second!r}.")

    def to_pandas(self) -> pandas.DataFrame:
        """Return one row for each pair."""
        import pandas

        frame: pandas.DataFrame = pandas.DataFrame(
            {
                "dataset": pair.dataset,
                "first": pair.first,
                "second": pair.second,
                **vars(pair.comparison),
            }
            for pair in self.pairs
        )
        return frame

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw each mean difference with its 90 % interval; a line marks no difference.

        Args:
            ax: the axes to draw on; new ones by default.
        """
        ax = new_axes((6.0, 0.8 + 0.35 * len(self.pairs))) if ax is None else ax
        for row, pair in enumerate(self.pairs):
            if pair.comparison.interval is not None:
                ax.plot(pair.comparison.interval, (row, row), color="0.35", linewidth=2)
            ax.plot([pair.comparison.difference], [row], "o", color="#0072B2")
        ax.axvline(0.0, color="0.6", linewidth=0.8)
        labels = [f"{pair.first} − {pair.second}" for pair in self.pairs]
        ax.set_yticks(range(len(labels)), labels)
        ax.set_ylim(len(labels) - 0.5, -0.5)
        ax.set_xlabel(f"difference of {self.metric}, points")
        return ax

    def __repr__(self) -> str:
        return f"<Comparison of {self.source}: {count(len(self.pairs), 'pair')} of methods>"

    def __str__(self) -> str:
        """Return which method of each pair is better, a line each."""
        return "\n".join(explain_differences(self, most=len(self.pairs)))

    _repr_pretty_ = show_printed


def compare(
    source: Source | Sequence[Source],
    *,
    method: Sequence[str] | None = None,
    metric: str | None = None,
    classifier: str | None = None,
) -> MethodComparison:
    """Compare methods on the class orders, and the training seeds, that they share.

    Args:
        source: experiment directories and CSV files. Runs on the same dataset are joined, so that
            methods may come from different sources. In Python also experiments, DataFrames and
            accuracy tables.
        method: the methods to compare; all by default.
        metric: metric to compare; by default the experiment's.
        classifier: classifier of the methods, such as `nme`; each method's main one by default.
    """
    sources = list_sources(source)
    metric = default_metric(sources) if metric is None else metric
    runs = gather_runs(sources, metric, classifier)
    pairs: list[Pair] = []
    unfinished: list[str] = []
    available = dict.fromkeys(name for part in runs for name in part.table.methods)
    for name in method or ():
        if name not in available:
            raise unknown("method", name, available)
    if len(compared := dict.fromkeys(method or available)) < 2:
        raise UsageError(
            f"A comparison requires at least two methods. Got {', '.join(compared)} alone."
        )
    for part in runs:
        chosen = [name for name in method or part.table.methods if name in part.table.methods]
        for name in chosen:
            unfinished += (f"{name}, {it}" for it in warn_of_failures(part.table, name, None))
        for first, others in compare_pairs(part.table, chosen).items():
            for second, comparison in others.items():
                pairs.append(Pair(part.table.dataset, first, second, comparison))
    if not pairs:
        raise UsageError(
            "A comparison requires two methods that ran the same class orders. "
            f"Got {', '.join(available)}, without a common order. "
            "Train both on the same protocol with the same order seed."
        )
    return MethodComparison(
        ", ".join(map(describe_source, sources)),
        runs[0].table.metric,
        tuple(pairs),
        tuple(unfinished),
    )
