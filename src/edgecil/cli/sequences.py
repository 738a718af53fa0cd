"""`edgecil sequences`: the class orders to evaluate, and what they are worth."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from edgecil.cli.inputs import (
    add_similarity_options,
    add_space_options,
    read_any_similarity,
    read_space,
)
from edgecil.cli.output import console, print_json, print_table
from edgecil.errors import UsageError, unknown

if TYPE_CHECKING:
    from edgecil.sequences import LabelledSequence, Profile
    from edgecil.similarity import Similarity

NAME = "sequences"
HELP = "the class sequences of a protocol (default: the paper's EDGE), with their profiles"
EXAMPLES = ("", "")
LEGACY = True
_LEGEND = (
    "S: similarity between neighbouring tasks (mean over class pairs times classes per task); low "
    "is hard by construction. z: standard deviations from the mean of all sequences, exact."
)
_SHOWN_TASKS = 50
_SHOWN_CLASSES = 50


def configure(parser: argparse.ArgumentParser) -> None:
    """Classes, tasks, protocol, and how to show the answer."""
    add_similarity_options(parser)
    add_space_options(parser)
    parser.add_argument(
        "--protocol", metavar="NAME", default="edge", help="see 'edgecil generators'"
    )
    parser.add_argument("--runs", type=int, metavar="L", help="how many sequences (default: 3)")
    parser.add_argument("--seed", type=int, metavar="SEED", help="of everything random")
    parser.add_argument(
        "--objective",
        metavar="NAME",
        help="what 'optimal' optimises (default: adjacent, that is S)",
    )
    parser.add_argument(
        "--format",
        metavar="NAME",
        help="print the orders as JSON in a tool's own convention: json, pycil, pilot, "
        "avalanche, continuum, mammoth",
    )
    parser.add_argument("--plot", metavar="FILE", help="draw them (.png, .svg or .pdf)")


def run(args: argparse.Namespace) -> None:
    """Make the sequences and show them."""
    from edgecil.interop import FORMATS, export
    from edgecil.sequences import profile, protocol

    if args.format is not None and args.format not in FORMATS:
        raise unknown("format", args.format, FORMATS)
    if args.objective is not None and args.protocol != "optimal":
        raise UsageError(f"--objective is for --protocol optimal, not {args.protocol!r}.")
    if args.plot is not None:
        from edgecil.report.figures import check_figure_path, draw_sequences

        check_figure_path(args.plot)
    similarity = read_any_similarity(args)
    space = read_space(args, len(similarity))
    labelled = protocol(
        args.protocol,
        space,
        similarity=similarity,
        budget=args.runs,
        order_seed=args.seed,
        objective=args.objective or "adjacent",
    )
    if args.plot is not None:
        draw_sequences(similarity, space, labelled, args.plot)
    if args.format is not None and args.format != "json":
        print_json({run.label: export(run.sequence, args.format) for run in labelled})
        return
    profiles = [profile(similarity, run.sequence) for run in labelled]
    if args.json or args.format == "json":
        runs = zip(labelled, profiles, strict=True)
        print_json({"sequences": [_as_json(*pair, args) for pair in runs]})
        return
    for run_, found in zip(labelled, profiles, strict=True):
        _show(similarity, run_, found, args.objective or "adjacent")
    console().print(_LEGEND, style="dim", markup=False)
    if args.plot is not None:
        console().print(f"drawn in {args.plot}", markup=False)


def _as_json(run: LabelledSequence, found: Profile, args: argparse.Namespace) -> dict[str, Any]:
    """A run with its profile; `optimal` adds the objective, its value, bound and gap.

    The median is no optimum: its bound and gap are null.
    """
    from edgecil.interop import export

    answer = {"label": run.label, **export(run.sequence, "json"), "profile": asdict(found)}
    if args.protocol == "optimal":
        optimum = run.optimum
        answer["objective"] = args.objective or "adjacent"
        answer["value"] = None if optimum is None else optimum.value
        answer["bound"] = None if optimum is None else optimum.bound
        answer["gap"] = None if optimum is None else optimum.gap
        answer["exact"] = None if optimum is None else optimum.exact
    return answer


def _show(similarity: Similarity, run: LabelledSequence, found: Profile, objective: str) -> None:
    title = f"{run.label}   S = {found.score:.4f}   z = {found.z:+.2f}"
    if run.optimum is not None:
        if objective != "adjacent":
            z = found.objectives[objective]["z"]
            title += f"   {objective} = {run.optimum.value:.4f}   z = {z:+.2f}"
        title += (
            "   (proved optimal)"
            if run.optimum.exact
            else f"   (at most {run.optimum.gap:.0%} of the range is left)"
        )
    console().print(title, style="bold", markup=False)
    print_table(
        ("task", "classes"),
        (
            (str(index + 1), _list_names(similarity, task))
            for index, task in enumerate(run.sequence.tasks[:_SHOWN_TASKS])
        ),
        right=("task",),
    )
    if len(run.sequence) > _SHOWN_TASKS:
        hidden = len(run.sequence) - _SHOWN_TASKS
        console().print(f"… and {hidden} more tasks; --json prints them all", markup=False)


def _list_names(similarity: Similarity, task: tuple[int, ...]) -> str:
    from edgecil.classes import words_of

    names = [words_of(similarity.names[class_]) for class_ in task[:_SHOWN_CLASSES]]
    hidden = len(task) - len(names)
    return ", ".join(names) + (f" … and {hidden} more" if hidden else "")
