"""Features of a dataset, computed once by any network: vectors that every learner runs on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from edgecil.errors import UsageError, format_value
from edgecil.io.arrays import Inputs
from edgecil.io.device import choose_device, use_portable_kernels
from edgecil.io.files import check_new, replace_file
from edgecil.io.packages import require_training
from edgecil.io.progress_bar import Progress
from edgecil.options import checked

if TYPE_CHECKING:
    from edgecil.data.dataset import Dataset


@checked
def features(
    *,
    dataset: str | Any,
    backbone: str | Any,
    out: str | Path,
    root: str | Path | None = None,
    image_size: int | None = None,
    classes: int | None = None,
    classes_seed: int | None = None,
    class_ids: Sequence[int] | None = None,
    device: str = "auto",
    batch_size: int = 32,
    threads: int = 1,
    overwrite: bool = False,
    progress: bool = True,
) -> Path:
    """Compute the features of a dataset's images and save them as a dataset of vectors.

    What is computed is kept in the user's cache, so that the same call resumes.

    Args:
        dataset: a dataset's name, a folder of images, an .npz file or whatever else
            :func:`edgecil.run` takes.
        backbone: the network: a name, a weight file, `timm:NAME`, `hf:ID` or `FILE.py:make`; in
            Python also a module, or a function that returns one.
        out: .npz file to save the vectors to; it is a dataset for :func:`edgecil.run`.
        root: directory of the dataset's images.
        image_size: width and height in pixels to which images are scaled; by default the size that
            the network states, or by the size of the images.
        classes: see :class:`edgecil.classes.ClassChoice`.
        classes_seed: see :class:`edgecil.classes.ClassChoice`.
        class_ids: see :class:`edgecil.classes.ClassChoice`.
        device: `auto`, `cpu`, `cuda` or `mps`.
        batch_size: images at a time.
        threads: number of threads of the network.
        overwrite: replace the file if it exists.
        progress: whether to show the progress on stderr.
    """
    path = Path(out).expanduser()
    if path.suffix.lower() != ".npz":
        raise UsageError(f"`out` must be an .npz file. Got {format_value(path.name)} instead.")
    if batch_size < 1:
        raise UsageError(f"`batch_size` must be at least 1. Got {batch_size} instead.")
    check_new(path, overwrite=overwrite)
    require_training()
    use_portable_kernels()
    import torch

    from edgecil.backbones import pretrained
    from edgecil.backbones.model_slot import backbone_text
    from edgecil.backbones.named import canonical_backbone, check_backbone
    from edgecil.data import load_dataset
    from edgecil.data.input_store import resize_dataset

    name = canonical_backbone(backbone_text(backbone))
    check_backbone(name)
    if not pretrained.is_pretrained(name):
        raise UsageError(f"The backbone {name!r} has no weights; give a pre-trained one.")
    chosen: dict[str, Any] = {"count": classes, "seed": classes_seed, "ids": class_ids}
    images = load_dataset(dataset, root=root, size=image_size, **chosen)
    if not images.channels:
        raise UsageError(f"{images.name!r} has vectors already; give a dataset of images.")
    if image_size is None:
        images = resize_dataset(images, pretrained.image_size_of(name))
    torch.set_num_threads(threads)
    vectors = _features_of(
        images, name, device=choose_device(device), batch_size=batch_size, progress=progress
    )
    with replace_file(path) as file:
        np.savez(
            file,
            x_train=vectors.train.inputs,
            y_train=vectors.train.labels,
            x_test=vectors.test.inputs,
            y_test=vectors.test.labels,
            names=np.array(images.names),
            backbone=np.array(name),
        )
    return path


def _features_of(
    images: Dataset, backbone: str, *, device: str, batch_size: int, progress: bool
) -> Dataset:
    """Return the dataset of the vectors that a frozen network makes of images."""
    import torch

    from edgecil.backbones import pretrained
    from edgecil.data.augment import Normalise, Pipeline
    from edgecil.data.input_store import derive_dataset

    network = pretrained.frozen_backbone(backbone, images.shape, device)
    plain = Normalise((0.0,) * images.channels, (1.0,) * images.channels)
    statistics = pretrained.statistics_of(backbone) or plain
    prepare = Pipeline((), statistics.mean, statistics.std)
    weights = pretrained.fingerprint(backbone)
    image_count = len(images.train) + len(images.test)

    with Progress("images", shown=progress) as bar:

        def compute(inputs: Inputs, done: int) -> Inputs:
            with torch.no_grad():
                rows = [
                    network(prepare.plain(part.to(device))).float().cpu()
                    for part in torch.from_numpy(inputs).split(batch_size)
                ]
            bar.update(done, image_count)
            return np.asarray(torch.cat(rows).numpy())

        return derive_dataset(
            images,
            (network.feature_size,),
            compute,
            key=lambda: ("features", weights, images.fingerprint, device, batch_size),
            resumes=True,
        )
