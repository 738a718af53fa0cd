"""The metrics of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from edgecil.registry import Registry

if TYPE_CHECKING:
    from edgecil.engine.results import Accuracies, Reported


@dataclass(frozen=True)
class Metric:
    """A number read off a run, in per cent.

    Attributes:
        name: the name by which it is requested.
        label: a short label for tables and axes.
        description: one sentence.
        higher_is_better: whether a greater value is the better one.
        compute: the value of a classifier's accuracies; None where it is undefined.
        bounds: the least and the greatest value there can be.
        of_classes: whether it is a mean of the final accuracies of classes.
    """

    name: str
    label: str
    description: str
    higher_is_better: bool
    compute: Callable[[Accuracies | Reported], float | None]
    bounds: tuple[float, float] = (0.0, 100.0)
    of_classes: bool = False


METRICS: Registry[Metric] = Registry(
    "metric",
    {
        metric.name: metric
        for metric in (
            Metric(
                "accuracy",
                "A(O)",
                "After the last task, the mean accuracy over tasks (the paper's metric).",
                True,
                lambda run: run.accuracy,
                of_classes=True,
            ),
            Metric(
                "last",
                "A_last",
                "Accuracy over all test images after the last task.",
                True,
                lambda run: run.last,
                of_classes=True,
            ),
            Metric(
                "average",
                "Ā",
                "Average incremental accuracy: mean over tasks of the accuracy on all images of "
                "the classes seen so far.",
                True,
                lambda run: run.average,
            ),
            Metric(
                "forgetting",
                "forgetting",
                "Mean over old tasks of the best earlier accuracy minus the final one.",
                False,
                lambda run: run.forgetting,
                (-100.0, 100.0),
            ),
            Metric(
                "bwt",
                "BWT",
                "Backward transfer: mean over old tasks of the final accuracy minus the accuracy "
                "right after the task.",
                True,
                lambda run: run.bwt,
                (-100.0, 100.0),
            ),
        )
    },
)
