"""Predictors of accuracy, and how well they predict: correlations over class orders.

A predictor is a number for every sequence that is available before training: S and the other
objectives of a similarity. Orders that share positions have similar values of any predictor and
similar accuracies, so that n orders are not n independent observations. If a predictor has nothing
to do with the classes, it may as well belong to classes in another arrangement (Mantel 1967): its
correlation is one of those that relabelled classes give.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, permutations
from math import factorial

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.objective import Objective, get_objective
from edgecil.sequences.scores import moments, relabelled_sums, score_orders
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity
from edgecil.statistics.distributions import SAME


@dataclass(frozen=True, eq=False)
class Predictor:
    """An objective of a similarity: a number for every sequence.

    Attributes:
        similarity: over the N classes.
        space: all sequences, Ω.
        objective: S, or another one.
        mean: over Ω, exact.
        std: over Ω, population, exact; 0 if the predictor is constant.
    """

    similarity: Similarity
    space: SequenceSpace
    objective: Objective
    mean: float
    std: float

    @property
    def label(self) -> str:
        """What figures and tables call it: S for the paper's objective."""
        return "S" if self.objective.name == "adjacent" else self.objective.name

    @property
    def sign(self) -> int:
        """Of the correlation with accuracy that the objective claims, +1 or -1."""
        return 1 if self.objective.hard == "min" else -1

    def values(self, sequences: Iterable[ClassSequence]) -> Floats:
        """Return the values of n sequences, (n,)."""
        orders = np.array([sequence.sorted_order for sequence in sequences], dtype=np.int64)
        orders = orders.reshape(-1, self.space.classes)
        return score_orders(self.similarity, self.space, orders, self.objective)

    def z(self, sequences: Iterable[ClassSequence]) -> Floats:
        """Return values in standard deviations from the mean over Ω, (n,); 0 if constant."""
        values = self.values(sequences)
        return (values - self.mean) / self.std if self.std > 0.0 else np.zeros(len(values))


def objective_predictor(
    similarity: Similarity, space: SequenceSpace, objective: str | Objective = "adjacent"
) -> Predictor:
    """Return an objective of a similarity (S by default) as a predictor, with exact moments."""
    chosen = get_objective(objective, space)
    exact = moments(similarity, space, chosen)
    return Predictor(similarity, space, chosen, exact.mean, exact.std)


WEAK = 0.3
_LEVEL = 0.95
_LEAST = 8  # orders, for an interval
_TOO_FEW = f"intervals require at least {_LEAST} orders"


@dataclass(frozen=True)
class Correlation:
    """Of accuracies with a predictor; None where it is not defined, with the reason.

    Attributes:
        n: how many orders stand behind it.
        pearson: r.
        pearson_low: lower end of its 95 % interval, by relabelling the classes, or by Fisher's z
            where that is not possible (`relabellings` is 0); the latter is too narrow for orders
            that overlap. None with fewer than 8 orders.
        pearson_high: upper end of this interval.
        spearman: ρ of the ranks, ties averaged.
        p_value: of no relation, two-sided, by relabelling the classes; None if that is not
            possible.
        adjusted_p: the same, adjusted for the number of methods by Holm's method.
        relabellings: how many relabellings of the classes were compared.
        reason: why something is None.
    """

    n: int
    pearson: float | None = None
    pearson_low: float | None = None
    pearson_high: float | None = None
    spearman: float | None = None
    p_value: float | None = None
    adjusted_p: float | None = None
    relabellings: int = 0
    reason: str | None = None

    @property
    def pearson_interval(self) -> tuple[float, float] | None:
        """Both ends of the interval of r; None if there is none."""
        if self.pearson_low is None or self.pearson_high is None:
            return None
        return self.pearson_low, self.pearson_high

    @property
    def stable(self) -> bool:
        """Whether there are 8 orders or more; tables leave out correlations of fewer."""
        return self.n >= _LEAST


def correlate(
    predicted: ArrayLike, accuracies: ArrayLike, relabelled: Floats | None = None
) -> Correlation:
    """Pearson's and Spearman's correlation of n pairs; pairs with NaN are left out.

    With relabelled values, p is the share of relabellings (the identity included) whose |r| is at
    least as large, and the interval is tanh(artanh r ± q), with q the least |artanh r| that 95 % of
    them do not exceed: it excludes 0 if p < 0.05.

    Args:
        predicted: (n,) the predictor's values.
        accuracies: (n,) per cent.
        relabelled: (B, n) from :func:`~edgecil.analysis.correlation.relabelled_values`.
    """
    x, y = np.asarray(predicted, dtype=np.float64), np.asarray(accuracies, dtype=np.float64)
    finite = np.isfinite(x) & np.isfinite(y)
    x, y = x[finite], y[finite]
    n = len(x)
    if n < 3:
        return Correlation(
            n, reason=f"requires at least 3 different orders not chosen by similarity; got {n}"
        )
    for name, values in (("predictor", x), ("accuracy", y)):
        if np.ptp(values) <= SAME * max(1.0, float(np.abs(values).max())):
            return Correlation(n, reason=f"requires a {name} that differs between orders")
    r, rho = _pearson(x, y), _pearson(_ranks(x), _ranks(y))
    if relabelled is not None and finite.all():
        by_chance = np.abs(_correlations(relabelled, y))
        p_value = float(1 + (by_chance >= abs(r) - SAME).sum()) / (1 + len(by_chance))
        if n < _LEAST:
            return Correlation(n, r, None, None, rho, p_value, p_value, len(by_chance), _TOO_FEW)
        reach = np.quantile(np.append(by_chance, abs(r)), _LEVEL, method="higher")
        interval = _around(r, float(np.arctanh(min(reach, 1.0 - SAME))))
        return Correlation(n, r, *interval, rho, p_value, p_value, len(by_chance))
    if n < _LEAST:
        return Correlation(n, r, None, None, rho, reason=_TOO_FEW)
    reach = float(ndtri((1.0 + _LEVEL) / 2.0)) / np.sqrt(n - 3)
    return Correlation(n, r, *_around(r, reach), rho)


def warn_of_predictor(name: str, sign: int, correlation: Correlation) -> str | None:
    """Return one sentence unless a predictor that claims a sign can be trusted.

    That is so if the relabelling test, adjusted for the number of methods, has p < 0.05, or without
    it if the interval excludes 0, and if r has this sign and is at least 0.3.
    """
    r, p, interval = correlation.pearson, correlation.adjusted_p, correlation.pearson_interval
    if r is None:
        return None
    around = "" if interval is None else f" [{interval[0]:+.2f}, {interval[1]:+.2f}]"
    tested = "" if p is None else f", p = {p:.2g}"
    numbers = f"(r = {r:+.2f}{around}{tested}, n = {correlation.n})"
    is_open = interval is None or interval[0] <= 0.0 <= interval[1]
    if is_open if p is None else p >= 1.0 - _LEVEL:
        return (
            f"{name} has no detectable correlation with accuracy {numbers}, so the labels "
            "'hard' and 'easy' may not be meaningful."
        )
    if r * sign < 0.0:
        return (
            f"{name} has the wrong sign {numbers}: sequences called hard tend to be easy. Do not "
            "rely on its extremes."
        )
    if abs(r) < WEAK:
        return (
            f"{name} predicts accuracy only weakly {numbers}: a 'hard' sequence need not have a "
            "low accuracy."
        )
    return None


def _ranks(values: Floats) -> Floats:
    """Ranks, ties averaged; `scipy.stats` would take longer to load than all the rest."""
    _, place, counts = np.unique(values.round(9), return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2.0)[place])


def _pearson(x: Floats, y: Floats) -> float:
    x, y = x - x.mean(), y - y.mean()
    return float(np.clip((x @ y) / np.sqrt((x @ x) * (y @ y)), -1.0, 1.0))


def _correlations(rows: Floats, y: Floats) -> Floats:
    """Pearson's r of each row with y; 0 for a constant row."""
    centred, y = rows - rows.mean(axis=1, keepdims=True), y - y.mean()
    norms = np.sqrt(np.einsum("ij,ij->i", centred, centred) * (y @ y))
    return np.asarray(np.where(norms > SAME, (centred @ y) / np.maximum(norms, SAME), 0.0))


def _around(r: float, reach: float) -> tuple[float, float]:
    """tanh(artanh r ± reach)."""
    if abs(r) >= 1.0 - 1e-12:
        return (r, r)
    return float(np.tanh(np.arctanh(r) - reach)), float(np.tanh(np.arctanh(r) + reach))


_Content = tuple[bytes, tuple[int, ...]]  # of an array, with its shape


@lru_cache(maxsize=1)
def _relabelled_sums(
    space: SequenceSpace, values: _Content, orders: _Content, weights: _Content, labels: _Content
) -> Floats:
    """Return :func:`relabelled_sums`, which is the same for every metric of the same runs."""
    sums = relabelled_sums(_numbers(values), space, _ids(orders), _numbers(weights), _ids(labels))
    sums.setflags(write=False)
    return sums


def _content(array: Floats | Ints) -> _Content:
    return array.tobytes(), array.shape


def _numbers(content: _Content) -> Floats:
    return np.frombuffer(content[0], np.float64).reshape(content[1])


def _ids(content: _Content) -> Ints:
    return np.frombuffer(content[0], np.int64).reshape(content[1])


MOST = 999
_FEWEST_RELABELLINGS = 199
_SCORES = 100_000
_MANY = 20  # orders from which a matrix product is faster


def relabelled_values(predictor: Predictor, sequences: Sequence[ClassSequence]) -> Floats | None:
    """Evaluate the predictor for n sequences under relabellings of the classes, (B, n).

    Up to six classes all relabellings but the identity are made; else 999 random ones, fewer (but
    at least 199) where there are more than 100 orders. None for fewer than two sequences. Classes
    are numbered 0 … N-1.
    """
    if len(sequences) < 2:
        return None
    orders = np.array([sequence.sorted_order for sequence in sequences], dtype=np.int64)
    classes = orders.shape[1]
    every: Sequence[ArrayLike]
    if factorial(min(classes, 10)) - 1 <= MOST:
        every = list(islice(permutations(range(classes)), 1, None))
    else:
        count = max(_FEWEST_RELABELLINGS, min(MOST, _SCORES // len(orders)))
        rng = np.random.default_rng(0)
        every = [rng.permutation(classes) for _ in range(count)]
    labels = np.array(every, dtype=np.int64)
    similarity, space, objective = predictor.similarity, predictor.space, predictor.objective
    if len(orders) > _MANY:
        values = similarity.submatrix(np.arange(classes))
        weights = objective.weights
        return _relabelled_sums(
            space, _content(values), _content(orders), _content(weights), _content(labels)
        )
    relabelled = labels.take(orders, axis=1).reshape(-1, classes)
    scores = score_orders(similarity, space, relabelled, objective, check=False)
    return scores.reshape(len(labels), len(orders))
