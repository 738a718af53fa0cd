"""How often the sequential test, the relabelling test and means of repeats are wrong.

    python benchmarks/error_rates.py [PART ...] [--trials 400]

Parts are `tables`, `until`, `relabelling`, `repeats` and `family`; all by default. The first three
draw from the bundled truth tables, so that accuracies have the ties, outliers and overlaps of real
ones.

`tables` follows null tables as `next` advises: two methods that are one learner with different
training seeds, compared after every run from 3 to 20. It counts the tables with a verdict at some
look, by `compare(…, anytime=True)`, which `next` names for this, and by the rule for a number of
runs that was chosen beforehand, at that number alone and at some look.

`family` compares 8 equal methods on 4 datasets with 5 seeds each, and counts the tables with any
verdict.

`until` draws random orders one at a time, looks at the confidence sequence after each from the
fifth on, and counts the series in which some interval excludes the true mean: over the 90 orders
without replacement, as `run --until` does, and with replacement, as in a large space. Pairs of
learners give differences; *decided* is the share of series that answer `A - B > 0` within the
budget, *wrong* the share that answer it wrongly.

`relabelling` tests random similarities, which have nothing to do with accuracy.

`repeats` draws normal differences whose mean is 0, several trainings of each order, and counts how
often 90 % intervals exclude 0, by the share of the variance that is due to the order.
"""

from __future__ import annotations

import argparse
from itertools import combinations

import numpy as np
import pandas
from scipy.special import betaincinv

import edgecil
from edgecil import lab
from edgecil.analysis import correlate, objective_predictor
from edgecil.analysis.correlation import relabelled_values
from edgecil.analysis.pair_verdicts import holm
from edgecil.lab.truth_tables import TruthTable
from edgecil.similarity import SimilarityMatrix
from edgecil.statistics import confidence_interval
from edgecil.statistics.posterior import evidence, measured_prior, posterior
from edgecil.statistics.verdicts import LEVEL

FIRST, LAST = 5, 30
FAR = 2.0  # pairs that differ by as many standard deviations share a row
LOOKS = range(3, 21)
PARTS = ("tables", "until", "relabelling", "repeats", "family")


def rate(wrong: int, trials: int) -> str:
    """A share in per cent with its 95 % interval."""
    low = 0.0 if wrong == 0 else betaincinv(wrong, trials - wrong + 1, 0.025)
    high = 1.0 if wrong == trials else betaincinv(wrong + 1, trials - wrong, 0.975)
    return f"{100 * wrong / trials:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def tables_of_runs(truths: list[TruthTable], trials: int) -> None:
    """Print how often equal methods are told apart, by the rule and by when one looks."""
    rng = np.random.default_rng(0)
    sources = {
        "normal": lambda: rng.normal(60.0, 2.0, (2, LOOKS.stop - 1)),
        "truth tables": lambda: _equal_methods(truths, rng),
    }
    print("| accuracies | rule | looks | any verdict, % | *clearly*, % |\n|---|---|---|---|---|")
    for name, draw in sources.items():
        planned: list[list[str]] = []
        anytime: list[list[str]] = []
        for _ in range(trials):
            values = draw()
            planned.append([_grade(values[:, :count], anytime=False) for count in LOOKS])
            anytime.append([_grade(values[:, :count], anytime=True) for count in LOOKS])
        for count in (3, 5, 10, 20):
            at_count = [[grades[count - LOOKS.start]] for grades in planned]
            print(f"| {name} | planned | at {count} alone | {_verdicts(at_count)} |")
        every = f"{LOOKS.start}, …, {LOOKS.stop - 1}"
        print(f"| {name} | planned | {every} | {_verdicts(planned)} |")
        print(f"| {name} | anytime | {every} | {_verdicts(anytime)} |", flush=True)


def _equal_methods(truths: list[TruthTable], rng: np.random.Generator) -> np.ndarray:
    """Return (2, 20) accuracies of one learner on the same orders with different seeds."""
    while True:
        truth = truths[rng.integers(len(truths))]
        values = truth.accuracies(rng.choice(list(truth.methods)))
        if len(values) > 1 and values.std() > 0.1:
            break
    orders = rng.permutation(values.shape[1])[: LOOKS.stop - 1]
    first = rng.integers(0, len(values), len(orders))
    second = (first + rng.integers(1, len(values), len(orders))) % len(values)
    return np.stack([values[first, orders], values[second, orders]])


def _grade(values: np.ndarray, *, anytime: bool) -> str:
    """Return the grade of the only pair of methods, whose (2, n) runs are paired by seed."""
    count = values.shape[1]
    frame = pandas.DataFrame(
        {
            "method": np.repeat(["a", "b"], count),
            "seed": np.tile(np.arange(count), 2),
            "accuracy": values.ravel(),
        }
    )
    return edgecil.compare(frame, anytime=anytime)["a", "b"].grade


def _verdicts(grades: list[list[str]]) -> str:
    """Return the shares of tables with a verdict, and with a clear one, at some look."""
    decided = sum("clear" in looks or "likely" in looks for looks in grades)
    clear = sum("clear" in looks for looks in grades)
    return f"{rate(decided, len(grades))} | {rate(clear, len(grades))}"


def family(trials: int) -> None:
    """Print how many tables of equal methods on several datasets have any verdict."""
    rng = np.random.default_rng(0)
    methods, datasets, seeds = 8, 4, 5
    with_any = with_leader = 0
    for _ in range(trials):
        rows = [
            (f"m{method}", f"d{dataset}", seed, rng.normal(60.0, 2.0))
            for method in range(methods)
            for dataset in range(datasets)
            for seed in range(seeds)
        ]
        frame = pandas.DataFrame(rows, columns=["method", "dataset", "seed", "accuracy"])
        comparison = edgecil.compare(frame)
        verdicts = [*comparison.pairs, *comparison.over_datasets]
        with_any += any(verdict.better is not None for verdict in verdicts)
        with_leader += " leads: " in str(comparison)
    print(f"| {methods} × {datasets} × {seeds} | any verdict, % | a leader, % |\n|---|---|---|")
    print(f"| normal | {rate(with_any, trials)} | {rate(with_leader, trials)} |", flush=True)


def looks(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of the intervals after each order from the fifth on, for series (T, 30).

    The half-width is a multiple of the standard deviation that depends on the number of values
    only; `confidence_interval` gives it for a series of its own.

    Returns:
        (T, 26) each, NaN while there is no interval.
    """
    counts = np.arange(FIRST, values.shape[1] + 1)
    reach = []
    for count in counts:
        series = np.resize([1.0, -1.0], count)
        interval = confidence_interval(series.tolist(), LEVEL, least=FIRST)
        reach.append(np.nan if interval is None else np.ptp(interval) / 2.0 / series.std(ddof=1))
    start = values[:, :1]
    sums, squares = (((values - start) ** power).cumsum(axis=1)[:, FIRST - 1 :] for power in (1, 2))
    variance = (squares - sums**2 / counts) / (counts - 1)
    std = np.sqrt(np.where(variance > 1e-12, variance, np.nan))
    mean = start + sums / counts
    return mean - std * reach, mean + std * reach


def until(tables: list[TruthTable], trials: int) -> None:
    rng = np.random.default_rng(0)
    means: dict[str, list[np.ndarray]] = {}
    differences: dict[str, list[np.ndarray]] = {}
    for table in tables:
        values = {method: table.accuracies(method) for method in table.methods}
        for method, repeats in values.items():
            means.setdefault(method, []).extend(repeats)
        for first, second in combinations(values, 2):
            pairs = list(zip(values[first], values[second], strict=False))
            differences.setdefault(f"{first} - {second}", []).extend(a - b for a, b in pairs)
    print("| series | truths | excludes the mean, % | in a large space, % | half-width at 30, s |")
    print("|---|---|---|---|---|")
    for kind, series in (("mean", means), ("difference", differences)):
        every = [truth for truths in series.values() for truth in truths]
        named = series if kind == "mean" else {}
        for name, truths in {**named, f"all: {kind}": every}.items():
            print(_sequential(name, truths, trials, rng), flush=True)
    print("\n| pair | true difference, s | decided, % | wrong, % | median orders |")
    print("|---|---|---|---|---|")
    far: list[np.ndarray] = []
    for name, truths in differences.items():
        if effect_of(truths) >= FAR:
            far += truths
        else:
            print(_decided(name, truths, trials, rng), flush=True)
    if far:
        print(_decided(f"all other pairs, each {FAR:g} or more", far, trials, rng), flush=True)


def effect_of(truths: list[np.ndarray]) -> float:
    """The true difference in standard deviations, mean over truths."""
    return float(np.mean([abs(truth.mean()) / truth.std() for truth in truths]))


def _sequential(name: str, truths: list[np.ndarray], trials: int, rng: np.random.Generator) -> str:
    wrong, widths = [0, 0], []
    for truth in truths:
        for replace in (False, True):
            low, high = looks(_drawn(truth, trials, rng, replace=replace))
            mean = truth.mean()
            wrong[replace] += int(((mean < low) | (mean > high)).any(axis=1).sum())
            if not replace:
                widths.append((high - low)[:, -1] / 2.0 / truth.std())
    count = trials * len(truths)
    rates = " | ".join(rate(some, count) for some in wrong)
    return f"| {name} | {len(truths)} | {rates} | {np.nanmedian(np.concatenate(widths)):.2f} |"


def _drawn(
    truth: np.ndarray, trials: int, rng: np.random.Generator, *, replace: bool
) -> np.ndarray:
    """Series of random orders, (trials, 30)."""
    if replace:
        return np.asarray(rng.choice(truth, (trials, LAST)))
    return np.asarray(rng.permuted(np.tile(truth, (trials, 1)), axis=1)[:, :LAST])


def _decided(name: str, truths: list[np.ndarray], trials: int, rng: np.random.Generator) -> str:
    decided, wrong, orders = 0, 0, []
    for truth in truths:
        low, high = looks(_drawn(truth, trials, rng, replace=False))
        ends = (low > 0.0) | (high < 0.0)
        some, first = ends.any(axis=1), ends.argmax(axis=1)
        above = low[np.arange(trials), first] > 0.0
        decided += int(some.sum())
        wrong += int((some & (above != (truth.mean() > 0.0))).sum())
        orders.append(FIRST + first[some])
    effect = effect_of(truths)
    total, all_orders = trials * len(truths), np.concatenate(orders)
    middle = f"{np.median(all_orders):.0f}" if all_orders.size else "–"
    return (
        f"| {name} | {effect:.1f} | {100 * decided / total:.0f} | {rate(wrong, total)} | {middle} |"
    )


def relabelling(tables: list[TruthTable], trials: int) -> None:
    rng = np.random.default_rng(2)
    print("\n| relabelling test | single truths, % | Fisher's z, % | some method, by Holm, % |")
    print("|---|---|---|---|")
    for objective in ("adjacent", "generalization"):
        single, fisher, some, truths, families = 0, 0, 0, 0, 0
        for trial in range(trials):
            table = tables[trial % len(tables)]
            values = rng.random((table.space.classes, table.space.classes))
            similarity = SimilarityMatrix.of((values + values.T) / 2.0)
            predictor = objective_predictor(similarity, table.space, objective)
            z = predictor.values(table.sequences)
            relabelled = relabelled_values(predictor, table.sequences)
            p_values = {}
            for method in table.methods:
                accuracies = table.accuracies(method)[0]
                result = correlate(z, accuracies, relabelled)
                p_values[method] = result.p_value
                single += result.p_value is not None and result.p_value < 0.05
                interval = correlate(z, accuracies).pearson_interval
                fisher += interval is not None and (interval[0] > 0.0 or interval[1] < 0.0)
                truths += 1
            adjusted = [p for p in holm(p_values).values() if p is not None]
            some += min(adjusted) < 0.05
            families += 1
        rates = " | ".join([rate(single, truths), rate(fisher, truths), rate(some, families)])
        print(f"| {objective} | {rates} |", flush=True)


def repeats(trials: int) -> None:
    rng = np.random.default_rng(0)
    shares = (0.0, 0.2, 0.5, 0.8, 0.95)
    print(f"| orders × trainings | {' | '.join(f'{100 * one:g} %' for one in shares)} |")
    print(f"|---|{'---|' * len(shares)}")
    for count, times in ((3, 2), (3, 3), (6, 2), (10, 2), (10, 3)):
        cells = []
        for share in shares:
            orders = rng.normal(0.0, share**0.5, (trials, count, 1))
            runs = orders + rng.normal(0.0, (1.0 - share) ** 0.5, (trials, count, times))
            means = runs.mean(axis=2)
            within = ((runs - means[..., None]) ** 2).sum(axis=(1, 2))
            summary = evidence(means, repeats=np.full(count, times), within=within)
            low, high = posterior(summary, prior=measured_prior()).ends("mean")
            cells.append(rate(int(((low > 0.0) | (high < 0.0)).sum()), trials))
        print(f"| {count} × {times} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("part", nargs="*", help="; ".join(PARTS))
    parser.add_argument("--trials", type=int, default=400)
    options = parser.parse_args()
    tables = [
        table
        for table in lab.truths()
        if table.dataset == "quickdraw" and table.kind == "enumerated" and len(table.methods) > 1
    ]
    alone = {"repeats": repeats, "family": family}
    on_tables = {"tables": tables_of_runs, "until": until, "relabelling": relabelling}
    for part in options.part or PARTS:
        if part in alone:
            alone[part](options.trials)
        else:
            on_tables[part](tables, options.trials)


if __name__ == "__main__":
    main()
