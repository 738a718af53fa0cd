"""Metrics in words, for sentences, axes and the switch of a page."""

from __future__ import annotations

from dataclasses import dataclass

from edgecil.engine.metrics import METRICS, find_metric

_TITLES = {
    "accuracy": "accuracy",
    "last": "last accuracy",
    "average": "average incremental accuracy",
    "forgetting": "forgetting",
    "bwt": "backward transfer",
}
_STEPS = {
    "accuracy": "mean accuracy on the tasks seen",
    "forgetting": "forgetting of the tasks before",
    "bwt": "backward transfer to the tasks before",
}
_LINES = {
    "last": "A_last is the end of a line.",
    "average": "Ā is the mean of a line; the numbers at the lines are Ā.",
}
_CLASSES = {
    "average": "Accuracy on each class, mean over all tests from its own task on",
    "forgetting": "Forgetting of each class, its best earlier accuracy minus the final one",
    "bwt": "Backward transfer to each class, its final accuracy minus that after its own task",
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
    title: str
    description: str
    unit: str
    higher_is_better: bool
    step: str = ""
    line: str = ""
    classes: str = ""

    @property
    def needs_later_tasks(self) -> bool:
        """Whether classes of the last task have no value."""
        return self.step.endswith("the tasks before")

    @property
    def ends(self) -> tuple[str, str]:
        """What the lowest and the highest value are called."""
        return ("worst", "best") if self.higher_is_better else ("best", "worst")


def metric_words(name: str) -> MetricWords:
    """The words of a metric; a column of a file that is no metric of edgecil has its own name."""
    metric = find_metric(name)
    if name not in METRICS:
        unit, up = "%" if metric.bounds == (0.0, 100.0) else "", metric.higher_is_better
        return MetricWords(name, name, name, metric.description, unit, up)
    return MetricWords(
        name,
        metric.label,
        _TITLES.get(name, name),
        metric.description,
        "points" if metric.bounds[0] < 0.0 else "%",
        metric.higher_is_better,
        _STEPS.get(name, "accuracy on all images of the classes seen"),
        _LINES.get(name, ""),
        _CLASSES.get(name, "Final accuracy on each class"),
    )
