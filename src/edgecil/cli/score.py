"""`edgecil score`: profile a given class order."""

from __future__ import annotations

import argparse
from typing import Any

from edgecil.cli.options import SIMILARITY, add_similarity, add_space, pick
from edgecil.cli.output import print_json, print_table

NAME = "score"
HELP = "profile a given class order: S, its exact z, and similarity inside and between tasks"
EXAMPLES = (
    "edgecil score cifar100 --sequence order.json --tasks 10",
    "edgecil score --similarity D.npz --sequence sequences.json --label hard",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """A similarity, and the order to profile."""
    add_similarity(parser)
    add_space(parser)
    parser.add_argument(
        "--sequence",
        metavar="FILE",
        required=True,
        help='JSON: {"tasks": [[…], …]}, or a flat list of class ids with --tasks',
    )
    parser.add_argument(
        "--label", metavar="NAME", help="which one, in a file of 'edgecil sequences --json'"
    )


def run(*, json: bool, sequence: str, **options: Any) -> None:
    """Print the profile."""
    from edgecil.cli.answers import Score
    from edgecil.sequences import profile, read_sequence
    from edgecil.similarity import choose_similarity

    matrix = choose_similarity(**pick(options, SIMILARITY))
    scored = profile(matrix, read_sequence(sequence, classes=len(matrix), **options))
    if json:
        print_json(Score(profile=scored))
        return
    rows = [
        ("S", f"{scored.score:.4f}", f"{scored.z:+.2f}"),
        ("mean similarity inside a task", _number(scored.intra), ""),
        ("… to the next task", _number(scored.lag1), ""),
        ("… to the task after that", _number(scored.lag2), ""),
        ("… to any other task", _number(scored.inter), ""),
    ]
    for name, value in scored.objectives.items():
        if name != "adjacent":
            rows.append((f"objective {name}", f"{value['value']:.4f}", f"{value['z']:+.2f}"))
    print_table(("", "value", "exact z"), rows, right=("value", "exact z"))


def _number(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.4f}"
