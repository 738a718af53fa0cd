"""`edgecil sequences`: the class sequences of a protocol."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from edgecil.cli.options import SIMILARITY, add_protocol, add_similarity, add_space, pick
from edgecil.cli.output import print_json, print_line, print_table

if TYPE_CHECKING:
    from edgecil.sequences import ScoredSequence

NAME = "sequences"
HELP = "choose class sequences by a protocol and profile them"
EXAMPLES = (
    "edgecil sequences cifar100 --tasks 10 --protocol edge",
    "edgecil sequences cub200 --base 100 --increment 20 --budget 5 --format pycil",
)
_LEGEND = (
    "S: similarity of neighbouring tasks (mean over class pairs times classes per task). "
    "z: standard deviations of S from the mean of all sequences (exact)."
)
_SHOWN = 50
_FORMATS = ("json", "pycil", "pilot", "avalanche", "continuum", "mammoth")


def configure(parser: argparse.ArgumentParser) -> None:
    """Classes, tasks, protocol, and how to show the answer."""
    add_similarity(parser)
    add_space(parser)
    add_protocol(parser.add_argument_group("sequences"), several=False)
    parser.add_argument(
        "--format",
        choices=_FORMATS,
        help="print the orders as JSON, in the settings of another tool",
    )
    parser.add_argument("--plot", metavar="FILE", help="draw them (.png, .svg or .pdf)")


def run(*, json: bool, format: str | None = None, plot: str | None = None, **options: Any) -> None:
    """Choose the sequences and show them."""
    from edgecil.cli.answers import Exported, Sequences
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
    if format is not None and format != "json":
        exported = {run.label: export(run.sequence, format) for run in chosen}
        print_json(Exported(format=format, sequences=exported))
    elif json or format == "json":
        print_json(Sequences(sequences=chosen))
    else:
        for run_ in chosen:
            _show(run_, matrix.names)
        print_line(_LEGEND, style="dim")
        if plot is not None:
            print_line(f"Drawn in {plot}")


def _show(run: ScoredSequence, names: tuple[str, ...]) -> None:
    from edgecil.classes import words_of

    title = f"{run.label}   S = {run.profile.score:.4f}   z = {run.profile.z:+.2f}"
    if (optimum := run.certificate) is not None:
        if optimum.objective != "adjacent":
            z = run.profile.objectives[optimum.objective]["z"]
            title += f"   {optimum.objective} = {optimum.value:.4f}   z = {z:+.2f}"
        title += (
            "   (optimal)" if optimum.exact else f"   (gap to a proven bound: {optimum.gap:.0%})"
        )
    print_line(title, style="bold")
    rows = []
    for number, task in enumerate(run.tasks[:_SHOWN], 1):
        hidden = f" … and {len(task) - _SHOWN} more" if len(task) > _SHOWN else ""
        words = ", ".join(words_of(names[class_]) for class_ in task[:_SHOWN])
        rows.append((str(number), words + hidden))
    print_table(("task", "classes"), rows, right=("task",))
    if len(run.tasks) > _SHOWN:
        print_line(f"… and {len(run.tasks) - _SHOWN} more tasks (all with --json)")
