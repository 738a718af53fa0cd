"""The verbs about class sequences: sequences, score, space."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from edgecil.cli.verb import PROTOCOL, SIMILARITY, SPACE, Option, Verb, pick
from edgecil.report.answer_tables import profile_table, sequence_table, space_tables
from edgecil.report.table import Table

FORMATS = ("pycil", "pilot", "avalanche", "continuum", "mammoth")


def _sequences(
    *, format: str | None = None, plot: str | None = None, **options: Any
) -> dict[str, Any]:
    from edgecil.interop import export
    from edgecil.sequences import LabelledSequence, SequenceSpace, sequences
    from edgecil.similarity import choose_similarity

    if plot is not None:
        from edgecil.report.figures import check_figure_path, draw_sequences

        check_figure_path(plot)
    matrix = choose_similarity(**pick(options, SIMILARITY))
    chosen = sequences(matrix, **options)
    if plot is not None:
        labelled = [LabelledSequence(run.label, run.sequence) for run in chosen]
        draw_sequences(matrix, SequenceSpace(chosen[0].sequence.sizes), labelled, plot)
    exported = {} if format is None else {it.label: export(it.sequence, format) for it in chosen}
    return {"names": matrix.names, "sequences": chosen, "format": format, "exported": exported}


def _show_sequences(answer: dict[str, Any]) -> Iterator[Table | str]:
    """The classes of every task; with --format, the settings for a file."""
    if answer["format"] is not None:
        from edgecil.interop.exports import format_exports

        yield format_exports(
            {it.label: it.sequence for it in answer["sequences"]}, answer["format"]
        )
        return
    for run in answer["sequences"]:
        yield sequence_table(run, answer["names"])
    yield (
        "S: similarity of neighbouring tasks (mean over class pairs times classes per task).\n"
        "z: standard deviations of S from the mean of all sequences (exact)."
    )


def _score(*, sequence: str, **options: Any) -> Any:
    from edgecil.sequences import profile, read_sequence
    from edgecil.similarity import choose_similarity

    matrix = choose_similarity(**pick(options, SIMILARITY))
    return profile(matrix, read_sequence(sequence, classes=len(matrix), **options))


def _space(**options: Any) -> Any:
    from edgecil.theory import space

    return space(**options)


VERBS = (
    Verb(
        "sequences",
        "choose class sequences by a protocol and profile them",
        (
            "edgecil sequences cifar100 --tasks 10 --protocol edge",
            "edgecil sequences cub200 --base 100 --increment 20 --budget 5 --format pycil",
        ),
        {
            "": (
                Option("format", "TOOL", f"settings for {', '.join(FORMATS)}", choices=FORMATS),
                Option("plot", "FILE", "draw them (.png, .svg or .pdf)"),
            ),
            "classes and their similarity": (SIMILARITY,),
            "tasks": (SPACE,),
            "sequences": (PROTOCOL,),
        },
        _sequences,
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
            "": (
                Option(
                    "sequence",
                    "FILE",
                    'JSON: {"tasks": [[…], …]}, or a flat list of class ids with --tasks',
                    required=True,
                ),
                Option("label", "NAME", "which one, in a file of 'edgecil sequences --json'"),
            ),
            "classes and their similarity": (SIMILARITY,),
            "tasks": (SPACE,),
        },
        _score,
        lambda answer: (profile_table(answer),),
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
            "tasks": (SPACE,),
        },
        _space,
        space_tables,
        api="edgecil.theory.summary:space",
    ),
)
