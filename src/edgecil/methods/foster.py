"""FOSTER: boost the old model with a new extractor, then compress the two into one.

Wang et al. (ECCV 2022), "FOSTER: Feature Boosting and Compression for Class-Incremental
Learning". The new extractor is fitted to the residuals of the old model, with an additional head to
enhance its features; a balanced distillation then compresses both into a single extractor.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from edgecil.backbones import Backbone
from edgecil.methods.der import ExpandingBackbone, ExpandingNetwork
from edgecil.methods.entry import register_method
from edgecil.methods.method import Environment
from edgecil.methods.network import Network, NetworkMethod, ReplayConfig, distil
from edgecil.methods.settings import PAPER, Schedule
from edgecil.methods.task import Task, derive_generator
from edgecil.methods.training_loop import in_batches

# PyCIL's β₁ and β₂ assume this many images per old class; smaller counts are scaled up to it, so
# that a smaller memory does not give old classes far larger weights than intended.
PUBLISHED_EXEMPLARS = 20
_COSINE = replace(PAPER, schedule="cosine")  # the authors' schedule


@dataclass(frozen=True)
class FOSTERConfig(ReplayConfig):
    """Hyper-parameters of FOSTER; the schedule is for boosting."""

    schedule: Schedule = _COSINE
    boosting_beta: float = 0.96  # β₁ of the class weights that align the logits during boosting
    compression_beta: float = 0.97  # β₂ of the class weights that balance the compression
    distillation: float = 1.0  # λ, weight of the distillation of old outputs during boosting
    temperature: float = 2.0  # of both distillations
    compression: float = 130 / 170  # epochs of the compression as a share of the schedule's


@register_method("foster", FOSTERConfig, "boost with a new extractor, compress to one (2022)")
class FOSTER(NetworkMethod):
    """Two extractors while a task is trained, one afterwards.

    The classifier `boosted` is the network before compression, which the publication calls B4 and
    PyCIL reports; there is none after the first task.
    """

    config: FOSTERConfig
    kept = (*NetworkMethod.kept, "boosted")
    classifiers = ("head", "nme", "boosted")
    only_for_predictions = ("boosted",)
    network: ExpandingNetwork
    old: ExpandingNetwork

    def __init__(self, config: FOSTERConfig, environment: Environment) -> None:
        super().__init__(config, environment)
        self.boosted: Network | None = None

    def assemble(self, backbone: Backbone) -> ExpandingNetwork:
        """Return an expanding network with one extractor."""
        return ExpandingNetwork(ExpandingBackbone.whole(backbone))

    def begin(self, task: Task) -> None:
        """Keep the old model as teacher and as the start of the compression."""
        if task.old_count:
            self.old = copy.deepcopy(self.network)
            self.weights = self.class_weights(task, self.config.boosting_beta)

    def grow(self, task: Task) -> None:
        """Add an extractor with an auxiliary head over all classes."""
        super().grow(task)
        if task.old_count:
            generator = derive_generator("cpu", task.seed, "enhancement")
            self.network.renew_auxiliary(len(task.seen), generator)

    def loss(self, images: Tensor, labels: Tensor, task: Task) -> Tensor:
        """Boosting loss: aligned cross-entropy, feature enhancement, distillation."""
        features = self.network.backbone(images)
        logits = self.network.head(features)
        if not task.old_count:
            return cross_entropy(logits, labels)
        aligned = cross_entropy(logits / self.weights, labels)
        newest = self.network.newest_of(features)
        enhancement = cross_entropy(self.network.auxiliary(newest), labels)
        with torch.no_grad():
            old = self.old.head(features[:, : self.old.head.feature_size])
        kept = distil(logits[:, : task.old_count], old, self.config.temperature)
        return aligned + enhancement + self.config.distillation * kept

    def end(self, task: Task) -> None:
        """Compress the boosted model into the old one, which replaces it."""
        if not task.old_count:
            return
        boosted, student = self.network.requires_grad_(False), self.old
        student.head.grow(len(task.classes), derive_generator("cpu", task.seed, "student head"))
        weights = self.class_weights(task, self.config.compression_beta)

        def loss(images: Tensor, labels: Tensor) -> Tensor:
            return distil(student(images), boosted(images), self.config.temperature, weights)

        schedule = replace(self.schedule.lasting(self.config.compression), weight_decay=0.0)
        self.train(student, loss, task, schedule=schedule, stage="compress")
        self.network, self.boosted = student, boosted.eval()
        del self.old

    def classify(self, inputs: Tensor) -> dict[str, Tensor]:
        """Classify by the compressed network, by its nearest mean, and by the boosted network."""
        network = self.boosted or self.network
        logits = in_batches(network, inputs, self.environment)
        return {**super().classify(inputs), "boosted": logits.argmax(dim=1)}

    def restore(self, state: dict[str, Any]) -> None:
        """Load a state from :meth:`state`."""
        self.boosted = self.fresh_network() if "boosted" in state else None
        super().restore(state)

    def class_weights(self, task: Task, beta: float) -> Tensor:
        """Return class weights (classes seen,) from the numbers of training images."""
        _, labels = self.training_data(task)
        counts = torch.bincount(labels, minlength=len(task.seen))
        least = counts.min().clamp(1, PUBLISHED_EXEMPLARS)
        return effective_weights(counts * (PUBLISHED_EXEMPLARS / least), beta)


def effective_weights(counts: Tensor, beta: float) -> Tensor:
    """Return class weights (k,) with mean 1, inverse to the effective numbers of images (k,).

    Cui et al. (CVPR 2019), "Class-balanced loss based on effective number of samples": n images
    count as (1 − βⁿ) / (1 − β); β = 0 gives equal weights.
    """
    weights = (1.0 - beta) / (1.0 - beta ** counts.double())
    return (weights / weights.mean()).float()
