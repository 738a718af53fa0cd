"""FeCAM: the nearest class mean by the Mahalanobis distance of each class, on frozen features.

Goswami et al. (NeurIPS 2023), "FeCAM: Exploiting the Heterogeneity of Class Distributions in
Exemplar-Free Continual Learning", in the authors' form for a pre-trained transformer. Nothing is
trained and each class has its own statistics, so the order of classes has no effect.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize

from edgecil.hints import Positive
from edgecil.methods.class_statistics import ClassGaussians
from edgecil.methods.entry import register_method
from edgecil.methods.frozen_features import PretrainedMethod, in_double
from edgecil.methods.method import Environment
from edgecil.methods.settings import Settings
from edgecil.methods.task import Scenario, Task

_LEAST = 1e-12  # variance of a class whose features are all equal


@dataclass(frozen=True)
class FeCAMConfig(Settings):
    """Hyper-parameters of FeCAM; the default is the authors' for a pre-trained transformer."""

    # multiple of a class's mean variance that is added to each of its variances, which makes the
    # covariance of few images invertible
    shrinkage: Positive = 1.0


@register_method("fecam", FeCAMConfig, "Mahalanobis distances to classes in frozen features (2023)")
class FeCAM(PretrainedMethod):
    """Class means of features of unit length, and roots of shrunk covariances of unit variances."""

    config: FeCAMConfig
    kept = ("gaussians",)
    need = "features"
    order_free = True
    trains = False

    def __init__(self, config: FeCAMConfig, environment: Environment) -> None:
        super().__init__(config, environment)
        self.gaussians = ClassGaussians(0, environment.device)

    def features(self, inputs: Tensor) -> Tensor:
        """Return frozen features (n, d) of unit length."""
        return normalize(self.frozen_features(inputs), dim=1)

    def learn(self, task: Task) -> None:
        """Add the mean and the correlations of each new class."""
        features, labels = self.features(task.inputs), task.alone().labels
        classes = [features[labels == label] for label in range(len(task.classes))]
        if not task.old_count:
            self.gaussians = ClassGaussians(features.shape[1], features.device)
        roots = [correlation_root(part, self.config.shrinkage) for part in classes]
        self.gaussians.append([part.mean(dim=0) for part in classes], roots)
        self.seen = task.seen

    def classify(self, inputs: Tensor) -> dict[str, Tensor]:
        """Return the class with the least Mahalanobis distance."""
        return {"head": self.distances(inputs).argmin(dim=1)}

    def distances(self, inputs: Tensor) -> Tensor:
        """Return the squared distances (n, classes seen) of images to classes.

        They are rounded from double precision, so that a distance does not depend on the other
        images and classes.
        """
        features = in_double(self.features(inputs))
        pairs = zip(in_double(self.gaussians.means), self.gaussians.roots, strict=True)
        distances = [mahalanobis(features - mean, in_double(root)) for mean, root in pairs]
        return torch.stack(distances, dim=1).float()

    def scores(self, scenario: Scenario) -> Tensor:
        """Return the negative distances (n_test, classes) of all test images."""
        self.learn_at_once(scenario)
        return -self.distances(scenario.test.inputs)


def correlation_root(features: Tensor, shrinkage: float) -> Tensor:
    """Return the Cholesky factor (d, d) of the correlations of features (n, d), shrunk before.

    Computed on the CPU in double precision.
    """
    apart = (features - features.mean(dim=0)).cpu().double()
    covariance = apart.T @ apart / max(1, len(apart) - 1)
    covariance.diagonal().add_(shrinkage * covariance.diagonal().mean() + _LEAST)
    lengths = covariance.diagonal().sqrt()
    return torch.linalg.cholesky(covariance / torch.outer(lengths, lengths))


def mahalanobis(apart: Tensor, root: Tensor) -> Tensor:
    """Return squared distances (n,) of differences (n, d) by the lower root (d, d)."""
    return torch.linalg.solve_triangular(root, apart.T, upper=False).square().sum(dim=0)
