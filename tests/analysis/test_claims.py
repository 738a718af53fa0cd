"""What is claimed about a method, and on what grounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from edgecil.analysis.calibration import reached_coverage
from edgecil.analysis.claims import Claims, make_claims, representative_orders
from edgecil.analysis.next_runs import NextStep, advise
from edgecil.analysis.terms import Terms
from edgecil.runs.run_table import Runs
from edgecil.sequences.sequence import ClassSequence
from tests.analysis.tables import Run, analysed, build, compare_two, noisy, rows, runs_of, table_of

RANDOM = {"accuracy": noisy(0)}


def said_of(*protocols: str) -> Claims:
    return make_claims(table_of({"m": noisy(0)}, protocols), "m")


def test_blind_orders_are_preferred_to_extreme_ones() -> None:
    claims = said_of("edge", "latin")
    assert (claims.protocols, claims.blind, claims.order_count, claims.trainings) == (
        ("latin",),
        True,
        3,
        3,
    )
    edge = said_of("edge")
    assert (edge.protocols, edge.blind) == (("edge",), False)


def test_of_random_orders_claims_on_ranks_are_exact() -> None:
    claims = said_of("random")
    assert claims.worse.validity == claims.not_worse.validity == "exact"
    assert claims.worse.value == pytest.approx(1 / 4), "of an order that was not run"


def test_two_orders_give_no_claim() -> None:
    claims = make_claims(build(runs_of("m", "random", noisy(0))[:2]), "m")
    for claim in (claims.mean, claims.std, claims.next_run, claims.tail):
        assert (claim.interval, claim.validity) == (None, "none")


def test_all_orders_are_measured() -> None:
    table = table_of({"m": noisy(0)})
    claims = analysed(table).methods["m"].claims
    values = table.orders("m", "enumerate").accuracies
    assert (claims.mean.validity, claims.estimator, claims.order_count) == ("measured", None, 90)
    assert claims.mean.value == pytest.approx(values.mean())
    assert claims.next_run.interval == pytest.approx(tuple(np.quantile(values, [0.025, 0.975])))


def test_repeats_count_as_trainings_of_one_order() -> None:
    runs = [run for seed in (0, 1) for run in runs_of("m", "latin", noisy(seed), seed=seed)]
    table = build(runs)
    claims = make_claims(table, "m")
    assert (claims.order_count, claims.trainings) == (3, 6)
    assert not representative_orders(table, "m")[0].independent


def advised(table: Runs, **options: float) -> NextStep:
    return advise(table, "m", make_claims(table, "m"), **options)


def test_advice_is_three_orders_then_more_and_two_repeats() -> None:
    first = advised(build(tuple(runs_of("m", "random", noisy(0))[:1])))
    assert (first.step, first.order_count) == ("orders", 2)
    three = table_of({"m": noisy(0)}, ("random",))
    second = advised(three, seconds=60.0)
    assert (second.step, second.repeats) == ("orders", 2)
    assert second.target == pytest.approx(second.half_width / 2.0)
    assert second.seconds == 60.0 * second.order_count
    repeated = build((*rows(three), *runs_of("m", "random", noisy(1), seed=1)))
    third = advised(repeated, target=1.0)
    assert third.repeats == 0
    assert third.step == "orders"
    assert third.order_count >= 3
    assert advised(repeated, target=2.0 * third.half_width).step == "nothing"


def table_with(*accuracies: float, metric: str = "accuracy") -> Runs:
    orders = ("0 1|2 3|4 5", "4 5|0 1|2 3", "2 3|4 5|0 1", "0 2|1 3|4 5", "0 4|1 5|2 3")
    runs = (
        Run("m", "", "random", text, ClassSequence.parse(text), seed, value)
        for seed, (text, value) in enumerate(zip(orders, accuracies, strict=False))
    )
    return build(tuple(runs), metric=metric)


def test_limits_are_cut_at_the_bounds_of_the_metric() -> None:
    values = (0.612, 58.9, 64.0, 3.0, 61.0)
    wide = make_claims(table_with(*values, metric="other"), "m")
    assert wide.next_run.interval == pytest.approx(
        stats.t.interval(0.95, 4, np.mean(values), np.std(values, ddof=1) * np.sqrt(1.2))
    )
    claims = make_claims(table_with(*values), "m")
    assert claims.next_run.interval == (0.0, 100.0)
    assert claims.mean.half_width < wide.mean.half_width, "such a spread is unlikely"
    bwt = make_claims(table_with(-99.0, -20.0, -90.0, -80.0, -95.0, metric="bwt"), "m")
    assert bwt.next_run.interval[0] == -100.0


def test_a_part_of_an_enumeration_does_not_count_as_random() -> None:
    def first(count: int) -> Runs:
        listed = [
            replace(run, accuracy=run.accuracy if place < count else None, pending=place >= count)
            for name, seed in (("m", 0), ("n", 1))
            for place, run in enumerate(runs_of(name, "enumerate", noisy(seed)))
        ]
        latin = [run for n, s in (("m", 0), ("n", 1)) for run in runs_of(n, "latin", noisy(s))]
        return build((*latin, *listed))

    part, whole = first(25), first(90)
    claims = make_claims(part, "m")
    assert (claims.protocols, claims.order_count, claims.blind) == (("latin",), 3, True)
    assert compare_two(part, "m", "n").n == 3
    assert compare_two(whole, "m", "n").n == 90
    listed = build(run for run in rows(part) if run.protocol == "enumerate")
    alone = make_claims(listed, "m")
    assert (alone.blind, alone.order_count, alone.worse.value) == (False, 25, None)
    pair = compare_two(listed, "m", "n")
    assert (pair.random_orders, pair.chosen_by) == (False, ("enumerate",))
    warnings = analysed(part).methods["m"].warnings
    assert any(warning.startswith("enumerate: 65 orders") for warning in warnings)


@pytest.mark.parametrize(("accuracies", "near"), [((17.0, 18.0, 16.5), True), ((60.0,) * 3, False)])
def test_chance_is_named_where_accuracies_are_near_it(
    accuracies: tuple[float, ...], near: bool
) -> None:
    claims = make_claims(table_with(*accuracies), "m")
    assert claims.chance == (pytest.approx(100 / 6) if near else None)


def test_one_seed_for_all_orders_is_said() -> None:
    table = table_of({"m": noisy(0)}, ("random",))
    terms = Terms(level=0.9)
    shared = make_claims(table, "m", terms=terms)
    runs = [replace(run, seed=number) for number, run in enumerate(rows(table))]
    own = make_claims(build(runs), "m", terms=terms)
    assert shared.population == "uniformly random class orders, for one training seed"
    assert own.population == "uniformly random class orders and trainings"
    seed = reached_coverage("one seed for all: mean", "random", shared.order_count, 0.9)
    new = reached_coverage("mean", "random", own.order_count, 0.9)
    assert (shared.mean.reached, own.mean.reached) == (seed.average, new.average)


def test_the_tail_lies_in_its_interval_and_is_left_out_where_low_values_are_good() -> None:
    claims = make_claims(table_with(2.1, 9.8, 1.3, 4.0, 3.0), "m")
    tail, mean, following = claims.tail, claims.mean.value, claims.next_run.interval
    assert 0.0 <= tail.interval[0] <= tail.value <= tail.interval[1]
    assert tail.value < mean < following[1]
    assert following[0] < mean
    assert (
        make_claims(table_with(2.1, 9.8, 1.3, 4.0, 3.0, metric="forgetting"), "m").tail.value
        is None
    )


@pytest.mark.parametrize(("protocol", "alike"), [("random", False), ("given", True)])
def test_claims_from_orders_of_unknown_choice_are_about_orders_like_these(
    protocol: str, alike: bool
) -> None:
    runs = [replace(run, protocol=protocol) for run in rows(table_with(50.0, 60.0, 55.0))]
    claims = make_claims(build(runs), "m")
    assert claims.mean.interval is not None
    assert ("like these" in claims.population) == alike
