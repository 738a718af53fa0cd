"""Metrics in words, for sentences, axes and the switch of a page."""

from __future__ import annotations

from dataclasses import dataclass

from edgecil.engine.metrics import METRICS, find_metric

_WORDS = {
    "accuracy": {"step": "mean accuracy on the tasks seen"},
    "last": {"title": "last accuracy", "line": "A_last is the end of a line."},
    "average": {
        "title": "average incremental accuracy",
        "line": "Ā is the mean of a line; the numbers at the lines are Ā.",
        "classes": "Accuracy on each class, mean over all tests from its own task on",
    },
    "forgetting": {
        "step": "forgetting of the tasks before",
        "classes": "Forgetting of each class, its best earlier accuracy minus the final one",
    },
    "bwt": {
        "title": "backward transfer",
        "step": "backward transfer to the tasks before",
        "classes": "Backward transfer to each class, its final accuracy minus that after its own "
        "task",
    },
}

# The metrics that a page offers beside the one that was asked for, if the runs have them.
OFFERED = ("accuracy", "last", "average", "forgetting")


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
    own = {"title": name, **_WORDS.get(name, {})}
    up = metric.higher_is_better
    return MetricWords(name, metric.label, metric.description, unit, up, **own)
