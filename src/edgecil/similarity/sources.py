"""Several similarities of one dataset, as a TOML file describes them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from edgecil.classes import select_classes
from edgecil.errors import UsageError
from edgecil.io.toml import read_toml
from edgecil.recipes import read_recipe
from edgecil.similarity.build import build_similarity, find_classes
from edgecil.similarity.matrix import SimilarityMatrix


class Source(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Arguments of :func:`edgecil.similarity.similarity`; the dataset is the file's."""

    names: str | None = None
    encoder: str | None = None
    template: str | None = None
    captions: str | None = None
    weights: str | None = None
    features: str | None = None
    images: str | None = None
    root: str | None = None
    image_size: int | None = None
    threads: int | None = None
    classes: int | None = None
    classes_seed: int | None = None


class Sources(msgspec.Struct, forbid_unknown_fields=True):
    """The similarities to compare, and the tasks of the sequences to compare them by.

    Attributes:
        dataset: a dataset's name, a folder of images or an .npz file.
        similarities: two or more sources by name.
        tasks: number of equal tasks.
        base: classes in the first task.
        increment: classes in every other task.
        sizes: any task sizes.
    """

    dataset: str
    similarities: dict[str, Source]
    tasks: int | None = None
    base: int | None = None
    increment: int | None = None
    sizes: tuple[int, ...] | None = None

    @property
    def space(self) -> dict[str, Any]:
        """The task sizes, as :meth:`edgecil.SequenceSpace.choose` takes them."""
        return {name: getattr(self, name) for name in ("tasks", "base", "increment", "sizes")}

    def build(self) -> dict[str, SimilarityMatrix]:
        """Return every similarity by name, those of images last."""
        matrices: dict[str, SimilarityMatrix] = {}
        for name, source in sorted(
            self.similarities.items(), key=lambda item: item[1].images is not None
        ):
            matrix = build_similarity(dataset=self.dataset, **msgspec.to_builtins(source))
            if source.names is not None:  # other words for the dataset's classes
                labels = find_classes(self.dataset).labels
                ids = select_classes(len(labels), count=source.classes, seed=source.classes_seed)
                matrix = replace(matrix, names=tuple(labels[id_] for id_ in ids))
            matrices[name] = matrix
        return {name: matrices[name] for name in self.similarities}


def read_sources(path: str | Path, *, root: str | Path | None = None) -> Sources:
    """Return the similarities that a TOML file describes.

    Args:
        path: the file, with `dataset`, the task sizes, and a table `similarities`; or
            `recipe:NAME` for a bundled one.
        root: the directory of the images, in place of the file's.
    """
    try:
        sources = msgspec.convert(_read_settings(str(path)), Sources)
    except msgspec.ValidationError as error:
        message = str(error).replace("`$.", "`").replace("`", "'")
        raise UsageError(f"{path} does not describe similarities: {message}.") from error
    if len(sources.similarities) < 2:
        raise UsageError(
            f"{path} must describe two or more similarities. Got {len(sources.similarities)}."
        )
    if root is not None:
        with_images = [it for it in sources.similarities.values() if it.images is not None]
        if not with_images:
            raise UsageError(f"{path} describes no similarity of images; leave 'root' out.")
        for source in with_images:
            source.root = str(root)
    return sources


def _read_settings(path: str) -> dict[str, Any]:
    prefix, _, name = path.partition(":")
    return read_recipe(name) if prefix == "recipe" else read_toml(path)
