"""Which similarities of judged classes are known: the one behind S, and that of their images."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from edgecil.errors import DataError, EdgecilError, PrerequisiteError, UsageError
from edgecil.similarity.images import PIXELS, image_similarity

if TYPE_CHECKING:
    from edgecil.data import ImageDataset
    from edgecil.engine import ExperimentConfig
    from edgecil.estimation import AccuracyTable
    from edgecil.similarity import Similarity


def find_similarities(
    args: argparse.Namespace,
    table: AccuracyTable,
    configs: Sequence[ExperimentConfig],
    remarks: list[str],
) -> dict[str, Similarity]:
    """Similarities of the table's classes by source, the one behind S first.

    That is the one of --similarity, or the one from which the run's sequences came, or that of the
    class names. Where it is not to be had there is none, and the remarks say why.
    """
    maker = _maker(configs)
    found: dict[str, Similarity] = {}
    if args.similarity is not None:
        found["file"] = _read(args.similarity, table)
    try:
        names = _class_names(args, table)
        if not found:
            found["text"] = _of_run(table.dataset, names, maker)
            remarks += _differences(configs, maker)
        images = _find_images(args, table, names, maker)
        if images is not None:
            similarity, whose = _of_images(images, maker, remarks)
            found[f"image prototypes ({whose})"] = similarity
    except EdgecilError as error:
        if args.root is not None or args.classes_seed is not None:
            raise
        if not found:
            remarks.append(f"No similarity of the classes of {table.dataset!r}: {error}")
    return found


def tell_source(similarity: Similarity) -> str:
    """Where a similarity comes from: encoder and template, or the file."""
    parts = (similarity.source.get(key) for key in ("encoder", "template", "file"))
    return ", ".join(repr(part) if "{" in part else part for part in parts if part)


def _maker(configs: Sequence[ExperimentConfig]) -> ExperimentConfig | None:
    """The configuration from whose similarity the sequences of a run directory came.

    The first one that asked for EDGE's sequences, else for any that look at the classes: a later
    one was refused unless it chose the same. Where nothing looked at the classes, the first.
    """
    looking = _looking(configs)
    edge = [config for config in looking if "edge" in config.protocol]
    return next(iter([*edge, *looking, *configs]), None)


def _looking(configs: Sequence[ExperimentConfig]) -> list[ExperimentConfig]:
    """The configurations with a protocol that looks at the classes."""
    from edgecil.estimation.predictors import draws_blindly

    return [config for config in configs if not all(map(draws_blindly, config.protocol))]


def _differences(configs: Sequence[ExperimentConfig], maker: ExperimentConfig | None) -> list[str]:
    """A sentence if runs of one directory came from different similarities."""
    if maker is None:
        return []
    told = dict.fromkeys(_told(config) for config in [maker, *_looking(configs)])
    first, *others = told
    if not others:
        return []
    why = "which chose EDGE's" if "edge" in maker.protocol else "the first of them"
    return [
        f"The sequences here were asked for with different similarities: S is that of {first}, "
        f"{why}, not of {' or '.join(others)}."
    ]


def _told(config: ExperimentConfig) -> str:
    return config.similarity or f"{config.encoder} with {config.template!r}"


def _read(path: str, table: AccuracyTable) -> Similarity:
    """The file of --similarity, cut down to the table's classes."""
    import numpy as np

    from edgecil.similarity import read_similarity

    matrix, ids = read_similarity(path), np.array(table.classes)
    relative = table.names is not None
    if len(matrix) != len(ids) and (relative or len(matrix) <= ids.max()):
        raise UsageError(
            f"{path} covers {len(matrix)} classes but the runs have {len(ids)}, numbered up to "
            f"{ids.max()}; give a row for each."
        )
    return matrix if len(matrix) == len(ids) else matrix.take(ids)


def _of_run(dataset: str, names: tuple[str, ...], maker: ExperimentConfig | None) -> Similarity:
    """What the run's sequences came from; of the names by default, where nobody recorded it."""
    from edgecil.classes import ClassList
    from edgecil.engine.similarity import experiment_similarity
    from edgecil.similarity import text_similarity

    classes = ClassList(dataset, names)
    if maker is None:
        return text_similarity(classes)
    if maker.similarity is not None and not Path(maker.similarity).is_file():
        raise DataError(
            f"The sequences came from the file {maker.similarity}, which is not there; put it "
            "back, or say where it is with --similarity FILE."
        )
    return experiment_similarity(maker, classes)


def _class_names(args: argparse.Namespace, table: AccuracyTable) -> tuple[str, ...]:
    """Labels of the table's classes: the run's own, or those of the dataset by their ids."""
    from edgecil.classes import get_classes, select_classes

    if table.names is not None:
        return table.names
    known = get_classes(table.dataset).labels
    ids = list(table.classes)
    if args.classes_seed is not None:
        ids = select_classes(len(known), count=len(ids), seed=args.classes_seed).tolist()
    if ids[-1] >= len(known):
        raise UsageError(
            f"{table.dataset!r} has {len(known)} classes but a sequence names class {ids[-1]}."
        )
    return tuple(known[id_] for id_ in ids)


def _find_images(
    args: argparse.Namespace,
    table: AccuracyTable,
    names: tuple[str, ...],
    maker: ExperimentConfig | None,
) -> ImageDataset | None:
    """The images of the table's classes, in its order; None where they are not at hand."""
    from edgecil.classes import get_classes
    from edgecil.data import dataset_status, load_dataset

    dataset = table.dataset if maker is None else maker.dataset
    if not dataset_status(dataset, args.root)[0]:
        if args.root is not None:
            raise PrerequisiteError(f"There are no images of {dataset!r} in {args.root}.")
        return None
    if maker is not None:
        found = load_dataset(
            dataset,
            root=args.root,
            count=maker.classes,
            seed=maker.classes_seed,
            ids=maker.class_ids,
            size=maker.image_size,
        )
    else:
        place = {label: index for index, label in enumerate(get_classes(dataset).labels)}
        if not set(names) <= set(place):
            return None
        found = load_dataset(dataset, root=args.root, ids=[place[name] for name in names])
    return found if found.names == names else None


def _of_images(
    images: ImageDataset, maker: ExperimentConfig | None, remarks: list[str]
) -> tuple[Similarity, str]:
    """Similarity of the images, and by whose features: the run's frozen model's, or pixels."""
    if maker is not None:
        try:
            seen = image_similarity(images, maker.pretrained, threads=maker.threads)
        except EdgecilError as error:
            remarks.append(f"Image prototypes are of pixels, not of {maker.pretrained}: {error}")
        else:
            return seen, maker.pretrained
    return image_similarity(images, PIXELS), PIXELS
