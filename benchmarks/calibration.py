"""How often claims from a few orders are right, on truth tables.

    python benchmarks/calibration.py [SOURCE ...] [--draws 100] [--write]

Draws designs of 2 to 30 orders from every enumerated truth table (those that come with edgecil, and
the given CSV files and experiment directories) and compares each claim with the truth. `random` and
`latin` are drawn as they would be run; `edge` and `optimal` have their two extremes and random
orders. Every repeat of a table is a truth of its own. The table gives, for 90 % intervals, the
share that contains the true value: of the mean, of the standard deviation, of the next random
order, and of the mean difference between two methods (the true one is the mean over all repeats);
for shares of orders, the true share minus the claimed one, in points. `--write` stores the figures
in the package, where claims look up what they reach.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from itertools import combinations

import numpy as np
from rich.console import Console
from rich.table import Table

import edgecil
from edgecil.estimation.calibration import FILE, SCHEMA, Calibration
from edgecil.estimation.intervals import LEVEL, position_overlap, posterior
from edgecil.io.json import to_json
from edgecil.sequences.latin import latin
from edgecil.theory import expected_share_inside, worse_probability

BUDGETS = (2, 3, 4, 5, 6, 8, 10, 15, 20, 30)
PROTOCOLS = ("random", "latin", "edge", "optimal")
KINDS = ("mean", "std", "next", "difference", "outside", "worse")
PAIRS = 6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("source", nargs="*")
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--write", action="store_true", help="store the figures in the package")
    args = parser.parse_args()
    tables = [table for table in edgecil.truths(*args.source) if table.kind == "enumerated"]
    hits: dict[tuple[str, str, int], list[float]] = defaultdict(list)
    designs = Designs(args.draws)
    truths = 0
    for table in tables:
        truths += sum(len(table.accuracies(method)) for method in table.methods)
        for protocol in PROTOCOLS:
            for budget in BUDGETS:
                if 3 * budget <= table.space.size:
                    measure(table, protocol, budget, designs, hits)
    coverage = {
        kind: {
            protocol: {
                str(budget): round(float(np.mean(hits[kind, protocol, budget])), 3)
                for budget in BUDGETS
                if hits[kind, protocol, budget]
            }
            for protocol in PROTOCOLS
        }
        for kind in KINDS
    }
    show(coverage, truths, args.draws)
    if args.write:
        command = " ".join(["python benchmarks/calibration.py", *sys.argv[1:]])
        FILE.write_bytes(
            to_json(Calibration(command, truths, args.draws, coverage), SCHEMA) + b"\n"
        )


class Designs:
    """Designs by space, protocol and budget, drawn once for all methods."""

    def __init__(self, draws: int) -> None:
        self.draws = draws
        self._latin: dict[object, list] = {}

    def of(self, table, protocol: str, budget: int) -> list[np.ndarray]:
        """Places of the orders of each design in the table's sequences."""
        rng = np.random.default_rng([budget, PROTOCOLS.index(protocol)])
        place = {sequence: index for index, sequence in enumerate(table.sequences)}
        size = len(place)
        if protocol == "random":
            return [rng.choice(size, budget, replace=False) for _ in range(self.draws)]
        if protocol == "latin":
            key = table.space, budget
            if key not in self._latin:
                self._latin[key] = [latin(table.space, budget, rng) for _ in range(self.draws)]
            return [np.array([place[one] for one in design]) for design in self._latin[key]]
        try:
            similarity = table.similarity()
        except edgecil.EdgecilError:  # a file without class names
            return []
        runs = edgecil.protocol(protocol, table.space, similarity=similarity)
        fixed = [place[run.sequence] for run in runs if run.label in ("hard", "easy")]
        others = np.setdiff1d(np.arange(size), fixed)
        return [
            np.array([*fixed, *rng.choice(others, budget - 2, replace=False)])
            for _ in range(self.draws if budget > 2 else 1)
        ]


def measure(table, protocol: str, budget: int, designs: Designs, hits: dict) -> None:
    size, rng = table.space.size, np.random.default_rng(budget)
    drawn = designs.of(table, protocol, budget)
    overlaps = [
        position_overlap([table.sequences[place] for place in places])
        if protocol == "latin"
        else None
        for places in drawn
    ]
    values = {method: table.accuracies(method) for method in table.methods}
    for by_repeat in values.values():
        for truth in by_repeat:
            for places, overlap in zip(drawn, overlaps, strict=True):
                claims(truth, places, overlap, size, rng, protocol, hits)
    for first, second in list(combinations(values, 2))[:PAIRS]:
        exact = float(values[first].mean() - values[second].mean())
        for a, b in zip(values[first], values[second], strict=False):
            for places, overlap in zip(drawn, overlaps, strict=True):
                made = posterior(a[places] - b[places], overlap=overlap)
                if made is not None:
                    covered = inside(made.mean_below(exact))
                    hits["difference", protocol, budget].append(covered)


def claims(truth, places, overlap, size, rng, protocol: str, hits: dict) -> None:
    """One design on one truth: whether each claim is right."""
    budget, seen = len(places), truth[places]
    unseen = truth[rng.choice(np.setdiff1d(np.arange(len(truth)), places))]
    made = posterior(seen, overlap=overlap, space_size=size)
    if made is not None:
        hits["mean", protocol, budget].append(inside(made.mean_below(float(truth.mean()))))
        hits["std", protocol, budget].append(inside(made.std_below(float(truth.std(ddof=1)))))
        hits["next", protocol, budget].append(inside(made.next_above(float(unseen))))
    # Equal accuracies are ranked by a die; counted as they are, fewer orders lie outside.
    ranked = truth + 1e-9 * rng.random(len(truth))
    worst, best = ranked[places].min(), ranked[places].max()
    worse = np.mean(ranked < worst)
    outside = worse + np.mean(ranked > best)
    claimed = 1.0 - expected_share_inside(budget, size), worse_probability(budget, size)
    hits["outside", protocol, budget].append(float(outside) - claimed[0])
    hits["worse", protocol, budget].append(float(worse) - claimed[1])


def inside(below: float) -> float:
    """Whether a value is inside the central interval, given the probability of less."""
    tail = (1.0 - LEVEL) / 2.0
    return float(tail <= below <= 1.0 - tail)


def show(coverage: dict, truths: int, draws: int) -> None:
    shown = [budget for budget in BUDGETS if budget in (3, 5, 10, 30)]
    table = Table("claim", "protocol", *(f"{budget} orders" for budget in shown))
    for kind, by_protocol in coverage.items():
        for protocol, by_budget in by_protocol.items():
            if kind in ("outside", "worse"):
                cells = (
                    f"{100.0 * by_budget[str(b)]:+.1f}" if str(b) in by_budget else "–"
                    for b in shown
                )
            else:
                cells = (f"{by_budget[str(b)]:.2f}" if str(b) in by_budget else "–" for b in shown)
            table.add_row(kind, protocol, *cells)
    console = Console(width=100)
    console.print(table)
    console.print(f"{truths} truths, {draws} designs of each")


if __name__ == "__main__":
    main()
