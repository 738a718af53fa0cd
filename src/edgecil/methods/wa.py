"""WA: replay, distillation, and alignment of the norms of old and new class weights.

Zhao et al. (CVPR 2020), "Maintaining Discrimination and Fairness in Class Incremental Learning".
The weight of the distillation is the share of old classes.
"""

from __future__ import annotations

from dataclasses import dataclass

from edgecil.methods.entry import register_method
from edgecil.methods.network import DistillationConfig, TeacherMethod
from edgecil.methods.task import Task


@dataclass(frozen=True)
class WAConfig(DistillationConfig):
    """Hyper-parameters of WA."""

    # Whether weights of new classes are also enlarged where theirs are the smaller ones, as the
    # published formula has it. After a short training, or of outputs that start at zero, they are
    # smaller without any bias to correct, and enlarged ones take over nearly all predictions.
    enlarge: bool = False


@register_method(
    "wa",
    WAConfig,
    "replay, distillation, weight alignment (2020)",
    published_settings={"enlarge": True},
)
class WA(TeacherMethod):
    """Replay with distillation; the head is aligned after each task."""

    config: WAConfig
    classifiers = ("head", "nme")

    def end(self, task: Task) -> None:
        """Scale the new classes' weights to the mean norm of the old ones."""
        super().end(task)
        if task.old_count:
            self.network.head.align(task.old_count, enlarge=self.config.enlarge)
