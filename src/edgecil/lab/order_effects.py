"""What class orders do to learners, on the truth tables: measured by `edgecil lab orders`.

A scale is a dataset with a number of classes and tasks, such as `caltech101 100/10`. Accuracies are
those of single trainings unless something else is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from edgecil.estimation.population import LEVEL, Interval
from edgecil.estimation.variance import split_variance
from edgecil.io.arrays import Floats
from edgecil.lab.truth_tables import TruthTable, membership, truths
from edgecil.sequences.objective import applicable_objectives
from edgecil.sequences.sequence import ClassSequence
from edgecil.similarity.images import class_means

_DRAWS = 400
_MOST_ORDERS = 60
_EDGE = ("edge hard text", "edge easy text")


@dataclass(frozen=True)
class Share:
    """How much of a learner's variance is due to the class order.

    Attributes:
        scale: dataset, classes and tasks.
        method: the learner.
        sets: number of sets of classes.
        orders: number of orders of each set.
        mean: accuracy over orders and trainings.
        order_std: due to the order, in points.
        noise_std: between trainings of one order.
        share: of the order, in [0, 1]; None if nothing varies.
        interval: 90 %, over sets of classes; of one set over its orders.
    """

    scale: str
    method: str
    sets: int
    orders: int
    mean: float
    order_std: float
    noise_std: float
    share: float | None
    interval: Interval | None


@dataclass(frozen=True)
class Relation:
    """The correlation of an objective with accuracy over orders, mean over trainings.

    Attributes:
        scale: dataset, classes and tasks.
        source: of the similarity: `text` for names, `image` for class means of the inputs.
        objective: its name.
        methods: by learner, over random or all orders, the mean over sets of classes.
        structured: by learner, over structured orders; empty without any.
        mean: over learners and sets.
        interval: 90 %, over sets of classes; None with one.
        placebo: 90 % range of the mean if the names of the classes are exchanged at random.
    """

    scale: str
    source: str
    objective: str
    methods: dict[str, float]
    structured: dict[str, float]
    mean: float
    interval: Interval | None
    placebo: Interval


@dataclass(frozen=True)
class Placed:
    """A structured order among the random ones.

    Attributes:
        label: of the order.
        difference: by learner, its accuracy minus the mean of random orders, mean over trainings.
        z: by learner, the same in standard deviations of single trainings on random orders.
        below: by learner, the share of random orders whose mean accuracy is lower.
    """

    label: str
    difference: dict[str, float]
    z: dict[str, float]
    below: dict[str, float]


@dataclass(frozen=True)
class Design:
    """What other designs than independent random orders give.

    Attributes:
        method: the learner.
        latin: variance of the mean of a Latin design relative to as many random orders: one minus
            the part of the variance that the positions of single classes explain.
        edge: Wasserstein distance between the Gaussian of EDGE's three runs (names; hard, a random
            order, easy) and the random orders, in their standard deviations.
        random: the same for three random orders.
        needed: number of random orders whose distance is as small; None beyond 60.
    """

    method: str
    latin: float
    edge: float | None
    random: float
    needed: int | None


@dataclass(frozen=True)
class OrderEffects:
    """The measurements; `placed` and `designs` are of the tables with structured orders."""

    shares: tuple[Share, ...]
    relations: tuple[Relation, ...]
    random: dict[str, tuple[float, float, float, float]]
    placed: tuple[Placed, ...]
    designs: tuple[Design, ...]


def order_effects(
    tables: Sequence[TruthTable] | None = None, *, placebos: int = 60
) -> OrderEffects:
    """Measure what class orders do to learners on truth tables; nothing is trained.

    Args:
        tables: the bundled ones by default.
        placebos: exchanges of the class names for the placebo.
    """
    scales = _by_scale(truths() if tables is None else tables)
    relations = [one for name, some in scales.items() for one in _relations(name, some, placebos)]
    random: dict[str, tuple[float, float, float, float]] = {}
    placed: list[Placed] = []
    designs: list[Design] = []
    for table in (table for some in scales.values() for table in some if table.structured):
        assert table.structured is not None
        values = {method: table.accuracies(method) for method in _varying(table)}
        random |= {
            method: (own.mean(), own.std(), own.min(), own.max()) for method, own in values.items()
        }
        placed += _placed(values, table.structured)
        designs += [_design(table, method, table.structured) for method in values]
    return OrderEffects(
        order_shares(tables), tuple(relations), random, tuple(placed), tuple(designs)
    )


def order_shares(tables: Sequence[TruthTable] | None = None) -> tuple[Share, ...]:
    """Return the share of the class order of every method at every scale."""
    scales = _by_scale(truths() if tables is None else tables)
    return tuple(share for name, some in scales.items() for share in _shares(name, some))


def _by_scale(tables: Iterable[TruthTable]) -> dict[str, list[TruthTable]]:
    scales: dict[str, list[TruthTable]] = {}
    for table in tables:
        scales.setdefault(scale_of(table), []).append(table)
    return scales


def scale_of(table: TruthTable) -> str:
    """Return the dataset with the number of classes and tasks, such as `caltech101 100/10`."""
    return f"{table.dataset} {table.space.classes}/{table.space.tasks}"


def _varying(table: TruthTable) -> list[str]:
    """Return the methods whose accuracy depends on the order or the training."""
    return [method for method in table.methods if np.ptp(table.accuracies(method)) > 0.5]


def _interval(values: Floats) -> Interval | None:
    """Return the 90 % interval of a mean by Student's t; None from one value."""
    if len(values) < 2:
        return None
    reach = stdtrit(len(values) - 1, (1 + LEVEL) / 2) * values.std(ddof=1) / np.sqrt(len(values))
    low, high = values.mean() - reach, values.mean() + reach
    return max(-1.0, float(low)), min(1.0, float(high))


def _over_sets(shares: Floats) -> Interval | None:
    interval = _interval(shares)
    return None if interval is None else (max(0.0, interval[0]), interval[1])


def _shares(scale: str, tables: Sequence[TruthTable]) -> Iterable[Share]:
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
        yield Share(
            scale,
            method,
            len(repeated),
            repeated[0].shape[1],
            float(np.mean([values.mean() for values in repeated])),
            order**0.5,
            noise**0.5,
            float(known.mean()) if len(known) else None,
            _over_sets(known) if len(repeated) > 1 else effects[0].order_share_interval,
        )


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


def _scores(
    values: Floats, sequences: Sequence[ClassSequence], weights: Mapping[str, Floats]
) -> dict[str, Floats]:
    """Return the objectives of sequences, by name, from a similarity (N, N) without a diagonal."""
    member = membership(sequences).astype(np.float64)
    between = (member @ values) @ member.swapaxes(1, 2)
    return {name: np.einsum("nij,ij->n", between, own) for name, own in weights.items()}


def _relations(scale: str, tables: Sequence[TruthTable], placebos: int) -> Iterable[Relation]:
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
            yield Relation(
                scale,
                source,
                name,
                {
                    method: float(np.mean([o[name][method] for o in found if method in o[name]]))
                    for method in methods
                },
                beside[0][name] if beside else {},
                float(by_set.mean()),
                _interval(by_set),
                (float(low), float(high)),
            )


def _mean(values: Mapping[str, float]) -> float:
    return float(np.mean(list(values.values())))


def _correlations(
    table: TruthTable, values: Floats, weights: Mapping[str, Floats]
) -> dict[str, dict[str, float]]:
    """By objective and method, the correlation with the mean accuracy of each order."""
    scores = _scores(values, table.sequences, weights)
    means = {method: table.accuracies(method).mean(axis=0) for method in _varying(table)}
    return {
        name: {method: float(np.corrcoef(own, mean)[0, 1]) for method, mean in means.items()}
        for name, own in scores.items()
    }


def _placed(random: Mapping[str, Floats], structured: TruthTable) -> Iterable[Placed]:
    made = {method: structured.accuracies(method).mean(axis=0) for method in random}
    for place, label in enumerate(structured.labels):
        difference = {m: float(made[m][place] - own.mean()) for m, own in random.items()}
        yield Placed(
            label,
            difference,
            {m: difference[m] / float(own.std()) for m, own in random.items()},
            {m: float((own.mean(axis=0) < made[m][place]).mean()) for m, own in random.items()},
        )


def _design(table: TruthTable, method: str, structured: TruthTable) -> Design:
    truth = np.sort(table.accuracies(method).ravel())
    rng = np.random.default_rng(0)
    draws = truth[rng.integers(len(truth), size=(_DRAWS, _MOST_ORDERS))]
    by_count = {
        count: _wasserstein(truth, draws[:, :count], ddof=1).mean()
        for count in range(3, _MOST_ORDERS + 1)
    }
    edge = None
    if set(_EDGE) <= set(structured.labels):
        ends = structured.accuracies(method)[:, [structured.labels.index(own) for own in _EDGE]]
        middle = draws[:, 0]
        runs = [np.column_stack([np.tile(pair, (_DRAWS, 1)), middle]) for pair in ends]
        edge = float(np.mean([_wasserstein(truth, some, ddof=0) for some in runs]))
    needed = None
    if edge is not None:
        needed = next((count for count, own in by_count.items() if own <= edge), None)
    return Design(method, _latin_ratio(table, method), edge, float(by_count[3]), needed)


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


def format_order_effects(measured: OrderEffects) -> str:
    """Return the measurements as tables in Markdown."""
    parts = [
        "Share of the class order in the variance between trainings\n",
        "| scale | learner | sets × orders | mean | std of the order | of training | share |",
        "|---|---|---|---|---|---|---|",
    ]
    for it in measured.shares:
        share = "nothing varies" if it.share is None else f"{it.share:.2f}{_between(it.interval)}"
        parts.append(
            f"| {it.scale} | {it.method} | {it.sets} × {it.orders} | {it.mean:.1f} | "
            f"{it.order_std:.2f} | {it.noise_std:.2f} | {share} |"
        )
    parts += [
        "\nCorrelation of objectives with accuracy over orders\n",
        "| scale | similarity | objective | mean r | placebo | learners | structured orders |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in measured.relations:
        parts.append(
            f"| {one.scale} | {one.source} | {one.objective} | {one.mean:+.2f}"
            f"{_between(one.interval)} | {one.placebo[0]:+.2f} to {one.placebo[1]:+.2f} | "
            f"{_listed(one.methods)} | {_listed(one.structured) or '–'} |"
        )
    methods = list(measured.random)
    parts += [
        "\nStructured orders: points from the mean of random orders (standard deviations; share "
        "of random orders below, in per cent)\n",
        f"| order | {' | '.join(methods)} |",
        f"|---|{'---|' * len(methods)}",
    ]
    cells = (f"{m:.1f} ± {s:.1f} ({lo:.1f}–{hi:.1f})" for m, s, lo, hi in measured.random.values())
    parts.append(f"| random: mean ± std (range) | {' | '.join(cells)} |")
    for row in measured.placed:
        cells = (
            f"{row.difference[m]:+.1f} ({row.z[m]:+.1f}; {100 * row.below[m]:.0f})" for m in methods
        )
        parts.append(f"| {row.label} | {' | '.join(cells)} |")
    parts += [
        "\nOther designs\n",
        "| learner | Latin / random variance | EDGE's three, W₁ | random three | as many random |",
        "|---|---|---|---|---|",
    ]
    for own in measured.designs:
        edge = "–" if own.edge is None else f"{own.edge:.2f}"
        parts.append(
            f"| {own.method} | {own.latin:.2f} | {edge} | {own.random:.2f} | "
            f"{own.needed or f'more than {_MOST_ORDERS}'} |"
        )
    return "\n".join(parts)


def _between(interval: Interval | None) -> str:
    return "" if interval is None else f" ({interval[0]:.2f} to {interval[1]:.2f})"


def _listed(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:+.2f}" for name, value in values.items())
