"""`edgecil space`: how many sequences there are, and how many are enough."""

from __future__ import annotations

import argparse
from typing import Any

from edgecil.cli.inputs import add_space_options, read_space
from edgecil.cli.output import console, print_json, print_table
from edgecil.errors import UsageError

NAME = "space"
HELP = "|Ω|, every sample-size bound, and what a few random runs miss"
EXAMPLES = ("", "")
LEGACY = True
# |Ω| is written out; its digits take seconds here and minutes far beyond.
_MOST_CLASSES = 100_000

_ANY_ACCURACY = ("theorem1", "hoeffding_serfling")
_TITLES = {
    "theorem1": "Theorem 1, accuracies in [0, 1]",
    "theorem2": "Theorem 2, range {:g}, beside 2 extreme runs",
    "hoeffding_serfling": "Hoeffding–Serfling, accuracies in [0, 1]",
    "hoeffding_serfling_range": "Hoeffding–Serfling, range {:g}",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """The space and the precision asked for."""
    parser.add_argument("--classes", type=int, required=True, metavar="N")
    add_space_options(parser)
    parser.add_argument(
        "--epsilon", type=float, default=0.1, metavar="E", help="error of the mean (default: 0.1)"
    )
    parser.add_argument(
        "--delta", type=float, default=0.05, metavar="D", help="failure probability (default: 0.05)"
    )
    parser.add_argument(
        "--range",
        type=float,
        default=1.0,
        metavar="R",
        help="largest minus smallest accuracy, in [0, 1] units (default: 1)",
    )
    parser.add_argument(
        "--runs", type=int, default=3, metavar="L", help="what L runs grant and miss (default: 3)"
    )
    parser.add_argument(
        "--mean-similarity", type=float, metavar="S", help="for the greedy bound (Theorem 4)"
    )


def run(args: argparse.Namespace) -> None:
    """Print the size of the space and the bounds."""
    from edgecil.sequences.counting import decimal_text
    from edgecil.theory import greedy_bound

    if not 1 <= args.classes <= _MOST_CLASSES:
        raise UsageError(f"--classes must be in [1, {_MOST_CLASSES}]. Got {args.classes} instead.")
    if not 0.0 < args.range <= 1.0:
        raise UsageError(
            f"--range must be in (0, 1], 0.1 for ten accuracy points. Got {args.range:g} instead."
        )
    space = read_space(args, args.classes)
    if args.mean_similarity is not None and len(set(space.sizes)) > 1:
        raise UsageError("--mean-similarity asks for Theorem 4, which needs tasks of one size.")
    answer: dict[str, Any] = {
        "classes": space.classes,
        "tasks": space.tasks,
        "sizes": list(space.sizes),
        "size": decimal_text(space.size),
        "log10_size": space.log10_size,
        **_bounds(space.size, args),
        "missed": _missed(space.size, args.runs),
    }
    if args.mean_similarity is not None:
        greedy = greedy_bound(space.classes, space.tasks, args.mean_similarity)
        answer["greedy"] = dict(vars(greedy))
    if args.json:
        print_json(answer)
    else:
        _show(answer, args)


def _bounds(size: int, args: argparse.Namespace) -> dict[str, Any]:
    """Least runs of every bound, and what L runs grant; the given range where a bound has one.

    Hoeffding-Serfling is given twice, for accuracies anywhere in [0, 1] and for the range.
    """
    from edgecil.theory import BOUNDS

    asked = []
    for name, bound in BOUNDS.items():
        key = name.replace("-", "_")
        if not bound.extreme_runs:
            asked.append((key, bound, 1.0))
        if bound.states_range:
            asked.append((key if bound.extreme_runs else f"{key}_range", bound, args.range))
    askable = [
        (key, bound, range_) for key, bound, range_ in asked if size > bound.extreme_runs + 1
    ]
    return {
        "bounds": {
            key: bound.runs(size, args.epsilon, args.delta, range_)
            for key, bound, range_ in askable
        },
        "epsilon_after_runs": {
            key: bound.epsilon(size, args.runs, args.delta, range_)
            for key, bound, range_ in askable
            if args.runs <= size - bound.extreme_runs
        },
    }


def _missed(size: int, runs: int) -> list[dict[str, Any]]:
    """How likely L random runs all miss the tails beyond 1, 2 and 3 standard deviations.

    And how many it takes to hit them with probability 0.95; None where the tail is empty.
    """
    from edgecil.theory import gaussian_tail, miss_probability, runs_to_hit

    return [
        {
            "deviations": float(t),
            "share": gaussian_tail(t),
            "probability": miss_probability(gaussian_tail(t), min(runs, size), size),
            "runs_to_hit": runs_to_hit(gaussian_tail(t), 0.95, size),
        }
        for t in (1, 2, 3)
    ]


def _granted(epsilon: float | None, accuracy_range: float) -> str:
    """An ε for people; one as large as the range says nothing."""
    if epsilon is None:
        return "n/a"
    return f"{epsilon:.3f}" + (" (nothing)" if epsilon >= accuracy_range else "")


def _show(answer: dict[str, Any], args: argparse.Namespace) -> None:
    screen = console()
    size = answer["size"]
    told = size if len(size) <= 30 else f"about 10^{answer['log10_size']:.2f} ({len(size)} digits)"
    screen.print(f"|Ω| = {told}", style="bold", markup=False)
    rows = []
    for name, least in answer["bounds"].items():
        epsilon = answer["epsilon_after_runs"].get(name)
        rows.append(
            (
                _TITLES[name].format(args.range),
                "only all of Ω" if least is None else f"{least:,}",
                _granted(epsilon, 1.0 if name in _ANY_ACCURACY else args.range),
            )
        )
    enough = f"runs for ε = {args.epsilon:g}, δ = {args.delta:g}"
    grants = f"ε after {args.runs} runs"
    print_table(("bound", enough, grants), rows, right=(enough, grants))
    print_table(
        (
            "tail beyond",
            "holds, if Gaussian",
            f"{args.runs} random runs all miss it",
            "runs to hit it with p = 0.95",
        ),
        (
            (
                f"{row['deviations']:.0f} std",
                f"{row['share']:.2%}",
                f"p = {row['probability']:.3f}",
                "n/a" if row["runs_to_hit"] is None else f"{row['runs_to_hit']:,}",
            )
            for row in answer["missed"]
        ),
    )
    if "greedy" in answer:
        print_table(
            ("greedy bound (Theorem 4)", ""),
            ((name, f"{value:.4g}") for name, value in answer["greedy"].items()),
        )
