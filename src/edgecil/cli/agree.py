"""`edgecil agree`: how far two similarity matrices agree."""

from __future__ import annotations

import argparse

from edgecil.cli.inputs import add_space_options, read_space
from edgecil.cli.output import print_json, print_table

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
