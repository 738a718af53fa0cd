"""Relabelled classes: what a predictor gives if the classes have exchanged their names.

Orders that share positions have similar values of any predictor and similar accuracies, so that n
orders are not n independent observations. If a predictor has nothing to do with the classes, it may
as well belong to classes in another arrangement (Mantel 1967): its correlation with accuracy is one
of those that relabelled classes give.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice, permutations
from math import factorial

import numpy as np

from edgecil.estimation.analysis import MethodAnalysis
from edgecil.estimation.comparison import holm
from edgecil.estimation.correlation import Correlation, warn_of_predictor
from edgecil.estimation.predictors import BySequences, Predictor, orders_of, predictor_label
from edgecil.io.arrays import Floats, Ints
from edgecil.sequences.protocols import find_protocol
from edgecil.sequences.sequence import ClassSequence

Relabelled = dict[int, BySequences["Floats | None"]]

MOST = 999
_FEWEST_ORDERS = 8  # fewer say nothing about a correlation
_LEAST = 199
_KEPT = 4  # sets of orders whose values are kept, of methods with different ones
_SCORES = 100_000
_CELLS = 2_000_000  # of an array of relabelled orders


def relabelled_values(
    predictor: Predictor, sequences: Sequence[ClassSequence], *, seed: int = 0
) -> Floats | None:
    """Evaluate the predictor for n sequences under relabellings of the classes, (B, n).

    Up to six classes all relabellings but the identity are made; else 999 random ones, fewer (but
    at least 199) where there are more than 100 orders.

    Args:
        predictor: what is tested.
        sequences: the orders, with classes numbered 0 … N-1.
        seed: of the random relabellings.

    Returns:
        None if the predictor has no value for some relabelled sequence.
    """
    if len(sequences) < 2:
        return None
    orders = orders_of(tuple(sequences))
    labels = _relabellings(orders.shape[1], len(orders), seed)
    sizes = sequences[0].sizes
    values = np.empty((len(labels), len(orders)))
    block = max(1, _CELLS // orders.size)
    for start in range(0, len(labels), block):
        relabelled = labels[start : start + block].take(orders, axis=1).reshape(-1, orders.shape[1])
        if predictor.of_orders is not None:
            scores = predictor.of_orders(relabelled)
        else:
            scores = predictor.values([ClassSequence.from_order(row, sizes) for row in relabelled])
        if not np.isfinite(scores).all():
            return None
        values[start : start + block] = scores.reshape(-1, len(orders))
    return values


def relabel(
    predictor: Predictor, sequences: tuple[ClassSequence, ...], done: Relabelled
) -> Floats | None:
    """:func:`relabelled_values`, computed once for all methods that ran the same orders."""
    by_sequences = done.setdefault(id(predictor), BySequences(_KEPT))
    return by_sequences.get(sequences, lambda: relabelled_values(predictor, sequences))


def adjust_correlations(
    methods: Mapping[str, MethodAnalysis], predictor: str, sign: int | None
) -> dict[str, MethodAnalysis]:
    """Adjust the p-values over all methods, and add a warning of a weak predictor.

    Args:
        methods: by name.
        predictor: the one that estimates use.
        sign: of the correlation that it claims; None if none.
    """
    names = dict.fromkeys(name for method in methods.values() for name in method.correlations)
    adjusted = {
        name: holm(
            {
                key: method.correlations[name].p_value
                for key, method in methods.items()
                if name in method.correlations
            }
        )
        for name in names
    }
    made = {}
    for key, method in methods.items():
        correlations = {
            name: replace(one, adjusted_p=adjusted[name][key])
            for name, one in method.correlations.items()
        }
        warnings = method.warnings
        own = correlations.get(predictor)
        if method.predictor is not None and own is not None and _is_relevant(method, own):
            warning = warn_of_predictor(predictor_label(predictor), sign, own)
            warnings += () if warning is None else (warning,)
        made[key] = replace(method, correlations=correlations, warnings=warnings)
    return made


def _is_relevant(method: MethodAnalysis, correlation: Correlation) -> bool:
    """Return whether a predictor chose orders, and enough others remain to test it."""
    enough = correlation.pearson is not None and correlation.n >= _FEWEST_ORDERS
    return enough and any(find_protocol(name).needs_similarity for name in method.runs)


def _relabellings(classes: int, orders: int, seed: int) -> Ints:
    """Return permutations of the classes, one per row."""
    if factorial(min(classes, 10)) - 1 <= MOST:
        return np.array(list(islice(permutations(range(classes)), 1, None)), dtype=np.int64)
    count = max(_LEAST, min(MOST, _SCORES // orders))
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(classes) for _ in range(count)], dtype=np.int64)
