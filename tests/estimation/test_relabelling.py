"""The relabelling test: exact relabellings, its error rate, and Holm over methods."""

from __future__ import annotations

import numpy as np
import pytest

from edgecil.estimation import correlate, objective_predictor
from edgecil.estimation.correlation import relabelled_values
from tests.estimation.tables import SPACE, analysed, noisy, six_classes, table_of

ORDERS = tuple(SPACE.enumerate())


def test_up_to_six_classes_every_relabelling_is_made() -> None:
    predictor = objective_predictor(six_classes(), SPACE)
    values = relabelled_values(predictor, ORDERS)
    assert values is not None
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
        assert result.p_value is not None
        assert result.pearson_interval is not None
        ours.append(result.p_value < 0.05)
        low, high = result.pearson_interval
        assert (low > 0.0 or high < 0.0) == ours[-1]
        interval = correlate(z, accuracy).pearson_interval
        assert interval is not None
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
    assert follows.p_value is not None
    assert follows.adjusted_p == pytest.approx(2.0 * follows.p_value)
    assert other.adjusted_p == other.p_value
    assert other.adjusted_p is not None
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
