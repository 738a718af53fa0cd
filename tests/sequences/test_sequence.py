"""A class sequence is an ordered partition, whatever it is built from."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, strategies as st

from edgecil.errors import UsageError
from edgecil.sequences import ClassSequence


@st.composite
def orders_and_sizes(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    return list(draw(st.permutations(range(sum(sizes))))), sizes


@given(orders_and_sizes(), st.randoms(use_true_random=False))
def test_order_inside_a_task_carries_no_meaning(given_, random) -> None:
    order, sizes = given_
    sequence = ClassSequence.from_order(order, sizes)
    mixed = [random.sample(task, len(task)) for task in sequence.tasks]
    assert ClassSequence(mixed) == sequence
    assert hash(ClassSequence(mixed)) == hash(sequence)
    assert str(ClassSequence(mixed)) == str(sequence)
    assert ClassSequence(mixed).sorted_order == sequence.sorted_order


@given(orders_and_sizes())
def test_the_order_inside_a_task_is_remembered(given_) -> None:
    order, sizes = given_
    sequence = ClassSequence.from_order(order, sizes)
    assert sequence.order == tuple(order)
    assert [len(task) for task in sequence.arranged] == sizes
    assert ClassSequence.parse(sequence.arranged_text).order == sequence.order
    assert ClassSequence.parse(str(sequence)).order == sequence.sorted_order
    assert sequence.without_arrangement().arranged == sequence.tasks


@given(orders_and_sizes())
def test_an_order_is_cut_where_the_sizes_say(given_) -> None:
    order, sizes = given_
    rest = list(order)
    expected = []
    for size in sizes:
        expected.append(tuple(sorted(rest[:size])))
        rest = rest[size:]
    sequence = ClassSequence.from_order(order, sizes)
    assert sequence.tasks == tuple(expected)
    assert sequence.sizes == tuple(sizes)
    assert len(sequence) == len(sizes)
    assert sequence.sorted_order == tuple(class_ for task in expected for class_ in task)


@given(orders_and_sizes())
def test_the_task_of_each_class_is_the_one_that_holds_it(given_) -> None:
    sequence = ClassSequence.from_order(*given_)
    for class_, task in enumerate(sequence.task_of()):
        assert class_ in sequence.tasks[task]


def test_relabelling_paints_each_class_with_its_position() -> None:
    sequence = ClassSequence([[7, 3], [0], [12, 5]])
    labels = np.array([[3, 7, 0], [5, 12, 12]])
    new = sequence.relabel(labels)
    assert new.tolist() == [[1, 0, 2], [4, 3, 3]]
    np.testing.assert_array_equal(np.array(sequence.order)[new], labels)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64, list])
def test_relabelling_reads_labels_of_any_integer_type(dtype) -> None:
    labels = [2, 1] if dtype is list else np.array([2, 1], dtype=dtype)
    assert ClassSequence([[2], [1]]).relabel(labels).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("labels", "named"), [([1, 4], "4"), ([-1], "-1"), ([3], "3"), ([0.5], r"0\.5")]
)
def test_labels_that_are_no_classes_of_the_sequence_are_refused(labels, named) -> None:
    with pytest.raises(UsageError, match=named):
        ClassSequence([[0, 1], [2, 5]]).relabel(labels)


def test_classes_need_not_be_numbered_from_zero_until_a_matrix_is_indexed() -> None:
    sequence = ClassSequence([[3], [7]])
    assert sequence.order == (3, 7)
    with pytest.raises(UsageError, match=r"0.*1"):
        sequence.task_of()


@pytest.mark.parametrize(
    ("tasks", "sentence"),
    [
        ([], "at least one task"), ([[0], []], "at least one class"),
        ([[0, 1], [1]], "1.*appears"), ([[0, 0]], "0.*appears"),
        ([[0], [-1]], "0 or more. Got -1"), ([[0.0], [1]], "0.0 is not an integer"),
        ([[True], [0]], "integer"), ([["cat"], ["dog"]], "'cat'"), ([0, 1], "list of tasks"),
        (None, "list of tasks"),
    ],
)  # fmt: skip
def test_refuses_what_is_no_sequence(tasks, sentence) -> None:
    with pytest.raises(UsageError, match=sentence):
        ClassSequence(tasks)


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        *((sizes, r"classes.*\(3\)") for sizes in ([2], [2, 2], [])),
        *((sizes, "class") for sizes in ([3, 0], [0, 3], [4, -1])),
    ],
)
def test_sizes_must_use_up_the_order(sizes, words) -> None:
    with pytest.raises(UsageError, match=words):
        ClassSequence.from_order([0, 1, 2], sizes)


def test_a_sequence_does_not_change() -> None:
    source = [[1, 0], [2]]
    sequence = ClassSequence(source)
    source[0].append(5)
    assert sequence.tasks == ((0, 1), (2,))
    with pytest.raises(FrozenInstanceError):
        sequence.tasks = ()


def test_a_long_sequence_has_a_short_text() -> None:
    assert repr(ClassSequence([[3, 0], [2, 1]])) == "<ClassSequence 0 3|1 2>"
    long = ClassSequence([range(start, start + 50) for start in range(0, 5000, 50)])
    assert len(repr(long)) < 100


def test_a_number_of_too_many_digits_is_no_class_id() -> None:
    with pytest.raises(ValueError, match="is not a list of class ids") as refused:
        ClassSequence.parse("0 " + "9" * 5000)
    assert len(str(refused.value)) < 400
