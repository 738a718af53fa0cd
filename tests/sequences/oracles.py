"""Slow and obvious versions of what edgecil computes, and inputs to try it on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from edgecil.sequences import ClassSequence, Objective, SequenceSpace
from edgecil.sequences.objective import OBJECTIVES

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PAPER_SPACES = [(2,) * 2, (3,) * 2, (4,) * 2, (5,) * 2, (2,) * 3, (3,) * 3, (2,) * 4]
"""(N, K) = (4, 2), (6, 2), (8, 2), (10, 2), (6, 3), (9, 3), (8, 4): up to 2,520 sequences."""

UNEQUAL_SPACES = [(1, 2), (2, 1), (3, 1, 2), (4, 1, 1), (1, 3, 2, 1), (5, 2), (2, 1, 1, 1)]
SINGLE_SPACES = [(1, 1), (1, 1, 1), (1, 1, 1, 1), (1,) * 5]
SPACES = [*PAPER_SPACES, *UNEQUAL_SPACES, *SINGLE_SPACES]

MATRICES = ("positive", "signed", "negative", "tied", "equal", "zero")


def matrix(kind: str, classes: int, seed: int = 0) -> Floats:
    """A symmetric matrix with zero diagonal."""
    rng = np.random.default_rng(seed)
    shape = (classes, classes)
    values = {
        "positive": rng.random(shape),
        "signed": rng.normal(size=shape),
        "negative": -rng.random(shape),
        "tied": rng.integers(0, 3, size=shape).astype(float),
        "equal": np.full(shape, 0.7),
        "zero": np.zeros(shape),
    }[kind]
    upper = np.triu(values, 1)
    return upper + upper.T


def symmetric(tasks: int, seed: int = 0) -> Floats:
    """K x K weights of no particular form."""
    weights = np.random.default_rng(seed).normal(size=(tasks, tasks))
    return weights + weights.T


@st.composite
def matrices(draw: st.DrawFn, classes: int) -> Floats:
    """Random matrices: signed or tied entries of any scale, or all entries equal."""
    entry = draw(
        st.sampled_from(
            [
                st.floats(-2, 2, width=16),
                st.integers(-2, 2).map(float),
                st.integers(0, 1).map(float),
                st.just(draw(st.floats(-1, 1))),
            ]
        )
    )
    pairs = classes * (classes - 1) // 2
    values = np.zeros((classes, classes))
    values[np.triu_indices(classes, 1)] = draw(st.lists(entry, min_size=pairs, max_size=pairs))
    return values + values.T


@cache
def places(sizes: tuple[int, ...]) -> Ints:
    """The task of each class in every sequence of a space, shape (|Ω|, N)."""

    def fill(left: list[int]) -> Iterator[list[int]]:
        if not any(left):
            yield []
            return
        for task, room in enumerate(left):
            if room:
                for rest in fill([*left[:task], room - 1, *left[task + 1 :]]):
                    yield [task, *rest]

    placements = np.array(list(fill(list(sizes))))
    placements.setflags(write=False)
    return placements


def sequence_at(place: Sequence[int] | Ints) -> ClassSequence:
    """The sequence in which class c is in task `place[c]`."""
    tasks: list[list[int]] = [[] for _ in range(max(place) + 1)]
    for class_, task in enumerate(place):
        tasks[task].append(class_)
    return ClassSequence(tasks)


def all_values(values: Floats, sizes: tuple[int, ...], weights: Floats) -> Floats:
    """The objective of every sequence, summed over ordered class pairs: shape (|Ω|,)."""
    place = places(sizes)
    apart = ~np.eye(len(values), dtype=bool)
    pair_weight = weights[place[:, :, None], place[:, None, :]]
    return (pair_weight * (values * apart)).sum(axis=(1, 2))


def score_by_loops(values: Floats, tasks: Sequence[Sequence[int]]) -> float:
    """The paper's S, as it is printed."""
    K, N = len(tasks), sum(len(task) for task in tasks)
    total = 0.0
    for i in range(K - 1):
        for c in tasks[i]:
            for other in tasks[i + 1]:
                total += values[c, other]
    return K / ((K - 1) * N) * total


def named_objectives(sizes: tuple[int, ...]) -> dict[str, Objective]:
    """Every named objective that makes sense with these sizes."""
    space = SequenceSpace(sizes)
    return {
        name: build(space)
        for name, build in OBJECTIVES.items()
        if name != "intra" or max(sizes) > 1
    }


def near_equal(classes: int, tasks: int) -> SequenceSpace:
    """K tasks whose sizes differ by one at most."""
    return SequenceSpace([len(part) for part in np.array_split(np.arange(classes), tasks)])


def permuted(values: Floats, order: Ints) -> Floats:
    return values[np.ix_(order, order)]
