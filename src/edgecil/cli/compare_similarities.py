"""`edgecil compare-similarities`: how far similarity matrices agree."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
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
    "edgecil compare-similarities --config recipe:text-images-quickdraw",
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
    from edgecil.cli.answers import CompareSimilarities
    from edgecil.sequences import compare_similarities
    from edgecil.similarity import read_similarity, read_sources

    if (matrices or config is None) and (len(matrices) < 2 or config or root):
        raise UsageError("Give two or more matrices, or 'config' (and 'root' with it).")
    if config is not None:
        sources = read_sources(config, root=root)
        built, options = sources.build(), options or sources.space
    else:
        built = {path: read_similarity(path) for path in matrices}
    agreements = compare_similarities(built, **options)
    if json:
        print_json(CompareSimilarities(agreements=agreements))
        return
    for agreement in agreements:
        print_table((f"{agreement.left} and {agreement.right}", ""), _rows(agreement))


def _rows(agreement: Agreement) -> list[tuple[str, str]]:
    rho = "n/a (a matrix is constant)"
    if agreement.spearman is not None:
        tested = f"p = {agreement.p_value:.4f}, {agreement.permutations} permutations"
        rho = f"{agreement.spearman:.3f} ({tested})"
    rows = [("mean absolute error", f"{agreement.mae:.4f}"), ("Spearman ρ", rho)]
    for goal, csg in agreement.csg.items():
        rows.append((f"CSG {goal}", f"{csg.position:.2f} by position, {csg.matched:.2f} matched"))
    return rows
