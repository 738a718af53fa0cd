"""What to run next."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import edgecil
from edgecil.analysis.next_runs import MOST_ORDERS, orders_for, orders_to_decide
from edgecil.errors import UsageError
from edgecil.sequences import SequenceSpace
from edgecil.sequences.user_sequences import sequence_texts
from edgecil.statistics.posterior import evidence, measured_prior, posterior
from tests.analysis.tables import SPACE, Run, build, noisy, runs_of, table_of

PRIOR = measured_prior()


def test_the_next_orders_are_new(tmp_path: Path) -> None:
    latin = runs_of("m", "latin", noisy(0))
    repeated = [replace(run, seed=1, accuracy=noisy(1)(run.sequence)) for run in latin]
    (result,) = edgecil.next_runs(build((*latin, *repeated)), target=2.0).datasets
    step = result.steps["m"]
    assert (step.step, len(result.orders)) == ("orders", step.order_count)
    orders = [run.sequence for run in latin]
    assert not set(orders) & set(result.orders)
    result.save(tmp_path / "next.json")
    assert sequence_texts(tmp_path / "next.json") == {"next": tuple(map(str, result.orders))}


def test_the_orders_of_next_continue_a_latin_design() -> None:
    runs = runs_of("m", "latin", noisy(0))
    (more,) = edgecil.next_runs(build(runs[:2])).datasets
    new = [
        replace(runs[0], protocol="next", label=str(order), sequence=order, accuracy=51.0)
        for order in more.orders
    ]
    said = edgecil.analyze(build((*runs[:2], *new))).datasets[0].methods["m"].claims
    assert (said.protocols, said.blind, said.order_count) == (("latin", "next"), True, 3)


def test_an_exhausted_space_has_no_further_orders() -> None:
    (result,) = edgecil.next_runs(table_of({"m": noisy(0)}, ("enumerate",))).datasets
    assert (result.orders, len(result.repeat)) == ((), 2)
    assert SPACE.size == 90
    with pytest.raises(UsageError, match="no further orders"):
        result.save("next.json")


def test_a_hundred_orders_are_suggested_at_a_time() -> None:
    """A target of 0.001 points requires more orders than can ever be listed."""
    space, rng = SequenceSpace.equal(10, 5), np.random.default_rng(0)
    runs = [
        Run("m", "d", "random", str(order), order, 0, float(rng.normal(50.0, 2.0)))
        for order in space.sample(5, rng)
    ]
    (result,) = edgecil.next_runs(build(runs), target=0.001).datasets
    assert result.steps["m"].order_count > 50_000
    assert len(set(result.orders)) == MOST_ORDERS
    assert not {run.sequence for run in runs} & set(result.orders)


def test_a_pair_without_an_interval_has_no_decision() -> None:
    """One order says nothing about how many are needed; it does not say that all are too few."""
    runs = [runs_of(name, "random", noisy(seed))[0] for seed, name in enumerate("ab")]
    assert edgecil.next_runs(build(runs)).datasets[0].decisions == {}


@pytest.mark.parametrize("protocol", ["given", "mine"])
def test_further_orders_continue_orders_chosen_in_an_unknown_way(protocol: str) -> None:
    runs = [replace(run, protocol=protocol) for run in runs_of("m", "latin", noisy(0))]
    (advice,) = edgecil.next_runs(build(runs)).datasets
    assert not advice.steps["m"].replaces


def test_orders_that_were_not_chosen_blindly_do_not_count_beside_further_ones() -> None:
    runs = runs_of("m", "edge", noisy(0))
    (advice,) = edgecil.next_runs(build(runs)).datasets
    step = advice.steps["m"]
    assert (step.step, step.order_count, step.replaces) == ("orders", 3, True)
    assert edgecil.analyze(build(runs)).datasets[0].methods["m"].next_step == step
    further = [
        replace(runs[0], protocol="next", label=str(one), sequence=one, accuracy=noisy(0)(one))
        for one in advice.orders
    ]
    for count, used in ((1, "edge"), (3, "next")):
        table = build((*runs, *further[:count]))
        said = edgecil.analyze(table).datasets[0].methods["m"].claims
        assert (said.protocols, said.order_count) == ((used,), 3)


def test_more_assurance_requires_more_orders() -> None:
    every = runs_of("m", "enumerate", noisy(0))[::15]
    runs = [replace(run, protocol="random", seed=seed) for seed, run in enumerate(every)]
    (advice,) = edgecil.next_runs(build(runs), target=2.0).datasets
    step = advice.steps["m"]
    assert 0 < step.order_count < step.sure_count


def test_advice_looks_no_further_than_the_orders_that_are_left() -> None:
    table = table_of({"a": noisy(0), "b": noisy(0, mean=50.01)}, ("random",))
    (advice,) = edgecil.next_runs(table).datasets
    assert advice.most == SPACE.size - len(table.sequences)


def test_a_saved_analysis_is_no_table_of_runs(tmp_path: Path) -> None:
    edgecil.analyze(table_of({"a": noisy(0)})).save(tmp_path / "analysis.json")
    for use in (edgecil.compare, edgecil.next_runs):
        with pytest.raises(UsageError, match="saved analysis"):
            use(tmp_path / "analysis.json")


def test_more_assurance_and_a_narrower_target_require_more_orders() -> None:
    known = posterior(evidence([60.0, 63.0, 61.0, 66.0, 64.0]), prior=PRIOR)
    needed = [orders_for(known, *goal) for goal in ((1.5, 0.8), (1.5, 0.95), (1.0, 0.95))]
    assert None not in needed
    assert needed == sorted(needed)
    assert needed[0] < needed[-1]
    assert orders_for(known, 50.0, 0.95) == 0
    assert orders_for(known, 0.01, 0.95, most=50) is None


def test_assured_orders_reach_the_target_that_often() -> None:
    rng = np.random.default_rng(5)
    known = posterior(evidence(rng.normal(60.0, 3.0, 10)), prior=PRIOR)
    more = orders_for(known, 1.0, 0.8)
    std = np.exp(rng.choice(known.log_std, 2_000, p=known.weights.sum(axis=-1)))
    after = known.after(more, std**2 * rng.chisquare(more, 2_000)).half_width()
    assert float((after <= 1.0).mean()) == pytest.approx(0.8, abs=0.06)


def test_a_large_difference_is_decided_soon_and_none_never() -> None:
    large = np.array([10.0, 11.0, 9.0, 10.5])
    needed = orders_to_decide(posterior(evidence(large), prior=PRIOR), large, 0.8)
    assert 1 <= needed <= 3
    none = np.array([1.0, -1.0, 0.5, -0.5])
    assert orders_to_decide(posterior(evidence(none), prior=PRIOR), none, 0.8, most=40) is None
