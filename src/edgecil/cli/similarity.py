"""`edgecil similarity`: build a similarity matrix and save it."""

from __future__ import annotations

import argparse
from typing import Any

from edgecil.cli.options import add_classes, add_dataset, add_images, add_texts
from edgecil.cli.output import print_json, print_line, print_table
from edgecil.cli.progress import Progress

NAME = "similarity"
HELP = "build a class-similarity matrix from names, captions or images"
EXAMPLES = (
    "edgecil similarity cifar100 --out cifar100.npz",
    "edgecil similarity quickdraw --images pixels --classes 10",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Where the similarity comes from and where it goes."""
    add_dataset(parser)
    texts = parser.add_argument_group("from names or captions")
    add_texts(texts)
    images = parser.add_argument_group("from images")
    images.add_argument(
        "--features", metavar="FILE", help="an .npz with 'features' (n, d) and 'labels' (n,)"
    )
    images.add_argument(
        "--images",
        metavar="MODEL",
        help="class means of the dataset's training images: 'pixels', or the features of a "
        "pre-trained model (see 'edgecil backbones')",
    )
    add_images(images)
    images.add_argument("--threads", type=int, metavar="T", help="of the model (default: 1)")
    add_classes(parser)
    parser.add_argument("--out", metavar="FILE.npz", help="save the matrix here")


def run(*, json: bool, out: str | None = None, **options: Any) -> None:
    """Build, save, and show the most and least similar pairs."""
    from edgecil.classes import words_of
    from edgecil.cli.answers import Pair, Similarity
    from edgecil.similarity import save_similarity, similarity

    with Progress("classes") as progress:
        matrix = similarity(**options, on_progress=progress.update)
    if out is not None:
        save_similarity(matrix, out)
    values, ends = matrix.pairs(), [Pair(*pair) for pair in matrix.extreme_pairs(5)]
    some = (len(ends) + 1) // 2
    answer = Similarity(
        classes=len(matrix),
        source=dict(matrix.source),
        mean=float(values.mean()),
        std=float(values.std()),
        out=out,
        most_similar=ends[:some],
        least_similar=ends[: -some - 1 : -1],
    )
    if json:
        print_json(answer)
        return
    source = ", ".join(f"{key} {value}" for key, value in answer.source.items())
    print_line(f"{len(matrix)} classes, similarity {answer.mean:.3f} ± {answer.std:.3f} ({source})")
    for title, pairs in (("most", answer.most_similar), ("least", answer.least_similar)):
        rows = ((f"{it.similarity:.3f}", " – ".join(map(words_of, it.classes))) for it in pairs)
        print_table(("", f"{title} similar"), rows, right=("",))
    if out is not None:
        print_line(f"Saved to {out}")
