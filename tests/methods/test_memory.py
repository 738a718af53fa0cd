from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from edgecil.errors import UsageError
from edgecil.methods.memory import ExemplarMemory, MemoryBudget, draw, herd
from edgecil.methods.task import Task

SIZES = st.none() | st.integers(0, 30)


def task_of(tasks: tuple[tuple[int, ...], ...], each: int = 9) -> Task:
    """A task whose images say their new label (channel 0) and their place in it (channel 1)."""
    old_count = sum(len(task) for task in tasks[:-1])
    labels = torch.arange(old_count, old_count + len(tasks[-1])).repeat_interleave(each)
    place = torch.arange(each).repeat(len(tasks[-1]))
    pixels = torch.stack([labels, place], dim=1).to(torch.uint8)[:, :, None, None]
    return Task(tasks, pixels, labels, run_seed=0)


def backwards(pixels: torch.Tensor, count: int) -> torch.Tensor:
    """The last images are the most important."""
    return torch.arange(len(pixels) - 1, len(pixels) - 1 - count, -1)


@pytest.mark.parametrize(
    ("total", "per_class", "seen", "quota"),
    [
        (2000, 20, 10, 20), (2000, 20, 100, 20), (2000, 20, 200, 10), (2000, None, 10, 200),
        (2000, None, 3, 666), (None, 20, 1000, 20), (5, None, 6, 0),
    ],
)  # fmt: skip
def test_quota(total, per_class, seen, quota) -> None:
    assert MemoryBudget(total, per_class).quota(seen) == quota


def test_budgets_that_make_no_sense() -> None:
    with pytest.raises(UsageError, match=r"'total'.*'per_class'"):
        MemoryBudget(None, None)
    with pytest.raises(UsageError, match=r"'per_class'.*0.*-1"):
        MemoryBudget(per_class=-1)


@pytest.mark.parametrize(("total", "per_class"), [(5, 20), (2000, 0), (None, 0)])
def test_a_class_without_exemplars_is_refused(total, per_class) -> None:
    memory = ExemplarMemory(MemoryBudget(total, per_class))
    said = f"{total} in total and {per_class} per class leaves none for 6 classes"
    with pytest.raises(UsageError, match=said):
        memory.check(6)
    ExemplarMemory(MemoryBudget(6, 1)).check(6)


def test_class_means_by_hand() -> None:
    """Features (3, 4) and (0, 2) are of unit length (3/5, 4/5) and (0, 1) before they are added."""
    memory = ExemplarMemory(MemoryBudget(total=None, per_class=2))
    memory.update(task_of(((4, 9),), each=2), backwards)
    rows = torch.tensor([[3.0, 4.0], [0.0, 2.0], [5.0, 0.0], [7.0, 0.0]])
    means = memory.class_means(lambda pixels: rows)
    length = (0.6**2 + 1.8**2) ** 0.5
    assert means.tolist()[0] == pytest.approx([0.6 / length, 1.8 / length])
    assert means.tolist()[1] == pytest.approx([1.0, 0.0])


def test_shrinking_keeps_the_most_important() -> None:
    memory = ExemplarMemory(MemoryBudget(total=12, per_class=None))
    tasks = ((0, 1), (2,), (3, 4, 5))
    for end, quota in ((1, 6), (2, 4), (3, 2)):
        memory.update(task_of(tasks[:end]), backwards)
        for label in range(sum(len(task) for task in tasks[:end])):
            assert memory.of_class(label)[:, 0].flatten().tolist() == [label] * quota
            assert memory.of_class(label)[:, 1].flatten().tolist() == [8, 7, 6, 5, 4, 3][:quota]


def test_data_carry_their_labels() -> None:
    memory = ExemplarMemory(MemoryBudget(total=7, per_class=None))
    first, second = task_of(((4, 9),), each=2), task_of(((4, 9), (1,)), each=9)
    pixels, labels = memory.data(first)
    assert (pixels.shape, pixels.dtype, len(labels)) == ((0, 2, 1, 1), torch.uint8, 0)
    memory.update(first, backwards)
    memory.update(second, backwards)
    pixels, labels = memory.data(second)
    assert labels.tolist() == pixels[:, 0].flatten().tolist() == [0, 0, 1, 1, 2, 2]
    assert labels.dtype == torch.int64
    pixels, labels = memory.beside(task_of(((4, 9), (1,), (5,)), each=2))
    assert labels.tolist() == pixels[:, 0].flatten().tolist() == [3, 3, 0, 0, 1, 1, 2, 2]


@given(
    total=SIZES,
    per_class=SIZES,
    sizes=st.lists(st.integers(1, 3), min_size=1, max_size=4),
    each=st.integers(1, 9),
)
def test_the_budget_is_never_exceeded(total, per_class, sizes, each) -> None:
    if total is None and per_class is None:
        total = 0
    memory = ExemplarMemory(MemoryBudget(total, per_class))
    starts = np.cumsum([0, *sizes])
    tasks = tuple(tuple(range(a, b)) for a, b in pairwise(starts))
    for end in range(1, len(tasks) + 1):
        memory.update(task_of(tasks[:end], each), backwards)
        seen = int(starts[end])
        assert total is None or len(memory) <= total
        counts = [len(memory.of_class(label)) for label in range(seen)]
        assert per_class is None or max(counts) <= per_class
        assert sum(counts) == len(memory)
        quota = memory.budget.quota(seen)
        assert counts == [min(quota, each)] * seen


def test_exemplars_do_not_hold_on_to_the_task() -> None:
    memory = ExemplarMemory(MemoryBudget(total=4, per_class=None))
    task = task_of(((0, 1),))
    memory.update(task, backwards)
    kept = memory.of_class(0).clone()
    task.inputs.zero_()
    assert torch.equal(memory.of_class(0), kept)
    assert memory.of_class(0).untyped_storage().nbytes() == kept.numel()


@given(
    features=arrays(
        np.float32,
        st.tuples(st.integers(1, 8), st.integers(1, 4)),
        elements=st.integers(-50, 50).map(float),
    ),
    data=st.data(),
)
def test_herding_keeps_the_running_mean_as_close_as_possible(features, data) -> None:
    count = data.draw(st.integers(0, len(features)))
    chosen = herd(torch.from_numpy(features), count).tolist()
    assert len(set(chosen)) == count
    exact = features.astype(np.float64)
    mean = exact.mean(axis=0)
    for k in range(1, count + 1):  # ties allow several choices: each must be one of the best
        before = chosen[: k - 1]
        gaps = {
            x: float(np.square(mean - (exact[x] + exact[before].sum(axis=0)) / k).sum())
            for x in range(len(exact))
            if x not in before
        }
        assert gaps[chosen[k - 1]] <= min(gaps.values()) * (1 + 1e-4) + 1e-3


def test_drawing_at_random_follows_its_generator() -> None:
    pixels = torch.zeros(20, 1, 1, 1)
    one, again, other = (
        draw(pixels, 5, torch.Generator().manual_seed(seed)).tolist() for seed in (0, 0, 1)
    )
    assert one == again != other
    assert len(set(one)) == 5
    assert set(one) <= set(range(20))
