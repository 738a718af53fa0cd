"""Metrics in words, for sentences, axes and the switch of a page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from edgecil.io.files import read_toml
from edgecil.runs.metrics import METRICS, find_metric

_WORDS = read_toml(Path(__file__).with_suffix(".toml"))

# The metrics that a page offers beside the one that was asked for, if the runs have them.
OFFERED = ("accuracy", "last", "average", "forgetting", "learning")


@dataclass(frozen=True)
class MetricWords:
    """How a page calls a metric: in the switch (label), in a sentence or on an axis (title).

    `step` is what its curve shows after each task, `line` how the curve and the value go together,
    `classes` what its heat map of classes shows.
    """

    name: str
    label: str
    description: str
    unit: str
    higher_is_better: bool
    title: str
    step: str = "accuracy on all images of the classes seen"
    line: str = ""
    classes: str = "Final accuracy on each class"

    @property
    def ends(self) -> tuple[str, str]:
        """What the lowest and the highest value are called."""
        return ("worst", "best") if self.higher_is_better else ("best", "worst")


def metric_words(name: str) -> MetricWords:
    """The words of a metric; a column of a file that is no metric of edgecil has its own name."""
    metric = find_metric(name)
    unit = "%" if metric.bounds[0] >= 0.0 else "points" if name in METRICS else ""
    words = {"title": name, **_WORDS.get(name, {})}
    up = metric.higher_is_better
    return MetricWords(name, metric.label, metric.description, unit, up, **words)
