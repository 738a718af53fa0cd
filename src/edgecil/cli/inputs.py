"""Options that several verbs share: which classes, which similarity, which space."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from edgecil.errors import UsageError

if TYPE_CHECKING:
    from edgecil.classes import ClassList
    from edgecil.sequences import SequenceSpace
    from edgecil.similarity import Similarity, SimilarityMatrix


# As in edgecil.similarity, which is not imported before it is needed; a test keeps them equal.
_ENCODER = "minilm-bundled"
_TEMPLATE = "a photo of a {name}."


def add_text_options(parser: argparse.ArgumentParser) -> None:
    """Which classes, and how their names become vectors."""
    parser.add_argument("dataset", nargs="?", metavar="DATASET", help="see 'edgecil datasets'")
    parser.add_argument("--names", metavar="FILE", help="class names: .txt, .csv or .json")
    parser.add_argument(
        "--encoder", metavar="NAME", default=_ENCODER, help="see 'edgecil encoders'"
    )
    parser.add_argument(
        "--template",
        metavar="TEXT",
        default=_TEMPLATE,
        help="prompt around a name; '{name}' is the paper's bare name (default: '%(default)s')",
    )
    parser.add_argument(
        "--captions",
        metavar="FILE",
        help="captions instead of names: .json, .csv or .txt; 'bundled' for the shipped ones",
    )
    parser.add_argument("--weights", metavar="PATH", help="the encoder's weights: folder or hub id")


def add_similarity_options(parser: argparse.ArgumentParser) -> None:
    """A similarity: of a known dataset, of a list of names, or from a file."""
    add_text_options(parser)
    parser.add_argument("--similarity", metavar="FILE", help="a matrix: .npz, .npy or .csv")
    parser.add_argument("--embeddings", metavar="FILE", help="class vectors: .npy or .npz")
    add_class_options(parser)


def add_class_options(parser: argparse.ArgumentParser) -> None:
    """Some of the classes."""
    parser.add_argument(
        "--classes", type=int, metavar="N", help="only the first N classes, in label order"
    )
    parser.add_argument(
        "--classes-seed", type=int, metavar="SEED", help="draw the N classes instead"
    )


def add_space_options(parser: argparse.ArgumentParser) -> None:
    """Task sizes: equal, base and increment, or a list."""
    parser.add_argument("--tasks", type=int, metavar="K", help="K tasks of one size")
    parser.add_argument("--base", type=int, metavar="B", help="classes in the first task")
    parser.add_argument("--increment", type=int, metavar="I", help="classes in each further task")
    parser.add_argument("--sizes", metavar="M,M,…", help="any task sizes, such as 50,25,25")


def read_names(args: argparse.Namespace) -> ClassList:
    """The class list that DATASET or --names asks for."""
    from edgecil.classes import get_classes, read_classes

    if (args.dataset is None) == (args.names is None):
        raise UsageError("Give either a DATASET or --names FILE to say which classes are meant.")
    return get_classes(args.dataset) if args.names is None else read_classes(args.names)


def encode_names(args: argparse.Namespace) -> SimilarityMatrix:
    """The similarity of class names, or of the captions that stand for them."""
    from edgecil.similarity import bundled_captions, read_captions, text_similarity

    classes = read_names(args)
    if len(classes) < 2:
        raise UsageError(f"{classes.name!r} names one class; a similarity is between at least 2.")
    captions = None
    if args.captions == "bundled":
        captions = bundled_captions(classes.name)
    elif args.captions is not None:
        captions = read_captions(args.captions, classes)
    return text_similarity(
        classes,
        encoder=args.encoder,
        template=args.template,
        captions=captions,
        weights=args.weights,
    )


def refuse_text_options(args: argparse.Namespace, instead: str) -> None:
    """An error if an option about texts is given where there are none to encode."""
    given = {
        "--encoder": args.encoder != _ENCODER,
        "--template": args.template != _TEMPLATE,
        "--captions": args.captions is not None,
        "--weights": args.weights is not None,
    }
    for option, used in given.items():
        if used:
            raise UsageError(f"{instead} encodes no texts; leave {option} out.")


def read_any_similarity(args: argparse.Namespace) -> Similarity:
    """The similarity that the options ask for, cut down to the chosen classes."""
    return _choose_classes(read_whole_similarity(args), args.classes, args.classes_seed)


def read_whole_similarity(args: argparse.Namespace) -> Similarity:
    """The similarity that the options ask for, over all its classes."""
    from edgecil.similarity import read_embeddings, read_similarity

    given = [args.dataset, args.names, args.similarity, args.embeddings]
    if sum(value is not None for value in given) != 1:
        raise UsageError(
            "Say which classes are meant by one of: DATASET, --names, --similarity, --embeddings."
        )
    similarity: Similarity
    if args.similarity is not None:
        refuse_text_options(args, "--similarity")
        similarity = read_similarity(args.similarity)
    elif args.embeddings is not None:
        refuse_text_options(args, "--embeddings")
        similarity = read_embeddings(args.embeddings)
    else:
        similarity = encode_names(args)
    return similarity


def _choose_classes(similarity: Similarity, count: int | None, seed: int | None) -> Similarity:
    from edgecil.classes import select_classes

    if count is None and seed is None:
        return similarity
    return similarity.take(select_classes(len(similarity), count=count, seed=seed))


def read_space(args: argparse.Namespace, classes: int) -> SequenceSpace:
    """The space of sequences that the options ask for."""
    from edgecil.sequences import SequenceSpace

    sizes = None if args.sizes is None else parse_numbers(args.sizes, "sizes")
    return SequenceSpace.choose(
        classes, tasks=args.tasks, base=args.base, increment=args.increment, sizes=sizes
    )


def parse_numbers(text: str, name: str) -> tuple[int, ...]:
    """Whole numbers written as 50,25,25."""
    try:
        return tuple(int(number) for number in text.split(","))
    except ValueError as error:
        option = "--" + name.replace("_", "-")
        raise UsageError(f"{option} takes whole numbers such as 50,25,25. Got {text}.") from error
