"""EASE: one set of adapters per task, and class prototypes in the feature spaces of all tasks.

Zhou et al. (CVPR 2024), "Expandable Subspace Ensemble for Pre-Trained Model-Based
Class-Incremental Learning". Each task's adapters define a subspace. The images of earlier
classes are not available there, so their prototypes are estimated from similar classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, softmax

from edgecil.backbones.features import content_name
from edgecil.hints import Count, NotNegative
from edgecil.io.directory import waiting_lock
from edgecil.io.files import replace_file
from edgecil.methods.adapters import adapt, load_adapters, mean_features
from edgecil.methods.entry import register_method
from edgecil.methods.frozen_features import PretrainedMethod
from edgecil.methods.method import Environment, saved
from edgecil.methods.settings import Schedule, Settings
from edgecil.methods.setups import PUBLISHED
from edgecil.methods.task import Task

State = dict[str, Any]

CACHE_VERSION = 1  # increase it when a task gives another result under the same settings


def compute_once(
    kind: tuple[object, ...], task: Task, environment: Environment, compute: Callable[[Task], State]
) -> State:
    """Compute a result from one task, or read it from the cache that sequences share.

    `compute` gets the task as if it were the first (:meth:`Task.alone`), so its result is the same
    in every sequence with this task. With a shared directory (`environment.shared`), the first
    process that needs the result computes it; others wait and read it.
    """
    alone = task.alone()
    if environment.shared is None:
        return compute(alone)
    location_free = replace(environment, shared=None)
    key = content_name(CACHE_VERSION, *kind, location_free, alone.seed, alone.inputs, alone.labels)
    path = Path(environment.shared) / "tasks" / f"{key}.pt"
    with waiting_lock(path.with_suffix(".lock")):
        result = _read(path)
        if result is None:
            result = compute(alone)
            with replace_file(path) as file:
                torch.save({"result": result, "content": content_name(result)}, file)
    return result


def _read(path: Path) -> State | None:
    """Return the result in a file; None if the file does not exist or is damaged."""
    try:
        stored = torch.load(path, map_location="cpu", weights_only=True)
        result: State = stored["result"]
        intact = stored["content"] == content_name(result)
    except Exception:  # whatever the damage, the result is computed again
        return None
    return result if intact else None


@dataclass(frozen=True)
class EASEConfig(Settings):
    """Hyper-parameters of EASE."""

    schedule: Schedule = PUBLISHED["ease"]["cifar100"].schedule
    bottleneck: Count = 64  # width of the adapters
    others: NotNegative = 0.1  # α, weight of all other subspaces relative to a class's own
    # β, weight of the transformer without adapters, as a subspace of all classes; the authors use
    # it on CUB-200
    unmodified: NotNegative = 0.0


@register_method(
    "ease", EASEConfig, "adapters per task, prototypes completed in their subspaces (2024)"
)
class EASE(PretrainedMethod):
    """An ensemble of cosine classifiers, one per subspace."""

    config: EASEConfig
    kept = ("adapters", "prototypes", "unmodified")

    def __init__(self, config: EASEConfig, environment: Environment) -> None:
        super().__init__(config, environment)
        self.adapters: list[nn.ModuleList] = []  # by task; each depends on its own task only
        # by task: class means in the subspaces of this and earlier tasks, (subspaces, classes, d)
        self.prototypes: list[Tensor] = []
        # class means without adapters, (classes seen, d); empty if they are not used
        self.unmodified = torch.zeros(0, self.vit.feature_size, device=environment.device)

    def learn(self, task: Task) -> None:
        """Train adapters for the task and compute its class prototypes in every subspace."""
        schedule, bottleneck = self.schedule.at(task.index), self.config.bottleneck
        kind = ("ease adapters", replace(self.config, schedule=schedule), self.network)
        weights = compute_once(
            kind,
            task,
            self.environment,
            lambda alone: saved(adapt(self.vit, bottleneck, alone, schedule, self.environment)),
        )
        self.adapters += load_adapters(self.vit, bottleneck, weights)
        labels = task.alone().labels
        means = [mean_features(features, labels) for features in self.subspaces(task.inputs)]
        self.prototypes.append(torch.stack(means))
        if self.config.unmodified:
            frozen = mean_features(self.frozen_features(task.inputs), labels)
            self.unmodified = torch.cat([self.unmodified, frozen])
        self.seen = task.seen

    def subspaces(self, inputs: Tensor) -> Iterator[Tensor]:
        """Return features (n, d) of images in each subspace, in the order of tasks."""
        return (self.adapted_features(inputs, adapters) for adapters in self.adapters)

    def classify(self, inputs: Tensor) -> dict[str, Tensor]:
        """Return the class with the largest weighted sum of cosine similarities over subspaces."""
        other_weight = self.config.others / max(1, len(self.adapters) - 1)
        complete = complete_prototypes(self.prototypes)
        sizes = [prototypes.shape[1] for prototypes in self.prototypes]
        logits = torch.zeros(len(inputs), sum(sizes), device=self.environment.device)
        for subspace, features in enumerate(self.subspaces(inputs)):
            weights = logits.new_full((len(sizes),), other_weight)
            weights[subspace] = 1.0
            by_class = weights.repeat_interleave(torch.tensor(sizes, device=logits.device))
            similarity = normalize(features, dim=1) @ normalize(complete[subspace], dim=1).T
            logits += by_class * similarity
        if self.config.unmodified:
            frozen = normalize(self.frozen_features(inputs), dim=1)
            logits += self.config.unmodified * frozen @ normalize(self.unmodified, dim=1).T
        return {"head": logits.argmax(dim=1)}

    def restore(self, state: dict[str, Any]) -> None:
        """Load a state from :meth:`state`."""
        super().restore(state)
        self.adapters = load_adapters(self.vit, self.config.bottleneck, *state["adapters"])


def complete_prototypes(prototypes: list[Tensor]) -> Tensor:
    """Return prototypes of all classes in all subspaces, (subspaces, classes, d).

    In the subspace of a later task, a class's prototype is a weighted mean of the prototypes
    computed there. The weights are the softmax of cosine similarities in its own task's subspace.
    """
    rows = []
    for subspace in range(len(prototypes)):
        seen = [later[subspace] for later in prototypes[subspace:]]
        estimated = []
        for task, earlier in enumerate(prototypes[:subspace]):
            others_there = torch.cat([later[task] for later in prototypes[subspace:]])
            similarity = normalize(earlier[task], dim=1) @ normalize(others_there, dim=1).T
            estimated.append(softmax(similarity, dim=1) @ torch.cat(seen))
        rows.append(torch.cat([*estimated, *seen]))
    return torch.stack(rows)
