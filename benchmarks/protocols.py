"""The leaderboard of docs/leaderboard.md: protocols and estimators on the bundled truth tables.

    python benchmarks/protocols.py [--draws 60] [--budgets 3 5 10 30]
    python benchmarks/protocols.py --default [--draws 300]
    python benchmarks/protocols.py --simulated

Prints one Markdown table per budget. It takes one to two minutes of CPU and trains nothing.
`--default` prints the default protocol and estimator on six classes beside the targets that they
were given, with more draws; what they would reach if scale and shape of the truth were known, so
that only the error of the mean is left; then the same by method, beside the correlation of two
trainings over all orders.

`--simulated` says how the gain of Latin orders depends on the learner. It prints, for normal truths
of which effects of classes at positions explain a share h, the W₁ of Latin orders with the default
estimator as a multiple of that of random orders with `gaussian-c4`; then the share h of each
learner on the bundled tables, adjusted for the number of effects.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field

import numpy as np

from edgecil import lab
from edgecil.estimation.distributions import default_estimator
from edgecil.lab._leaderboard import BUDGETS, REFERENCE
from edgecil.lab.designs import Designs
from edgecil.lab.distances import Target
from edgecil.lab.estimators import get_estimator
from edgecil.lab.leaderboard_table import leaderboard_tables
from edgecil.lab.set_scores import set_score
from edgecil.lab.truth_tables import TruthTable, Values
from edgecil.report.table import as_markdown
from edgecil.sequences.space import SequenceSpace

SPACE = SequenceSpace.equal(6, 3)
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
LEARNERS = 12
TARGETS = {
    3: 0.87,
    5: 0.81,
    10: 0.77,
    30: 0.67,
}  # of the default; 312 truths not in this repository


def print_board(budgets: list[int], draws: int) -> None:
    board = lab.leaderboard(budgets=budgets, draws=draws)
    for table in leaderboard_tables(board):
        print(table if isinstance(table, str) else as_markdown(table), flush=True)


def print_default(budgets: list[int], draws: int) -> None:
    tables = [
        table for table in lab.truths() if table.dataset == "quickdraw" and table.space == SPACE
    ]
    designs = Designs(["latin"], draws=draws, seed=0)
    rows = {
        "relative W₁": [],
        "90 % interval over class sets": [],
        "target": [],
        "error of the mean alone": [],
    }
    by_method: dict[str, list[str]] = {name: [] for name in agreements(tables)}
    for budget in budgets:
        ours, reference = (
            distances(tables, designs, protocol, estimator, budget)
            for protocol, estimator in (("latin", default_estimator(budget)), REFERENCE)
        )
        score = set_score(ours.values, ours.sets, (reference.values, reference.sets))
        floor = set_score(ours.mean_errors, ours.sets, (reference.values, reference.sets))
        rows["relative W₁"].append(f"{score.mean:.3f}")
        rows["90 % interval over class sets"].append(f"{score.low:.2f} to {score.high:.2f}")
        rows["target"].append(f"{TARGETS[budget]:.2f}" if budget in TARGETS else "–")
        rows["error of the mean alone"].append(f"{floor.mean:.3f}")
        for name, cells in by_method.items():
            own, plain = (
                np.mean([v for v, m in zip(it.values, it.methods, strict=True) if m == name])
                for it in (ours, reference)
            )
            cells.append(f"{own / plain:.2f}")
    truths = sum(len(table.accuracies(method)) for table in tables for method in table.methods)
    print(f"{truths} truths, {len(tables)} class sets, {draws} draws.\n")
    heads = " | ".join(f"{budget} runs" for budget in budgets)
    print(f"| | {heads} |")
    print("|---" * (1 + len(budgets)) + "|")
    for title, cells in rows.items():
        print(f"| {title} | {' | '.join(cells)} |")
    print(f"\n| method | correlation of two trainings | {heads} |")
    print("|---" * (2 + len(budgets)) + "|")
    for name, agreement in sorted(agreements(tables).items(), key=lambda item: -(item[1] or -1.0)):
        shown = "–" if agreement is None else f"{agreement:.2f}"
        print(f"| {name} | {shown} | {' | '.join(by_method[name])} |")


def agreements(tables: list[TruthTable]) -> dict[str, float | None]:
    """The correlation of two trainings over the orders, mean over tables, by method."""
    by_method: dict[str, list[float]] = {}
    for table in tables:
        for method in table.methods:
            rows = table.accuracies(method)
            own = [float(np.corrcoef(rows[:2])[0, 1])] if len(rows) > 1 else []
            by_method.setdefault(method, []).extend(own)
    return {method: float(np.mean(some)) if some else None for method, some in by_method.items()}


@dataclass
class Distances:
    """W₁ and error of the mean of every truth in its standard deviations, means over draws."""

    values: list[float] = field(default_factory=list)
    mean_errors: list[float] = field(default_factory=list)
    sets: list[int] = field(default_factory=list)
    methods: list[str] = field(default_factory=list)


def distances(
    tables: list[TruthTable], designs: Designs, protocol: str, estimator: str, budget: int
) -> Distances:
    result = Distances()
    for number, table in enumerate(tables):
        drawn = designs.draw(table, protocol, budget)
        for method in table.methods:
            trainings = zip(table.accuracies(method), table.class_accuracies(method), strict=True)
            for truth, classes in trainings:
                runs = designs.observe(table, protocol, drawn, truth, classes)
                made = get_estimator(estimator).estimates(runs)
                both = Target.of(truth).distances([estimate.distribution for estimate in made])
                errors = np.abs(truth[drawn].mean(axis=1) - truth.mean())
                result.values.append(float(both[:, 1].mean() / truth.std()))
                result.mean_errors.append(float(errors.mean() / truth.std()))
                result.sets.append(number)
                result.methods.append(method)
    return result


def print_simulated(budgets: list[int], draws: int) -> None:
    print("| h | " + " | ".join(f"{budget} runs" for budget in budgets) + " |")
    print("|---" * (1 + len(budgets)) + "|")
    for share in SHARES:
        board = lab.leaderboard(
            simulated_table(share),
            bundled=False,
            protocol=["latin"],
            estimators=["gaussian-c4", "gaussian", "smoothed"],
            budgets=budgets,
            draws=draws,
        )
        cells = [
            f"{board.row('latin', default_estimator(budget), budget).relative.mean:.2f}"
            for budget in budgets
        ]
        print(f"| {share:.2f} | {' | '.join(cells)} |", flush=True)
    print("\n| method | truths | h |\n|---|---|---|")
    shares: dict[str, list[float]] = {}
    for table in lab.truths():
        if table.dataset != "quickdraw" or table.space != SPACE or table.kind != "enumerated":
            continue
        for method in table.methods:
            rows = table.accuracies(method)
            shares.setdefault(method, []).extend(position_share(table, row) for row in rows)
    for method, some in shares.items():
        print(f"| {method} | {len(some)} | {np.mean(some):.2f} |")


def simulated_table(share: float) -> TruthTable:
    """Normal accuracies of which class effects at positions explain a share."""
    rng = np.random.default_rng(0)
    sequences = tuple(SPACE.enumerate())
    task = np.stack([sequence.task_of() for sequence in sequences])
    results = {}
    for learner in range(LEARNERS):
        effects = rng.normal(size=(SPACE.classes, SPACE.tasks))
        positions = standard(effects[np.arange(SPACE.classes), task].sum(axis=1))
        rest = standard(rng.normal(size=len(sequences)))
        value = 50.0 + 5.0 * (np.sqrt(share) * positions + np.sqrt(1.0 - share) * rest)
        results[str(learner)] = Values((0,), "accuracy", value[None])
    return TruthTable("simulated", "simulated", None, "enumerated", sequences, results)


def position_share(table: TruthTable, accuracies: np.ndarray) -> float:
    """Adjusted R² of a linear model with an effect for every class at every position."""
    task = np.stack([sequence.task_of() for sequence in table.sequences])
    columns = (task[:, :, None] == np.arange(table.space.tasks)).reshape(len(task), -1)
    design = np.column_stack([np.ones(len(task)), columns])
    fit, _, rank, _ = np.linalg.lstsq(design, accuracies, rcond=None)
    unexplained = ((accuracies - design @ fit) ** 2).sum() / (len(task) - rank)
    return float(1.0 - unexplained / accuracies.var(ddof=1))


def standard(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / values.std()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int)
    parser.add_argument("--budgets", type=int, nargs="*", default=list(BUDGETS))
    parser.add_argument("--default", action="store_true")
    parser.add_argument("--simulated", action="store_true")
    options = parser.parse_args()
    if options.default:
        print_default(options.budgets, options.draws or 300)
    else:
        show = print_simulated if options.simulated else print_board
        show(options.budgets, options.draws or 60)


if __name__ == "__main__":
    main()
