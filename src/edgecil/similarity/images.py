"""Class similarity of a dataset's images, by their pixels or as a frozen network sees them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from edgecil.cli.training import require_training
from edgecil.errors import PrerequisiteError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from edgecil.data import ImageDataset
    from edgecil.io.arrays import Floats
    from edgecil.similarity import SimilarityMatrix

    Pixels = NDArray[np.uint8]

PIXELS = "pixels"


def image_similarity(images: ImageDataset, model: str, *, threads: int = 1) -> SimilarityMatrix:
    """Cosines between the mean features of the classes' training images, a class at a time.

    Args:
        images: N classes, each with training images.
        model: `pixels`, or a pre-trained network whose weights are on this machine. Its features
            are kept, class by class: who is interrupted goes on from there.
        threads: of the network; features that a run kept are found again with as many.
    """
    import numpy as np
    from rich.console import Console
    from rich.progress import track

    from edgecil.similarity.matrix import Embeddings
    from edgecil.similarity.prototypes import directions

    features = _as_rows if model == PIXELS else _seen_by(model, threads)
    labels, means = images.train.labels, []
    for label in track(
        range(len(images)),
        f"Images, by {model}",
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    ):
        means.append(directions(features(images.train.pixels[labels == label])).mean(axis=0))
    source = {"encoder": "class means", "samples": str(len(labels)), "features": model}
    return Embeddings(images.names, np.stack(means), source).similarity()


def _as_rows(pixels: Pixels) -> Floats:
    """Pixels (n, c, h, w) as rows (n, c · h · w)."""
    import numpy as np

    return pixels.reshape(len(pixels), -1).astype(np.float64)


def _seen_by(model: str, threads: int) -> Callable[[Pixels], Floats]:
    """From pixels (n, c, h, w) to the model's features (n, d)."""
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

    def features(pixels: Pixels) -> Floats:
        found = frozen_features(model, torch.from_numpy(pixels).to(device), device, keep=True)
        return np.asarray(found.cpu().numpy(), dtype=np.float64)

    return features
