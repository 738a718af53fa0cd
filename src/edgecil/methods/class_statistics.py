"""Feature statistics of classes, kept in place of images, to sample features of old classes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, one_hot

from edgecil.methods.settings import Schedule
from edgecil.methods.task import Task
from edgecil.methods.training_loop import minimise

_ROUNDS = 20  # of k-means
_LEAST_VARIANCE = 1e-4


class ClassGaussians:
    """Each class as one Gaussian: means (classes, d), Cholesky factors `roots` (classes, d, d)."""

    def __init__(self, width: int, device: str | torch.device) -> None:
        self.means = torch.zeros(0, width, device=device)
        self.roots = torch.zeros(0, width, width, device=device)

    def add(self, *classes: Tensor, diagonal: bool = False) -> None:
        """Add the next classes from features (n, d) of each; `diagonal` keeps variances alone."""
        means = [features.mean(dim=0) for features in classes]
        pairs = zip(classes, means, strict=True)
        roots = [_root(features - mean, diagonal=diagonal) for features, mean in pairs]
        self.append(means, roots)

    def append(self, means: Sequence[Tensor], roots: Sequence[Tensor]) -> None:
        """Add the next classes from their means (d,) and roots (d, d)."""
        self.means = torch.cat([self.means, torch.stack(list(means))])
        self.roots = torch.cat([self.roots, torch.stack(list(roots)).to(self.roots)])

    def sample(self, batches: Sequence[Tensor], generator: torch.Generator) -> Tensor:
        """Return sampled features (n, d) of the classes in all batches of an epoch.

        Noise is drawn batch by batch, given the labels (b,) of each; it is shaped once per class,
        so that an epoch costs the same per feature whatever the number of classes.
        """
        width, device = self.means.shape[1], self.means.device
        noise = [
            torch.randn(len(batch), width, generator=generator, device=device) for batch in batches
        ]
        rows = torch.cat(noise)
        labels = torch.cat(list(batches))
        sizes = torch.bincount(labels, minlength=len(self.means)).tolist()
        places = labels.argsort(stable=True).split(sizes)
        for rows_of_class, mean, root in zip(places, self.means, self.roots, strict=True):
            rows[rows_of_class] = mean + rows[rows_of_class] @ root.T
        return rows

    def state(self) -> dict[str, Tensor]:
        """Return the means, and the lower triangles of the roots."""
        return {"means": self.means.cpu(), "roots": pack_triangle(self.roots.cpu())}

    def restore(self, state: dict[str, Tensor], device: str | torch.device) -> None:
        """Load a state from :meth:`state`."""
        self.means = state["means"].to(device)
        self.roots = unpack_triangle(state["roots"], self.means.shape[1]).to(device)


class ClassMixtures:
    """Each class as k axis-parallel Gaussians: means and variances (classes, k, d).

    Features are drawn by each Gaussian's share of a class's features (classes, k), which is 0 for
    unused ones, or equally from all Gaussians of more than one feature (`equal`).
    """

    def __init__(
        self, centroids: int, width: int, device: str | torch.device, *, equal: bool = False
    ) -> None:
        self.equal = equal
        self.means = torch.zeros(0, centroids, width, device=device)
        self.variances = torch.ones(0, centroids, width, device=device)
        self.shares = torch.zeros(0, centroids, device=device)

    def add(self, features: Tensor, generator: torch.Generator) -> None:
        """Add the next class from its features (n, d), clustered by k-means."""
        means, members = _cluster(features, self.means.shape[1], generator)
        sizes = members.sum(dim=0)
        squares = (features - members @ means) ** 2
        variances = members.T @ squares / sizes.clamp(min=1)[:, None] + _LEAST_VARIANCE
        self.means = torch.cat([self.means, means[None]])
        self.variances = torch.cat([self.variances, variances[None]])
        self.shares = torch.cat([self.shares, sizes[None] / len(features)])

    def sample(self, batches: Sequence[Tensor], generator: torch.Generator) -> Tensor:
        """Return sampled features (n, d); see :meth:`ClassGaussians.sample`."""
        weights = self.equal_weights() if self.equal else self.shares
        drawn = []
        for labels in batches:
            which = torch.multinomial(weights[labels], 1, generator=generator)[:, 0]
            means, variances = self.means[labels, which], self.variances[labels, which]
            noise = torch.randn(means.shape, generator=generator, device=means.device)
            drawn.append(means + variances.sqrt() * noise)
        return torch.cat(drawn)

    def equal_weights(self) -> Tensor:
        """Return 1 for each Gaussian of more than one feature, of any if a class has no such."""
        used = self.shares > 0
        several = used & (self.variances > 1.001 * _LEAST_VARIANCE).any(dim=2)
        return torch.where(several.any(dim=1, keepdim=True), several, used).to(self.shares)

    def state(self) -> dict[str, Tensor]:
        """Return the tensors on the CPU; they are never modified in place."""
        return {name: value.cpu() for name, value in vars(self).items() if torch.is_tensor(value)}

    def restore(self, state: dict[str, Tensor], device: str | torch.device) -> None:
        """Load a state from :meth:`state`."""
        for name, value in state.items():
            setattr(self, name, value.to(device))

    def centroids(self) -> Tensor:
        """Return the means of all Gaussians in use, (m, d)."""
        return self.means[self.shares > 0]


def align_classifier(
    classifier: nn.Module,
    statistics: ClassGaussians | ClassMixtures,
    schedule: Schedule,
    task: Task,
    *,
    batches: int,
    stage: str,
) -> None:
    """Train a classifier on sampled features, with equal numbers from all classes seen.

    The features of an epoch, so many `batches`, are sampled at its start. The stage distinguishes
    several alignments within one task.
    """
    count, classes = schedule.batch_size * batches, len(task.seen)
    features = statistics.means.new_empty(count, statistics.means.shape[-1])

    def sample(indices: Sequence[Tensor], generator: torch.Generator) -> None:
        order = torch.cat(list(indices)).to(features.device)
        labels = (order % classes).split([len(batch) for batch in indices])
        features[order] = statistics.sample(labels, generator)

    def loss(batch: Tensor, _: torch.Generator) -> Tensor:
        return cross_entropy(classifier(features[batch]), batch % classes)

    parameters = classifier.parameters()
    minimise(parameters, count, loss, schedule, task, stage=stage, on_epoch=sample)


def _root(apart: Tensor, *, diagonal: bool) -> Tensor:
    """Return the Cholesky factor (d, d) of the covariance of features (n, d) less their mean."""
    apart = apart.cpu().double()  # few features give a nearly singular covariance
    covariance = apart.T @ apart / max(1, len(apart) - 1)
    if diagonal:
        covariance = covariance.diagonal().diag()
    covariance.diagonal().add_(_LEAST_VARIANCE)
    return torch.linalg.cholesky(covariance)


def _cluster(features: Tensor, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """K-means of features (n, d): means (k, d) and one-hot memberships (n, k)."""
    start = torch.randperm(len(features), generator=generator, device=features.device)[:count]
    means = torch.zeros(count, features.shape[1], device=features.device)
    means[: len(start)] = features[start]
    for _ in range(_ROUNDS):
        nearest = torch.cdist(features, means[: len(start)]).argmin(dim=1)
        members = one_hot(nearest, count).to(features)
        sizes = members.sum(dim=0)[:, None]
        means = torch.where(sizes > 0, members.T @ features / sizes.clamp(min=1), means)
    return means, members


def pack_triangle(matrices: Tensor) -> Tensor:
    """Return the lower triangles (…, d (d + 1) / 2) of matrices (…, d, d).

    >>> pack_triangle(torch.tensor([[1, 0], [2, 3]])).tolist()
    [1, 2, 3]
    """
    rows = [matrices[..., row, : row + 1] for row in range(matrices.shape[-1])]
    return torch.cat(rows, dim=-1)


def unpack_triangle(packed: Tensor, size: int, *, symmetric: bool = False) -> Tensor:
    """Return matrices (…, d, d) from :func:`pack_triangle`, zero or symmetric above the diagonal.

    >>> unpack_triangle(torch.tensor([1, 2, 3]), 2, symmetric=True).tolist()
    [[1, 2], [2, 3]]
    """
    matrices = packed.new_zeros(*packed.shape[:-1], size, size)
    for row, values in enumerate(packed.split(list(range(1, size + 1)), dim=-1)):
        matrices[..., row, : row + 1] = values
        if symmetric:
            matrices[..., :row, row] = values[..., :row]
    return matrices


def separation_loss(vectors: Tensor, temperature: float) -> Tensor:
    """Return the mean −log softmax of each vector's product with itself among all (n, d)."""
    similarity = vectors @ vectors.T / temperature
    return cross_entropy(similarity, torch.arange(len(vectors), device=vectors.device))
