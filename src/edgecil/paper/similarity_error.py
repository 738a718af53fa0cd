"""The paper's Theorem 3 (similarity and generalisation error), measured on a similarity matrix.

The theorem is about the sequences O_h and O_e with the least and the greatest S and a random O_r:

1. S(O_h) ≤ S(O_r) ≤ S(O_e);
2. ε(O_h) ≥ ε(O_r) ≥ ε(O_e) for the generalisation error ε.

The first holds by definition, for every sequence. The proof shows it "with high probability" by a
chain of formulas, none of which is right: the expectation of S, the change of S by a swap of two
tasks, and two different exponents. The second rests on dropping all but the neighbouring tasks from
the lemma of Lin et al.; with the lemma kept whole (the objective `generalization`) it fails for a
share of orders that :func:`check_theorem_3` measures.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from edgecil.errors import UsageError
from edgecil.sequences.objective import (
    OVERPARAMETERIZATION,
    adjacent,
    generalization,
    task_similarity,
)
from edgecil.sequences.protocols.extremes import EDGE
from edgecil.sequences.scores import moments, sample_scores, score
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity
from edgecil.statistics.arguments import whole_number

_SWAPPED_SEQUENCES = 500


@dataclass(frozen=True)
class Theorem3:
    """Theorem 3 and its proof, as stated and as measured.

    Attributes:
        expected: E[S(O_r)], exact.
        std: standard deviation of S over all sequences, exact.
        expected_stated: E[S(O_r)] by the two lines of the proof: 2/(K(K−1)) as the probability
            that two tasks are neighbours (it is 2/K), then a sum over i ≠ j in place of i < j.
        swap_stated: the most by which the proof lets a swap of two tasks change S, 4U/N.
        swap_measured: the largest change in 500 random sequences and all swaps of two tasks.
        deviation: δ = min(E[S] − S(O_h), S(O_e) − E[S]), with the sequences of `edge`.
        probability_stated: P(S(O_h) ≤ S(O_r) ≤ S(O_e)) ≥ 1 − 2·exp(−Kδ²/(8U²)) as stated; a
            negative value is no information. The true probability is 1.
        tail_stated: the proof's bound on P(|S − E[S]| ≥ std), 2·exp(−2·std²·N²/(16·K·U²)).
        tail_measured: the same share among random sequences.
        less_error_than_easy: share of random sequences with less error than O_e, by the whole
            lemma; the theorem says 0.
        more_error_than_hard: share of random sequences with more error than O_h; the theorem says
            0, too.
    """

    expected: float
    std: float
    expected_stated: tuple[float, float]
    swap_stated: float
    swap_measured: float
    deviation: float
    probability_stated: float
    tail_stated: float
    tail_measured: float
    less_error_than_easy: float
    more_error_than_hard: float


def check_theorem_3(
    similarity: Similarity,
    space: SequenceSpace,
    *,
    ratio: float = OVERPARAMETERIZATION,
    samples: int = 20_000,
    rng: np.random.Generator | None = None,
) -> Theorem3:
    """Compare Theorem 3 and its proof with measurements on a similarity.

    Args:
        similarity: over N classes.
        space: tasks of one size, at least two.
        ratio: the overparameterisation ratio r of the lemma.
        samples: number of random sequences for measured shares.
        rng: for the random sequences; seed 0 by default.
    """
    whole_number("tasks", space.tasks, least=2)
    whole_number("samples", samples, least=1)
    if len(set(space.sizes)) > 1:
        raise UsageError(f"Theorem 3 requires tasks of one size. Got sizes {list(space.sizes)}.")
    rng = np.random.default_rng(0) if rng is None else rng
    N, K = space.classes, space.tasks
    objective = adjacent(space)
    exact = moments(similarity, space, objective)
    largest = float(similarity.submatrix(np.arange(N)).max())
    hard = EDGE.construct(similarity, space, "hard", rng)
    easy = EDGE.construct(similarity, space, "easy", rng)
    below_mean = exact.mean - score(similarity, hard)
    above_mean = score(similarity, easy) - exact.mean
    deviation = min(below_mean, above_mean)
    scores = sample_scores(similarity, space, samples, rng, objective)
    error = generalization(space, ratio)
    errors = sample_scores(similarity, space, samples, rng, error)
    probability_exponent = -K * deviation**2 / (8 * largest**2)
    tail_exponent = -2 * exact.std**2 * N**2 / (16 * K * largest**2)
    is_in_tail = np.abs(scores - exact.mean) >= exact.std
    return Theorem3(
        expected=exact.mean,
        std=exact.std,
        expected_stated=(exact.mean / (K - 1), 2 * exact.mean / (K - 1)),
        swap_stated=4 * largest / N,
        swap_measured=_largest_swap(similarity, space, rng),
        deviation=deviation,
        probability_stated=1 - 2 * math.exp(probability_exponent),
        tail_stated=2 * math.exp(tail_exponent),
        tail_measured=float(np.mean(is_in_tail)),
        less_error_than_easy=float(np.mean(errors < error.value(similarity, easy))),
        more_error_than_hard=float(np.mean(errors > error.value(similarity, hard))),
    )


def _largest_swap(similarity: Similarity, space: SequenceSpace, rng: np.random.Generator) -> float:
    """Return the largest change of S by a swap of two tasks, over some random sequences."""
    scale = space.tasks / ((space.tasks - 1) * space.classes)
    largest = 0.0
    for _ in range(_SWAPPED_SEQUENCES):
        sequence = ClassSequence.from_order(rng.permutation(space.classes), space.sizes)
        between = task_similarity(similarity, sequence)
        before = np.trace(between, offset=1)
        for swapped in combinations(range(space.tasks), 2):
            order = np.arange(space.tasks)
            order[list(swapped)] = swapped[::-1]
            after = np.trace(between[np.ix_(order, order)], offset=1)
            largest = max(largest, scale * abs(float(after - before)))
    return largest
