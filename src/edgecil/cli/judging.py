"""Reading and judging accuracies, which `estimate` and `report` share."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING

from edgecil.errors import EdgecilError, PrerequisiteError, UsageError

if TYPE_CHECKING:
    from edgecil.estimation import AccuracyTable, Judgement, Predictor
    from edgecil.similarity import Similarity


@dataclass(frozen=True, eq=False)
class Judged:
    """One dataset of a source.

    Attributes:
        table: its runs, classes numbered 0 … N-1.
        judgement: what is said of them.
        predictor: the one that estimates use, where it is the same for every method.
        remarks: what was left out, and why.
    """

    table: AccuracyTable
    judgement: Judgement
    predictor: Predictor | None
    remarks: tuple[str, ...]


def add_judging_options(parser: argparse.ArgumentParser) -> None:
    """Where the accuracies are, and what to predict them with."""
    parser.add_argument(
        "source",
        metavar="DIR | FILE.csv",
        help="a run directory, or method,dataset,protocol,label,sequence,seed,accuracy",
    )
    parser.add_argument(
        "--similarity",
        metavar="FILE",
        help="of the classes: .npz, .npy or .csv (default: of their names, where they are known)",
    )
    parser.add_argument(
        "--classes-seed",
        type=int,
        metavar="S",
        help="the CSV's classes were drawn from the dataset with this seed, as 'run' does it",
    )
    parser.add_argument(
        "--root", metavar="DIR", help="the dataset's images, to correlate with their prototypes too"
    )
    parser.add_argument(
        "--predictor",
        metavar="NAME",
        default="adjacent",
        help="an objective (default: adjacent, the paper's S), a column of the CSV, or pilot",
    )
    parser.add_argument(
        "--pilot", metavar="DIR | FILE.csv", help="cheap runs of the same methods, to predict with"
    )
    parser.add_argument(
        "--draws",
        type=int,
        default=100,
        metavar="n",
        help="how often a protocol's random part is drawn again (default: %(default)s)",
    )


def judge_source(args: argparse.Namespace) -> list[Judged]:
    """Judge every dataset of the source."""
    from edgecil.estimation import judge, read_accuracies
    from edgecil.estimation.judge import build_predictors

    found = []
    for table in read_accuracies(args.source):
        remarks: list[str] = []
        similarities = _similarities(args, table, remarks)
        judgement = judge(
            table,
            similarities=similarities,
            predictor=args.predictor,
            pilot=_pilot(args, table),
            draws=args.draws,
        )
        plain = table.renumbered()
        predictor = build_predictors(plain, similarities, args.predictor).get(args.predictor)
        found.append(Judged(plain, judgement, predictor, (*remarks, *judgement.notes)))
    return found


def _pilot(args: argparse.Namespace, table: AccuracyTable) -> AccuracyTable | None:
    """The pilot's runs of the same dataset."""
    from edgecil.estimation import read_accuracies

    if args.pilot is None:
        if args.predictor == "pilot":
            raise UsageError("Predictor 'pilot' needs the pilot's runs; give --pilot DIR or FILE.")
        return None
    pilots = {pilot.dataset: pilot for pilot in read_accuracies(args.pilot)}
    if table.dataset not in pilots:
        raise UsageError(f"The pilot {args.pilot} has no runs of {table.dataset!r}.")
    return pilots[table.dataset]


def _similarities(
    args: argparse.Namespace, table: AccuracyTable, remarks: list[str]
) -> dict[str, Similarity]:
    """Of the table's classes: from a file or from their names, and from images that are at hand.

    Where their names are not known there is none, which goes to the remarks.
    """
    import numpy as np

    from edgecil.similarity import read_similarity

    ids = np.array(table.classes)
    found: dict[str, Similarity] = {}
    if args.similarity is not None:
        matrix = read_similarity(args.similarity)
        relative = table.names is not None
        if len(matrix) != len(ids) and (relative or len(matrix) <= ids.max()):
            raise UsageError(
                f"{args.similarity} covers {len(matrix)} classes but the runs have {len(ids)}, "
                f"numbered up to {ids.max()}; give a row for each."
            )
        found["file"] = matrix if len(matrix) == len(ids) else matrix.take(ids)
    try:
        names = _class_names(args, table)
        if not found:
            found["text"] = _text_similarity(table.dataset, names)
        images = _image_similarity(args, table.dataset, names)
        if images is not None:
            found["images"] = images
    except EdgecilError as error:
        if args.root is not None or args.classes_seed is not None:
            raise
        if not found:
            remarks.append(f"No similarity of the classes of {table.dataset!r}: {error}")
    return found


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


def _text_similarity(dataset: str, names: tuple[str, ...]) -> Similarity:
    from edgecil.classes import ClassList
    from edgecil.similarity import text_similarity

    return text_similarity(ClassList(dataset, names))


def _image_similarity(
    args: argparse.Namespace, dataset: str, names: tuple[str, ...]
) -> Similarity | None:
    """Cosines of the classes' mean training images; None where the images are not at hand."""
    from edgecil.classes import get_classes
    from edgecil.scenario import IMAGE_DATASETS, dataset_status, load_dataset
    from edgecil.similarity import prototype_embeddings

    known = get_classes(dataset)
    if known.name not in IMAGE_DATASETS or not dataset_status(known.name, args.root)[0]:
        if args.root is not None:
            raise PrerequisiteError(f"There are no images of {dataset!r} in {args.root}.")
        return None
    place = {name: index for index, name in enumerate(known.labels)}
    if not set(names) <= set(place):
        return None
    ids = [place[name] for name in names]
    images = load_dataset(known.name, root=args.root, ids=ids).train
    return prototype_embeddings(
        images.pixels.reshape(len(images), -1), images.labels, names
    ).similarity()
