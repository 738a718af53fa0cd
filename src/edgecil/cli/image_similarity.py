"""Class similarity of a dataset's images, by their pixels or as a frozen network sees them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from edgecil.cli.training import require_training
from edgecil.errors import PrerequisiteError

if TYPE_CHECKING:
    from edgecil.scenario import ImageDataset
    from edgecil.similarity import SimilarityMatrix
    from edgecil.similarity.matrix import Floats

PIXELS = "pixels"


def image_similarity(images: ImageDataset, model: str, *, threads: int = 1) -> SimilarityMatrix:
    """Cosines between the mean features of the classes' training images.

    Args:
        images: N classes, each with training images.
        model: `pixels`, or a pre-trained network whose weights are on this machine.
        threads: of the network; features that a run kept are found again with as many.
    """
    from edgecil.similarity import prototype_embeddings

    features = _pixels(images) if model == PIXELS else _seen_by(model, images, threads)
    found = prototype_embeddings(features, images.train.labels, images.names).similarity()
    return replace(found, source={**found.source, "features": model})


def _pixels(images: ImageDataset) -> Floats:
    """Pixels (n, c · h · w) of the training images."""
    import numpy as np

    pixels = images.train.pixels
    return pixels.reshape(len(pixels), -1).astype(np.float64)


def _seen_by(model: str, images: ImageDataset, threads: int) -> Floats:
    """Features (n, d) of the training images."""
    require_training()
    import numpy as np
    import torch

    from edgecil.backbones.features import frozen_features
    from edgecil.backbones.pretrained import pretrained_status
    from edgecil.engine.device import choose_device

    here, sentence = pretrained_status(model)
    if not here:
        raise PrerequisiteError(sentence)
    torch.set_num_threads(threads)
    device = choose_device("auto")
    pixels = torch.from_numpy(images.train.pixels).to(device)
    features = frozen_features(model, pixels, device, keep=True)
    return np.asarray(features.cpu().numpy(), dtype=np.float64)
