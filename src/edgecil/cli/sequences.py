"""The verbs about class sequences: sequences, score, space."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from edgecil.cli.verb import OVERWRITE, PROTOCOL, SIMILARITY, SPACE, Option, Verb, calling
from edgecil.report.answer_tables import profile_table, sequence_table, space_tables
from edgecil.report.table import Table

if TYPE_CHECKING:
    from edgecil import ExportedSequences

FORMATS = ("pycil", "pilot", "avalanche", "continuum", "mammoth")


def _show_sequences(answer: ExportedSequences) -> Iterator[Table | str]:
    """Yield the classes of every task, or, with --format, the text of a configuration."""
    if answer.format is not None:
        from edgecil.interop.exports import format_exports

        yield format_exports({it.label: it.sequence for it in answer.sequences}, answer.format)
        return
    for run in answer.sequences:
        yield sequence_table(run, answer.names)
    yield (
        "S: similarity of neighbouring tasks (mean over class pairs times classes per task).\n"
        "z: standard deviations of S from the mean of all sequences (exact)."
    )


VERBS = (
    Verb(
        "sequences",
        "choose class sequences by a protocol and profile them",
        (
            "edgecil sequences cifar100 --tasks 10 --protocol edge",
            "edgecil sequences cub200 --base 100 --increment 20 --protocol edge,random "
            "--format pycil",
        ),
        {
            "": (
                Option(
                    "format",
                    "TOOL",
                    f"print the configuration of a tool: {', '.join(FORMATS)}",
                    choices=FORMATS,
                ),
                Option("plot", "FILE", "draw the sequences to a .png, .svg or .pdf file"),
                OVERWRITE,
            ),
            "classes and their similarity": (SIMILARITY,),
            "tasks": (SPACE,),
            "sequences": (PROTOCOL,),
        },
        calling("export_sequences"),
        _show_sequences,
        api="edgecil.sequences.scored:sequences",
    ),
    Verb(
        "score",
        "profile a given class order: S, its exact z, and similarity inside and between tasks",
        (
            "edgecil score cifar100 --sequence order.json --tasks 10",
            "edgecil score --similarity D.npz --sequence sequences.json --label hard",
        ),
        {
            "": ("sequence label",),
            "classes and their similarity": (SIMILARITY,),
            "tasks": (SPACE,),
        },
        calling("profile_file"),
        lambda answer: (profile_table(answer),),
        api="edgecil.sequences.scored:profile_file",
    ),
    Verb(
        "space",
        "count the class sequences, bound the sample size, and say what a few random runs miss",
        (
            "edgecil space --classes 100 --tasks 10",
            "edgecil space --classes 100 --base 50 --increment 10 --budget 5 --accuracy-range 0.1",
        ),
        {
            "": ("classes budget epsilon delta accuracy_range mean_similarity max_similarity",),
            "tasks and similarity": (SPACE, "similarity"),
        },
        calling("space", room="edgecil.paper"),
        space_tables,
        api="edgecil.paper._space:space",
    ),
)
