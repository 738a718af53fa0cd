"""The paper's Theorem 4 on the greedy order of tasks, and its table of the number of sequences."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from edgecil.errors import UsageError, format_value
from edgecil.sequences.space import SequenceSpace
from edgecil.statistics.arguments import number_at_least_zero, positive_number, whole_number

CAVEAT = (
    "Δ is the paper's number and does not bound S: no order has S above N/K·U, which is below the "
    "ceiling, so in units of S the statement holds for every order."
)
"""The limits of Δ in one sentence; :func:`greedy_bound` has the reasons."""


@dataclass(frozen=True)
class GreedyBound:
    """Theorem 4 of the paper in numbers.

    Attributes:
        expected: E[S(random)] as stated, N²(K−1)/(2K²)·S̄.
        ceiling: the bound on the greedy order's S as stated, 2N(ln K + 1)/(K−1)·U.
        delta: Δ as stated, expected − ceiling; the claim is S(greedy) ≤ expected − Δ.
        delta_proved: Δ as the proof ends, with 4N(ln K + 1)/(K−1)·U.
        threshold: S̄ above which Δ > 0, 4K²(ln K + 1)/(N(K−1)²)·U; at the threshold itself Δ = 0.
            For `delta_proved` it is twice as high.
        probability: 1 − e^{−K/2}, the stated least probability of the claim.
        expected_score: the true expectation of the paper's own score S, N/K·S̄.
        mean_similarity: S̄.
        max_similarity: U.
        caveat: why Δ is no evidence that greedy beats random.
    """

    expected: float
    ceiling: float
    delta: float
    delta_proved: float
    threshold: float
    probability: float
    expected_score: float
    mean_similarity: float
    max_similarity: float
    caveat: str = CAVEAT


def greedy_bound(
    classes: int, tasks: int, mean_similarity: float, max_similarity: float = 1.0
) -> GreedyBound:
    """Return theorem 4 (greedy strategy optimality bound) as stated, and as its algebra implies.

    The statement and its proof do not agree, and neither bounds S:

    - two of K tasks in random order are neighbours with probability 2/K, not 2/(K(K−1)): the
      expected sum over neighbours is N²(K−1)/K²·S̄, twice what is stated, while the proof's own
      line gives N²/K²·S̄;
    - S has the prefix K/((K−1)N), which the proof applies to the greedy order but not to the
      expectation; with it, E[S] = N/K·S̄ (`expected_score`);
    - the proof ends with 4N(…), the statement has 2N(…);
    - no order of tasks has S > N/K·U, which is below `ceiling` for every K ≥ 2: in units of S the
      ceiling holds for *any* order, and E[S] − ceiling is never positive.

    So `delta` is reported as the paper's number, not as evidence that greedy beats random.

    Args:
        classes: N, a multiple of `tasks`.
        tasks: K, at least 2.
        mean_similarity: S̄, mean similarity of classes of different tasks, in [0, U].
        max_similarity: U, upper bound on every similarity; similarities are at least 0.

    >>> bound = greedy_bound(100, 10, mean_similarity=0.6)
    >>> round(bound.expected, 1), round(bound.delta, 1), round(bound.delta_proved, 1)
    (270.0, 196.6, 123.2)
    >>> round(bound.threshold, 4), round(bound.expected_score, 4)
    (0.1631, 6.0)
    """
    whole_number("tasks", tasks, least=2)
    (task_size, *_) = SequenceSpace.equal(classes, tasks).sizes
    upper = float(positive_number("max_similarity", max_similarity))
    mean = float(number_at_least_zero("mean_similarity", mean_similarity))
    if mean > upper:
        raise UsageError(
            f"`mean_similarity` must be a number in [0, {max_similarity!r}]. "
            f"Got {format_value(mean_similarity)} instead."
        )
    growth = math.log(tasks) + 1
    expected = classes**2 * (tasks - 1) / (2 * tasks**2) * mean
    ceiling = 2 * classes * growth / (tasks - 1) * upper
    return GreedyBound(
        expected=expected,
        ceiling=ceiling,
        delta=expected - ceiling,
        delta_proved=expected - 2 * ceiling,
        threshold=4 * tasks**2 * growth / (classes * (tasks - 1) ** 2) * upper,
        probability=-math.expm1(-tasks / 2),
        expected_score=task_size * mean,
        mean_similarity=mean,
        max_similarity=upper,
    )


PAPER_PARTITIONS = ((4, 2), (6, 2), (8, 2), (10, 2), (6, 3), (9, 3), (8, 4))
"""(N, K) of each row of the paper's partition table, in its order."""


def partition_table(
    pairs: Iterable[tuple[int, int]] = PAPER_PARTITIONS,
) -> dict[tuple[int, int], int]:
    """Return |Ω| = N!/(M!)^K, the number of class sequences in K tasks of M = N/K, by (N, K).

    >>> list(partition_table().values())
    [6, 20, 70, 252, 90, 1680, 2520]
    """
    return {(classes, tasks): SequenceSpace.equal(classes, tasks).size for classes, tasks in pairs}
