"""A space holds every sequence once; sampling from it is fair."""

from __future__ import annotations

import math
import re
import sys
import time
from collections import Counter
from itertools import islice, permutations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import chi2

from edgecil.errors import UsageError
from edgecil.sequences import ClassSequence, SequenceSpace
from edgecil.sequences.space import count_sequences, decimal_text

SIZES = [
    (1,), (4,), (1, 1), (1, 2), (2, 2), (3, 3), (1, 1, 1, 1), (2, 1, 2), (2, 2, 2), (4, 1, 1),
    (1, 4, 2), (4, 4), (2, 2, 2, 2), (3, 1, 1, 2),
]  # fmt: skip


def by_permuting(sizes: tuple[int, ...]) -> list[tuple[tuple[int, ...], ...]]:
    """The tasks of every sequence, from all orders of the classes."""
    sequences = set()
    for order in permutations(range(sum(sizes))):
        rest, tasks = list(order), []
        for size in sizes:
            tasks.append(tuple(sorted(rest[:size])))
            rest = rest[size:]
        sequences.add(tuple(tasks))
    return sorted(sequences)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_every_sequence_is_enumerated_once_in_lexicographic_order(sizes) -> None:
    space = SequenceSpace(sizes)
    expected = by_permuting(sizes)
    assert [sequence.tasks for sequence in space.enumerate()] == expected
    assert space.size == len(expected)
    assert space.classes == sum(sizes)
    assert space.tasks == len(sizes)
    assert space.log10_size == pytest.approx(np.log10(len(expected)))


def test_enumeration_is_lazy() -> None:
    first, second = islice(SequenceSpace.equal(100, 10).enumerate(), 2)
    assert first.order == tuple(range(100))
    assert second.tasks[-2:] == ((*range(80, 89), 90), (89, *range(91, 100)))


@pytest.mark.parametrize("sizes", [(2, 1, 2), (2, 2, 2)], ids=str)
def test_a_space_contains_what_it_enumerates_and_nothing_else(sizes) -> None:
    space = SequenceSpace(sizes)
    assert all(sequence in space for sequence in space.enumerate())
    N = space.classes
    assert ClassSequence([[class_] for class_ in range(N)]) not in space
    assert ClassSequence([range(N)]) not in space
    assert ClassSequence.from_order([*range(N - 1), N], sizes) not in space
    assert tuple(range(N)) not in space


@pytest.mark.parametrize(("classes", "tasks"), [(10, 3), (100, 7), (7, 3), (200, 15)])
def test_sizes_that_do_not_divide_come_with_a_way_out(classes, tasks) -> None:
    with pytest.raises(UsageError, match="increment") as error:
        SequenceSpace.equal(classes, tasks)
    offered = re.search(r"'tasks' to ([\d or]+)", str(error.value))
    for count in re.findall(r"\d+", offered[1]):
        assert SequenceSpace.equal(classes, int(count)).tasks == int(count)


@pytest.mark.parametrize(
    ("classes", "way", "sizes"),
    [
        (6, {"tasks": 2}, (3, 3)),
        (4, {"tasks": 4}, (1,) * 4),
        (6, {"base": 2, "increment": 1}, (2, 1, 1, 1, 1)),
        (100, {"base": 50, "increment": 10}, (50, 10, 10, 10, 10, 10)),
        (100, {"base": 0, "increment": 20}, (20,) * 5),
        (5, {"base": 5, "increment": 3}, (5,)),
        (6, {"increment": 3}, (3, 3)),
        (6, {"sizes": [1, 5]}, (1, 5)),
    ],
    ids=str,
)
def test_one_way_to_describe_the_tasks_is_enough(classes, way, sizes) -> None:
    assert SequenceSpace.choose(classes, **way).sizes == sizes


@pytest.mark.parametrize(
    ("way", "sentence"),
    [
        ({}, "'sizes'"),
        ({"tasks": 2, "increment": 3}, "'sizes'"),
        ({"tasks": 2, "base": 3}, "'sizes'"),
        ({"base": 3}, "'base' and 'increment'"),
        ({"sizes": [2, 3]}, r"number of classes \(6\)"),
        ({"tasks": 0}, r"in \[1, 6\].*Got 0 instead"),
        ({"tasks": 7}, r"in \[1, 6\].*Got 7 instead"),
        ({"base": 2, "increment": 3}, "2.*4.*increments"),
        ({"base": 7, "increment": 1}, r"'base' must be in \[0, 6\]"),
        ({"base": -1, "increment": 1}, r"'base' must be in \[0, 6\]"),
        ({"base": 2, "increment": 0}, "'increment' at least 1"),
    ],
    ids=str,
)
def test_tasks_that_do_not_fit_are_refused(way, sentence) -> None:
    with pytest.raises(UsageError, match=sentence):
        SequenceSpace.choose(6, **way)


@pytest.mark.parametrize("sizes", [[], [0], [2, -1], [2, 0, 1], [1.5, 1]])
def test_sizes_must_be_whole_and_positive(sizes) -> None:
    with pytest.raises(UsageError, match="integers of at least 1"):
        SequenceSpace(sizes)


@given(st.sampled_from(SIZES), st.data())
def test_a_sample_is_of_different_sequences_of_the_space(sizes, data) -> None:
    space = SequenceSpace(sizes)
    count = data.draw(st.integers(0, min(space.size, 60)))
    sequences = space.sample(count, np.random.default_rng(data.draw(st.integers(0, 99))))
    assert len(sequences) == len(set(sequences)) == count
    assert all(sequence in space for sequence in sequences)


@pytest.mark.parametrize("count", [1, 7, 30, 46, 80])
def test_every_sequence_is_as_likely_to_be_sampled(count) -> None:
    """Of |Ω| = 90 sequences, counts of inclusion over many samples are χ² with 89 degrees."""
    space, rng, repeats = SequenceSpace([2, 2, 2]), np.random.default_rng(count), 6000 // count
    included: Counter[ClassSequence] = Counter()
    first: Counter[ClassSequence] = Counter()
    for _ in range(repeats):
        sequences = space.sample(count, rng)
        included.update(sequences)
        first.update(sequences[:1])
    share = count / space.size
    for counts, each in ((included, share), (first, 1 / space.size)):
        seen = np.array([counts[sequence] for sequence in space.enumerate()])
        variance = repeats * each * (1 - each) * space.size / (space.size - 1)
        statistic = np.sum((seen - repeats * each) ** 2) / variance
        assert 1e-3 < chi2.sf(statistic, space.size - 1) < 1 - 1e-3


def test_orders_are_sampled_uniformly() -> None:
    orders = SequenceSpace([2, 2, 2]).sample_orders(12_000, np.random.default_rng(0))
    assert orders.shape == (12_000, 6)
    assert (np.sort(orders, axis=1) == np.arange(6)).all()
    seen = Counter(map(tuple, orders.tolist()))
    counts = np.array([seen[order] for order in permutations(range(6))])
    expected = len(orders) / 720
    assert 1e-3 < chi2.sf(np.sum((counts - expected) ** 2 / expected), 719) < 1 - 1e-3


@pytest.mark.parametrize("count", [-1, 7])
def test_no_more_can_be_sampled_than_there_is(count) -> None:
    with pytest.raises(UsageError, match=rf"6 sequences.*Got {count} "):
        SequenceSpace([2, 2]).sample(count, np.random.default_rng(0))


IMAGENET_21K = 21_841


@given(st.lists(st.integers(1, 12), min_size=1, max_size=8))
def test_equals_choosing_one_task_after_another(sizes: list[int]) -> None:
    left, ways = sum(sizes), 1
    for size in sizes:
        ways *= math.comb(left, size)
        left -= size
    assert count_sequences(sizes) == ways


@given(st.integers())
def test_decimal_text_is_str_where_str_is_willing(number: int) -> None:
    assert decimal_text(number) == str(number)


def test_decimal_text_of_imagenet_21k_leaves_the_interpreter_alone() -> None:
    size = count_sequences([1] * IMAGENET_21K)
    get_limit = getattr(sys, "get_int_max_str_digits", lambda: None)
    limit = get_limit()
    start = time.process_time()
    text = decimal_text(size)
    assert time.process_time() - start < 10
    assert get_limit() == limit
    assert len(text) == 85_292
    assert int(text[-4000:]) == size % 10**4000
    assert int(text[:4000]) == size // 10 ** (85_292 - 4000)
