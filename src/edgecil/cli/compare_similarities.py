"""`edgecil compare-similarities`: how far similarity matrices agree."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from edgecil.cli.options import add_space
from edgecil.cli.output import print_json, print_table
from edgecil.errors import UsageError

if TYPE_CHECKING:
    from edgecil.sequences import Agreement

NAME = "compare-similarities"
HELP = "compare similarity matrices: mean error, rank correlation, and the sequences they choose"
EXAMPLES = (
    "edgecil compare-similarities text.npz images.npz --tasks 10",
    "edgecil compare-similarities --config recipes/text-images-quickdraw.toml",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Matrices, and the tasks of the sequences to compare them by."""
    parser.add_argument(
        "matrices", nargs="*", default=(), metavar="FILE", help="two or more: .npz, .npy or .csv"
    )
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="TOML in place of matrices: 'dataset', tasks, and a table 'similarities' with the "
        "options of 'edgecil similarity' for each",
    )
    parser.add_argument("--root", metavar="DIR", help="directory of the images of --config")
    add_space(parser)


def run(
    *,
    json: bool,
    matrices: Sequence[str],
    config: str | None = None,
    root: str | None = None,
    **options: Any,
) -> None:
    """Compare each pair."""
    from edgecil.sequences import SequenceSpace, agree
    from edgecil.similarity import read_similarity, read_sources

    if (matrices or config is None) and (len(matrices) < 2 or config or root):
        raise UsageError("Give two or more matrices, or 'config' (and 'root' with it).")
    if config is not None:
        sources = read_sources(config, root=root)
        built, options = sources.build(), options or sources.space
    else:
        built = {path: read_similarity(path) for path in matrices}
    space = SequenceSpace.choose(len(next(iter(built.values()))), **options)
    agreements = {(a, b): agree(built[a], built[b], space) for a, b in combinations(built, 2)}
    if json:
        rows = [{"left": a, "right": b, **it.as_dict()} for (a, b), it in agreements.items()]
        print_json({"agreements": rows})
        return
    for (left, right), agreement in agreements.items():
        print_table((f"{left} and {right}", ""), _rows(agreement))


def _rows(agreement: Agreement) -> list[tuple[str, str]]:
    rho = "n/a (a matrix is constant)"
    if agreement.spearman is not None:
        tested = f"p = {agreement.p_value:.4f}, {agreement.permutations} permutations"
        rho = f"{agreement.spearman:.3f} ({tested})"
    rows = [("mean absolute error", f"{agreement.mae:.4f}"), ("Spearman ρ", rho)]
    for goal, csg in agreement.csg.items():
        rows.append((f"CSG {goal}", f"{csg.position:.2f} by position, {csg.matched:.2f} matched"))
    return rows
