"""Every image dataset known by name, and how to get at its images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from edgecil.classes import ClassList, get_classes, select_classes
from edgecil.classes.registry import CLASS_LISTS
from edgecil.data.dataset import ImageDataset
from edgecil.data.decode import resize_dataset
from edgecil.data.formats import (
    arrays,
    cifar,
    cub,
    eyepacs,
    folder,
    ham10000,
    imagenet_variants,
    quickdraw,
)
from edgecil.data.image_files import ImageFiles
from edgecil.errors import DataError, PrerequisiteError, UsageError, unknown
from edgecil.io.arrays import Ints

_LISTED: dict[str, tuple[Callable[[Path], ImageFiles], str]] = {
    "cub200": (cub.list_cub, cub.ADVICE),
    **{
        name: (
            partial(imagenet_variants.list_imagenet_variant, name),
            imagenet_variants.advice(name),
        )
        for name in imagenet_variants.NAMES
    },
    "ham10000": (ham10000.list_ham10000, ham10000.ADVICE),
    "eyepacs": (eyepacs.list_eyepacs, eyepacs.ADVICE),
    "folder": (folder.list_folder, folder.ADVICE),
}
_ARRAYS = ".npz"
IMAGE_DATASETS = (*quickdraw.NAMES, "cifar100", *_LISTED)


def load_dataset(
    name: str,
    *,
    root: str | Path | None = None,
    count: int | None = None,
    seed: int | None = None,
    ids: Sequence[int] | Ints | None = None,
    size: int | None = None,
    download: bool = False,
) -> ImageDataset:
    """The images of a dataset, or of some of its classes, in memory.

    Args:
        name: one of `IMAGE_DATASETS` (`quickdraw` and `quickdraw-pretrain` are bundled; `folder`
            is any image folder), or the path of an .npz file.
        root: the directory that holds the images; bundled datasets and .npz files have none.
        count: only the first `count` classes, in label order.
        seed: draw the `count` classes instead.
        ids: only these classes, relabelled in this order.
        size: scale to `size` x `size` pixels; by default photographs come at 224, what is
            stored at one size at that size.
        download: fetch the dataset if it is not in `root` (CIFAR-100 alone has an archive with a
            known checksum).

    Returns:
        The chosen classes, relabelled from 0; images of other classes are not decoded.
    """
    if size is not None and size < 1:
        raise UsageError(f"The image size must be at least 1. Got {size} instead.")
    known = _resolve(name)
    if download and known != "cifar100":
        raise UsageError(f"Only cifar100 can be downloaded. Got {name} instead.")

    def chosen(total: int) -> Ints:
        return select_classes(total, count=count, seed=seed, ids=ids)

    if known in _LISTED:
        files = _LISTED[known][0](_directory(known, root))
        return files.decode(chosen(len(files.names)), size)
    if known == "cifar100":
        home = _directory(known, root)
        if download:
            _fetch_cifar100(home)
        dataset = cifar.read_cifar100(home)
    elif root is not None:
        raise UsageError(f"{name} needs no directory. Got {root}; leave it out.")
    elif known in quickdraw.NAMES:
        dataset = quickdraw.read_quickdraw(known)
    else:
        dataset = arrays.read_arrays(Path(name))
    return resize_dataset(dataset.take(chosen(len(dataset))), size)


def dataset_classes(name: str) -> ClassList:
    """The classes of a dataset in label order; no image is decoded.

    Args:
        name: a dataset's name, a folder of images, or an .npz file.
    """
    path = Path(name).expanduser()
    if path.suffix.lower() == _ARRAYS:
        dataset = arrays.read_arrays(path)
        return ClassList(dataset.name, dataset.names)
    if path.is_dir() and name not in CLASS_LISTS:
        return ClassList(path.resolve().name, folder.list_folder(path).names)
    return get_classes(name)


def dataset_status(name: str, root: str | Path | None = None) -> tuple[bool, str]:
    """Whether a dataset could be loaded, and one sentence: where it is, or how to get it.

    No image is decoded, so a damaged one is not noticed here.
    """
    known = _resolve(name)
    if known in quickdraw.NAMES:
        return True, "Bundled with edgecil."
    if known == _ARRAYS:
        there = Path(name).is_file()
        return there, f"In {name}." if there else f"There is no file {name}."
    try:
        home = _directory(known, root)
        cifar.find_cifar100(home) if known == "cifar100" else _LISTED[known][0](home)
    except (PrerequisiteError, DataError) as error:
        return False, str(error)
    return True, f"In {home}."


def _resolve(name: str) -> str:
    """The dataset that is meant: one of `IMAGE_DATASETS`, or `.npz` for a path to such a file."""
    if Path(name).suffix.lower() == _ARRAYS:
        return _ARRAYS
    known = name
    with suppress(UsageError):
        known = get_classes(name).name
    if known not in IMAGE_DATASETS:
        raise unknown("image dataset", name, (*IMAGE_DATASETS, "FILE.npz"))
    return known


def _directory(known: str, root: str | Path | None) -> Path:
    if root is not None:
        return Path(root).expanduser()
    advice = cifar.ADVICE if known == "cifar100" else _LISTED[known][1]
    raise PrerequisiteError(
        f"The images of {known!r} need a directory of yours (--root DIR); {advice}."
    )


def _fetch_cifar100(root: Path) -> None:
    try:
        cifar.find_cifar100(root)
    except (PrerequisiteError, DataError):
        cifar.download_cifar100(root)
