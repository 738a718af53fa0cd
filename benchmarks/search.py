"""Search for the worst and best order against random search, simulated on the truth tables.

    python benchmarks/search.py [--draws 8] [--budgets 10 20] [--same-training]

A search sees one training of every order that it asks for; the order that it returns is judged by
another training of the same order (another repeat), which it has not seen. Both searches may use
the same number of task trainings. Printed are, as means over goals, repeats and draws with 90 %
intervals over class sets: the standard deviations by which the returned order is beyond the mean,
the share of orders that it beats, and the share that the search itself claims. Random search is
drawn 100 times. *all orders* is the limit: train every order once and take the most extreme.

`--same-training` uses the tables with one repeat and judges by the training that the search saw. It
says how well a search finds the extreme results of one training, noise included.
"""

from __future__ import annotations

import argparse

import numpy as np

from edgecil import lab
from edgecil.lab._leaderboard import Score, set_score
from edgecil.lab.truth_tables import TruthTable
from edgecil.search.strategy import (
    SEARCH_GOALS,
    SearchGoal,
    Strategy,
    first_sequences,
    objective_predictors,
    trainings,
)
from edgecil.sequences import latin

RANDOM_DRAWS = 100
VARIANTS = {
    "search": {},
    "no predictors": {"predictors": None},
    "one at a time": {"batch": 1},
    "costs-ignored": {"per_training": False},
}
Line = tuple[int, float, float, float]


def random_search(
    table: TruthTable, values: np.ndarray, goal: SearchGoal, limit: int, rng: np.random.Generator
) -> int:
    """The most extreme of as many random orders as the limit allows."""
    trained, seen = set(), []
    for place in rng.permutation(len(table.sequences)):
        more = trained | trainings(table.sequences[place])
        if len(more) > limit:
            break
        trained = more
        seen.append(int(place))
    return min(seen, key=lambda place: values[place] if goal == "worst" else -values[place])


def surrogate_search(
    table: TruthTable, values: np.ndarray, fresh: np.ndarray, strategy: Strategy
) -> tuple[int, float]:
    """The place of the order that the search returns, and the share of orders it claims to beat."""
    place = {sequence: index for index, sequence in enumerate(table.sequences)}
    count = min(first_sequences(strategy.limit // table.space.tasks), table.space.size)
    sequences = latin(table.space, count, np.random.default_rng(strategy.seed))
    while True:
        seen = [float(values[place[sequence]]) for sequence in sequences]
        batch = strategy.propose(sequences, seen)
        if not batch:
            break
        sequences += batch
    chosen = place[sequences[strategy.choose(sequences, seen)]]
    noise = strategy.noise(sequences, seen)
    return chosen, strategy.share_beyond(sequences, seen, float(fresh[chosen]), noise)


def measure(fresh: np.ndarray, goal: SearchGoal, place: int) -> tuple[float, float]:
    """Standard deviations beyond the mean, and the share of orders beaten, in a fresh training."""
    sign = -1.0 if goal == "worst" else 1.0
    beaten = (sign * fresh < sign * fresh[place]).mean() + 0.5 * (fresh == fresh[place]).mean()
    return float(sign * (fresh[place] - fresh.mean()) / fresh.std()), float(beaten)


def average(number: int, results: list[tuple[float, ...]]) -> Line:
    """The number of the class set and the means over draws."""
    beyond, beaten, claimed = np.mean(results, axis=0)
    return number, float(beyond), float(beaten), float(claimed)


def text(score: Score, digits: int = 2) -> str:
    interval = "" if score.low is None else f" [{score.low:.{digits}f}, {score.high:.{digits}f}]"
    return f"{score.mean:.{digits}f}{interval}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--budgets", type=int, nargs="*", default=[10, 20])
    parser.add_argument("--learners", nargs="*", help="all with two repeats by default")
    parser.add_argument("--variants", nargs="*", default=["search"], choices=VARIANTS)
    parser.add_argument("--same-training", action="store_true")
    options = parser.parse_args()
    rows: dict[tuple[int, str, str], list[Line]] = {}
    tables = [
        table
        for table in lab.truths()
        if table.dataset == "quickdraw" and table.kind == "enumerated"
    ]
    for number, table in enumerate(tables):
        predictors = objective_predictors(table.similarity(), table.space)
        for method in table.methods:
            repeats = table.accuracies(method)
            if (len(repeats) == 1) != options.same_training:
                continue
            if options.learners and method not in options.learners:
                continue
            for repeat, values in enumerate(repeats):
                fresh = repeats[repeat - 1]
                for goal in SEARCH_GOALS:
                    extreme = int(values.argmin() if goal == "worst" else values.argmax())
                    limit_line = average(number, [(*measure(fresh, goal, extreme), np.nan)])
                    for budget in options.budgets:
                        rows.setdefault((budget, "all orders", method), []).append(limit_line)
                        limit = budget * table.space.tasks
                        plain = [
                            (
                                *measure(
                                    fresh,
                                    goal,
                                    random_search(
                                        table,
                                        values,
                                        goal,
                                        limit,
                                        np.random.default_rng([draw, budget]),
                                    ),
                                ),
                                np.nan,
                            )
                            for draw in range(RANDOM_DRAWS)
                        ]
                        key = budget, "random", method
                        rows.setdefault(key, []).append(average(number, plain))
                        for name in options.variants:
                            returned = []
                            for draw in range(options.draws):
                                settings = {"predictors": predictors, **VARIANTS.get(name, {})}
                                strategy = Strategy(table.space, goal, limit, draw, **settings)
                                place, claim = surrogate_search(table, values, fresh, strategy)
                                returned.append((*measure(fresh, goal, place), claim))
                            key = budget, name, method
                            rows.setdefault(key, []).append(average(number, returned))
    print("| cost in runs | search | method | std. beyond the mean | gain | beats | claims |")
    print("|---|---|---|---|---|---|---|")
    for budget in options.budgets:
        for name in ("random", *options.variants, "all orders"):
            learners = [method for other, kind, method in rows if (other, kind) == (budget, name)]
            lines = {method: rows[budget, name, method] for method in learners}
            if len(lines) > 1:
                lines["all"] = [line for some in lines.values() for line in some]
            plain = {method: rows[budget, "random", method] for method in learners}
            plain["all"] = [line for some in plain.values() for line in some]
            for method, some in lines.items():
                sets, beyond, beaten, claimed = zip(*some, strict=True)
                gains = np.subtract(beyond, [line[1] for line in plain[method]]).tolist()
                gain = "" if name == "random" else text(set_score(gains, sets))
                claims = f"{np.mean(claimed):.2f}" if name in options.variants else ""
                print(
                    f"| {budget} | {name} | {method} | {text(set_score(beyond, sets))} | "
                    f"{gain} | {text(set_score(beaten, sets))} | {claims} |"
                )


if __name__ == "__main__":
    main()
