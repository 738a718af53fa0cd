"""MEMO: each task gets a new last stage of the backbone; all tasks share the earlier stages.

Zhou et al. (ICLR 2023), "A Model or 603 Exemplars: Towards Memory-Efficient Class-Incremental
Learning": shallow layers change little between tasks, so the memory that DER spends on copies
of them is better used for exemplars.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod

from edgecil.backbones import Backbone, ResNet
from edgecil.errors import UsageError
from edgecil.methods.entry import register_method
from edgecil.methods.expansion import (
    ExpandingBackbone,
    ExpandingConfig,
    ExpandingMethod,
    ExpandingNetwork,
)
from edgecil.methods.task import Task


@dataclass(frozen=True)
class MEMOConfig(ExpandingConfig):
    """Hyper-parameters of MEMO, beside those of every expanding method."""

    train_shared: bool = True  # whether the shared stages are trained after the first task
    # Additional last stages reduce the exemplar memory by the same number of bytes, for comparisons
    # at equal memory as in the publication.
    count_growth: bool = False


@register_method(
    "memo",
    MEMOConfig,
    "a shared stem and a new last stage per task (2023)",
    fast_settings={"balancing": 30},
)
class MEMO(ExpandingMethod):
    """Generalised blocks shared by all tasks, and one specialised block per task."""

    config: MEMOConfig
    need = "residual"

    def assemble(self, backbone: Backbone) -> ExpandingNetwork:
        """Return a network with a shared shallow part and last stages as extractors."""
        assert isinstance(backbone, ResNet)  # it needs the stages of one
        split = ExpandingBackbone(
            backbone.shallow,
            backbone.last_stage,
            backbone.feature_size,
            train_shared=self.config.train_shared,
        )
        return ExpandingNetwork(split)

    def begin(self, task: Task) -> None:
        """Reduce the exemplar memory for the task's last stage if `count_growth` is set."""
        if self.config.count_growth:
            self.pay(task)

    def pay(self, task: Task) -> None:
        """Reduce the exemplar memory by the size of all last stages after the first.

        Model and exemplars together then never need more bytes than a learner that does not grow
        and holds its full quota of every class seen.
        """
        stage = sum(value.nbytes for value in self.network.backbone.newest.parameters())
        images, seen = ceil(task.index * stage / prod(self.environment.shape)), len(task.seen)
        budget = self.config.memory.less(images, seen)
        if budget.quota(seen) < 1:
            raise UsageError(
                f"With 'count_growth', MEMO's {task.index + 1} last stages use the memory of "
                f"{images} of the {self.config.memory.quota(seen) * seen} exemplars of {seen} "
                "classes, which leaves less than one per class; increase the memory or use "
                "fewer tasks."
            )
        self.memory.budget = budget
        self.memory.shrink(seen)
