"""ER: replay exemplars beside each task's images.

Experience replay (Chaudhry et al. 2019, "On tiny episodic memories in continual learning") in the
class-incremental form of PyCIL's `replay`: cross-entropy over all classes on the images of the task
and of a herded memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn.functional import cross_entropy

from edgecil.methods.memory import MemoryBudget
from edgecil.methods.network import NetworkMethod
from edgecil.methods.registry import register_method
from edgecil.methods.schedule import PAPER, Schedule
from edgecil.methods.setups import PAPER_MEMORY
from edgecil.methods.task import Task


@dataclass(frozen=True)
class ERConfig:
    """Hyper-parameters of replay.

    Attributes:
        schedule: schedule of each task.
        memory: exemplar budget.
    """

    schedule: Schedule = PAPER
    memory: MemoryBudget = PAPER_MEMORY


@register_method("er", ERConfig, "replay of exemplars, nothing else (2019)")
class ER(NetworkMethod):
    """Cross-entropy on the task and the exemplars."""

    classifiers = ("head", "nme")

    def loss(self, images: torch.Tensor, labels: torch.Tensor, task: Task) -> torch.Tensor:
        """Cross-entropy over all classes."""
        return cross_entropy(self.network(images), labels)
