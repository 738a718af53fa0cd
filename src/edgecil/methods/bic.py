"""BiC: replay, distillation, and a linear correction of the new classes' logits.

Wu et al. (CVPR 2019), "Large Scale Incremental Learning". After each task, two parameters (a scale
and a shift of the new classes' logits) are fitted on a small balanced set of held-out images.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from edgecil.backbones import Backbone, GrowingLinear
from edgecil.hints import Range
from edgecil.methods.entry import register_method
from edgecil.methods.memory import ExemplarMemory, draw
from edgecil.methods.network import DistillationConfig, Network, TeacherMethod, linear_head
from edgecil.methods.task import Task
from edgecil.methods.training_loop import minimise


@dataclass(frozen=True)
class BiCConfig(DistillationConfig):
    """Hyper-parameters of BiC; the correction has the schedule of a task."""

    # share of a class's exemplars that is held out for the correction, at least one
    held_out: Annotated[float, Range(0.0, 1.0, open=True)] = 0.1
    # The correction is fitted by the cross-entropy of the logits, as in the publication, or as in
    # PyCIL, which applies softmax before the cross-entropy applies it again.
    correction: Literal["logits", "double-softmax"] = "logits"


class CorrectedNetwork(Network):
    """A network whose logits are scaled (1 without correction) and shifted (0) per class."""

    scales: Tensor
    shifts: Tensor

    def __init__(self, backbone: Backbone, head: GrowingLinear) -> None:
        super().__init__(backbone, head)
        self.register_buffer("scales", torch.ones(0))
        self.register_buffer("shifts", torch.zeros(0))

    def forward(self, images: Tensor) -> Tensor:
        """Return corrected logits (n, classes seen) of normalised images (n, c, h, w)."""
        return self.corrected(self.backbone(images))

    def corrected(self, features: Tensor) -> Tensor:
        """Return corrected logits (n, classes seen) of features (n, d)."""
        logits: Tensor = self.head(features)
        return logits * self.scales + self.shifts

    def grow(self, classes: int, generator: torch.Generator) -> None:
        """Add outputs for more classes, without correction."""
        super().grow(classes, generator)
        self.scales = torch.cat([self.scales, self.scales.new_ones(classes)])
        self.shifts = torch.cat([self.shifts, self.shifts.new_zeros(classes)])

    def correct(self, old_count: int, scale: Tensor, shift: Tensor) -> None:
        """Set the correction of the classes from `old_count` on."""
        self.scales = torch.cat([self.scales[:old_count], scale.expand_as(self.scales[old_count:])])
        self.shifts = torch.cat([self.shifts[:old_count], shift.expand_as(self.shifts[old_count:])])

    def _load_from_state_dict(self, state_dict: dict[str, Tensor], prefix: str, *args: Any) -> None:
        size = state_dict[f"{prefix}scales"].shape
        self.scales, self.shifts = self.scales.new_ones(size), self.shifts.new_zeros(size)
        super()._load_from_state_dict(state_dict, prefix, *args)


@register_method(
    "bic",
    BiCConfig,
    "replay, distillation, bias correction (2019)",
    published_settings={"correction": "double-softmax"},  # PyCIL's, as all of its settings
)
class BiC(TeacherMethod):
    """Replay with distillation; a linear layer corrects the bias towards new classes."""

    config: BiCConfig
    classifiers = ("head", "nme")
    network: CorrectedNetwork
    memory: ExemplarMemory

    def assemble(self, backbone: Backbone) -> CorrectedNetwork:
        """Return the network around a new backbone."""
        return CorrectedNetwork(backbone, linear_head(backbone))

    def training_data(self, task: Task) -> tuple[Tensor, Tensor]:
        """Return the task and the exemplars without the held-out images."""
        inputs, labels = super().training_data(task)
        if not task.old_count:
            return inputs, labels
        kept = torch.ones(len(labels), dtype=torch.bool, device=labels.device)
        for index in self.held_out(task):
            if (labels == labels[index]).sum() > 1:  # a single exemplar is trained on as well
                kept[index] = False
        return inputs[kept.to(inputs.device)], labels[kept]

    def held_out(self, task: Task) -> Tensor:
        """Choose the held-out images among the task's images and exemplars, equally per class."""
        _, labels = super().training_data(task)
        exemplars = min(len(self.memory.of_class(label)) for label in range(task.old_count))
        count = max(1, round(self.config.held_out * exemplars))
        chosen = []
        for label in range(len(task.seen)):
            where = torch.nonzero(labels == label).squeeze(1)
            chosen.append(where[draw(where, count, task.generator("held out", label))])
        return torch.cat(chosen)

    def end(self, task: Task) -> None:
        """Fit scale and shift of the new classes' logits on the held-out images."""
        super().end(task)
        if not task.old_count:
            return
        inputs, labels = super().training_data(task)
        chosen = self.held_out(task)
        with torch.no_grad():
            logits = self.network.corrected(self.features(inputs[chosen.to(inputs.device)]))
        targets = labels[chosen]
        scale = nn.Parameter(torch.ones(1, device=logits.device))
        shift = nn.Parameter(torch.zeros(1, device=logits.device))

        def loss(batch: Tensor, _: torch.Generator) -> Tensor:
            old, new = logits[batch].tensor_split([task.old_count], dim=1)
            corrected = torch.cat([old, new * scale + shift], dim=1)
            if self.config.correction == "double-softmax":
                corrected = corrected.softmax(dim=1)
            return cross_entropy(corrected, targets[batch])

        minimise([scale, shift], len(targets), loss, self.schedule, task, stage="correction")
        self.network.correct(task.old_count, scale.detach(), shift.detach())

    def largest_logit(self, features: Tensor) -> Tensor:
        """New labels (n,) with the largest corrected logit for features (n, d)."""
        with torch.no_grad():
            return self.network.corrected(features).argmax(dim=1)
