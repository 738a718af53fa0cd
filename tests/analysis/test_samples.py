"""Claims ask the protocols how orders were chosen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from edgecil.analysis.claims import make_claims, representative_orders
from edgecil.analysis.samples import OrderChoice, find_truth, random_protocols
from edgecil.analysis.terms import Terms
from edgecil.sequences import PROTOCOLS, LabelledSequence, Protocol
from edgecil.sequences.protocols import register_protocol
from edgecil.sequences.protocols.protocol import Request
from edgecil.sequences.protocols.random import Random
from tests.analysis.tables import SPACE, Run, build, compare_two, noisy, table_of

CLAIMS = ("mean", "std", "next_run", "tail", "worse", "not_worse")


class SameThree(Protocol):
    """Ignores the similarity and always returns the same three orders."""

    name = "same-three"
    summary = "for tests"
    most_budget = least_budget = 3

    def choose(self, request: Request) -> Iterator[LabelledSequence]:
        for index, sequence in zip("abc", request.space.enumerate(), strict=False):
            yield LabelledSequence(index, sequence)


class Paired(Random):
    """Random draws that depend on each other in a way that nobody measured."""

    joint = True
    calibration = None


@pytest.fixture(autouse=True)
def fresh_registry(monkeypatch) -> None:
    monkeypatch.setattr(PROTOCOLS, "_entries", dict(PROTOCOLS.items()))
    register_protocol(SameThree())
    own = Random("own-random", "random orders of a plug-in")
    own.calibration = None
    register_protocol(own)
    register_protocol(Paired("paired", "for tests"))


def claims_of(*protocols: str) -> dict[str, str]:
    claims = make_claims(table_of({"m": noisy(0)}, protocols), "m", terms=Terms(level=0.9))
    return {name: getattr(claims, name).validity for name in CLAIMS}


def test_the_same_three_orders_are_neither_exact_nor_calibrated() -> None:
    claims = make_claims(table_of({"m": noisy(0)}, ("same-three",)), "m")
    assert not claims.blind
    for claim in (claims.mean, claims.std, claims.next_run, claims.tail):
        assert (claim.interval, claim.validity) == (None, "none")
    for claim in (claims.worse, claims.not_worse):
        assert (claim.value, claim.validity) == (None, "none")


def test_a_plug_in_gets_the_claims_that_its_object_supports() -> None:
    exact = dict.fromkeys(("worse", "not_worse"), "exact")
    assert claims_of("random").items() >= exact.items()
    assert claims_of("random")["mean"] == "calibrated"
    rough = dict.fromkeys(("mean", "std"), "rough")
    few = dict.fromkeys(("next_run", "tail"), "none")  # three orders say little of them
    assert claims_of("own-random") == exact | rough | few
    assert claims_of("paired") == dict.fromkeys(exact, "rough") | rough | few


def test_constructed_orders_of_a_plug_in_step_back_behind_random_ones() -> None:
    table = table_of({"m": noisy(0)}, ("same-three", "random"))
    assert list(representative_orders(table, "m")[0].protocols) == ["random"]


def test_orders_of_a_design_beside_independent_ones_are_not_exact() -> None:
    assert claims_of("random", "latin")["worse"] == claims_of("latin")["worse"] != "exact"
    both = OrderChoice({name: PROTOCOLS[name] for name in ("random", "latin")}, random=True)
    assert (both.independent, both.calibration) == (False, "random")


def test_comparisons_give_intervals_for_random_orders_only() -> None:
    pairs = {
        name: compare_two(table_of({"a": noisy(0), "b": noisy(1)}, (name,)), "a", "b")
        for name in ("random", "latin", "edge", "optimal", "adversarial", "same-three")
    }
    assert [name for name, pair in pairs.items() if pair.random_orders] == ["random", "latin"]
    assert [name for name, pair in pairs.items() if pair.interval] == ["random", "latin"]


@pytest.mark.parametrize(("count", "counts"), [(80, False), (81, True), (90, True)])
def test_an_enumeration_counts_once_nine_tenths_are_there(count: int, counts: bool) -> None:
    accuracy, orders = noisy(0), list(SPACE.enumerate())
    assert len(orders) == 90
    runs = [
        Run("m", "made-up", "enumerate", f"all-{index}", sequence, 0, accuracy(sequence))
        for index, sequence in enumerate(orders[:count])
    ]
    table = build(runs)
    assert ("enumerate" in random_protocols(table)) is counts
    truth = find_truth(table, "m")
    assert (truth is not None) is counts
    if truth is not None:
        assert (truth.kind, len(truth), truth.space_size) == ("enumerated", count, 90)


@pytest.mark.parametrize(("count", "counts"), [(29, False), (30, True)])
def test_thirty_random_orders_stand_for_the_truth(count: int, counts: bool) -> None:
    accuracy, orders = noisy(0), list(SPACE.enumerate())
    runs = [
        Run("m", "made-up", "random", f"seed-{index}", sequence, 0, accuracy(sequence))
        for index, sequence in enumerate(orders[:count])
    ]
    truth = find_truth(build(runs), "m")
    assert (truth is not None) is counts
    if truth is not None:
        assert (truth.kind, truth.protocols) == ("sample", ("random",))
        assert sorted(truth.accuracies) == sorted(accuracy(one) for one in orders[:count])


@pytest.mark.parametrize(("blind", "protocols"), [(1, ["optimal"]), (2, ["random"])])
def test_two_blind_orders_go_before_more_constructed_ones(blind: int, protocols: list[str]) -> None:
    accuracy, orders = noisy(0), list(SPACE.enumerate())
    names = ["random"] * blind + ["optimal"] * 3
    runs = [
        Run("m", "made-up", name, f"{name}-{index}", orders[index], 0, accuracy(orders[index]))
        for index, name in enumerate(names)
    ]
    assert list(representative_orders(build(runs), "m")[0].protocols) == protocols
