"""The verbs about the similarity of classes: similarity, captions, compare-similarities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from edgecil.cli.verb import OVERWRITE, SPACE, Option, Verb, calling
from edgecil.report.answer_tables import agreement_table, similarity_tables


def _similarity(*, out: str | None = None, **options: Any) -> Any:
    import edgecil

    matrix = edgecil.similarity(out=out, **options)
    return matrix.summary(path=None if out is None else Path(out))


def _captions(*, out: str, **options: Any) -> dict[str, Any]:
    from edgecil import paper

    return {"captions": paper.captions(out=out, **options), "out": out}


VERBS = (
    Verb(
        "similarity",
        "build a class-similarity matrix from names, captions or images",
        (
            "edgecil similarity cifar100 --out cifar100.npz",
            "edgecil similarity quickdraw --images pixels --classes 10",
        ),
        {
            "": (
                "dataset classes classes_seed",
                Option("out", "FILE.npz", "save the matrix to this file"),
                OVERWRITE,
            ),
            "from names or captions": ("names encoder template captions weights",),
            "from images": ("features images root image_size threads",),
        },
        _similarity,
        similarity_tables,
        api="edgecil.similarity.build:similarity",
    ),
    Verb(
        "captions",
        "write captions of the classes with a language model, for 'similarity --captions'",
        (
            "edgecil captions ham10000 --out captions.json",
            "edgecil captions --names classes.txt --model gpt-4o-mini --out captions.json",
        ),
        {
            "": (
                "dataset names model prompt",
                Option("out", "FILE.json", "save the captions to this file", required=True),
                OVERWRITE,
            )
        },
        _captions,
        lambda answer: (f"Saved {len(answer['captions'])} captions to {answer['out']}",),
        api="edgecil.paper.captioning:captions",
    ),
    Verb(
        "compare-similarities",
        "compare similarity matrices: mean error, rank correlation, and the sequences they choose",
        (
            "edgecil compare-similarities text.npz images.npz --tasks 10",
            "edgecil compare-similarities --config recipe:text-images-quickdraw",
        ),
        {"": ("[matrices...] config root",), "tasks": (SPACE,)},
        calling("compare_files", "agreements"),
        lambda answer: map(agreement_table, answer["agreements"]),
        api="edgecil.sequences.agreement:compare_files",
    ),
)
