"""Metrics in words, for sentences, axes and the switch of a page."""

from __future__ import annotations

from dataclasses import dataclass

from edgecil.engine.results import METRICS

_TITLES = {
    "accuracy": "accuracy",
    "last": "last accuracy",
    "average": "average incremental accuracy",
    "forgetting": "forgetting",
    "bwt": "backward transfer",
}

# The metrics that a page offers beside the one that was asked for, if the runs have them.
OFFERED = ("accuracy", "last", "average", "forgetting")


@dataclass(frozen=True)
class MetricWords:
    """How a page calls a metric.

    Attributes:
        name: of the metric.
        label: a symbol or a word, for the switch.
        title: in a sentence or on an axis.
        description: one sentence.
        unit: of its values.
        higher_is_better: whether a greater value is the better one.
    """

    name: str
    label: str
    title: str
    description: str
    unit: str
    higher_is_better: bool

    @property
    def ends(self) -> tuple[str, str]:
        """What the lowest and the highest value are called."""
        return ("worst", "best") if self.higher_is_better else ("best", "worst")


def metric_words(name: str) -> MetricWords:
    """The words of a metric; a column of a file that is no metric of edgecil has its own name."""
    if name not in METRICS:
        return MetricWords(name, name, name, f"The column {name!r} of the file.", "", True)
    metric = METRICS[name]
    unit = "points" if name in ("forgetting", "bwt") else "%"
    return MetricWords(
        name,
        metric.label,
        _TITLES.get(name, name),
        metric.description,
        unit,
        metric.higher_is_better,
    )
