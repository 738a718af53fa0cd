"""CODA-Prompt: each image's prompt is a weighted sum of components; every task adds components.

Smith et al. (CVPR 2023), "CODA-Prompt: COntinual Decomposed Attention-based Prompting for
Rehearsal-Free Continual Learning". The weight of a component is the cosine between its key and the
query times its attention vector. Components are initialised and regularised to be orthogonal.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Annotated, Literal

import torch
from torch import Tensor
from torch.nn.functional import normalize

from edgecil.backbones.vit import Prefix, Sockets
from edgecil.errors import UsageError
from edgecil.hints import Count, Range
from edgecil.methods.entry import register_method
from edgecil.methods.method import Environment
from edgecil.methods.network import new_classes_only
from edgecil.methods.prompts import PromptMethod
from edgecil.methods.settings import Schedule, Settings
from edgecil.methods.setups import PUBLISHED
from edgecil.methods.task import Task, derive_generator


def orthogonal_rows(count: int, old: Tensor, generator: torch.Generator) -> Tensor:
    """Draw unit rows (layers, count, d), orthogonal to each other and to the old in each layer.

    The old ones are (layers, M, d). Rows beyond the d orthogonal ones are random unit vectors.
    """
    drawn = torch.randn(len(old), count, old.shape[2], generator=generator)
    basis = torch.linalg.qr(torch.cat([old, drawn], dim=1).mT).Q.mT
    rows = basis[:, old.shape[1] :]
    return torch.cat([rows, normalize(drawn[:, rows.shape[1] :], dim=-1)], dim=1)


def gram_schmidt_rows(count: int, old: Tensor, generator: torch.Generator) -> Tensor:
    """Draw unit rows (layers, count, d), less their projections on each row before them.

    As in PILOT; the rows are orthogonal only if the old ones (layers, M, d) are.
    """
    rows = old
    for drawn in torch.randn(count, len(old), old.shape[2], generator=generator):
        shares = (rows @ drawn[:, :, None]) / rows.square().sum(dim=2, keepdim=True)
        rest = drawn - (shares * rows).sum(dim=1)
        rows = torch.cat([rows, rest[:, None]], dim=1)
    return normalize(rows[:, old.shape[1] :], dim=-1)


@dataclass(frozen=True)
class CODAPromptConfig(Settings):
    """Hyper-parameters of CODA-Prompt."""

    schedule: Schedule = PUBLISHED["coda-prompt"]["cifar100"].schedule
    components: Count = 10  # per task; 10 give the published 100 in ten tasks
    length: Annotated[int, Range(2)] = 8  # tokens: half extend the keys, half the values
    layers: Count = 5  # number of blocks with prompts, counted from the first; at most the depth
    orthogonality: float = 1e-7  # λ; the published 0.1 times the factor 1e-6 in the authors' code
    # How new components begin: orthogonal to all earlier ones, or as in PILOT, which subtracts the
    # projections on earlier components as if these were still orthogonal to each other. Training
    # has made them alike, so that new ones lean towards or away from what they have in common.
    start: Literal["orthogonal", "gram-schmidt"] = "orthogonal"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.length % 2:
            raise UsageError(f"CODA-Prompt requires an even length. Got {self.length}.")


@register_method(
    "coda-prompt",
    CODAPromptConfig,
    "prompts mixed from growing orthogonal components (2023)",
    published_settings={"orthogonality": 0.0, "start": "gram-schmidt"},
)
class CODAPrompt(PromptMethod):
    """Prompts are sums over all components; the latest components are trained."""

    config: CODAPromptConfig

    def __init__(self, config: CODAPromptConfig, environment: Environment) -> None:
        super().__init__(config, environment)
        self.layers = min(config.layers, self.vit.layout.depth)

    def grow(self, task: Task) -> None:
        """Add components, keys and attention vectors orthogonal to all earlier ones."""
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
            start = orthogonal_rows if self.config.start == "orthogonal" else gram_schmidt_rows
            rows = start(self.config.components, old, generator)
            new[name] = rows.unflatten(-1, shape)
        self.add_prompts(**new)

    def stacked(self, name: str) -> Tensor:
        """Return one kind of tensor of all tasks, (layers, M, …) for M components so far."""
        return torch.cat([prompts[name] for prompts in self.prompts], dim=1)

    def prefixes(self, queries: Tensor) -> dict[int, Prefix]:
        """Return keys and values (n, length/2, d) by prompted block, given queries (n, d)."""
        components = self.stacked("components")
        weights = component_weights(queries, self.stacked("keys"), self.stacked("attention"))
        prompts = torch.einsum("lnm,lmtd->lntd", weights, components)
        keys, values = prompts.chunk(2, dim=2)
        return {layer: (keys[layer], values[layer]) for layer in range(self.layers)}

    def features(self, images: Tensor, queries: Tensor) -> Tensor:
        """Input of the head, (n, d): the class token."""
        return self.vit(images, Sockets(prefixes=self.prefixes(queries)))

    def loss(self, images: Tensor, labels: Tensor, queries: Tensor, task: Task) -> Tensor:
        """Cross-entropy over the new classes plus the orthogonality penalty."""
        value = new_classes_only(self.head(self.features(images, queries)), labels, task.old_count)
        return value + self.config.orthogonality * self.penalty()

    def penalty(self) -> Tensor:
        """Return the summed :func:`distance_from_orthogonal` of components, keys and attention."""
        kinds = [self.stacked(name).flatten(2) for name in self.prompts[-1]]
        return torch.stack([distance_from_orthogonal(rows) for rows in kinds]).sum()


def component_weights(queries: Tensor, keys: Tensor, attention: Tensor) -> Tensor:
    """Return the cosine of a key and the query times its attention vector, (layers, n, M).

    Queries are (n, d); keys and attention vectors (layers, M, d).
    """
    attended = normalize(queries[None, :, None] * attention[:, None], dim=-1)
    return torch.einsum("lnmd,lmd->lnm", attended, normalize(keys, dim=-1))


def distance_from_orthogonal(rows: Tensor) -> Tensor:
    """Return the mean squared entry of B Bᵀ − I, summed over layers, for rows (layers, M, d)."""
    identity = torch.eye(rows.shape[1], device=rows.device)
    return ((rows @ rows.mT - identity) ** 2).mean(dim=(1, 2)).sum()
