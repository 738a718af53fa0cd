from __future__ import annotations

import numpy as np
import pytest

from edgecil.estimation import objective_predictor
from edgecil.sequences import profile
from edgecil.sequences.objective import get_objective
from edgecil.similarity import SimilarityMatrix
from tests.estimation.tables import SPACE, six_classes


def test_s_over_a_small_space_is_every_sequences_own() -> None:
    predictor = objective_predictor(six_classes(), SPACE)
    scores = np.array([profile(six_classes(), sequence).score for sequence in SPACE.enumerate()])
    assert (predictor.mean, predictor.std) == (
        pytest.approx(scores.mean()),
        pytest.approx(scores.std()),
    )


def test_z_is_the_profiles() -> None:
    predictor = objective_predictor(six_classes(), SPACE, "generalization")
    some = list(SPACE.enumerate())[:5]
    expected = [profile(six_classes(), one).objectives["generalization"]["z"] for one in some]
    np.testing.assert_allclose(predictor.z(some), expected)


@pytest.mark.parametrize(("objective", "sign"), [("adjacent", 1), ("generalization", -1)])
def test_the_claimed_sign_is_that_of_the_objectives_easy_end(objective: str, sign: int) -> None:
    assert objective_predictor(six_classes(), SPACE, objective).sign == sign


def test_a_constant_similarity_predicts_nothing() -> None:
    predictor = objective_predictor(SimilarityMatrix.of(np.ones((6, 6))), SPACE)
    assert predictor.std == 0.0
    assert predictor.z(SPACE.sample(3, np.random.default_rng(0))).tolist() == [0.0] * 3


def test_values_are_the_objectives_own_one_by_one() -> None:
    predictor = objective_predictor(six_classes(), SPACE, "to-last")
    some = list(SPACE.enumerate())[::7]
    expected = [get_objective("to-last", SPACE).value(six_classes(), one) for one in some]
    np.testing.assert_allclose(predictor.values(some), expected)
    assert predictor.values([]).shape == (0,)
