"""What class orders do to learners, on the truth tables: `python -m edgecil.lab orders`.

A scale is a dataset with a number of classes and tasks, such as `caltech101 100/10`. Accuracies are
those of single trainings unless something else is said; intervals are of 90 %.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    scales = _by_scale(tables)
    relations = (row for name, some in scales.items() for row in _relations(name, some, placebos))
    placed: list[Row] = []
    designs: list[Row] = []
    for table in (table for some in scales.values() for table in some if table.structured):
        assert table.structured is not None
        placed += _placed(table, table.structured)
        designs += [_design(table, name, table.structured) for name in _varying(table)]
    return OrderEffects(order_shares(tables), tuple(relations), tuple(placed), tuple(designs))


def order_shares(tables: Sequence[TruthTable] | None = None) -> tuple[Row, ...]:
    """Return the rows of :attr:`OrderEffects.shares`."""
    scales = _by_scale(tables)
    return tuple(share for name, some in scales.items() for share in _shares(name, some))


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
    for method in dict.fromkeys(method for table in tables for method in table.methods):
        own = [t.accuracies(method) for t in tables if method in t.methods]
        repeated = [values for values in own if len(values) > 1]
        if not repeated:
            continue
        effects = [split_variance(list(values.T)) for values in repeated]
        order, noise = (
            float(np.mean([(one or 0.0) ** 2 for one in some]))
            for some in zip(*((it.order_std, it.noise_std) for it in effects), strict=True)
        )
        known = np.array([it.order_share for it in effects if it.order_share is not None])
        yield {
            "scale": scale,
            "learner": method,
            "sets": len(repeated),
            "orders": repeated[0].shape[1],
            "mean": float(np.mean([values.mean() for values in repeated])),
            "order std": order**0.5,
            "training std": noise**0.5,
            "share": float(known.mean()) if len(known) else None,
            "interval": (
                _interval(known, 0.0) if len(repeated) > 1 else effects[0].order_share_interval
            ),
        }


def _similarities(table: TruthTable) -> dict[str, Floats]:
    """Return the similarities (N, N) of names and, where inputs are vectors, of class means."""
    assert table.classes is not None
    sources = {"text": table.similarity(), "image": class_means(table.dataset)}
    made = {}
    for source, similarity in sources.items():
        if similarity is not None:
            places = [similarity.names.index(name) for name in table.classes]
            made[source] = np.array(similarity.submatrix(np.array(places)))
            np.fill_diagonal(made[source], 0.0)
    return made


def _relations(scale: str, tables: Sequence[TruthTable], placebos: int) -> Iterable[Row]:
    rng = np.random.default_rng(0)
    weights = {n: it.weights for n, it in applicable_objectives(tables[0].space).items()}
    matrices = [_similarities(table) for table in tables]
    for source in matrices[0]:
        plain = [own[source] for own in matrices]
        found = [_correlations(t, v, weights) for t, v in zip(tables, plain, strict=True)]
        luck = []
        for _ in range(placebos):
            shuffled = [rng.permutation(len(values)) for values in plain]
            again = [
                _correlations(table, values[np.ix_(order, order)], weights)
                for table, values, order in zip(tables, plain, shuffled, strict=True)
            ]
            luck.append({name: np.mean([_mean(own[name]) for own in again]) for name in weights})
        beside = [
            _correlations(table.structured, values, weights)
            for table, values in zip(tables, plain, strict=True)
            if table.structured is not None
        ]
        for name in weights:
            by_set = np.array([_mean(own[name]) for own in found])
            methods = dict.fromkeys(method for own in found for method in own[name])
            low, high = np.quantile([own[name] for own in luck], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
            by_method = {
                method: float(np.mean([own[name][method] for own in found if method in own[name]]))
                for method in methods
            }
            yield {
                "scale": scale,
                "similarity": source,
                "objective": name,
                "r": float(by_set.mean()),
                "interval": _interval(by_set, -1.0),
                "placebo": (float(low), float(high)),
                "learners": by_method,
                "structured orders": beside[0][name] if beside else None,
            }


def _mean(values: Mapping[str, float]) -> float:
    return float(np.mean(list(values.values())))


def _correlations(
    table: TruthTable, values: Floats, weights: Mapping[str, Floats]
) -> dict[str, dict[str, float]]:
    """By objective and method, the correlation with the mean accuracy of each order."""
    member = membership(table.sequences).astype(np.float64)
    between = (member @ values) @ member.swapaxes(1, 2)  # (n, K, K)
    scores = {name: np.einsum("nij,ij->n", between, own) for name, own in weights.items()}
    means = {method: table.accuracies(method).mean(axis=0) for method in _varying(table)}
    return {
        name: {method: float(np.corrcoef(own, mean)[0, 1]) for method, mean in means.items()}
        for name, own in scores.items()
    }


def _placed(table: TruthTable, structured: TruthTable) -> Iterable[Row]:
    random = {method: table.accuracies(method) for method in _varying(table)}
    made = {method: structured.accuracies(method).mean(axis=0) for method in random}
    first = {m: (own.mean(), own.std(), own.min(), own.max()) for m, own in random.items()}
    yield {"order": "random: mean ± std (range)", **first}
    for place, label in enumerate(structured.labels):
        row: Row = {"order": label}
        for method, own in random.items():
            accuracy = float(made[method][place])
            difference = accuracy - float(own.mean())
            below = float((own.mean(axis=0) < accuracy).mean())
            row[method] = difference, difference / float(own.std()), below
        yield row


def _design(table: TruthTable, method: str, structured: TruthTable) -> Row:
    truth = np.sort(table.accuracies(method).ravel())
    rng = np.random.default_rng(0)
    draws = truth[rng.integers(len(truth), size=(_DRAWS, _MOST_ORDERS))]
    by_count = {
        count: _wasserstein(truth, draws[:, :count], ddof=1).mean()
        for count in range(3, _MOST_ORDERS + 1)
    }
    edge = needed = None
    if set(_EDGE) <= set(structured.labels):
        ends = structured.accuracies(method)[:, [structured.labels.index(own) for own in _EDGE]]
        runs = [np.column_stack([np.tile(pair, (_DRAWS, 1)), draws[:, 0]]) for pair in ends]
        edge = float(np.mean([_wasserstein(truth, some, ddof=0) for some in runs]))
        needed = next((count for count, own in by_count.items() if own <= edge), None)
    return {
        "learner": method,
        "Latin": _latin_ratio(table, method),
        "EDGE's three": edge,
        "three random": float(by_count[3]),
        "as many random": needed,
    }


def _wasserstein(truth: Floats, runs: Floats, *, ddof: int) -> Floats:
    """Return W₁ between the Gaussian of each row of runs and sorted truths, in their std."""
    normal = ndtri((np.arange(len(truth)) + 0.5) / len(truth))
    mean, std = runs.mean(axis=1, keepdims=True), runs.std(axis=1, ddof=ddof, keepdims=True)
    distances: Floats = np.abs(mean + std * normal - truth).mean(axis=1) / truth.std()
    return distances


def _latin_ratio(table: TruthTable, method: str) -> float:
    """Return one minus the variance that additive effects of classes at positions explain.

    The variance of Σ_c d(c, position of c)/N over random orders is Σ d²/(K (N-1) N) for a matrix
    d (N, K) whose rows and columns sum to zero (Hoeffding's combinatorial theorem); what noise adds
    to the estimated d is subtracted.
    """
    rows = table.class_accuracies(method)
    assert rows is not None
    count, N = rows.shape[1:]
    K = table.space.tasks
    values = rows.mean(axis=0)
    member = membership(table.sequences).astype(np.float64)
    seen = member.sum(axis=0).T
    cell = np.einsum("nkc,nc->ck", member, values) / seen
    squares = np.einsum("nkc,nc->ck", member, values**2) / seen - cell**2
    noise = squares / np.maximum(seen - 1, 1)
    d = cell - cell.mean(axis=1, keepdims=True) - cell.mean(axis=0) + cell.mean()
    explained = ((d**2).sum() - (1 - 1 / K) * (1 - 1 / N) * noise.sum()) / (K * (N - 1) * N)
    single = float(rows.mean(axis=2).var(ddof=1)) if count > 1 else 1.0
    return float(np.clip(1.0 - explained / single, 0.0, 1.0))


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
        for cells in (columns, ["---"] * len(columns), *(map(_cell, it.values()) for it in rows)):
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
            return ", ".join(f"{name} {own:+.2f}" for name, own in value.items())
        case (low, high):
            return f"{low:.2f} to {high:.2f}"
        case (difference, z, below):
            return f"{difference:+.1f} ({z:+.1f}; {100 * below:.0f})"
        case (mean, std, low, high):
            return f"{mean:.1f} ± {std:.1f} ({low:.1f}–{high:.1f})"
    return str(value)
