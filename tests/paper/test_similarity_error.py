"""Theorem 3: what its proof states, and what enumeration says."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from edgecil.classes import get_classes
from edgecil.errors import UsageError
from edgecil.paper import check_theorem_3
from edgecil.sequences import ClassSequence, SequenceSpace, score
from edgecil.sequences.objective import generalization
from edgecil.sequences.scores import score_orders
from edgecil.similarity import SimilarityMatrix, build_similarity, text_similarity

SIX = SequenceSpace((2, 2, 2))


def six_classes() -> SimilarityMatrix:
    return text_similarity(get_classes("cifar100")).take(np.arange(6))


def test_the_expectation_and_the_swaps_are_those_of_all_sequences() -> None:
    similarity = six_classes()
    scores = [score(similarity, sequence) for sequence in SIX.enumerate()]
    checked = check_theorem_3(similarity, SIX, samples=2000)
    assert checked.expected == pytest.approx(np.mean(scores))
    assert checked.std == pytest.approx(np.std(scores))
    assert checked.deviation == pytest.approx(
        min(checked.expected - min(scores), max(scores) - checked.expected)
    )
    largest = 0.0
    for sequence in SIX.enumerate():
        for first, second in combinations(range(3), 2):
            tasks = list(sequence.tasks)
            tasks[first], tasks[second] = tasks[second], tasks[first]
            change = score(similarity, sequence) - score(similarity, ClassSequence(tasks))
            largest = max(largest, abs(change))
    assert checked.swap_measured == pytest.approx(largest)


def test_the_paper_s_hundred_classes() -> None:
    """The proof's expectations are too small by 9 and by 4.5; a swap may change S more."""
    similarity = text_similarity(get_classes("cifar100"), template="{name}")
    checked = check_theorem_3(similarity, SequenceSpace.equal(100, 10), samples=2000)
    assert checked.expected == pytest.approx(2.866, abs=1e-3)
    assert checked.expected_stated == pytest.approx((0.318, 0.637), abs=1e-3)
    assert checked.swap_stated == pytest.approx(0.0294, abs=1e-4)
    assert checked.swap_measured > 2 * checked.swap_stated
    assert checked.probability_stated == pytest.approx(-0.74, abs=0.01)
    assert checked.tail_measured == pytest.approx(0.317, abs=0.04)
    assert checked.less_error_than_easy > 0.5


def test_of_the_paper_s_six_classes() -> None:
    """The shares of the page on theory: orders that contradict the six greatest or least S."""
    sequences = np.array([sequence.order for sequence in SIX.enumerate()])
    less, more = [], []
    for dataset, seed in product(("cifar100", "imagenet-r"), (None, 42)):
        for template in ("{name}", "a photo of a {name}."):
            chosen = build_similarity(
                dataset=dataset, classes=6, classes_seed=seed, template=template
            )
            scores = score_orders(chosen, SIX, sequences)
            errors = score_orders(chosen, SIX, sequences, generalization(SIX))
            easy = np.flatnonzero(np.isclose(scores, scores.max()))
            hard = np.flatnonzero(np.isclose(scores, scores.min()))
            assert len(easy) == len(hard) == 6
            less += [np.mean(errors < errors[one] - 1e-12) for one in easy]
            more += [np.mean(errors > errors[one] + 1e-12) for one in hard]
    assert (min(less), max(less)) == pytest.approx((0.02, 0.84), abs=0.005)
    assert (min(more), max(more)) == pytest.approx((0.00, 0.88), abs=0.005)


@pytest.mark.parametrize(("sizes", "words"), [((2, 1), "one size"), ((3,), "'tasks'")])
def test_other_spaces_are_refused(sizes, words) -> None:
    similarity = SimilarityMatrix.of(np.zeros((3, 3)))
    with pytest.raises(UsageError, match=words):
        check_theorem_3(similarity, SequenceSpace(sizes))
