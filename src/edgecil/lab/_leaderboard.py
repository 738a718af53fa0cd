"""Leaderboard: which protocol and estimator come closest to the truth, on truth tables.

A protocol chooses L sequences, an estimator turns their accuracies into a distribution, and the
truth table says how far that is from the distribution over all sequences. The average is taken over
many draws of the protocol, over methods and their repeats, then over sets of classes.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from edgecil.engine.metrics import DEFAULT_METRIC, METRICS
from edgecil.errors import UsageError, warn
from edgecil.estimation.distributions import SAME
from edgecil.io.arrays import Floats
from edgecil.io.notebook import html_table
from edgecil.lab.budgets import check_draws
from edgecil.lab.designs import Designs, OwnProtocol
from edgecil.lab.distances import Target
from edgecil.lab.estimators import ESTIMATORS, Estimate, Estimator, Observations, get_estimator
from edgecil.lab.learnt_scale import SCALES, scale_curve, scaled
from edgecil.lab.ranking import average_ranking, rank
from edgecil.lab.set_scores import Score, set_score
from edgecil.lab.truth_tables import Source, TruthTable, truths

if TYPE_CHECKING:
    import pandas

BUDGETS = (3, 5, 10, 30)
PROTOCOLS = ("random", "latin", "edge", "optimal")
REFERENCE = ("random", "gaussian-c4")
_COUNTABLE = 10**9  # larger spaces are not written out
_FEW = 15  # draws for estimators that take milliseconds


@dataclass(frozen=True)
class LeaderboardRow:
    """One protocol with one estimator and one budget.

    Attributes:
        protocol: the protocol's name.
        estimator: the estimator's name.
        budget: L, the number of runs.
        relative: W₁ as a multiple of that of random orders with `gaussian-c4`.
        wasserstein: W₁ in standard deviations of the truth.
        jsd: Jensen-Shannon divergence, nats.
        mean_coverage: how often the 90 % interval of the mean holds it; None without an interval.
        std_coverage: the same of the standard deviation.
        missed_range: the part of the true range that lies outside the range reported.
        ranking_error: places by which a method is off, on average, when methods are ranked by worst
            order, best order and stability; None with a single method.
    """

    protocol: str
    estimator: str
    budget: int
    relative: Score
    wasserstein: Score
    jsd: Score
    mean_coverage: Score | None
    std_coverage: Score | None
    missed_range: Score
    ranking_error: Score | None


@dataclass(frozen=True, repr=False)
class Leaderboard:
    """Protocols and estimators, ranked.

    Attributes:
        rows: by budget, then by W₁, closest first.
        tables: names of the truth tables.
        sets: number of groups of class sets, by which intervals are clustered; tables that share
            all their classes are one group.
        truths: number of truths: methods and repeats of all tables.
        draws: draws of each protocol; 15 for estimators that take long.
        metric: whose distribution is estimated.
    """

    rows: tuple[LeaderboardRow, ...]
    tables: tuple[str, ...]
    sets: int
    truths: int
    draws: int
    metric: str

    def __repr__(self) -> str:
        best = [
            f"{row.protocol} + {row.estimator} at {row.budget}"
            for row in {row.budget: row for row in reversed(self.rows)}.values()
        ]
        return (
            f"<Leaderboard: {len(self.rows)} rows on {self.truths} truths in {self.sets} class "
            f"sets; closest: {', '.join(best[::-1])} runs>"
        )

    def _repr_html_(self) -> str:
        header = ("runs", "protocol", "estimator", "relative W₁", "W₁ in s", "JSD")
        rows: list[tuple[str, ...]] = [header]
        for row in self.rows:
            numbers = (row.relative.mean, row.wasserstein.mean, row.jsd.mean)
            cells = (f"{number:.3f}" for number in numbers)
            rows.append((str(row.budget), row.protocol, row.estimator, *cells))
        return f"<p>{html.escape(repr(self)[1:-1])}</p>{html_table(rows)}"

    def row(self, protocol: str, estimator: str, budget: int) -> LeaderboardRow:
        """Return the row of a protocol, an estimator and a budget."""
        for row in self.rows:
            if (row.protocol, row.estimator, row.budget) == (protocol, estimator, budget):
                return row
        raise UsageError(
            f"The leaderboard has no row for {protocol!r} with {estimator!r} and {budget} runs."
        )

    def to_pandas(self) -> pandas.DataFrame:
        """Return a DataFrame with one row per protocol, estimator and budget."""
        import pandas

        frame: pandas.DataFrame = pandas.json_normalize(list(map(asdict, self.rows)))
        return frame


def leaderboard(
    *sources: Source | TruthTable,
    bundled: bool = True,
    protocol: Sequence[str] | Mapping[str, OwnProtocol] = PROTOCOLS,
    estimators: Sequence[str] | Mapping[str, Callable[[Observations], Estimate]] | None = None,
    budgets: Sequence[int] = BUDGETS,
    draws: int = 100,
    metric: str = DEFAULT_METRIC,
    draw_seed: int = 0,
    on_start: Callable[[int], None] | None = None,
) -> Leaderboard:
    """Rank protocols and estimators by how close they come to enumerated truths.

    Nothing is trained. Every method and repeat of a table is one truth. The 90 % intervals come
    from the jackknife over class sets, because methods on the same classes are not independent.
    `gaussian-learnt` multiplies the standard deviation by a factor that is learnt on the other
    class sets.

    Args:
        sources: your own truths, as :func:`truths` reads them, or truth tables. Tables of random
            sequences are left out, because they do not have the sequences that protocols choose.
        bundled: include the tables that come with edgecil.
        protocol: names, or functions by name: `f(space, budget, rng)` returns that many sequences.
        estimators: names, or functions by name; all by default.
        budgets: numbers of runs.
        draws: draws of each protocol, the same for all truths of a space.
        metric: `accuracy`, `last`, `average`, `forgetting` or `bwt`.
        draw_seed: seed of the draws.
        on_start: called once with the number of truths, after all arguments are checked.

    >>> board = leaderboard(protocol=["random", "latin"], estimators=["gaussian-c4"], budgets=[3],
    ...                     draws=5)
    >>> [(row.protocol, row.relative.mean) for row in board.rows if row.protocol == "random"]
    [('random', 1.0)]
    """
    check_draws(draws)
    own = [source for source in sources if isinstance(source, TruthTable)]
    files = [source for source in sources if not isinstance(source, TruthTable)]
    given = [*truths(*files, bundled=bundled, metric=metric), *own]
    tables = [table for table in given if table.kind == "enumerated"]
    if partial := [_describe_partial(table) for table in given if _is_partial(table)]:
        left_out = f"Without every sequence: {', '.join(partial)}."
        if tables:
            warn(f"A leaderboard leaves out tables. {left_out}")
    if not tables:
        raise UsageError(
            "A leaderboard requires at least one truth table with every sequence."
            + (f" {left_out}" if partial else "")
        )
    if not budgets:
        raise UsageError("A leaderboard requires at least one budget. Got none.")
    for budget in budgets:
        if not 2 <= budget <= min(table.space.size for table in tables):
            raise UsageError(
                "A budget must be at least 2 and at most the number of sequences of every table "
                f"({min(table.space.size for table in tables)}). Got {budget} instead."
            )
    chosen = _estimators(estimators)
    designs = Designs(protocol, draws=draws, seed=draw_seed)
    groups = _groups(tables)
    if unnamed := [table.name for table in tables if table.classes is None]:
        possible = designs.names(tables)
        if lost := [name for name in designs.names([]) if name not in possible]:
            warn(
                f"The class names of {', '.join(unnamed)} are unknown, and so is their similarity; "
                f"protocols that use it are left out there: {', '.join(lost)}."
            )
    if on_start is not None:
        on_start(sum(len(table.methods) for table in tables))
    cells = [
        cell
        for table, group in zip(tables, groups, strict=True)
        for cell in _evaluate(
            table,
            group,
            designs,
            chosen,
            designs.names([table]),
            budgets,
            METRICS.resolve(metric),
        )
    ]
    if estimators is None or "gaussian-learnt" in estimators:
        cells += _evaluate_learnt(tables, groups, designs, budgets, METRICS.resolve(metric))
    return Leaderboard(
        _rows(cells),
        tuple(table.name for table in tables),
        len(set(groups)),
        sum(len(table.accuracies(method)) for table in tables for method in table.methods),
        draws,
        METRICS.resolve(metric),
    )


def _is_partial(table: TruthTable) -> bool:
    """Return whether a table of the user's lacks sequences."""
    from edgecil.lab.truth_files import bundled_tables

    return table.kind != "enumerated" and table not in bundled_tables()


def _describe_partial(table: TruthTable) -> str:
    whole = f" of {table.space.size:,}" if table.space.size < _COUNTABLE else ""
    return f"{table.name} ({len(table.sequences):,}{whole})"


@dataclass(frozen=True)
class _Cell:
    """The average over draws for one truth; `measures` are the fields of a row."""

    protocol: str
    estimator: str
    budget: int
    table: str
    group: int
    measures: dict[str, float | None]


def _estimators(
    names: Sequence[str] | Mapping[str, Callable[[Observations], Estimate]] | None,
) -> list[Estimator]:
    """Return the estimators to evaluate, with the reference; functions become estimators."""
    if isinstance(names, Mapping):
        if REFERENCE[1] in names:
            raise UsageError(
                f"The leaderboard compares with its own estimator {REFERENCE[1]!r}; choose another "
                "name for yours."
            )
        own = [Estimator(name, function, 2, False, "your own") for name, function in names.items()]
        return [get_estimator(REFERENCE[1]), *own]
    wanted = ESTIMATORS if names is None else [name for name in names if name != "gaussian-learnt"]
    return [get_estimator(name) for name in dict.fromkeys([REFERENCE[1], *wanted])]


def _groups(tables: Sequence[TruthTable]) -> list[int]:
    """Number the tables; those whose classes contain all of another's have its number."""
    groups = list(range(len(tables)))
    for i, one in enumerate(tables):
        for j, other in enumerate(tables[:i]):
            if one.dataset != other.dataset or one.classes is None or other.classes is None:
                continue
            if set(one.classes) <= set(other.classes) or set(other.classes) <= set(one.classes):
                both = groups[i], groups[j]
                groups = [min(both) if group in both else group for group in groups]
    return groups


def _evaluate(
    table: TruthTable,
    group: int,
    designs: Designs,
    estimators: Iterable[Estimator],
    protocols: Iterable[str],
    budgets: Sequence[int],
    metric: str,
) -> list[_Cell]:
    values = {method: table.accuracies(method, metric) for method in table.methods}
    by_class = {method: table.class_accuracies(method, metric) for method in table.methods}
    classes = {method: rows for method, rows in by_class.items() if rows is not None}
    repeats = [
        {method: rows[repeat] for method, rows in values.items() if repeat < len(rows)}
        for repeat in range(max(map(len, values.values())))
    ]
    cells = []
    for protocol in protocols:
        for budget in budgets:
            drawn = designs.draw(table, protocol, budget)
            for estimator in estimators:
                used = drawn[:_FEW] if estimator.few_draws and estimator.needs_predictor else drawn
                for repeat, methods in enumerate(repeats):
                    observed = {
                        method: designs.observe(
                            table,
                            protocol,
                            used,
                            accuracies,
                            classes[method][repeat] if method in classes else None,
                        )
                        for method, accuracies in methods.items()
                        if np.ptp(accuracies) > SAME
                    }
                    estimates = {
                        method: estimator.estimates(runs, intervals=True)
                        for method, runs in observed.items()
                        if estimator.obstacle(runs) is None
                    }
                    error = _ranking_error(methods, estimates)
                    cells += [
                        _Cell(
                            protocol,
                            estimator.name,
                            budget,
                            table.name,
                            group,
                            {**_measure(methods[method], some), "ranking_error": error},
                        )
                        for method, some in estimates.items()
                    ]
    return cells


def _measure(truth: Floats, estimates: Sequence[Estimate]) -> dict[str, float | None]:
    distances = Target.of(truth).distances([estimate.distribution for estimate in estimates])
    low, high = np.array([(estimate.min, estimate.max) for estimate in estimates]).T
    missed = np.maximum(low - truth.min(), 0.0) + np.maximum(truth.max() - high, 0.0)
    return {
        "wasserstein": float(distances[:, 1].mean() / truth.std()),
        "jsd": float(distances[:, 0].mean()),
        "mean_coverage": _coverage([one.mean_interval for one in estimates], truth.mean()),
        "std_coverage": _coverage([one.std_interval for one in estimates], truth.std()),
        "missed_range": float(missed.mean() / np.ptp(truth)),
    }


def _coverage(intervals: Sequence[tuple[float, float] | None], value: float) -> float | None:
    """Return the share of intervals that contain a value; missing ones among many do not."""
    if all(interval is None for interval in intervals):
        return None
    hits = [interval is not None and interval[0] <= value <= interval[1] for interval in intervals]
    return float(np.mean(hits))


def _ranking_error(
    truths: Mapping[str, Floats], estimates: Mapping[str, Sequence[Estimate]]
) -> float | None:
    """Return the mean footrule over draws per method and criterion; None with a single method."""
    if len(estimates) < 2:
        return None
    true = rank(
        {
            name: (float(truths[name].min()), float(truths[name].max()), float(truths[name].std()))
            for name in estimates
        }
    )
    numbers = {
        name: [(one.min, one.max, one.distribution.std) for one in some]
        for name, some in estimates.items()
    }
    return average_ranking(numbers, true).error / (3.0 * len(estimates))


def _evaluate_learnt(
    tables: Sequence[TruthTable],
    groups: Sequence[int],
    designs: Designs,
    budgets: Sequence[int],
    metric: str,
) -> list[_Cell]:
    """`gaussian-learnt`: N(mean, (f s)²), f chosen on the truths of all other class sets."""
    cells: list[_Cell] = []
    if len(set(groups)) < 2:
        return cells
    for protocol in designs.names(tables):
        for budget in budgets:
            curves = {
                table.name: scale_curve(table, designs.draw(table, protocol, budget), metric)
                for table in tables
            }
            for table, group in zip(tables, groups, strict=True):
                others = [
                    curves[other.name]
                    for other, place in zip(tables, groups, strict=True)
                    if place != group
                ]
                factor = float(SCALES[np.mean(others, axis=0).argmin()])
                learnt = Estimator("gaussian-learnt", scaled(factor), 2, False, "learnt")
                cells += _evaluate(table, group, designs, [learnt], [protocol], [budget], metric)
    return cells


def _rows(cells: Sequence[_Cell]) -> tuple[LeaderboardRow, ...]:
    by_row: dict[tuple[int, str, str], list[_Cell]] = {}
    for cell in cells:
        by_row.setdefault((cell.budget, cell.protocol, cell.estimator), []).append(cell)
    rows = []
    for (budget, protocol, estimator), some in by_row.items():
        tables = {cell.table for cell in some}
        reference_row = (budget, *REFERENCE)
        reference = [cell for cell in by_row[reference_row] if cell.table in tables]
        rows.append(
            LeaderboardRow(
                protocol,
                estimator,
                budget,
                set_score(*_values(some, "wasserstein"), _values(reference, "wasserstein")),
                set_score(*_values(some, "wasserstein")),
                set_score(*_values(some, "jsd")),
                _optional_score(some, "mean_coverage"),
                _optional_score(some, "std_coverage"),
                set_score(*_values(some, "missed_range")),
                _optional_score(some, "ranking_error"),
            )
        )
    return tuple(sorted(rows, key=lambda row: (row.budget, row.wasserstein.mean)))


def _values(cells: Sequence[_Cell], measure: str) -> tuple[list[float], list[int]]:
    """Return the values of a measure where it is defined, and their groups."""
    pairs = [(cell.measures[measure], cell.group) for cell in cells]
    defined = [(value, group) for value, group in pairs if value is not None]
    return [value for value, _ in defined], [group for _, group in defined]


def _optional_score(cells: Sequence[_Cell], measure: str) -> Score | None:
    values, groups = _values(cells, measure)
    return set_score(values, groups) if values else None
