"""MEMO: only the last stage of the backbone is made anew for a task; all tasks share the rest.

Zhou et al. (ICLR 2023), "A Model or 603 Exemplars: Towards Memory-Efficient Class-Incremental
Learning": shallow layers stay nearly the same from task to task, so copying them, as DER does,
spends memory that exemplars could use better.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod

from edgecil.backbones import Backbone
from edgecil.errors import UsageError
from edgecil.methods.expansion import (
    ExpandingBackbone,
    ExpandingConfig,
    ExpandingMethod,
    ExpandingNetwork,
    residual,
)
from edgecil.methods.registry import register_method
from edgecil.methods.task import Task


@dataclass(frozen=True)
class MEMOConfig(ExpandingConfig):
    """Hyper-parameters of MEMO, beside those of every expanding method.

    Attributes:
        train_shared: whether the shared stages go on learning after the first task.
        count_growth: whether the last stages after the first one are paid for in exemplars of the
            same number of bytes, for comparisons at equal memory as the publication makes them.
    """

    train_shared: bool = True
    count_growth: bool = False


@register_method(
    "memo",
    MEMOConfig,
    "a shared stem and a new last stage per task (2023)",
    fast_settings={"balancing": 30},
)
class MEMO(ExpandingMethod):
    """Generalised blocks that all tasks share, and specialised ones that are frozen in turn."""

    config: MEMOConfig

    def assemble(self, backbone: Backbone) -> ExpandingNetwork:
        """Last stages side by side behind one shallow part."""
        parts = residual(backbone, "MEMO")
        split = ExpandingBackbone(
            parts.shallow,
            parts.last_stage,
            parts.feature_size,
            train_shared=self.config.train_shared,
        )
        return ExpandingNetwork(split)

    def begin(self, task: Task) -> None:
        """Make room for the task's last stage among the exemplars, if its growth is to count."""
        if self.config.count_growth:
            self.pay(task)

    def pay(self, task: Task) -> None:
        """Give up exemplars for the last stages that there will be beside the first one.

        A learner that does not grow holds its quota of every class seen; with the stages that this
        one has more, it may hold no more bytes than that while it trains nor afterwards.
        """
        stage = sum(value.nbytes for value in self.network.backbone.newest.parameters())
        images, seen = ceil(task.index * stage / prod(self.environment.shape)), len(task.seen)
        budget = self.config.memory.less(images, seen)
        if budget.quota(seen) < 1:
            raise UsageError(
                f"With count_growth, MEMO's {task.index + 1} last stages take the room of {images} "
                f"exemplars of the {self.config.memory.quota(seen) * seen} that {seen} classes may "
                "have, which leaves not one of each; give it a larger memory or fewer tasks."
            )
        self.memory.budget = budget
        self.memory.shrink(seen)
