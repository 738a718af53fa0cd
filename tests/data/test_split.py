from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from edgecil.data.split import hold_out

LABELS = st.lists(st.integers(0, 4), min_size=1, max_size=80)


@given(LABELS)
def test_a_fifth_of_each_class_is_held_out(drawn: list[int]) -> None:
    labels = np.array(drawn)
    testing = hold_out(labels)
    for label in set(drawn):
        count = int((labels == label).sum())
        held = int(testing[labels == label].sum())
        assert held == (0 if count == 1 else max(1, round(0.2 * count)))


@given(LABELS)
def test_a_class_is_split_alike_with_and_without_the_others(drawn: list[int]) -> None:
    labels = np.array(drawn)
    alone = labels == labels[0]
    assert np.array_equal(hold_out(labels)[alone], hold_out(np.zeros(alone.sum(), dtype=int)))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=1, max_size=80))
def test_a_group_is_never_on_both_sides(images: list[tuple[int, int]]) -> None:
    labels, groups = np.array(images).T
    testing = hold_out(labels, groups)
    assert not set(groups[testing]) & set(groups[~testing])
    assert np.array_equal(testing, hold_out(labels, [f"group {group}" for group in groups]))


def test_groups_of_mixed_classes_still_leave_a_fifth_of_the_rare_class() -> None:
    groups = np.repeat(np.arange(1000), 2)
    labels = np.zeros(2000, dtype=np.int64)
    labels[:100:2] = 1
    testing = hold_out(labels, groups)
    assert testing[labels == 1].sum() == 10
    assert abs(testing.mean() - 0.2) < 0.01


def test_the_draw_is_fixed() -> None:
    labels = np.repeat(np.arange(2), 10)
    assert np.flatnonzero(hold_out(labels)).tolist() == [4, 6, 14, 16]
