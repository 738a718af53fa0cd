"""How close Latin designs are to the best designs that treat all classes alike.

    python benchmarks/designs.py [--designs 100]

On the truth tables of six classes in three tasks: the mean absolute error of the mean accuracy of a
design's orders, as a multiple of that of random orders. Every design is relabelled by every sixth
of the 720 permutations of the classes, so that the luck of the draw has next to no part in it.

The error of a mean depends on the covariances of accuracies between orders. Designs that know
nothing about the classes can only use how two orders are related, which is their 3 x 3 table of
classes in task i of one and task j of the other: 21 relations. `best` minimises, by annealing, the
sum of the covariances, each averaged over all pairs of orders in the same relation: those of the
other class sets, or those of all of them, which no protocol can know. A second table has the
largest of these covariances: accuracies are standardised, so they are correlations.
"""

from __future__ import annotations

import argparse
import importlib
from itertools import permutations

import numpy as np

from edgecil import lab
from edgecil.lab.set_scores import set_score
from edgecil.sequences import SequenceSpace

SPACE = SequenceSpace.equal(6, 3)
SEQUENCES = list(SPACE.enumerate())
PLACES = np.array([sequence.task_of() for sequence in SEQUENCES])  # (90, 6) task of every class
NUMBER = {tuple(row): number for number, row in enumerate(PLACES.tolist())}
RELABELLED = np.array(
    [
        [NUMBER[tuple(row[list(permutation)].tolist())] for row in PLACES]
        for permutation in list(permutations(range(6)))[::6]
    ]
)
STEPS = 4_000
ANNEALED = 12
NEVER = 10**6


def standardised_truths() -> list[tuple[int, np.ndarray]]:
    """The number of the class set and the accuracies of every training of all 90 orders."""
    tables = [
        table for table in lab.truths() if table.dataset == "quickdraw" and table.space == SPACE
    ]
    rows = [
        (number, row)
        for number, table in enumerate(tables)
        for method in table.methods
        for row in table.accuracies(method)
    ]
    return [(number, (row - row.mean()) / row.std()) for number, row in rows]


def relations() -> np.ndarray:
    """The number of the relation of every two orders, (90, 90)."""
    member = np.eye(3, dtype=np.int64)[PLACES]
    shared = np.einsum("nci,mcj->nmij", member, member).reshape(-1, 9)
    return np.unique(shared, axis=0, return_inverse=True)[1].reshape(90, 90)


def print_likeness(truths: list[tuple[int, np.ndarray]]) -> None:
    """The mean correlation of the accuracies of two orders that have tasks in common."""
    by_set = [
        np.mean([np.outer(row, row) for number, row in truths if number == chosen], axis=0)
        for chosen in sorted({number for number, _ in truths})
    ]
    member = np.eye(3, dtype=np.int64)[PLACES]
    shared = np.einsum("nci,mcj->nmij", member, member)
    kept = np.stack([shared[:, :, task, task] == 2 for task in range(3)], axis=-1)
    same_tasks = (shared == 2).sum(axis=(2, 3)) == 3
    one = (shared == 2).sum(axis=(2, 3)) == 1
    rows = {
        "the same tasks, the last two exchanged": same_tasks & kept[..., 0] & ~kept[..., 1],
        "the same tasks, the first two exchanged": same_tasks & kept[..., 2] & ~kept[..., 1],
        "the same tasks, the first and the last exchanged": same_tasks
        & kept[..., 1]
        & ~kept[..., 0],
        "the same tasks, each at another position": same_tasks & ~kept.any(axis=-1),
        "only the first task in common": one & kept[..., 0],
        "only the second": one & kept[..., 1],
        "only the last": one & kept[..., 2],
        "one task in common, at another position": one & ~kept.any(axis=-1),
        "no task in common": (shared == 2).sum(axis=(2, 3)) == 0,
    }
    print("\n| two orders with | mean correlation | lowest and highest class set |")
    print("|---|---|---|")
    for title, where in rows.items():
        means = [float(covariance[where].mean()) for covariance in by_set]
        print(f"| {title} | {np.mean(means):.2f} | {min(means):.2f} to {max(means):.2f} |")


def latin_designs(budget: int, count: int, **constants: object) -> np.ndarray:
    """The places of the orders of Latin designs, with some constants of the module changed."""
    module = importlib.import_module("edgecil.sequences.latin")
    usual = {name: getattr(module, name) for name in constants}
    for name, value in constants.items():
        setattr(module, name, value)
    place = {sequence: number for number, sequence in enumerate(SEQUENCES)}
    rng = np.random.default_rng(0)
    made = [
        [place[sequence] for sequence in module.latin(SPACE, budget, rng)] for _ in range(count)
    ]
    for name, value in usual.items():
        setattr(module, name, value)
    return np.array(made)


def best_designs(covariance: np.ndarray, budget: int) -> np.ndarray:
    """Designs with a small sum of covariances between their orders."""
    rng = np.random.default_rng(0)
    made = []
    for _ in range(ANNEALED):
        design = rng.permutation(90)[:budget]
        cost = covariance[np.ix_(design, design)].sum()
        for temperature in np.geomspace(1.0, 0.01, STEPS):
            changed = design.copy()
            changed[rng.integers(budget)] = rng.integers(90)
            if len(set(changed.tolist())) < budget:
                continue
            other = covariance[np.ix_(changed, changed)].sum()
            if rng.random() < np.exp(min(0.0, (cost - other) / temperature)):
                design, cost = changed, other
        made.append(design)
    return np.array(made)


def errors(designs: np.ndarray, truths: list[tuple[int, np.ndarray]]) -> list[float]:
    """The mean absolute error of the mean of every truth."""
    every = RELABELLED[:, designs].reshape(-1, designs.shape[1])
    return [float(np.abs(truth[every].mean(axis=1)).mean()) for _, truth in truths]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--designs", type=int, default=100)
    parser.add_argument("--budgets", type=int, nargs="*", default=[3, 5, 6, 8, 10, 20, 30])
    options = parser.parse_args()
    truths, relation = standardised_truths(), relations()
    sets = [number for number, _ in truths]
    covariances = np.array(
        [
            np.mean([np.outer(row, row) for number, row in truths if number == chosen], axis=0)
            for chosen in sorted(set(sets))
        ]
    )
    counts = np.bincount(relation.ravel())
    by_relation = np.array([np.bincount(relation.ravel(), c.ravel()) / counts for c in covariances])
    rows: dict[str, list[float]] = {}
    rng = np.random.default_rng(0)
    for budget in options.budgets:
        random = np.array([rng.permutation(90)[:budget] for _ in range(3 * options.designs)])
        unit = errors(random, truths), sets
        measured = {
            "`latin`": errors(latin_designs(budget, options.designs), truths),
            "`latin`, near repeats not counted": errors(
                latin_designs(budget, options.designs, _groupings=lambda _: NEVER), truths
            ),
            "`latin`, nor the first and last tasks": errors(
                latin_designs(
                    budget, options.designs, _groupings=lambda _: NEVER, _VARY_ENDS_FROM=NEVER
                ),
                truths,
            ),
        }
        best: dict[int, list[float]] = {}
        for chosen in sorted(set(sets)):
            others = np.delete(by_relation, chosen, axis=0).mean(axis=0)
            best[chosen] = errors(best_designs(others[relation], budget), truths)
        measured["best by the other class sets"] = [
            best[number][place] for place, number in enumerate(sets)
        ]
        own = best_designs(by_relation.mean(axis=0)[relation], budget)
        measured["best by all class sets, in sample"] = errors(own, truths)
        for title, values in measured.items():
            rows.setdefault(title, []).append(set_score(values, sets, unit).mean)
    print("| error of the mean | " + " | ".join(f"{n} runs" for n in options.budgets) + " |")
    print("|---" * (1 + len(options.budgets)) + "|")
    for title, values in rows.items():
        cells = (f"{value:.3f}".removeprefix("0") for value in values)
        print(f"| {title} | {' | '.join(cells)} |")
    print_likeness(truths)


if __name__ == "__main__":
    main()
