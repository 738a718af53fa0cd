"""CODA-Prompt: each image's prompt is a weighted sum of components; every task adds components.

Smith et al. (CVPR 2023), "CODA-Prompt: COntinual Decomposed Attention-based Prompting for
Rehearsal-Free Continual Learning". The weight of a component is the cosine between its key and the
query times its attention vector. Components are initialised and regularised to be orthogonal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Literal

import torch
from torch.nn.functional import normalize

from edgecil.backbones.vit import Prefix, Sockets
from edgecil.errors import UsageError, unknown
from edgecil.methods.method import Environment
from edgecil.methods.network import new_classes_only
from edgecil.methods.prompts import PromptMethod
from edgecil.methods.registry import register_method
from edgecil.methods.schedule import Schedule
from edgecil.methods.seeds import derive_generator
from edgecil.methods.setups import published_schedule
from edgecil.methods.task import Task

PUBLISHED = published_schedule("coda-prompt")


def orthogonal_rows(count: int, old: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Draw unit rows (layers, count, d), orthogonal to each other and to the old in each layer.

    Rows beyond the d orthogonal ones are random unit vectors.

    Args:
        count: number of new rows.
        old: (layers, M, d), on the CPU.
        generator: on the CPU.
    """
    drawn = torch.randn(len(old), count, old.shape[2], generator=generator)
    basis = torch.linalg.qr(torch.cat([old, drawn], dim=1).mT).Q.mT
    rows = basis[:, old.shape[1] :]
    return torch.cat([rows, normalize(drawn[:, rows.shape[1] :], dim=-1)], dim=1)


def gram_schmidt_rows(count: int, old: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Draw unit rows (layers, count, d), less their projections on each row before them.

    As in PILOT; the rows are orthogonal only if the old ones are.

    Args:
        count: number of new rows.
        old: (layers, M, d), on the CPU.
        generator: on the CPU.
    """
    rows = old
    for drawn in torch.randn(count, len(old), old.shape[2], generator=generator):
        shares = (rows @ drawn[:, :, None]) / rows.square().sum(dim=2, keepdim=True)
        rest = drawn - (shares * rows).sum(dim=1)
        rows = torch.cat([rows, rest[:, None]], dim=1)
    return normalize(rows[:, old.shape[1] :], dim=-1)


STARTS = {"orthogonal": orthogonal_rows, "gram-schmidt": gram_schmidt_rows}


@dataclass(frozen=True)
class CODAPromptConfig:
    """Hyper-parameters of CODA-Prompt.

    Attributes:
        schedule: schedule of each task.
        components: components per task; 10 give the published 100 in ten tasks.
        length: tokens of a prompt; the first half extends the keys, the second half the values.
        layers: number of blocks with prompts, counted from the first; at most the depth.
        orthogonality: λ; the published 0.1 times the factor 1e-6 in the authors' code.
        start: how new components begin: `orthogonal` to all earlier ones, or by PILOT's
            `gram-schmidt`, which subtracts the projections on earlier components as if these were
            still orthogonal to each other. Training has made them alike, so that new components
            lean towards or away from what they have in common.
    """

    schedule: Schedule = PUBLISHED
    components: int = 10
    length: int = 8
    layers: int = 5
    orthogonality: float = 1e-7
    start: Literal["orthogonal", "gram-schmidt"] = "orthogonal"

    def __post_init__(self) -> None:
        if self.start not in STARTS:
            raise unknown("start of CODA-Prompt's components", self.start, STARTS)
        if self.components < 1 or self.layers < 1 or self.length < 2 or self.length % 2:
            raise UsageError(
                "CODA-Prompt requires components >= 1, layers >= 1 and an even length >= 2. Got "
                f"{self.components}, {self.layers} and {self.length}."
            )


@register_method(
    "coda-prompt",
    CODAPromptConfig,
    "prompts mixed from growing orthogonal components (2023)",
    fast=replace(
        PUBLISHED,
        epochs=5,
        learning_rate=0.005,
        schedule="cosine",
        batch_size=16,
        augment=(),
        drop_last=False,
    ),
    published_settings={"orthogonality": 0.0, "start": "gram-schmidt"},
)
class CODAPrompt(PromptMethod):
    """Prompts are sums over all components; the latest components are trained."""

    config: CODAPromptConfig

    def __init__(self, config: CODAPromptConfig, environment: Environment) -> None:
        super().__init__(config, environment)
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
            rows = STARTS[self.config.start](self.config.components, old, generator)
            new[name] = rows.unflatten(-1, shape)
        self.add_prompts(**new)

    def stacked(self, name: str) -> torch.Tensor:
        """Return one kind of tensor of all tasks, (layers, M, …) for M components so far."""
        return torch.cat([prompts[name] for prompts in self.prompts], dim=1)

    def prefixes(self, queries: torch.Tensor) -> dict[int, Prefix]:
        """Return extra keys and values of each prompted block, (n, length/2, d).

        Args:
            queries: (n, d).
        """
        components = self.stacked("components")
        weights = component_weights(queries, self.stacked("keys"), self.stacked("attention"))
        prompts = torch.einsum("lnm,lmtd->lntd", weights, components)
        keys, values = prompts.chunk(2, dim=2)
        return {layer: (keys[layer], values[layer]) for layer in range(self.layers)}

    def features(self, images: torch.Tensor, queries: torch.Tensor) -> torch.Tensor:
        """Input of the head, (n, d): the class token."""
        return self.vit(images, Sockets(prefixes=self.prefixes(queries)))

    def loss(
        self, images: torch.Tensor, labels: torch.Tensor, queries: torch.Tensor, task: Task
    ) -> torch.Tensor:
        """Cross-entropy over the new classes plus the orthogonality penalty."""
        value = new_classes_only(self.head(self.features(images, queries)), labels, task.old_count)
        return value + self.config.orthogonality * self.penalty()

    def penalty(self) -> torch.Tensor:
        """Return the summed :func:`distance_from_orthogonal` of components, keys and attention."""
        kinds = [self.stacked(name).flatten(2) for name in self.prompts[-1]]
        return torch.stack([distance_from_orthogonal(rows) for rows in kinds]).sum()


def component_weights(
    queries: torch.Tensor, keys: torch.Tensor, attention: torch.Tensor
) -> torch.Tensor:
    """Return the cosine of a key and the query times its attention vector, (layers, n, M).

    Args:
        queries: (n, d).
        keys: (layers, M, d).
        attention: (layers, M, d).
    """
    attended = normalize(queries[None, :, None] * attention[:, None], dim=-1)
    return torch.einsum("lnmd,lmd->lnm", attended, normalize(keys, dim=-1))


def distance_from_orthogonal(rows: torch.Tensor) -> torch.Tensor:
    """Return the mean squared entry of B Bᵀ − I, summed over layers, for rows (layers, M, d)."""
    identity = torch.eye(rows.shape[1], device=rows.device)
    return ((rows @ rows.mT - identity) ** 2).mean(dim=(1, 2)).sum()
