"""Effects of class orders on learners, on the truth tables: `python -m edgecil.lab orders`.

A scale is a dataset with a number of classes and tasks, such as `caltech101 100/10`. Accuracies
belong to single trainings unless something else is stated; intervals are of 90 %.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from scipy.special import ndtri, stdtrit

from edgecil.io.arrays import Floats
from edgecil.lab.truth_tables import TruthTable, membership, truths
from edgecil.sequences.objective import applicable_objectives
from edgecil.similarity.images import class_means
from edgecil.statistics.posterior import Interval
from edgecil.statistics.variance import split_variance
from edgecil.statistics.verdicts import LEVEL

Row: TypeAlias = dict[str, Any]

_DRAWS = 400
_MOST_ORDERS = 60
_EDGE = ("edge hard text", "edge easy text")


@dataclass(frozen=True)
class OrderEffects:
    """The measurements as rows of named columns.

    Attributes:
        shares: by scale and learner, the standard deviations due to the order and to training in
            points, and the share of the order in the variance of single trainings; the interval is
            over sets of classes, or over the orders of one set.
        relations: by scale, similarity (`text`: names, `image`: class means of the inputs) and
            objective, its correlation with the mean accuracy of an order: over learners and sets
            of classes, with the 90 % range if class names are exchanged at random (placebo).
        structured: by order and learner, its accuracy minus the mean of random orders, the same in
            standard deviations, and the share of random orders that are lower; the first row has
            mean, standard deviation, minimum and maximum of random orders.
        designs: by learner, the variance of the mean of a Latin design relative to random orders;
            the Wasserstein distance from all runs of EDGE's three (names) and of three random
            orders in standard deviations; and how many random orders come as close as EDGE's.
    """

    shares: tuple[Row, ...]
    relations: tuple[Row, ...]
    structured: tuple[Row, ...]
    designs: tuple[Row, ...]


def order_effects(
    tables: Sequence[TruthTable] | None = None, *, placebos: int = 60
) -> OrderEffects:
    """Measure what class orders do to learners on truth tables; nothing is trained.

    Args:
        tables: the bundled ones by default.
        placebos: exchanges of the class names for the placebo.
    """
    relations: list[Row] = []
    structured_rows: list[Row] = []
    designs: list[Row] = []
    for scale, tables_of_scale in _by_scale(tables).items():
        relations += _relations(scale, tables_of_scale, placebos)
        for table in tables_of_scale:
            if table.structured is not None:
                structured_rows += _compare_structured(table, table.structured)
                designs += [_design(table, name, table.structured) for name in _varying(table)]
    return OrderEffects(
        order_shares(tables), tuple(relations), tuple(structured_rows), tuple(designs)
    )


def order_shares(tables: Sequence[TruthTable] | None = None) -> tuple[Row, ...]:
    """Return the rows of :attr:`OrderEffects.shares`."""
    rows: list[Row] = []
    for scale, tables_of_scale in _by_scale(tables).items():
        rows += _shares(scale, tables_of_scale)
    return tuple(rows)


def _by_scale(tables: Iterable[TruthTable] | None) -> dict[str, list[TruthTable]]:
    scales: dict[str, list[TruthTable]] = {}
    for table in truths() if tables is None else tables:
        name = f"{table.dataset} {table.space.classes}/{table.space.tasks}"
        scales.setdefault(name, []).append(table)
    return scales


def _varying(table: TruthTable) -> list[str]:
    """Return the methods whose accuracy depends on the order or the training."""
    return [method for method in table.methods if np.ptp(table.accuracies(method)) > 0.5]


def _interval(values: Floats, least: float) -> Interval | None:
    """Return the 90 % interval of a mean in [least, 1] by Student's t; None from one value."""
    if len(values) < 2:
        return None
    reach = stdtrit(len(values) - 1, (1 + LEVEL) / 2) * values.std(ddof=1) / np.sqrt(len(values))
    return max(least, float(values.mean() - reach)), min(1.0, float(values.mean() + reach))


def _shares(scale: str, tables: Sequence[TruthTable]) -> Iterable[Row]:
    for method in dict.fromkeys(chain.from_iterable(table.methods for table in tables)):
        repeated = []  # accuracies (repeats, orders) of each set of classes
        for table in tables:
            if method in table.methods and len(table.accuracies(method)) > 1:
                repeated.append(table.accuracies(method))
        if not repeated:
            continue
        effects = [split_variance(list(values.T)) for values in repeated]
        order_variance = np.mean([(effect.order_std or 0.0) ** 2 for effect in effects])
        training_variance = np.mean([(effect.noise_std or 0.0) ** 2 for effect in effects])
        all_shares = [effect.order_share for effect in effects]
        shares = np.array([share for share in all_shares if share is not None])
        interval = effects[0].order_share_interval
        if len(repeated) > 1:
            interval = _interval(shares, 0.0)
        yield {
            "scale": scale,
            "learner": method,
            "sets": len(repeated),
            "orders": repeated[0].shape[1],
            "mean": float(np.mean([values.mean() for values in repeated])),
            "order std": float(order_variance) ** 0.5,
            "training std": float(training_variance) ** 0.5,
            "share": float(shares.mean()) if len(shares) else None,
            "interval": interval,
        }


def _similarities(table: TruthTable) -> dict[str, Floats]:
    """Return the similarities (N, N) of names and, where inputs are vectors, of class means."""
    assert table.classes is not None
    sources = {"text": table.similarity(), "image": class_means(table.dataset)}
    matrices = {}
    for source, similarity in sources.items():
        if similarity is not None:
            rows = [similarity.names.index(name) for name in table.classes]
            matrices[source] = np.array(similarity.submatrix(np.array(rows)))
            np.fill_diagonal(matrices[source], 0.0)
    return matrices


def _relations(scale: str, tables: Sequence[TruthTable], placebos: int) -> Iterable[Row]:
    rng = np.random.default_rng(0)
    objectives = applicable_objectives(tables[0].space)
    weights = {name: objective.weights for name, objective in objectives.items()}
    matrices_of_sets = [_similarities(table) for table in tables]
    for source in matrices_of_sets[0]:
        matrices = [matrix_of_source[source] for matrix_of_source in matrices_of_sets]
        correlations = [
            _correlations(table, values, weights)
            for table, values in zip(tables, matrices, strict=True)
        ]
        placebo_means: dict[str, list[float]] = {name: [] for name in weights}
        for _ in range(placebos):
            placebo = _shuffled_correlations(tables, matrices, weights, rng)
            for name in weights:
                placebo_means[name].append(float(np.mean(_set_means(placebo, name))))
        structured = None
        for table, values in zip(tables, matrices, strict=True):
            if table.structured is not None and structured is None:
                structured = _correlations(table.structured, values, weights)
        for name in weights:
            set_means = np.array(_set_means(correlations, name))
            low, high = np.quantile(placebo_means[name], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
            yield {
                "scale": scale,
                "similarity": source,
                "objective": name,
                "r": float(set_means.mean()),
                "interval": _interval(set_means, -1.0),
                "placebo": (float(low), float(high)),
                "learners": _method_means(correlations, name),
                "structured orders": None if structured is None else structured[name],
            }


# By objective and method, the correlation with the mean accuracy of each order.
_Correlations: TypeAlias = dict[str, dict[str, float]]


def _set_means(correlations: Sequence[_Correlations], objective: str) -> list[float]:
    """Return the mean over methods for each set of classes."""
    return [float(np.mean(list(of_set[objective].values()))) for of_set in correlations]


def _method_means(correlations: Sequence[_Correlations], objective: str) -> dict[str, float]:
    """Return the mean over sets of classes for each method."""
    values: dict[str, list[float]] = {}
    for of_set in correlations:
        for method, correlation in of_set[objective].items():
            values.setdefault(method, []).append(correlation)
    return {method: float(np.mean(of_method)) for method, of_method in values.items()}


def _shuffled_correlations(
    tables: Sequence[TruthTable],
    matrices: Sequence[Floats],
    weights: Mapping[str, Floats],
    rng: np.random.Generator,
) -> list[_Correlations]:
    """Return the correlations if class names are exchanged at random."""
    shuffles = [rng.permutation(len(values)) for values in matrices]
    correlations = []
    for table, values, shuffle in zip(tables, matrices, shuffles, strict=True):
        shuffled = values[np.ix_(shuffle, shuffle)]
        correlations.append(_correlations(table, shuffled, weights))
    return correlations


def _correlations(
    table: TruthTable, values: Floats, weights: Mapping[str, Floats]
) -> _Correlations:
    """Return the correlation of objectives with the mean accuracy of each order, by method."""
    member = membership(table.sequences).astype(np.float64)
    between = (member @ values) @ member.swapaxes(1, 2)  # (n, K, K)
    means = {method: table.accuracies(method).mean(axis=0) for method in _varying(table)}
    correlations: _Correlations = {}
    for name, task_weights in weights.items():
        scores = np.einsum("nij,ij->n", between, task_weights)
        correlations[name] = {
            method: float(np.corrcoef(scores, mean)[0, 1]) for method, mean in means.items()
        }
    return correlations


def _compare_structured(table: TruthTable, structured: TruthTable) -> Iterable[Row]:
    """Yield the rows of :attr:`OrderEffects.structured` for one table."""
    first_row: Row = {"order": "random: mean ± std (range)"}
    random_accuracies = {method: table.accuracies(method) for method in _varying(table)}
    for method, values in random_accuracies.items():
        first_row[method] = values.mean(), values.std(), values.min(), values.max()
    yield first_row
    structured_means = {
        method: structured.accuracies(method).mean(axis=0) for method in random_accuracies
    }
    for place, label in enumerate(structured.labels):
        row: Row = {"order": label}
        for method, values in random_accuracies.items():
            accuracy = float(structured_means[method][place])
            difference = accuracy - float(values.mean())
            share_below = float((values.mean(axis=0) < accuracy).mean())
            row[method] = difference, difference / float(values.std()), share_below
        yield row


def _design(table: TruthTable, method: str, structured: TruthTable) -> Row:
    """Return the row of :attr:`OrderEffects.designs` for one learner."""
    truth = np.sort(table.accuracies(method).ravel())
    rng = np.random.default_rng(0)
    draws = truth[rng.integers(len(truth), size=(_DRAWS, _MOST_ORDERS))]
    distance_of_count = {
        count: _wasserstein(truth, draws[:, :count], ddof=1).mean()
        for count in range(3, _MOST_ORDERS + 1)
    }
    edge_distance = count_as_close = None
    if set(_EDGE) <= set(structured.labels):
        edge_places = [structured.labels.index(label) for label in _EDGE]
        distances = []
        for hard_and_easy in structured.accuracies(method)[:, edge_places]:
            three_runs = np.column_stack([np.tile(hard_and_easy, (_DRAWS, 1)), draws[:, 0]])
            distances.append(_wasserstein(truth, three_runs, ddof=0))
        edge_distance = float(np.mean(distances))
        for count, distance in distance_of_count.items():
            if distance <= edge_distance:
                count_as_close = count
                break
    return {
        "learner": method,
        "Latin": _latin_ratio(table, method),
        "EDGE's three": edge_distance,
        "three random": float(distance_of_count[3]),
        "as many random": count_as_close,
    }


def _wasserstein(truth: Floats, runs: Floats, *, ddof: int) -> Floats:
    """Return W₁ between the Gaussian of each row of runs and sorted truths, in their std."""
    normal = ndtri((np.arange(len(truth)) + 0.5) / len(truth))
    mean = runs.mean(axis=1, keepdims=True)
    std = runs.std(axis=1, ddof=ddof, keepdims=True)
    distances: Floats = np.abs(mean + std * normal - truth).mean(axis=1) / truth.std()
    return distances


def _latin_ratio(table: TruthTable, method: str) -> float:
    """Return one minus the variance that additive effects of classes at positions explain.

    The variance of Σ_c d(c, position of c)/N over random orders is Σ d²/(K (N-1) N) for a matrix
    d (N, K) whose rows and columns sum to zero (Hoeffding's combinatorial theorem); the part of the
    estimated d that is due to noise is subtracted.
    """
    rows = table.class_accuracies(method)
    assert rows is not None
    count, N = rows.shape[1:]
    K = table.space.tasks
    values = rows.mean(axis=0)
    member = membership(table.sequences).astype(np.float64)
    visits = member.sum(axis=0).T  # (N, K) orders with a class at a position
    cell_mean = np.einsum("nkc,nc->ck", member, values) / visits
    cell_variance = np.einsum("nkc,nc->ck", member, values**2) / visits - cell_mean**2
    noise = cell_variance / np.maximum(visits - 1, 1)
    class_mean = cell_mean.mean(axis=1, keepdims=True)
    d = cell_mean - class_mean - cell_mean.mean(axis=0) + cell_mean.mean()
    noise_part = (1 - 1 / K) * (1 - 1 / N) * noise.sum()
    explained = ((d**2).sum() - noise_part) / (K * (N - 1) * N)
    total = float(rows.mean(axis=2).var(ddof=1)) if count > 1 else 1.0
    return float(np.clip(1.0 - explained / total, 0.0, 1.0))


def format_order_effects(measured: OrderEffects) -> Iterator[str]:
    """Yield the measurements as tables in Markdown."""
    titles = {
        "Share of the class order in the variance between trainings": measured.shares,
        "Correlation of objectives with accuracy over orders": measured.relations,
        "Structured orders: points from the mean of random orders (standard deviations; per cent "
        "of random orders below)": measured.structured,
        "Designs: variance of a Latin mean over random; W₁ from all runs": measured.designs,
    }
    for title, rows in titles.items():
        columns = list(rows[0]) if rows else []
        yield f"**{title}**\n"
        lines = [columns, ["---"] * len(columns)]
        lines += [list(map(_cell, row.values())) for row in rows]
        for cells in lines:
            yield f"| {' | '.join(cells)} |"
        yield ""
    yield ""


def _cell(value: Any) -> str:
    match value:
        case None:
            return "–"
        case float():
            return f"{value:.2f}"
        case dict():
            return ", ".join(f"{name} {number:+.2f}" for name, number in value.items())
        case (low, high):
            return f"{low:.2f} to {high:.2f}"
        case (difference, z, below):
            return f"{difference:+.1f} ({z:+.1f}; {100 * below:.0f})"
        case (mean, std, low, high):
            return f"{mean:.1f} ± {std:.1f} ({low:.1f}–{high:.1f})"
    return str(value)
