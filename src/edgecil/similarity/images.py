"""Class similarity from images: class means of pixels, of a frozen network or of any features."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from edgecil.errors import PrerequisiteError
from edgecil.io.arrays import Floats, Inputs
from edgecil.io.device import use_portable_kernels
from edgecil.io.packages import require_training
from edgecil.similarity.matrix import SimilarityMatrix

if TYPE_CHECKING:
    from edgecil.data import Dataset

PIXELS = "pixels"


def image_similarity(
    images: Dataset,
    model: str = PIXELS,
    *,
    threads: int = 1,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> SimilarityMatrix:
    """Return cosines between the mean features of the classes' training images.

    Each image counts by its direction: it is scaled to unit length before the mean, as nearest-mean
    classifiers do (iCaRL, Rebuffi et al. 2017), so that a few long vectors cannot decide a class.

    Args:
        images: N classes, each with training images.
        model: `pixels`, or a pre-trained network whose weights are on this machine. Its features
            are cached class by class, so an interrupted computation resumes.
        threads: threads of the network; cached features are reused for the same number only.
        on_progress: called with the number of classes done, and N.
    """
    kind = "inputs" if model == PIXELS and not images.channels else model
    features = _flatten if model == PIXELS else _frozen_features(model, threads)
    return class_mean_similarity(images, features, kind, on_progress=on_progress)


def class_mean_similarity(
    dataset: Dataset,
    features: Callable[[Inputs], Any],
    kind: str,
    *,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> SimilarityMatrix:
    """Return cosines between the mean directions of the classes' training inputs.

    Args:
        dataset: N classes, each with training inputs.
        features: function from inputs (n, …) to features (n, …).
        kind: what the features are, for the similarity's source.
        on_progress: called with the number of classes done, and N.
    """
    labels = dataset.train.labels
    means = []
    for label in range(len(dataset)):
        rows: Floats = features(dataset.train.inputs[labels == label]).astype(np.float64)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        means.append((rows / np.where(lengths > 0, lengths, 1.0)).mean(axis=0))
        on_progress(label + 1, len(dataset))
    source = {"encoder": "class means", "samples": str(len(labels)), "features": kind}
    return SimilarityMatrix.of_vectors(np.stack(means), dataset.names, source)


def _flatten(inputs: Inputs) -> Inputs:
    """Return inputs (n, …) as vectors (n, d)."""
    return inputs.reshape(len(inputs), -1)


def class_means(dataset: Any, **chosen: Any) -> SimilarityMatrix | None:
    """Return the similarity of class means of a dataset's vectors; None if it has images."""
    from edgecil.data.load import has_vectors, load_dataset

    if not has_vectors(dataset):
        return None
    return image_similarity(load_dataset(dataset, **chosen))


def _frozen_features(model: str, threads: int) -> Callable[[Inputs], Any]:
    """Return a function from pixels (n, c, h, w) to the model's features (n, d)."""
    require_training()
    use_portable_kernels()
    import torch

    from edgecil.backbones.features import frozen_features
    from edgecil.backbones.pretrained import pretrained_status
    from edgecil.io.device import choose_device

    available, sentence = pretrained_status(model)
    if not available:
        raise PrerequisiteError(sentence)
    torch.set_num_threads(threads)
    device = choose_device("auto")

    def compute_features(pixels: Inputs) -> Any:
        features = frozen_features(model, torch.from_numpy(pixels), device, keep=True)
        return features.cpu().numpy()

    return compute_features
