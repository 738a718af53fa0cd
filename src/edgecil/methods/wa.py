"""WA: replay, distillation, and alignment of the norms of old and new class weights.

Zhao et al. (CVPR 2020), "Maintaining Discrimination and Fairness in Class Incremental Learning".
The weight of the distillation is the share of old classes.
"""

from __future__ import annotations

from edgecil.methods.entry import register_method
from edgecil.methods.network import DistillationConfig, TeacherMethod
from edgecil.methods.task import Task


@register_method("wa", DistillationConfig, "replay, distillation, weight alignment (2020)")
class WA(TeacherMethod):
    """Replay with distillation; the head is aligned after each task."""

    classifiers = ("head", "nme")

    def end(self, task: Task) -> None:
        """Scale the new classes' weights to the mean norm of the old ones."""
        super().end(task)
        if task.old_count:
            self.network.head.align(task.old_count)
