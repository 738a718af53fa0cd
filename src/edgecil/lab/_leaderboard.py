"""Leaderboard: which protocol and estimator come closest to the truth, on truth tables.

A protocol chooses n sequences, each trained once with a seed of its own; an estimator turns their
accuracies into a distribution, whose distance from the distribution of all runs follows from the
truth table. The average is taken over many draws, over methods, then over sets of classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from edgecil.errors import UsageError, unknown_name_error, warn
from edgecil.io.arrays import Floats, Ints
from edgecil.lab.draws import check_draws, draw_protocol, measure_distances
from edgecil.lab.estimators import ESTIMATORS, Estimator, Observations
from edgecil.lab.truth_tables import TruthSource, TruthTable, truths, varies
from edgecil.runs.metrics import DEFAULT_METRIC, METRICS
from edgecil.sequences.protocols import PROTOCOLS, RANDOM, Protocol
from edgecil.sequences.sequence import ClassSequence
from edgecil.statistics.posterior import independent_variance
from edgecil.statistics.verdicts import LEVEL

if TYPE_CHECKING:
    from edgecil.report.table import Table

BUDGETS = (3, 5, 10, 30)
DEFAULT_PROTOCOLS = ("random", "latin", "edge", "probes")
REFERENCE = ("random", "gaussian-c4")
_MEASURES = ("wasserstein", "jsd", "mean_coverage", "missed_range")


@dataclass(frozen=True)
class Score:
    """A mean over sets of classes.

    Attributes:
        mean: each set counts the same.
        low: lower end of the 90 % interval; None with a single set.
        high: its upper end.
    """

    mean: float
    low: float | None
    high: float | None


def set_score(
    values: Sequence[float],
    sets: Sequence[int],
    reference: tuple[Sequence[float], Sequence[int]] | None = None,
) -> Score:
    """Return the mean over sets of the means within sets, or its ratio to a reference.

    The interval comes from the jackknife over the G sets: ± t √((G-1)/G Σ (mean without g - their
    mean)²) with G-1 degrees of freedom. For a plain mean this is Student's interval of the G means.

    Args:
        values: the numbers.
        sets: the set of each number.
        reference: numbers and sets of the reference; the same sets must occur.

    >>> set_score([1.0, 3.0, 4.0], [0, 0, 1]).mean
    3.0
    """
    means = _set_means(values, sets)
    reference_means = np.ones(len(means)) if reference is None else _set_means(*reference)
    count = len(means)
    mean = float(means.mean() / reference_means.mean())
    if count < 2:
        return Score(mean, None, None)
    without_set = (means.sum() - means) / (reference_means.sum() - reference_means)
    squares = ((without_set - without_set.mean()) ** 2).sum()
    error = np.sqrt((count - 1) / count * squares)
    reach = float(stdtrit(count - 1, (1.0 + LEVEL) / 2.0) * error)
    return Score(mean, mean - reach, mean + reach)


def _set_means(values: Sequence[float], sets: Sequence[int]) -> Floats:
    _, set_of_value = np.unique(np.asarray(sets), return_inverse=True)
    sums = np.bincount(set_of_value, np.asarray(values))
    return np.asarray(sums / np.bincount(set_of_value))


@dataclass(frozen=True)
class LeaderboardRow:
    """One protocol with one estimator and one budget, on tables of one scale.

    Attributes:
        protocol: the protocol's name.
        estimator: the estimator's name.
        budget: n, the number of runs.
        scale: number of classes and tasks, `6 in 3`.
        truths: number of truths: methods of all tables.
        relative: W₁ divided by W₁ of random orders with `gaussian-c4` on the same tables.
        wasserstein: W₁ in standard deviations of the truth.
        jsd: Jensen-Shannon divergence, nats.
        mean_coverage: how often the 90 % interval of the mean holds it.
        missed_range: the part of the true range outside the range of the runs.
    """

    protocol: str
    estimator: str
    budget: int
    scale: str
    truths: int
    relative: Score
    wasserstein: Score
    jsd: Score
    mean_coverage: Score
    missed_range: Score


@dataclass(frozen=True, repr=False)
class Leaderboard:
    """Protocols and estimators, ranked within each scale and budget.

    Attributes:
        rows: by scale and budget, then by W₁, closest first.
        tables: names of the truth tables.
        draws: draws of each protocol.
        metric: whose distribution is estimated.
    """

    rows: tuple[LeaderboardRow, ...]
    tables: tuple[str, ...]
    draws: int
    metric: str

    def __repr__(self) -> str:
        return f"<Leaderboard: {len(self.rows)} rows on {len(self.tables)} tables>"

    def row(
        self, protocol: str, estimator: str, budget: int, scale: str | None = None
    ) -> LeaderboardRow:
        """Return the row of a protocol, an estimator, a budget and a scale, the first one's."""
        wanted = protocol, estimator, budget
        for row in self.rows:
            if (row.protocol, row.estimator, row.budget) == wanted and scale in (None, row.scale):
                return row
        raise UsageError(
            f"The leaderboard has no row for {protocol!r} with {estimator!r} and {budget} runs."
        )


def leaderboard(
    *sources: TruthSource,
    bundled: bool = True,
    protocol: Sequence[str] = DEFAULT_PROTOCOLS,
    estimators: Sequence[str] = tuple(ESTIMATORS),
    budgets: Sequence[int] = BUDGETS,
    draws: int = 20,
    metric: str = DEFAULT_METRIC,
    draw_seed: int = 0,
) -> Leaderboard:
    """Rank protocols and estimators by how close they come to the truth; nothing is trained.

    Every method of a table is one truth: all its runs; methods that hardly vary are left out.
    Tables of random sequences have rows for protocols whose sequences they contain. The 90 %
    intervals come from the jackknife over class sets, because methods on the same classes are not
    independent.

    Args:
        sources: your own truths, as :func:`truths` reads them.
        bundled: include the tables that come with edgecil.
        protocol: names; your own ones by :func:`edgecil.register_protocol`.
        estimators: names in :data:`ESTIMATORS`, to which your own functions can be added: from
            :class:`Observations` to a list of distributions.
        budgets: numbers of runs.
        draws: draws of each protocol, the same for all truths of a table.
        metric: `accuracy`, `last`, `average`, `forgetting` or `bwt`.
        draw_seed: seed of the draws.

    >>> board = leaderboard(protocol=["latin"], estimators=["gaussian"], budgets=[3], draws=5)
    >>> board.row("random", "gaussian-c4", 3).relative.mean
    1.0
    """
    check_draws(draws)
    metric = METRICS.resolve(metric)
    tables = truths(*sources, bundled=bundled, metric=metric)
    if not tables:
        raise UsageError("A leaderboard requires at least one truth table. Got none.")
    if not budgets or min(budgets) < 2:
        raise UsageError(f"Budgets must be integers of at least 2. Got {list(budgets)} instead.")
    protocols: dict[str, Protocol] = {RANDOM.name: RANDOM}
    for name in protocol:
        protocols[PROTOCOLS[name].name] = PROTOCOLS[name]
    for name, chosen in protocols.items():
        if chosen.asks_model or chosen.exhaustive:
            raise UsageError(f"Protocol {name!r} has no random draws to average over.")
    for name in estimators:
        if name not in ESTIMATORS:
            raise unknown_name_error("estimator", name, ESTIMATORS)
    makers = {name: ESTIMATORS[name] for name in (REFERENCE[1], *estimators)}
    cells: list[_Cell] = []
    for table, group in zip(tables, _groups(tables), strict=True):
        cells += _evaluate(table, group, protocols, makers, budgets, draws, metric, draw_seed)
        evaluated = {cell.key[0] for cell in cells if cell.table == table.name}
        lost = [name for name in protocols if name not in evaluated]
        if lost and not bundled:
            warn(f"{table.name} does not have the sequences, or the names, for {', '.join(lost)}.")
    return Leaderboard(_rows(cells), tuple(table.name for table in tables), draws, metric)


@dataclass(frozen=True)
class _Cell:
    """The average over draws for one truth.

    Attributes:
        key: protocol, estimator, budget and scale.
        table: name of the truth table.
        group: number of the set of classes.
        measures: mean of each measure.
    """

    key: tuple[str, str, int, str]
    table: str
    group: int
    measures: dict[str, float]


def _groups(tables: Sequence[TruthTable]) -> list[int]:
    """Number the tables; tables of which one has all classes of the other share a number."""
    groups = list(range(len(tables)))
    for i, table in enumerate(tables):
        for j, earlier in enumerate(tables[:i]):
            if table.dataset != earlier.dataset:
                continue
            if table.classes is None or earlier.classes is None:
                continue
            classes, earlier_classes = set(table.classes), set(earlier.classes)
            if classes <= earlier_classes or earlier_classes <= classes:
                joined = groups[i], groups[j]
                groups = [min(joined) if group in joined else group for group in groups]
    return groups


def _evaluate(
    table: TruthTable,
    group: int,
    protocols: Mapping[str, Protocol],
    estimators: Mapping[str, Estimator],
    budgets: Sequence[int],
    draws: int,
    metric: str,
    seed: int,
) -> Iterator[_Cell]:
    scale = f"{table.space.classes} in {table.space.tasks}"
    size = len(table.sequences)
    rng = np.random.default_rng(seed)
    structured = () if table.structured is None else table.structured.sequences
    sequences = (*table.sequences, *structured)
    place_of = {sequence: place for place, sequence in reversed(list(enumerate(sequences)))}
    for name, protocol in protocols.items():
        fixed = _constructed(table, protocol, place_of)
        if fixed is None:
            continue
        for budget in budgets:
            if budget > size:
                continue
            places = draw_protocol(
                protocol, table.space, place_of, size, budget, draws=draws, seed=seed, fixed=fixed
            )
            if places is None:
                continue
            for method in table.methods:
                truth = table.accuracies(method, metric)
                if not varies(truth):
                    continue
                runs = Observations(*_take(table, method, metric, places, rng))
                covered = _mean_coverage(runs, truth)
                for estimator, make in estimators.items():
                    measures = _measure(runs, truth, make) | {"mean_coverage": covered}
                    yield _Cell((name, estimator, budget, scale), table.name, group, measures)


def _mean_coverage(runs: Observations, truth: Floats) -> float:
    """Return the share of draws whose interval of the mean holds the true mean."""
    below = runs.posterior().cdf("mean", np.full(len(runs.accuracies), truth.mean()))
    return float((np.abs(below - 0.5) <= LEVEL / 2.0).mean())


def _measure(runs: Observations, truth: Floats, estimator: Estimator) -> dict[str, float]:
    """Return the distances of an estimate from the truth, averaged over draws."""
    distances = measure_distances(truth.ravel(), runs.accuracies, estimator(runs))
    wasserstein, jsd, missed = distances.mean(axis=0)
    return {
        "wasserstein": float(wasserstein / truth.std()),
        "jsd": float(jsd),
        "missed_range": float(missed / np.ptp(truth)),
    }


def _take(
    table: TruthTable, method: str, metric: str, places: Ints, rng: np.random.Generator
) -> tuple[Floats, Floats | None]:
    """Return the values of drawn orders, each of a random repeat, and the class variance."""
    parts = [table] if table.structured is None else [table, table.structured]
    with_method = [part for part in parts if method in part.methods]
    values_of_parts = [part.accuracies(method, metric) for part in with_method]
    repeats = min(map(len, values_of_parts))
    all_values = np.concatenate([values[:repeats] for values in values_of_parts], axis=1)
    seeds = rng.integers(0, repeats, places.shape)
    class_values = []
    for part in with_method:
        values = part.class_accuracies(method, metric)
        if values is None:
            return all_values[seeds, places], None
        class_values.append(values[:repeats])
    classes = np.concatenate(class_values, axis=1)[seeds, places]
    tasks = np.concatenate([part.tasks for part in parts])[places]
    return all_values[seeds, places], independent_variance(classes, tasks)


def _constructed(
    table: TruthTable, protocol: Protocol, place_of: Mapping[ClassSequence, int]
) -> list[int] | None:
    """Return positions of the sequences that a protocol constructs; None if some are missing."""
    if protocol.random:
        return []
    if protocol.needs_similarity and table.classes is None:
        return None
    if table.kind == "sample":  # its constructed orders are labelled with their protocol
        labels = () if table.structured is None else table.structured.labels
        if not any(label.split()[0] == protocol.name for label in labels):
            return None
    similarity = table.similarity() if protocol.needs_similarity else None
    labelled = protocol.draw(table.space, similarity=similarity)
    constructed = [run.sequence for run in labelled if protocol.role(run.label) == "constructed"]
    if any(sequence not in place_of for sequence in constructed):
        return None
    return sorted({place_of[sequence] for sequence in constructed})


def _rows(cells: Sequence[_Cell]) -> tuple[LeaderboardRow, ...]:
    cells_of_row: dict[tuple[str, str, int, str], list[_Cell]] = {}
    for cell in cells:
        cells_of_row.setdefault(cell.key, []).append(cell)
    rows = []
    for key, members in cells_of_row.items():
        tables = {cell.table for cell in members}
        _, _, budget, scale = key
        reference_key = (*REFERENCE, budget, scale)
        reference = [cell for cell in cells_of_row[reference_key] if cell.table in tables]
        relative = set_score(*_values(members, "wasserstein"), _values(reference, "wasserstein"))
        scores = [set_score(*_values(members, name)) for name in _MEASURES]
        rows.append(LeaderboardRow(*key, len(members), relative, *scores))
    scales = list(dict.fromkeys(row.scale for row in rows))

    def rank(row: LeaderboardRow) -> tuple[int, int, float]:
        return scales.index(row.scale), row.budget, row.wasserstein.mean

    return tuple(sorted(rows, key=rank))


def _values(cells: Sequence[_Cell], measure: str) -> tuple[list[float], list[int]]:
    """Return a measure of cells, and their sets of classes."""
    return [cell.measures[measure] for cell in cells], [cell.group for cell in cells]


def leaderboard_tables(board: Leaderboard) -> Iterator[Table | str]:
    """Return a table for each budget: a row per protocol and estimator, scales side by side."""
    from edgecil.report.table import Column, make_table

    scales = list(dict.fromkeys(row.scale for row in board.rows))
    for budget in sorted({row.budget for row in board.rows}):
        rows: dict[tuple[str, str], dict[str, LeaderboardRow]] = {}
        for row in board.rows:
            if row.budget == budget:
                rows.setdefault((row.protocol, row.estimator), {})[row.scale] = row
        with_budget = {row.scale for row in board.rows if row.budget == budget}
        scales_of_budget = [scale for scale in scales if scale in with_budget]
        columns: list[Column | str] = ["protocol", "estimator"]
        for scale in scales_of_budget:
            columns += [Column(f"W₁, {scale}", 2), "interval", Column("covered", 2)]
        cells = []
        for names, row_of_scale in rows.items():
            line: list[str | float | None] = [*names]
            for scale in scales_of_budget:
                if scale not in row_of_scale:
                    line += [None] * 3
                    continue
                scores = row_of_scale[scale]
                low, high = scores.relative.low, scores.relative.high
                interval = None if low is None else f"{low:.2f}–{high:.2f}"
                line += [scores.relative.mean, interval, scores.mean_coverage.mean]
            cells.append(line)
        yield make_table(columns, cells, title=f"{budget} runs", name=f"leaderboard-{budget}")
    yield (
        f"Means over {len(board.tables)} tables, {board.draws} draws of each protocol; each run is "
        "a new order with a training seed of its own. Rows are sorted by the first scale.\n"
        "W₁: distance to the truth as a multiple of that of random + gaussian-c4, with a 90 % "
        "interval over class sets.\n"
        "covered: share of draws whose 90 % interval of the mean contains the true mean."
    )
