"""The contract of every protocol: `edgecil.testing.check_protocol(MyProtocol())`.

A failed check raises AssertionError with a sentence that says what to change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from edgecil.errors import EdgecilError
from edgecil.registry import Registry
from edgecil.sequences.protocols.protocol import LabelledSequence, Protocol
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import SimilarityMatrix

SMALL = SequenceSpace((2, 2, 2))
SPACES = (SMALL, SequenceSpace((3, 1, 2)), SequenceSpace((2, 2, 1, 1)))
LARGE = SequenceSpace((4,) * 5)
_SEEDS = 500
_LEAST_P = 1e-6  # `edge` avoids a few of the 90 orders, which 500 draws do not show
_MOST_ERRORS = 5.0  # standard errors

PROTOCOL_CHECKS: Registry[Callable[[Protocol], None]] = Registry("check")
"""Every check by name."""


def check_protocol(protocol: Protocol) -> None:
    """Raise AssertionError unless a protocol does what it says; see :data:`PROTOCOL_CHECKS`.

    Of protocols that ask a language model only the description is checked.
    """
    for name, check in PROTOCOL_CHECKS.items():
        if not protocol.asks_model or name == "description":
            check(protocol)


@PROTOCOL_CHECKS.register("description")
def check_description(protocol: Protocol) -> None:
    """It has a name that a command line takes, a summary, and facts that fit each other."""
    name = protocol.name
    assert name, f"{protocol!r} must have a name."
    assert not set(name) & set(" ,:/"), f"{name!r} must not have a blank, a comma, : or /."
    assert protocol.summary, f"{name} must have a summary of one line."
    assert protocol.random or not protocol.joint, (
        f"{name} is joint, so each of its sequences must be random: set 'constructed' to ()."
    )
    assert not (protocol.exhaustive and protocol.random), (
        f"{name} takes every sequence, so that none is a random draw; leave 'constructed' None."
    )


@PROTOCOL_CHECKS.register("sequences")
def check_sequences(protocol: Protocol) -> None:
    """Sequences lie in the space, have their own labels, and are the same when asked again."""
    for space in SPACES:
        drawn = _draw(protocol, space)
        for _ in range(2):
            assert drawn == _draw(protocol, space), (
                f"{protocol.name} gives other sequences when it is asked again; derive random "
                "numbers from request.rng() alone."
            )
        if protocol.exhaustive:
            assert {run.sequence for run in drawn} == set(space.enumerate()), (
                f"{protocol.name} is exhaustive but leaves sequences out."
            )


@PROTOCOL_CHECKS.register("budget")
def check_budget(protocol: Protocol) -> None:
    """It gives as many sequences as requested; a larger budget adds to independent ones."""
    if not protocol.takes_budget:
        return
    most = protocol.most_budget or protocol.least_budget + 4
    draws = [
        _draw(protocol, SMALL, budget=budget)
        for budget in range(protocol.least_budget, min(most, SMALL.size) + 1)
    ]
    if protocol.independent:
        for fewer, more in pairwise(draws):
            assert more[: len(fewer)] == fewer, (
                f"{protocol.name} must keep its sequences when the budget grows, because `until` "
                "adds orders one by one."
            )


@PROTOCOL_CHECKS.register("constructed")
def check_constructed(protocol: Protocol) -> None:
    """Constructed sequences are there, and are the same for every seed unless it is `seeded`."""
    if protocol.exhaustive:
        return
    for space in (SMALL, LARGE):
        by_seed = [_constructed(protocol, space, seed) for seed in range(4)]
        assert set(protocol.constructed or ()) <= set(by_seed[0]), (
            f"{protocol.name} must draw every sequence that it names in 'constructed'."
        )
        assert protocol.seeded or all(drawn == by_seed[0] for drawn in by_seed), (
            f"Constructed sequences of {protocol.name} depend on the seed; set 'seeded' to True."
        )


@PROTOCOL_CHECKS.register("random")
def check_random(protocol: Protocol) -> None:
    """What it calls random is uniform over the space: a chi-square test for each place."""
    from scipy.special import chdtrc

    place = {sequence: index for index, sequence in enumerate(SMALL.enumerate())}
    counts: dict[int, np.ndarray[tuple[int], np.dtype[np.float64]]] = {}
    for drawn in _seeds(protocol):
        for index, run in enumerate(drawn):
            if protocol.role(run.label) == "random":
                counts.setdefault(index, np.zeros(SMALL.size))[place[run.sequence]] += 1
    for index, count_of_order in counts.items():
        expected = count_of_order.sum() / SMALL.size
        chi_square = float(((count_of_order - expected) ** 2).sum() / expected)
        p_value = chdtrc(SMALL.size - 1, chi_square)
        assert p_value > _LEAST_P, (
            f"Sequence {index + 1} of {protocol.name} is not uniform over the space (p = "
            f"{p_value:.0e} over {_SEEDS} seeds); name its label in 'constructed'."
        )


@PROTOCOL_CHECKS.register("independent")
def check_independent(protocol: Protocol) -> None:
    """Independent draws agree as much as chance; designs are drawable."""
    drawn = [run.sequence for run in _draw(protocol, SMALL)]
    if protocol.joint:
        design = protocol.design(SMALL, 4, np.random.default_rng(0)) or drawn
        assert all(sequence in SMALL for sequence in design), (
            f"A design of {protocol.name} must lie in the space."
        )
        return
    if not protocol.random or protocol.default_budget < 2:
        return
    agreements = [
        _agreement(first.sequence, second.sequence) for first, second, *_ in _seeds(protocol)
    ]
    error = float(np.std(agreements, ddof=1)) / np.sqrt(len(agreements))
    assert abs(np.mean(agreements)) < _MOST_ERRORS * error, (
        f"The first two sequences of {protocol.name} depend on each other: their agreement is "
        f"{np.mean(agreements):.2f} on average, not 0; set 'joint' to True."
    )


def _agreement(first: ClassSequence, second: ClassSequence) -> float:
    """Return how far two orders agree on the positions of classes and of pairs, beyond chance.

    It is the mean of two agreements: of the number of classes that are in the same task in both
    orders, and of the number of pairs of classes that are together in the same task in both. Each
    is (shared - e) / (most - e), with its mean e over all orders and its value for equal orders, so
    that it is 1 for equal orders and 0 on average over random ones. Some task must have a pair.
    """
    tasks = zip(first.tasks, second.tasks, strict=True)
    shared = np.array([len(set(task) & set(other_task)) for task, other_task in tasks])
    sizes = np.array(first.sizes)
    classes, pairs = sizes.sum(), sizes * (sizes - 1.0) / 2.0
    by_chance = sizes @ sizes / classes
    of_classes = (shared.sum() - by_chance) / (classes - by_chance)
    by_chance = pairs @ pairs / (classes * (classes - 1.0) / 2.0)
    of_pairs = ((shared * (shared - 1.0) / 2.0).sum() - by_chance) / (pairs.sum() - by_chance)
    return float((of_classes + of_pairs) / 2.0)


def _constructed(protocol: Protocol, space: SequenceSpace, seed: int) -> dict[str, object]:
    drawn = _draw(protocol, space, order_seed=seed)
    return {run.label: run.sequence for run in drawn if protocol.role(run.label) == "constructed"}


def _seeds(protocol: Protocol) -> Iterator[list[LabelledSequence]]:
    """Yield draws with different seeds, unless the protocol has no random sequences."""
    if any(protocol.role(run.label) == "random" for run in _draw(protocol, SMALL)):
        for seed in range(_SEEDS):
            yield _draw(protocol, SMALL, order_seed=seed)


def _draw(
    protocol: Protocol,
    space: SequenceSpace,
    *,
    budget: int | None = None,
    order_seed: int | None = None,
) -> list[LabelledSequence]:
    values = np.random.default_rng(space.classes).random((space.classes, space.classes))
    similarity = SimilarityMatrix.of((values + values.T) / 2.0)
    try:
        return protocol.draw(space, budget=budget, order_seed=order_seed, similarity=similarity)
    except EdgecilError as error:
        raise AssertionError(
            f"{protocol.name} failed with a budget of {budget} on task sizes {list(space.sizes)}: "
            f"{error}"
        ) from error
