"""The optimum is the brute-force one wherever brute force is possible, and certified beyond."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from edgecil.classes import get_classes
from edgecil.errors import UsageError
from edgecil.sequences import SequenceSpace, bounds, find_optimum, get_objective, score
from edgecil.sequences.optimal import search
from edgecil.sequences.protocols.extremes import EDGE
from edgecil.similarity import SimilarityMatrix, text_similarity
from tests.sequences.oracles import (
    MATRICES,
    SPACES,
    all_values,
    matrix,
    named_objectives,
    symmetric,
)

NO_CHAINS = [(1,) * 5, (4, 1, 1, 1, 1), (1, 1, 2, 1, 2), (2, 2, 1, 1, 1), (1,) * 6]


def check_optimum(optimum, every, direction: str) -> None:
    """`optimum` is the extreme of all values, on the right side of its bound."""
    best = every.min() if direction == "min" else every.max()
    assert optimum.value == pytest.approx(best, abs=1e-9)
    assert 0 <= optimum.gap <= 1
    if direction == "min":
        assert optimum.bound <= best + 1e-9
    else:
        assert optimum.bound >= best - 1e-9


@pytest.mark.parametrize("sizes", SPACES, ids=str)
@pytest.mark.parametrize("kind", MATRICES)
def test_both_ends_of_every_objective_are_those_of_brute_force(sizes, kind) -> None:
    space, values = SequenceSpace(sizes), matrix(kind, sum(sizes), seed=3)
    similarity = SimilarityMatrix.of(values)
    chosen = list(named_objectives(sizes).values())
    if len(sizes) <= 4:
        chosen += [get_objective(symmetric(len(sizes), seed), space) for seed in range(3)]
    for objective in chosen:
        every = all_values(values, sizes, objective.weights)
        for goal in ("hard", "easy"):
            optimum = find_optimum(similarity, space, goal, objective=objective)
            check_optimum(optimum, every, objective.direction(goal))
            assert optimum.exact
            assert optimum.bound == optimum.value
            assert optimum.gap == 0
            assert optimum.sequence in space
            assert objective.value(similarity, optimum.sequence) == optimum.value


@pytest.mark.parametrize("sizes", NO_CHAINS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_weights_that_are_no_chain_are_enumerated(sizes, seed) -> None:
    space = SequenceSpace(sizes)
    values = matrix(("signed", "tied", "positive", "negative")[seed], sum(sizes), seed)
    objective = get_objective(symmetric(len(sizes), seed), space)
    every = all_values(values, sizes, objective.weights)
    for goal in ("hard", "easy"):
        optimum = find_optimum(SimilarityMatrix.of(values), space, goal, objective=objective)
        assert every.min() - 1e-9 <= optimum.value <= every.max() + 1e-9
        check_optimum(optimum, every, objective.direction(goal))
        assert optimum.exact


def test_annealing_alone_nearly_always_finds_what_is_proved_elsewhere() -> None:
    """Of 300 ends of objectives at most 1 % are missed, and those by little."""
    lost = []
    for sizes, kind in product(SPACES, ("signed", "tied")):
        space, values = SequenceSpace(sizes), matrix(kind, sum(sizes), seed=5)
        similarity = SimilarityMatrix.of(values)
        named = [objective.weights for objective in named_objectives(sizes).values()]
        for weights, sign in product((*named, symmetric(len(sizes))), (1.0, -1.0)):
            every = sign * all_values(values, sizes, weights)
            sequence = search(similarity, space, sign * weights, np.random.default_rng(0))
            value = sign * get_objective(weights, space).value(similarity, sequence)
            assert value >= every.min() - 1e-9
            lost.append((value - every.min()) / max(float(np.ptp(every)), 1e-9))
    assert len(lost) > 300
    assert np.mean(np.array(lost) > 1e-9) <= 0.01
    assert max(lost) < 0.05


def test_an_unknown_goal_is_refused() -> None:
    with pytest.raises(UsageError, match="'median'"):
        find_optimum(SimilarityMatrix.of(np.eye(4)), SequenceSpace((2, 2)), "median")


BUNDLED = [
    *(
        (name, SequenceSpace.equal(len(get_classes(name)), 10))
        for name in ("quickdraw", "cifar100", "cub200", "imagenet-r")
    ),
    ("cifar100", SequenceSpace.base_increment(100, 50, 10)),
]


@pytest.mark.parametrize(
    ("name", "space"), BUNDLED, ids=[f"{name}-{space.sizes[0]}" for name, space in BUNDLED]
)
def test_on_real_names_the_optimum_beats_edge_and_keeps_its_bound(name, space) -> None:
    similarity = text_similarity(get_classes(name))
    limits = bounds(similarity, space, get_objective("adjacent", space))
    for goal, sign in (("hard", 1), ("easy", -1)):
        optimum = find_optimum(similarity, space, goal)
        edge = EDGE.construct(similarity, space, goal, np.random.default_rng(0))
        assert optimum.sequence in space
        assert sign * optimum.value <= sign * score(similarity, edge)
        assert optimum.value == pytest.approx(score(similarity, optimum.sequence))
        assert optimum.bound == (limits.lower if goal == "hard" else limits.upper)
        assert limits.lower <= optimum.value <= limits.upper
        assert not optimum.exact
        assert optimum.gap == pytest.approx(
            abs(optimum.value - optimum.bound) / (limits.upper - limits.lower)
        )
