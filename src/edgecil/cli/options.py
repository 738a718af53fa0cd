"""Options that several verbs share; each is declared once and named as the API's parameter."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

Container = argparse._ActionsContainer


def numbers(text: str) -> tuple[int, ...]:
    """Integers written as 50,25,25."""
    try:
        return tuple(int(number) for number in text.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"takes integers such as 50,25,25, got {text!r}"
        ) from error


def names(text: str) -> tuple[str, ...]:
    """Names written as icarl,der; each counts once."""
    return tuple(dict.fromkeys(name.strip() for name in text.split(",")))


class Settings(argparse.Action):
    """Collects NAME=VALUE in a mapping; VALUE is JSON or plain text, a dot in NAME nests."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Add one setting."""
        path, equals, text = str(values).partition("=")
        parts = path.split(".")
        depth = str(self.metavar).partition("=")[0].count(".")
        if not equals or not all(parts) or len(parts) <= depth:
            raise argparse.ArgumentError(self, f"takes {self.metavar}, got {values!r}")
        inner = vars(namespace).setdefault(self.dest, {})
        for part in parts[:-1]:
            inner = inner.setdefault(part, {})
        try:
            inner[parts[-1]] = json.loads(text)
        except ValueError:
            inner[parts[-1]] = text


def add_dataset(parser: argparse.ArgumentParser, *, positional: bool = True) -> None:
    """Which dataset: a name, a folder or a file."""
    help_ = "a name (see 'edgecil datasets'), an image folder or an .npz file"
    if positional:
        parser.add_argument("dataset", nargs="?", metavar="DATASET", help=help_)
    hidden = argparse.SUPPRESS if positional else help_
    parser.add_argument("--dataset", metavar="DATASET", help=hidden)


def add_images(parser: Container) -> None:
    """Where a dataset's images are."""
    parser.add_argument("--root", metavar="DIR", help="directory of the dataset's files")
    parser.add_argument("--image-size", type=int, metavar="PX", help="resize images to PX x PX")


def add_classes(parser: Container) -> None:
    """Some of the classes."""
    parser.add_argument(
        "--classes", type=int, metavar="N", help="only the first N classes, in label order"
    )
    parser.add_argument(
        "--classes-seed", type=int, metavar="SEED", help="draw the N classes with this seed"
    )


def add_texts(parser: Container) -> None:
    """How class names become vectors."""
    parser.add_argument("--names", metavar="FILE", help="class names: .txt, .csv or .json")
    parser.add_argument("--encoder", metavar="NAME", help="text encoder (default: minilm-bundled)")
    parser.add_argument(
        "--template",
        metavar="TEXT",
        help="prompt around a name (default: 'a photo of a {name}.'); the paper's is '{name}'",
    )
    parser.add_argument(
        "--captions",
        metavar="FILE",
        help="captions in place of names: .json, .csv or .txt, or 'bundled'",
    )
    parser.add_argument("--weights", metavar="PATH", help="the encoder's weights: folder or hub id")


def add_matrix(parser: Container) -> None:
    """A similarity from a file in place of an encoder's."""
    parser.add_argument("--similarity", metavar="FILE", help="a matrix: .npz, .npy or .csv")
    parser.add_argument("--embeddings", metavar="FILE", help="class vectors: .npy or .npz")


def add_similarity(parser: argparse.ArgumentParser, *, positional: bool = True) -> None:
    """A similarity: of a dataset's class names, of a list of names, or from a file."""
    add_dataset(parser, positional=positional)
    group = parser.add_argument_group("classes and their similarity")
    add_classes(group)
    add_texts(group)
    add_matrix(group)


def add_space(parser: argparse.ArgumentParser) -> None:
    """Task sizes: equal, base and increment, or a list."""
    group = parser.add_argument_group("tasks")
    group.add_argument("--tasks", type=int, metavar="K", help="K tasks of equal size")
    group.add_argument("--base", type=int, metavar="B", help="classes in the first task")
    group.add_argument("--increment", type=int, metavar="I", help="classes in every other task")
    group.add_argument("--sizes", type=numbers, metavar="M,M,…", help="task sizes: 50,25,25")


def add_protocol(parser: Container, *, several: bool) -> None:
    """Which sequences, and how many."""
    parser.add_argument(
        "--protocol",
        "--eval",
        dest="protocol",
        type=names if several else str,
        metavar="P,Q" if several else "NAME",
        help="what chooses the sequences (default: latin); see 'edgecil protocols'",
    )
    parser.add_argument(
        "--budget", type=int, metavar="L", help="sequences of each protocol (default: 3)"
    )
    parser.add_argument(
        "--order-seed", type=int, metavar="SEED", help="seed for choosing class orders"
    )
    parser.add_argument(
        "--objective", metavar="NAME", help="what protocol 'optimal' optimises (default: adjacent)"
    )


def add_experiment(parser: Container) -> None:
    """Where the results go."""
    parser.add_argument("--out", required=True, metavar="DIR", help="the experiment's directory")
    parser.add_argument(
        "--overwrite", action="store_true", help="delete existing results and start over"
    )


def add_repeats(parser: Container, *, workers: str) -> None:
    """How often each sequence is trained, and how many at the same time (`workers` by default)."""
    parser.add_argument(
        "--repeats", type=int, metavar="n", help="train each sequence with n seeds (default: 1)"
    )
    parser.add_argument(
        "--workers",
        type=int,
        metavar="W",
        help=f"processes that train at the same time (default: {workers})",
    )


def add_analysis(parser: argparse.ArgumentParser) -> None:
    """Which results, and how to analyse them."""
    parser.add_argument(
        "source",
        nargs="+",
        metavar="SOURCE",
        help="experiment directories, CSV files (method, dataset, protocol, label, sequence, seed, "
        "accuracy), or a saved analysis (.json)",
    )
    group = parser.add_argument_group("analysis")
    group.add_argument(
        "--metric",
        metavar="NAME",
        help="accuracy (default), last, average, forgetting or bwt; for a CSV, one of its columns",
    )
    group.add_argument(
        "--classifier",
        metavar="NAME",
        help="classifier to analyse: head or nme (default: each method's main one)",
    )
    group.add_argument(
        "--similarity",
        metavar="FILE",
        help="similarity of the classes: .npz, .npy or .csv (default: the experiment's own; "
        "for a CSV, that of the class names)",
    )
    group.add_argument(
        "--predictor",
        metavar="NAME",
        help="an objective (default: adjacent, the paper's S), a column of the CSV, or pilot",
    )
    group.add_argument(
        "--pilot", metavar="SOURCE", help="cheap runs of the same methods, for predictor 'pilot'"
    )
    group.add_argument(
        "--draws",
        type=int,
        metavar="n",
        help="times that a protocol's random part is redrawn (default: 2000)",
    )
    group.add_argument("--seed", type=int, metavar="SEED", help="seed of these draws (default: 0)")


SIMILARITY = (
    *("dataset", "classes", "classes_seed", "names", "encoder", "template", "captions", "weights"),
    *("similarity", "embeddings"),
)
SPACE = ("tasks", "base", "increment", "sizes")


def pick(options: dict[str, Any], wanted: Sequence[str]) -> dict[str, Any]:
    """Take the options of these names that are given out of all."""
    return {name: options.pop(name) for name in wanted if name in options}
