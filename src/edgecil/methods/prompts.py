"""Base class of learners that train prompts for a frozen vision transformer."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from edgecil.backbones import GrowingLinear
from edgecil.backbones.features import BATCH
from edgecil.backbones.vit import Sockets
from edgecil.methods.frozen_features import PretrainedMethod
from edgecil.methods.method import Environment
from edgecil.methods.task import Task, derive_generator
from edgecil.methods.training_loop import fit


class PromptMethod(PretrainedMethod):
    """Trains prompts and a head on the features of the prompted transformer.

    An image's query is its feature vector without prompts. Queries are computed from images without
    augmentation, so each is computed once.
    """

    kept: ClassVar[tuple[str, ...]] = ("head", "prompts")

    def __init__(self, config: Any, environment: Environment) -> None:
        super().__init__(config, environment)
        self.head = PromptHead(self.vit.feature_size).to(environment.device)
        # sets of tensors by name, in the order of tasks; only the last set is trained
        self.prompts: list[dict[str, nn.Parameter]] = []

    def learn(self, task: Task) -> None:
        """Add outputs for the new classes, and train the last set of prompts and the head."""
        self.seen = task.seen
        self.head.grow(len(task.classes), derive_generator("cpu", task.seed, "head"))
        self.grow(task)
        prompts, head = self.prompts[-1].values(), self.head.parameters()
        data = (task.inputs, task.labels, self.frozen_features(task.inputs))
        loss = partial(self.loss, task=task)
        fit(prompts, data, loss, self.schedule, task, self.environment, head=head)

    @abstractmethod
    def grow(self, task: Task) -> None:
        """Add prompts for the task, if the method does so."""

    def add_prompts(self, **tensors: Tensor) -> None:
        """Append a set of prompts and freeze the earlier ones."""
        for earlier in self.prompts:
            for value in earlier.values():
                value.requires_grad_(False)
        device = self.environment.device
        copies = {name: value.to(device, copy=True) for name, value in tensors.items()}
        self.prompts.append({name: nn.Parameter(value) for name, value in copies.items()})

    @abstractmethod
    def loss(self, images: Tensor, labels: Tensor, queries: Tensor, task: Task) -> Tensor:
        """Return the loss of normalised images (b, c, h, w), labels (b,) and queries (b, d)."""

    @abstractmethod
    def features(self, images: Tensor, queries: Tensor) -> Tensor:
        """Input of the head (n, d) for normalised images (n, c, h, w) with queries (n, d)."""

    def prefixed(self, images: Tensor, prefixes: Iterable[Tensor]) -> Tensor:
        """Return the class token (n, d); keys and values by block are (2, p, d) or (2, n, p, d)."""
        by_block = {block: (keys, values) for block, (keys, values) in enumerate(prefixes)}
        return self.vit(images, Sockets(prefixes=by_block))

    @property
    def test_batch(self) -> int:
        """Number of images that are classified at a time."""
        return BATCH

    def classify(self, inputs: Tensor) -> dict[str, Tensor]:
        """Return the class with the largest logit."""
        queries = self.frozen_features(inputs).split(self.test_batch)
        parts = zip(inputs.split(self.test_batch), queries, strict=True)
        device = self.environment.device
        with torch.no_grad(), self.environment.autocast():
            logits = [
                self.head(self.features(self._prepare.plain(part.to(device)), query))
                for part, query in parts
            ]
        return {"head": torch.cat(logits).argmax(dim=1)}

    def restore(self, state: dict[str, Any]) -> None:
        """Load a state from :meth:`state`."""
        super().restore(state)
        self.prompts = []
        for prompts in state["prompts"]:
            self.add_prompts(**prompts)


class PromptHead(GrowingLinear):
    """A linear head whose new weights are normal with std 0.02.

    Old outputs are not trained on new images, so initial weights affect the comparison between
    tasks; small ones affect it little.
    """

    def _draw(self, rows: int, columns: int, generator: torch.Generator) -> Tensor:
        drawn = torch.empty(rows, columns, device=generator.device)
        return drawn.normal_(std=0.02, generator=generator).to(self.weight)
