"""How often claims from a few orders are right, on truth tables.

    python benchmarks/calibration.py [SOURCE ...] [--draws 100] [--write]

Draws designs of 2 to 30 orders from every enumerated truth table (those that come with edgecil, and
the given CSV files and experiment directories) and compares each claim with the truth. `random` and
`latin` are drawn as they would be run; `edge` and `optimal` have their two extremes and random
orders. Every repeat of a table is a truth of its own. The tables give, for 90 % intervals, the
share that contains the true value: of the mean, of the standard deviation, of the next order (over
all orders that a design did not run), and of the mean difference between two methods over all
orders in a training with another seed, for which the interval has that seed's own effect, too. For
shares of orders they give the true share minus the claimed one, in points. `--write` stores the
figures in the package, where claims look up what they reach.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from itertools import combinations, permutations

import numpy as np

from edgecil import lab
from edgecil.estimation.calibration import FILE, SCHEMA, Calibration
from edgecil.estimation.comparison import SEED_EFFECT
from edgecil.estimation.distributions import SAME
from edgecil.estimation.intervals import LEVEL, posteriors
from edgecil.io.json import to_json
from edgecil.lab.designs import Designs
from edgecil.lab.truth_tables import TruthTable
from edgecil.theory import expected_share_inside, worse_probability

BUDGETS = (2, 3, 4, 5, 6, 8, 10, 15, 20, 30)
PROTOCOLS = ("random", "latin", "edge", "optimal")
INTERVALS = {
    "mean": "mean",
    "std": "standard deviation",
    "next": "next random order",
    "difference": "difference of two methods",
}
SHARES = {"outside": "outside the range seen", "worse": "worse than all seen"}
Hits = dict[tuple[str, str, int], list[np.ndarray]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("source", nargs="*")
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--write", action="store_true", help="store the figures in the package")
    args = parser.parse_args()
    tables = [table for table in lab.truths(*args.source) if table.kind == "enumerated"]
    hits: Hits = defaultdict(list)
    designs = Designs(PROTOCOLS, draws=args.draws, seed=0)
    for table in tables:
        for protocol in designs.names([table]):
            for budget in BUDGETS:
                if 3 * budget <= table.space.size:
                    measure(table, protocol, budget, designs, hits)
    truths = sum(len(table.accuracies(method)) for table in tables for method in table.methods)
    coverage = {
        kind: {
            protocol: {
                str(budget): round(float(np.concatenate(hits[kind, protocol, budget]).mean()), 3)
                for budget in BUDGETS
                if hits[kind, protocol, budget]
            }
            for protocol in PROTOCOLS
        }
        for kind in (*INTERVALS, *SHARES)
    }
    show(coverage, truths, args.draws)
    if args.write:
        command = " ".join(["python benchmarks/calibration.py", *sys.argv[1:]])
        FILE.write_bytes(
            to_json(Calibration(command, truths, args.draws, coverage), SCHEMA) + b"\n"
        )


def measure(table: TruthTable, protocol: str, budget: int, designs: Designs, hits: Hits) -> None:
    """Whether each claim from each of D designs is right on each truth of a table."""
    size, drawn = table.space.size, designs.draw(table, protocol, budget)  # (D, n)
    overlap = designs.overlap(table, protocol, drawn)
    values = {method: table.accuracies(method) for method in table.methods}

    def note(kind: str, right: np.ndarray) -> None:
        hits[kind, protocol, budget].append(np.ravel(right))

    for truth in np.concatenate(list(values.values())):
        seen = truth[drawn]
        varied = np.ptp(seen, axis=1) > SAME
        made = posteriors(seen, overlap=overlap, space_size=size)
        note("mean", inside(made.mean_cdf(truth.mean()))[varied])
        note("std", inside(made.std_cdf(truth.std(ddof=1)))[varied])
        note("next", next_inside(truth, seen, made.next_ends())[varied])
        outside, worse = beyond(truth, drawn)
        note("outside", outside - (1.0 - expected_share_inside(budget, size)))
        note("worse", worse - worse_probability(budget, size))
    for first, second in combinations(values, 2):
        seeds = min(len(values[first]), len(values[second]))
        for seed, other in permutations(range(seeds), 2):
            gain = (values[first][seed] - values[second][seed])[drawn]
            exact = values[first][other].mean() - values[second][other].mean()
            made = posteriors(gain, overlap=overlap, common=2.0 * SEED_EFFECT)
            note("difference", inside(made.mean_cdf(exact))[np.ptp(gain, axis=1) > SAME])


def next_inside(truth: np.ndarray, seen: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The share of the orders that a design did not run inside its prediction interval, (D,)."""
    low, high = ends[0][:, None], ends[1][:, None]
    every, own = (((low <= some) & (some <= high)).sum(axis=1) for some in (truth, seen))
    return np.asarray((every - own) / (len(truth) - seen.shape[1]))


def beyond(truth: np.ndarray, drawn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The shares of orders outside the range of each design, and worse than all of it.

    Equal accuracies are ranked by a die; counted as they are, fewer orders lie outside.
    """
    ranked = truth + 1e-9 * np.random.default_rng(drawn.size).random(len(truth))
    worse = (ranked < ranked[drawn].min(axis=1)[:, None]).mean(axis=1)
    return worse + (ranked > ranked[drawn].max(axis=1)[:, None]).mean(axis=1), worse


def inside(below: np.ndarray) -> np.ndarray:
    """Whether values are inside central intervals, given the probabilities of less."""
    tail = (1.0 - LEVEL) / 2.0
    return np.asarray((tail <= below) & (below <= 1.0 - tail))


def show(coverage: dict, truths: int, draws: int) -> None:
    """Print one table of intervals and one of shares."""
    shown = [budget for budget in BUDGETS if budget in (3, 5, 10, 20, 30)]
    print(f"{truths} truths, {draws} designs of each protocol and number of orders.")
    for kinds, cell in ((INTERVALS, covered), (SHARES, points)):
        orders = " | ".join(f"{budget}" for budget in shown)
        print(f"\n| claim | protocol | orders: {orders} |\n|---|---{'|---' * len(shown)}|")
        for kind, title in kinds.items():
            for protocol, by_budget in coverage[kind].items():
                cells = (cell(by_budget.get(str(budget))) for budget in shown)
                print(f"| {title} | `{protocol}` | {' | '.join(cells)} |")


def covered(share: float | None) -> str:
    return "–" if share is None else f"{share:.2f}".removeprefix("0")


def points(share: float | None) -> str:
    return "–" if share is None else f"{100.0 * share:+.1f}".replace("-", "−")


if __name__ == "__main__":
    main()
