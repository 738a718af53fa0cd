"""`edgecil similarity`: build a similarity matrix and save it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from edgecil.cli.inputs import (
    add_class_options,
    add_text_options,
    encode_names,
    read_names,
    refuse_text_options,
)
from edgecil.cli.output import console, print_json, print_table
from edgecil.errors import UsageError
from edgecil.similarity.images import image_similarity

if TYPE_CHECKING:
    from edgecil.similarity import SimilarityMatrix

NAME = "similarity"
HELP = "build a class-similarity matrix from names, captions or images"
EXAMPLES = ("", "")
LEGACY = True


def configure(parser: argparse.ArgumentParser) -> None:
    """Where the similarity comes from and where it goes."""
    add_source_options(parser)
    parser.add_argument("--out", metavar="D.npz", help="save the matrix here")


def add_source_options(parser: argparse.ArgumentParser) -> None:
    """Texts, features in a file, or images; and of which classes."""
    add_text_options(parser)
    parser.add_argument(
        "--features",
        metavar="FILE",
        help="image prototypes instead of text: an .npz with 'features' (n, d) and 'labels' (n,)",
    )
    parser.add_argument(
        "--images",
        metavar="MODEL",
        help="prototypes of DATASET's training images instead: 'pixels', or as a pre-trained "
        "model sees them (see 'edgecil backbones')",
    )
    parser.add_argument("--root", metavar="DIR", help="directory of the images")
    parser.add_argument("--image-size", type=int, metavar="S", help="resize images to S x S")
    parser.add_argument("--threads", type=int, metavar="T", help="of the model (default: 1)")
    add_class_options(parser)


def build(args: argparse.Namespace) -> SimilarityMatrix:
    """The similarity that the source options ask for."""
    from edgecil.classes import select_classes

    if args.images is not None:
        return _from_images(args)
    for name in ("root", "image_size", "threads"):
        if getattr(args, name) is not None:
            option = "--" + name.replace("_", "-")
            raise UsageError(f"{option} is about images; give --images MODEL too.")
    matrix = encode_names(args) if args.features is None else _from_features(args)
    return matrix.take(select_classes(len(matrix), count=args.classes, seed=args.classes_seed))


def run(args: argparse.Namespace) -> None:
    """Build, save, and show the most and least similar pairs."""
    from edgecil.classes import words_of
    from edgecil.similarity import save_similarity

    matrix = build(args)
    if args.out is not None:
        save_similarity(matrix, args.out)
    pairs = _ranked_pairs(matrix)
    values = matrix.pairs()
    if args.json:
        print_json(
            {
                "classes": len(matrix),
                "source": dict(matrix.source),
                "mean": float(values.mean()),
                "std": float(values.std()),
                "out": args.out,
                "most_similar": pairs[:5],
                "least_similar": pairs[:-6:-1],
            }
        )
        return
    source = ", ".join(f"{key} {value}" for key, value in matrix.source.items())
    console().print(
        f"{len(matrix)} classes; similarity {values.mean():.3f} ± {values.std():.3f} ({source})",
        markup=False,
    )
    for title, some in (("most similar", pairs[:5]), ("least similar", pairs[:-6:-1])):
        rows = (
            (f"{pair['similarity']:.3f}", " – ".join(words_of(name) for name in pair["classes"]))
            for pair in some
        )
        print_table(("", title), rows, right=("",))
    if args.out is not None:
        console().print(f"saved to {args.out}", markup=False)


def _from_features(args: argparse.Namespace) -> SimilarityMatrix:
    from edgecil.similarity import prototype_embeddings, read_features

    refuse_text_options(args, "--features")
    names = None if args.dataset is None and args.names is None else read_names(args).labels
    features, labels = read_features(args.features)
    return prototype_embeddings(features, labels, names).similarity()


def _from_images(args: argparse.Namespace) -> SimilarityMatrix:
    from edgecil.data import load_dataset

    refuse_text_options(args, "--images")
    if args.dataset is None or args.names is not None or args.features is not None:
        raise UsageError("--images needs a DATASET, and neither --names nor --features.")
    threads = 1 if args.threads is None else args.threads
    if threads < 1:
        raise UsageError(f"--threads must be at least 1. Got {threads}.")
    images = load_dataset(
        args.dataset,
        root=args.root,
        count=args.classes,
        seed=args.classes_seed,
        size=args.image_size,
    )
    return image_similarity(images, args.images, threads=threads)


def _ranked_pairs(matrix: SimilarityMatrix) -> list[dict[str, Any]]:
    """Class pairs from most to least similar; only the ends when there are many."""
    import numpy as np

    values = matrix.pairs()
    rows, columns = np.triu_indices(len(matrix), 1)
    order = np.argsort(-values, kind="stable")
    ends = order if len(order) <= 10 else np.concatenate([order[:5], order[-5:]])
    return [
        {
            "classes": [matrix.names[rows[pair]], matrix.names[columns[pair]]],
            "similarity": float(values[pair]),
        }
        for pair in ends
    ]
