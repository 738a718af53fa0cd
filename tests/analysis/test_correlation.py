"""Predictors, correlations, and the relabelling test: its relabellings, error rate, and Holm."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from edgecil.analysis import Correlation, correlate, objective_predictor
from edgecil.analysis.correlation import relabelled_values, warn_of_predictor
from edgecil.sequences import profile
from edgecil.sequences.objective import get_objective
from edgecil.similarity import SimilarityMatrix
from tests.analysis.tables import SPACE, analysed, noisy, six_classes, table_of

RNG = np.random.default_rng(0)


X = RNG.normal(size=40)


Y = 0.5 * X + RNG.normal(size=40).round(1)


def test_both_coefficients_and_pearsons_interval_are_scipys() -> None:
    result, oracle = correlate(X, Y), stats.pearsonr(X, Y)
    assert result.pearson == pytest.approx(oracle.statistic)
    assert result.pearson_interval == pytest.approx(tuple(oracle.confidence_interval(0.95)))
    assert result.spearman == pytest.approx(stats.spearmanr(X, Y).statistic)


def test_pairs_with_nan_are_left_out() -> None:
    holed = Y.copy()
    holed[:10] = np.nan
    assert correlate(X, holed) == correlate(X[10:], Y[10:])


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([], [], "got 0"),
        ([1.0, 2.0], [1.0, 2.0], "got 2"),
        ([1.0, 2.0, 3.0], [5.0, 5.0, 5.0 + 1e-12], "accuracy that differs"),
        ([2.0, 2.0, 2.0], [1.0, 2.0, 3.0], "predictor that differs"),
    ],
)
def test_what_is_not_defined_is_na_with_the_reason(
    x: list[float], y: list[float], reason: str
) -> None:
    result = correlate(x, y)
    assert (result.pearson, result.spearman) == (None, None)
    assert reason in str(result.reason)


def test_an_interval_requires_eight_orders() -> None:
    relabelled = RNG.normal(size=(50, 8))
    assert correlate(X[:7], Y[:7], relabelled[:, :7]).pearson_interval is None
    assert correlate(X[:8], Y[:8], relabelled).pearson_interval is not None
    assert correlate(X[:7], Y[:7]).pearson_interval is None
    assert correlate(X[:8], Y[:8]).pearson_interval is not None


def test_a_perfect_line_is_one_without_a_warning_from_inside() -> None:
    result = correlate(X, 2.0 * X)
    assert result.pearson == pytest.approx(1.0)
    assert result.pearson_interval == pytest.approx((1.0, 1.0), abs=1e-6)


@pytest.mark.parametrize(
    ("pearson", "interval", "sign", "said"),
    [
        (0.6, (0.4, 0.7), 1, None),
        (-0.6, (-0.7, -0.4), -1, None),
        (-0.6, (-0.7, -0.4), 1, "wrong sign"),
        (-0.25, (-0.4, -0.1), 1, "wrong sign"),
        (0.25, (0.1, 0.4), -1, "wrong sign"),
        (-0.1, (-0.3, 0.1), 1, "no detectable"),
        (0.6, (-0.1, 0.9), 1, "no detectable"),
        (-0.6, (-0.9, 0.0), 1, "no detectable"),
        (0.9, None, 1, "no detectable"),
        (0.25, (0.1, 0.4), 1, "weakly"),
    ],
)
def test_trust_depends_on_interval_sign_and_strength(
    pearson: float, interval: tuple[float, float] | None, sign: int, said: str | None
) -> None:
    warning = warn_of_predictor("S", sign, Correlation(90, pearson, *(interval or (None, None))))
    assert said in warning if said and warning else said == warning


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


ORDERS = tuple(SPACE.enumerate())


def test_up_to_six_classes_every_relabelling_is_made() -> None:
    predictor = objective_predictor(six_classes(), SPACE)
    values = relabelled_values(predictor, ORDERS)
    assert values.shape == (719, 90)
    own = np.sort(predictor.values(ORDERS))
    assert np.sort(values, axis=1) == pytest.approx(np.tile(own, (719, 1)))


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["adjacent", "generalization"])
def test_similarities_of_unrelated_classes_are_called_related_in_one_case_of_twenty(
    objective: str,
) -> None:
    """Accuracies that depend on another similarity overlap as real ones do; Fisher's z fails."""
    ours, fishers = [], []
    for trial in range(1_000, 1_060):
        accuracy = objective_predictor(six_classes(50_000 + trial), SPACE, objective).values(ORDERS)
        predictor = objective_predictor(six_classes(trial), SPACE, objective)
        z = predictor.values(ORDERS)
        result = correlate(z, accuracy, relabelled_values(predictor, ORDERS))
        ours.append(result.p_value < 0.05)
        low, high = result.pearson_interval
        assert (low > 0.0 or high < 0.0) == ours[-1]
        interval = correlate(z, accuracy).pearson_interval
        fishers.append(interval[0] > 0.0 or interval[1] < 0.0)
    assert np.mean(ours) <= 0.05 + 3.0 * np.sqrt(0.05 * 0.95 / 60)
    assert np.mean(fishers) > 0.15


def test_a_real_relation_is_detected_and_adjusted_over_methods() -> None:
    predictor = objective_predictor(six_classes(), SPACE)
    values = dict(zip(ORDERS, predictor.z(ORDERS).tolist(), strict=True))
    models = {"follows": lambda sequence: 50.0 + 3.0 * values[sequence], "other": noisy(0)}
    result = analysed(table_of(models), similarity=six_classes())
    follows, other = (result.methods[name].correlation for name in models)
    assert follows.pearson == pytest.approx(1.0)
    assert follows.adjusted_p == pytest.approx(2.0 * follows.p_value)
    assert other.adjusted_p == other.p_value
    assert other.adjusted_p > 0.05
    assert any("no detectable correlation" in one for one in result.methods["other"].warnings)
    assert result.methods["follows"].warnings == ()


@pytest.mark.parametrize(
    ("protocols", "warned"),
    [
        (("random", "edge"), False),
        (("latin",), False),
        (("enumerate",), False),
        (("edge", "enumerate"), True),
    ],
)
def test_a_predictor_is_judged_only_where_it_was_used_and_can_be(protocols, warned) -> None:
    """Three runs say nothing about S, and without hard and easy orders it does not matter."""
    table = table_of({"m": noisy(0)}, protocols)
    analysis = analysed(table, similarity=six_classes())
    assert any("correlation" in one for one in analysis.methods["m"].warnings) == warned
