"""CODA-Prompt: prompts assembled for each image from components, which grow with every task.

Smith et al. (CVPR 2023), "CODA-Prompt: COntinual Decomposed Attention-based Prompting for
Rehearsal-Free Continual Learning". The weight of a component is the cosine between its key and the
query as the component's attention vector sees it; components start and are kept orthogonal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import torch
from torch.nn.functional import normalize

from edgecil.backbones.vit import Prefix, Sockets
from edgecil.errors import UsageError
from edgecil.methods.method import Environment
from edgecil.methods.network import new_classes_only
from edgecil.methods.prompts import PromptMethod
from edgecil.methods.recipe import Recipe
from edgecil.methods.registry import register_method
from edgecil.methods.seeds import derive_generator
from edgecil.methods.task import Task

PUBLISHED = Recipe(
    epochs=20,
    learning_rate=0.001,
    schedule="cosine",
    optimizer="adam",
    weight_decay=0.0,
    batch_size=128,
)


@dataclass(frozen=True)
class CODAPromptConfig:
    """Hyper-parameters of CODA-Prompt.

    Attributes:
        recipe: of each task.
        components: that every task adds; 10 make the published 100 in ten tasks.
        length: tokens of a prompt: the first half extends keys, the second values.
        layers: first blocks of the transformer that are prompted, or all it has.
        orthogonality: λ; the published 0.1, times the 1e-6 inside the authors' penalty.
    """

    recipe: Recipe = PUBLISHED
    components: int = 10
    length: int = 8
    layers: int = 5
    orthogonality: float = 1e-7

    def __post_init__(self) -> None:
        if self.components < 1 or self.layers < 1 or self.length < 2 or self.length % 2:
            raise UsageError(
                "CODA-Prompt needs components >= 1, layers >= 1 and an even length >= 2. Got "
                f"{self.components}, {self.layers} and {self.length}."
            )


@register_method(
    "coda-prompt",
    CODAPromptConfig,
    "prompts mixed from growing orthogonal components (2023)",
    fast=replace(PUBLISHED, epochs=5, learning_rate=0.005, batch_size=16, augment=()),
)
class CODAPrompt(PromptMethod):
    """Every task adds components; all that exist take part, the latest learn."""

    def __init__(self, config: CODAPromptConfig, environment: Environment) -> None:
        super().__init__(config.recipe, environment)
        self.config = config
        self.layers = min(config.layers, self.vit.layout.depth)

    def grow(self, task: Task) -> None:
        """Add components, keys and attention vectors orthogonal to those of earlier tasks."""
        generator = derive_generator("cpu", task.seed, "prompts")
        width = self.vit.feature_size
        shapes = {
            "components": (self.config.length, width),
            "keys": (width,),
            "attention": (width,),
        }
        new = {}
        for name, shape in shapes.items():
            before = [prompts[name].detach().cpu().flatten(2) for prompts in self.prompts]
            old = torch.cat([torch.empty(self.layers, 0, prod(shape)), *before], dim=1)
            rows = orthogonal_rows(self.config.components, old, generator)
            new[name] = rows.unflatten(-1, shape)
        self.add_prompts(**new)

    def stacked(self, name: str) -> torch.Tensor:
        """One kind of tensor of all tasks, (layers, M, …) for M components so far."""
        return torch.cat([prompts[name] for prompts in self.prompts], dim=1)

    def prefixes(self, queries: torch.Tensor) -> dict[int, Prefix]:
        """By block, what its attention gets besides the tokens: keys and values, (n, length/2, d).

        Args:
            queries: (n, d).
        """
        components = self.stacked("components")
        weights = component_weights(queries, self.stacked("keys"), self.stacked("attention"))
        prompts = torch.einsum("lnm,lmtd->lntd", weights, components)
        keys, values = prompts.chunk(2, dim=2)
        return {layer: (keys[layer], values[layer]) for layer in range(self.layers)}

    def features(self, images: torch.Tensor, queries: torch.Tensor) -> torch.Tensor:
        """What the head sees, (n, d): the class token."""
        return self.vit(images, Sockets(prefixes=self.prefixes(queries)))

    def loss(
        self, images: torch.Tensor, labels: torch.Tensor, queries: torch.Tensor, task: Task
    ) -> torch.Tensor:
        """Cross-entropy over the new classes, and the penalty on what is not orthogonal."""
        value = new_classes_only(self.head(self.features(images, queries)), labels, task.old_count)
        return value + self.config.orthogonality * self.penalty()

    def penalty(self) -> torch.Tensor:
        """Summed :func:`distance_from_orthogonal` of components, keys and attention."""
        kinds = [self.stacked(name).flatten(2) for name in self.prompts[-1]]
        return torch.stack([distance_from_orthogonal(rows) for rows in kinds]).sum()


def component_weights(
    queries: torch.Tensor, keys: torch.Tensor, attention: torch.Tensor
) -> torch.Tensor:
    """Cosine of a key and the query times its attention vector, (layers, n, M).

    Args:
        queries: (n, d).
        keys: (layers, M, d).
        attention: (layers, M, d).
    """
    attended = normalize(queries[None, :, None] * attention[:, None], dim=-1)
    return torch.einsum("lnmd,lmd->lnm", attended, normalize(keys, dim=-1))


def distance_from_orthogonal(rows: torch.Tensor) -> torch.Tensor:
    """Mean squared entry of B Bᵀ − I, summed over layers, for rows B of each, (layers, M, d)."""
    identity = torch.eye(rows.shape[1], device=rows.device)
    return ((rows @ rows.mT - identity) ** 2).mean(dim=(1, 2)).sum()


def orthogonal_rows(count: int, old: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Random unit rows (layers, count, d), orthogonal to each other and to the old in each layer.

    Where d dimensions have no room left, the rows are random and no more.

    Args:
        count: how many.
        old: (layers, M, d), on the CPU.
        generator: on the CPU.
    """
    drawn = torch.randn(len(old), count, old.shape[2], generator=generator)
    basis = torch.linalg.qr(torch.cat([old, drawn], dim=1).mT).Q.mT
    rows = basis[:, old.shape[1] :]
    return torch.cat([rows, normalize(drawn[:, rows.shape[1] :], dim=-1)], dim=1)
