"""`edgecil space`: how many sequences there are, and how many are enough."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from edgecil.cli.options import add_space
from edgecil.cli.output import print_json, print_line, print_table

if TYPE_CHECKING:
    from edgecil.theory import SpaceSummary

NAME = "space"
HELP = "count the class sequences, bound the sample size, and say what a few random runs miss"
EXAMPLES = (
    "edgecil space --classes 100 --tasks 10",
    "edgecil space --classes 100 --base 50 --increment 10 --budget 5 --accuracy-range 0.1",
)


def configure(parser: argparse.ArgumentParser) -> None:
    """The space and the precision asked for."""
    parser.add_argument("--classes", type=int, required=True, metavar="N", help="all classes")
    add_space(parser)
    for name, metavar, text in (
        ("--epsilon", "E", "error of the mean (default: 0.1)"),
        ("--delta", "D", "probability of a larger error (default: 0.05)"),
        ("--accuracy-range", "R", "largest minus smallest accuracy, in (0, 1] (default: 1)"),
        ("--mean-similarity", "S", "for the greedy bound (Theorem 4)"),
    ):
        parser.add_argument(name, type=float, metavar=metavar, help=text)
    parser.add_argument("--budget", type=int, metavar="L", help="random runs (default: 3)")


def run(*, json: bool, **options: Any) -> None:
    """Print the size of the space and the bounds."""
    from edgecil.cli.answers import Space
    from edgecil.theory import space

    summary = space(**options)
    if json:
        print_json(Space(space=summary))
    else:
        _show(summary)


def _show(summary: SpaceSummary) -> None:
    size, runs = summary.size, f"{summary.budget} random runs"
    digits = f"about 10^{summary.log10_size:.2f} ({len(size)} digits)"
    print_line(f"|Ω| = {size if len(size) <= 30 else digits}", style="bold")
    enough = f"runs for ε = {summary.epsilon:g}, δ = {summary.delta:g}"
    columns = ("bound", "accuracies", enough, f"ε after {summary.budget} runs")
    rows: list[tuple[str, ...]] = []
    for bound in summary.bounds:
        beside = f", beside {bound.extreme_runs} extreme runs" if bound.extreme_runs else ""
        least = "all sequences" if bound.runs is None else f"{bound.runs:,}"
        epsilon = "n/a" if bound.epsilon is None else f"{bound.epsilon:.3f}"
        if bound.epsilon is not None and bound.epsilon >= bound.accuracy_range:
            epsilon += " (no information)"
        rows.append((bound.title + beside, f"range {bound.accuracy_range:g}", least, epsilon))
    print_table(columns, rows, right=columns[2:])
    tails = ("beyond", "share of orders, if normal", f"{runs} miss them", "runs to hit (p = 0.95)")
    rows = [
        (
            f"{tail.deviations:.0f} std",
            f"{tail.share:.2%}",
            f"p = {tail.miss_probability:.3f}",
            "n/a" if tail.runs_to_hit is None else f"{tail.runs_to_hit:,}",
        )
        for tail in summary.tails
    ]
    print_table(tails, rows, right=tails[1:])
    seen = summary.seen
    rows = [
        ("expected share of orders between the worst and the best", f"{seen.share_inside:.1%}"),
        ("probability that one more order is worse than all", f"{seen.worse_probability:.1%}"),
        ("share of orders no worse than the worst (95 %)", f"{seen.share_not_worse:.1%}"),
        ("runs until 95 % of orders are no worse (95 %)", f"{seen.runs_one_sided:,}"),
        ("runs until 95 % of orders lie between (95 %)", f"{seen.runs_two_sided:,}"),
    ]
    print_table((f"{runs}, any distribution", ""), rows, right=("",))
    if summary.greedy is not None:
        numbers = {k: v for k, v in vars(summary.greedy).items() if isinstance(v, (int, float))}
        rows = [(name, f"{value:.4g}") for name, value in numbers.items()]
        print_table(("greedy bound (Theorem 4)", ""), rows, right=("",))
        print_line(summary.greedy.caveat, style="dim")
