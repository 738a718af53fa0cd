"""L2P: a pool of prompts; each image gets the prompts whose keys are nearest to its query.

Wang et al. (CVPR 2022), "Learning to Prompt for Continual Learning". The transformer is
frozen; the pool, its keys and the head are trained.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize

from edgecil.backbones.vit import Sockets
from edgecil.errors import UsageError
from edgecil.hints import Count
from edgecil.methods.entry import register_method
from edgecil.methods.network import new_classes_only
from edgecil.methods.prompts import PromptMethod
from edgecil.methods.settings import Schedule, Settings
from edgecil.methods.setups import PUBLISHED
from edgecil.methods.task import Task, derive_generator


@dataclass(frozen=True)
class L2PConfig(Settings):
    """Hyper-parameters of L2P."""

    schedule: Schedule = PUBLISHED["l2p"]["cifar100"].schedule
    pool: int = 10  # number of prompts
    length: Count = 5  # tokens of a prompt
    chosen: Count = 5  # prompts per image, N
    pull: float = 0.1  # λ, weight of the term that pulls the chosen keys towards the query
    # All images of a batch get the prompts that most of them choose, in training and in testing,
    # as in the authors' code and in PILOT. Predictions then depend on which images are tested
    # together: the schedule's batch size, in order of arrival.
    batchwise: bool = False
    # The class token's position embedding is added to the prompts, as in the PyTorch port and in
    # PILOT.
    positions: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.chosen > self.pool:
            raise UsageError(
                f"L2P requires 'chosen' to be from 1 to the pool of {self.pool}. Got {self.chosen}."
            )


@register_method(
    "l2p",
    L2PConfig,
    "a pool of prompts, chosen by key and query (2022)",
    published_settings={"batchwise": True, "positions": True},
)
class L2P(PromptMethod):
    """One pool for all tasks; the head's input is the mean of the prompts' final tokens."""

    config: L2PConfig

    def grow(self, task: Task) -> None:
        """Initialise the pool before the first task."""
        if self.prompts:
            return
        generator = derive_generator("cpu", self.environment.seed, "prompts")
        pool, width = self.config.pool, self.vit.feature_size
        tokens = torch.empty(pool, self.config.length, width).uniform_(-1, 1, generator=generator)
        keys = torch.empty(pool, width).uniform_(-1, 1, generator=generator)
        self.add_prompts(tokens=tokens, keys=keys)

    def choose(self, queries: Tensor) -> tuple[Tensor, Tensor]:
        """Return the cosines (n, N) of queries (n, d) with the nearest keys, and their indices."""
        similarity = normalize(queries, dim=1) @ normalize(self.prompts[0]["keys"], dim=1).T
        nearest = similarity.topk(self.config.chosen, dim=1)
        if not self.config.batchwise:
            return nearest.values, nearest.indices
        # Ties are decided as in PILOT, whose votes begin with the prompts that any image chooses.
        chosen, counts = nearest.indices.unique(sorted=True, return_counts=True)
        votes = counts.new_zeros(self.config.pool)
        votes[: len(counts)] = counts
        elected = chosen[votes.topk(self.config.chosen).indices].expand_as(nearest.indices)
        return similarity.gather(1, elected), elected

    def prompted(self, images: Tensor, chosen: Tensor) -> Tensor:
        """Return the mean final token (n, d) of each image's prompts, by their indices (n, N)."""
        prompts = self.prompts[0]["tokens"][chosen].flatten(1, 2)
        if self.config.positions:
            prompts = prompts + self.vit.pos_embed[:, :1]
        tokens = self.vit.encode(self.vit.embed(images), Sockets(prompts=prompts))
        return tokens[:, : prompts.shape[1]].mean(dim=1)

    @property
    def test_batch(self) -> int:
        """The schedule's batch size if images of a batch share their prompts."""
        return self.schedule.batch_size if self.config.batchwise else super().test_batch

    def features(self, images: Tensor, queries: Tensor) -> Tensor:
        """Input of the head, (n, d)."""
        return self.prompted(images, self.choose(queries)[1])

    def loss(self, images: Tensor, labels: Tensor, queries: Tensor, task: Task) -> Tensor:
        """Cross-entropy over the new classes minus the weighted cosines of chosen keys."""
        cosines, chosen = self.choose(queries)
        value = new_classes_only(self.head(self.prompted(images, chosen)), labels, task.old_count)
        return value - self.config.pull * cosines.sum(dim=1).mean()
