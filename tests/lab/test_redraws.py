"""A protocol's random part is drawn again from the truth: wholly, where that is possible."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from edgecil.estimation import find_truth
from edgecil.lab._audit import audit_table
from edgecil.lab.closeness import average_closeness
from edgecil.lab.estimators import Observations, get_estimator
from edgecil.lab.redraws import find_candidates, redraw_estimates
from edgecil.sequences import PROTOCOLS, LabelledSequence, Protocol
from tests.estimation.tables import SPACE, noisy, table_of

TABLE = table_of({"m": noisy(0), "other": noisy(1)})


def test_edge_is_averaged_over_every_possible_median() -> None:
    result = audit_table(TABLE, draws=88).methods["m"]
    assert result.truth is not None
    edge, place = TABLE.orders("m", "edge"), result.truth.index()
    hard, easy = (place[edge.sequences[edge.labels.index(goal)]] for goal in ("hard", "easy"))
    values = result.truth.accuracies
    for name in ("gaussian", "gaussian-c4"):
        every = [
            get_estimator(name)(Observations(values[[hard, other, easy]]))
            for other in range(90)
            if other not in (hard, easy)
        ]
        expected = average_closeness(values, every)
        average = result.averages["edge"][name]
        assert (average.draws, average.exhaustive) == (88, True)
        assert average.standard_errors is not None
        for measure, noise in average.standard_errors.items():
            assert noise == 0.0
            assert getattr(average, measure) == pytest.approx(getattr(expected, measure))


def test_fewer_draws_than_there_are_possible_ones_are_a_sample_with_an_error() -> None:
    result = audit_table(TABLE, draws=40).methods["m"].averages
    for protocol in ("edge", "random", "latin"):
        average = result[protocol]["gaussian"]
        assert (average.draws, average.exhaustive) == (40, False)
        assert average.standard_errors is not None
        assert average.standard_errors["jsd"] > 0.0


def test_pairs_of_random_orders_are_all_drawn_where_that_is_asked_for() -> None:
    truth = find_truth(TABLE, "m")
    assert truth is not None
    pair = TABLE.orders("m", "enumerate").take(np.arange(2))
    candidates = find_candidates(truth, {"random": pair}, None)
    for draws, exhaustive in ((4_005, True), (4_004, False)):
        result = redraw_estimates(candidates, {"random": pair}, SPACE, draws=draws, seed=0)
        assert result["random"]["gaussian"].exhaustive is exhaustive
        means = sorted(made.distribution.mean for made in result["random"]["gaussian"].estimates)
        every = truth.accuracies[np.array(list(combinations(range(90), 2)))].mean(axis=1)
        assert np.allclose(means, np.sort(every)[:draws]) is exhaustive


def test_estimators_with_a_predictor_get_fewer_draws_and_say_so() -> None:
    pilot = table_of({"m": noisy(2)}, ("enumerate",))
    table = table_of({"m": noisy(0)}, ("random", "enumerate"))
    result = (
        audit_table(table, predictor="pilot", pilot=pilot, draws=300)
        .methods["m"]
        .averages["random"]
    )
    assert (result["gaussian"].draws, result["regression"].draws) == (300, 200)


def test_methods_get_the_same_latin_designs() -> None:
    result = audit_table(table_of({"m": noisy(0), "same": noisy(0)}), draws=5)
    assert result.methods["m"].averages["latin"] == result.methods["same"].averages["latin"]


def test_redraws_keep_constructed_orders_whatever_their_labels(monkeypatch) -> None:
    class SameThree(Protocol):
        name = "same-three"

        def choose(self, request):
            for label, sequence in zip("abc", request.space.enumerate(), strict=False):
                yield LabelledSequence(label, sequence)

    monkeypatch.setattr(
        PROTOCOLS, "_entries", {**dict(PROTOCOLS.items()), "same-three": SameThree()}
    )
    table = table_of({"m": noisy(0)}, ("same-three", "edge", "latin", "enumerate"))
    truth = find_truth(table, "m")
    ran = {name: table.orders("m", name) for name in table.protocols}
    candidates = find_candidates(truth, ran, None)
    assert set(candidates.extremes) == {"same-three", "edge"}
    assert candidates.extremes["same-three"] == [0, 1, 2]
    redrawn = redraw_estimates(candidates, ran, SPACE, draws=20, seed=0)
    assert {name: len(by["gaussian"].estimates) for name, by in redrawn.items()} == {
        "random": 20,
        "same-three": 1,
        "edge": 20,
        "latin": 20,
    }
