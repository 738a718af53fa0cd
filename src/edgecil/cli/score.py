"""`edgecil score`: what a given class order is worth."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from edgecil.cli.inputs import add_similarity_options, add_space_options, read_any_similarity
from edgecil.cli.output import print_json, print_table

NAME = "score"
HELP = "profile a given class order: S, its exact z, and similarity inside and between tasks"
EXAMPLES = ("", "")
LEGACY = True


def configure(parser: argparse.ArgumentParser) -> None:
    """A similarity, and the order to look at."""
    add_similarity_options(parser)
    add_space_options(parser)
    parser.add_argument(
        "--sequence",
        metavar="FILE",
        required=True,
        help='JSON: {"tasks": [[…], …]}, or a flat order of class ids with --tasks',
    )
    parser.add_argument(
        "--label", metavar="NAME", help="which one, of a file that 'sequences --json' printed"
    )


def run(args: argparse.Namespace) -> None:
    """Print the profile."""
    from edgecil.cli.inputs import parse_numbers
    from edgecil.sequences import profile, read_sequence

    similarity = read_any_similarity(args)
    sequence = read_sequence(
        args.sequence,
        classes=len(similarity),
        tasks=args.tasks,
        base=args.base,
        increment=args.increment,
        sizes=None if args.sizes is None else parse_numbers(args.sizes, "sizes"),
        label=args.label,
    )
    found = profile(similarity, sequence)
    if args.json:
        print_json(asdict(found))
        return
    rows = [
        ("S", f"{found.score:.4f}", f"{found.z:+.2f}"),
        ("mean similarity inside a task", _number(found.intra), ""),
        ("… to the next task", _number(found.lag1), ""),
        ("… two tasks on", _number(found.lag2), ""),
        ("… to any other task", _number(found.inter), ""),
    ]
    rows += [
        (f"objective {name}", f"{value['value']:.4f}", f"{value['z']:+.2f}")
        for name, value in found.objectives.items()
        if name != "adjacent"
    ]
    print_table(("", "value", "exact z"), rows, right=("value", "exact z"))


def _number(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.4f}"
