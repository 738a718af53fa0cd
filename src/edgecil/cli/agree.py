"""`edgecil agree`: how far two similarity matrices agree."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from edgecil.cli.inputs import add_space_options, read_space
from edgecil.cli.output import print_json, print_table
from edgecil.errors import UsageError

if TYPE_CHECKING:
    from edgecil.similarity import SimilarityMatrix

NAME = "agree"
HELP = "compare two similarity matrices: MAE, Spearman, and the sequences they lead to (CSG)"


def configure(parser: argparse.ArgumentParser) -> None:
    """Two matrices and the tasks to make of their classes."""
    parser.add_argument("left", metavar="A", help="a matrix: .npz, .npy or .csv")
    parser.add_argument("right", metavar="B", help="a matrix over the same classes")
    add_space_options(parser)


def run(args: argparse.Namespace) -> None:
    """Print the agreement."""
    from edgecil.sequences import agree
    from edgecil.similarity import read_similarity

    left, right = read_similarity(args.left), read_similarity(args.right)
    _require_same_classes(left, right)
    found = agree(left, right, read_space(args, len(left)))
    if args.json:
        print_json(found.as_dict())
        return
    rho = (
        "n/a (one matrix is constant)"
        if found.spearman is None
        else f"{found.spearman:.3f} (p = {found.p_value:.4f}, {found.permutations} permutations)"
    )
    rows = [("mean absolute error", f"{found.mae:.4f}"), ("Spearman ρ", rho)]
    for goal, csg in found.csg.items():
        rows.append((f"CSG {goal}", f"{csg.position:.2f} by position, {csg.matched:.2f} matched"))
    print_table(("agreement", ""), rows)


def _require_same_classes(left: SimilarityMatrix, right: SimilarityMatrix) -> None:
    """An error if both matrices name their classes and not alike; numbered ones fit anything."""
    from edgecil.similarity.matrix import numbered_names

    numbered = numbered_names(len(left))
    if len(left) != len(right) or numbered in (left.names, right.names):
        return
    for label, (first, second) in enumerate(zip(left.names, right.names, strict=True)):
        if first != second:
            raise UsageError(
                f"The matrices name different classes: label {label} is {first!r} in A and "
                f"{second!r} in B; both must cover the same classes in the same order."
            )
