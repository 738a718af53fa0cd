"""Methods are ranked by what protocols ran, and by what they might have run."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from edgecil.engine.runs import Runs
from edgecil.lab._audit import audit_table
from edgecil.lab.audits import DatasetAudit, ProtocolRanking
from edgecil.lab.method_rankings import rank_protocols
from edgecil.lab.redraws import find_candidates, redraw_estimates
from edgecil.sequences import ClassSequence
from tests.estimation.tables import SPACE, build, noisy, rows, table_of

FIRST, SECOND = noisy(0), noisy(1, mean=51.0, std=4.0)
METHODS = {"first": FIRST, "second": SECOND}


def analysed(*protocols: str) -> DatasetAudit:
    return audit_table(table_of({"first": FIRST, "second": SECOND}, protocols), draws=4)


def redrawn(table: Runs, draws: int = 900) -> dict[str, dict[str, ProtocolRanking]]:
    """Rankings over many draws, and nothing else that costs time."""
    methods = audit_table(table, draws=1).methods
    redraws = {}
    for name, result in methods.items():
        assert result.truth is not None
        ran = {
            protocol: table.orders(name, protocol)
            for protocol in table.protocols
            if protocol not in result.truth.protocols
        }
        candidates = find_candidates(result.truth, ran, None)
        redraws[name] = redraw_estimates(candidates, ran, SPACE, draws=draws, seed=0)
    return rank_protocols(methods, redraws)


def footrules(accuracies: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Of two methods, (2, 90), the error that each set of runs (n, 3) makes, worked by hand."""
    truth = _signs(accuracies[:, None, :])
    return np.abs(_signs(accuracies[:, places]) - truth).sum(axis=0)


def _signs(runs: np.ndarray) -> np.ndarray:
    """By worst, best and steadiness, whether the first is better (1), worse (-1) or equal (0)."""
    numbers = (runs.min(axis=-1), runs.max(axis=-1), -runs.std(axis=-1))
    return np.array([np.sign(np.round(first - second, 9)) for first, second in numbers])


def test_the_mean_error_of_random_is_that_over_all_triples_of_orders() -> None:
    values = np.array([[method(s) for s in SPACE.enumerate()] for method in (FIRST, SECOND)])
    every = footrules(values, np.array(list(combinations(range(90), 3))))
    table = table_of({"first": FIRST, "second": SECOND}, ("random", "enumerate"))
    result = redrawn(table)["random"]["gaussian"].average
    assert result is not None
    assert result.draws == 900
    assert result.error == pytest.approx(every.mean(), abs=3 * every.std() / 30)
    right = float((every == 0).mean())
    assert result.correct_share == pytest.approx(right, abs=3 * np.sqrt(right * (1 - right)) / 30)


def test_the_average_of_edge_keeps_its_ends_and_draws_its_median() -> None:
    table = table_of({"first": FIRST, "second": SECOND}, ("edge", "enumerate"))
    place = {sequence: index for index, sequence in enumerate(SPACE.enumerate())}
    edge = table.orders("first", "edge")
    hard, easy = (place[edge.sequences[edge.labels.index(goal)]] for goal in ("hard", "easy"))
    medians = [other for other in range(90) if other not in (hard, easy)]
    values = np.array([[method(s) for s in SPACE.enumerate()] for method in (FIRST, SECOND)])
    every = footrules(values, np.array([(hard, other, easy) for other in medians]))
    result = redrawn(table)["edge"]["gaussian"].average
    assert result is not None
    assert result.error == pytest.approx(every.mean(), abs=3 * every.std() / 30)


def test_random_has_an_average_where_it_was_not_run_and_no_ranking_of_its_own() -> None:
    result = analysed("edge", "enumerate").rankings
    assert set(result) == {"edge", "random"}
    random = result["random"]["gaussian"]
    assert (random.ranking, random.error) == (None, None)
    assert random.average is not None


def test_without_a_truth_there_is_a_ranking_and_no_error() -> None:
    result = analysed("edge").rankings["edge"]["gaussian"]
    assert result.ranking is not None
    assert (result.error, result.average) == (None, None)


def test_methods_share_their_draws_whatever_the_order_of_the_rows() -> None:
    runs = rows(table_of({"first": FIRST, "second": FIRST}, ("enumerate",)))
    turned = build((*runs[:90], *reversed(runs[90:])))
    result = audit_table(turned, draws=4).rankings["random"]["gaussian"].average
    assert result is not None
    assert (result.error, result.correct_share) == (0.0, 1.0), "equal methods tie in every draw"


def test_methods_that_ran_different_orders_have_no_average() -> None:
    def failing(sequence: ClassSequence) -> float | None:
        return None if 0 in sequence.tasks[0] and 1 in sequence.tasks[0] else SECOND(sequence)

    table = table_of({"first": FIRST, "second": failing}, ("random", "enumerate"))
    result = audit_table(table, draws=2).rankings["random"]["gaussian"]
    assert result.error is not None
    assert result.average is None
    alone = build(replace(run, method="first") for run in rows(table)[:93])
    assert audit_table(alone, draws=2).rankings["random"]["gaussian"].average is not None


def test_low_forgetting_is_good() -> None:
    table = table_of({"first": FIRST, "second": SECOND}, ("random", "enumerate"))
    forgotten = audit_table(replace(table, metric="forgetting"), draws=4)
    accuracy = audit_table(table, draws=4)
    assert accuracy.true_ranking is not None
    assert forgotten.true_ranking is not None
    # The worst order has the highest forgetting, and the lowest accuracy.
    highest = {name: max(own(s) for s in SPACE.enumerate()) for name, own in METHODS.items()}
    assert min(forgotten.true_ranking.lower, key=forgotten.true_ranking.lower.__getitem__) == min(
        highest, key=highest.__getitem__
    )
    assert forgotten.true_ranking.stability == accuracy.true_ranking.stability
    ranking = forgotten.rankings["random"]["gaussian"].ranking
    assert ranking is not None
    other = accuracy.rankings["random"]["gaussian"].ranking
    assert other is not None
    assert {name: 3.0 - place for name, place in other.upper.items()} == ranking.lower
