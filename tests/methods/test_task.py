from __future__ import annotations

import pickle
from multiprocessing.reduction import ForkingPickler

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st

from edgecil.data import Dataset, Examples
from edgecil.errors import EdgecilWarning, UsageError
from edgecil.methods.task import PastDataError, Scenario, derive_seed
from edgecil.sequences import ClassSequence

CLASSES = 7


def paint(each: int) -> Examples:
    """Constant images whose value is their class, shuffled."""
    labels = np.random.default_rng(each).permutation(np.repeat(np.arange(CLASSES), each))
    pixels = np.broadcast_to(labels.astype(np.uint8)[:, None, None, None], (len(labels), 1, 3, 3))
    return Examples(pixels.copy(), labels.astype(np.int64))


DATASET = Dataset("painted", tuple("abcdefg"), paint(5), paint(3))
SCENARIO = Scenario(DATASET)


@st.composite
def sequences(draw: st.DrawFn) -> ClassSequence:
    """Any order of some or all classes, in tasks of any sizes."""
    order = draw(st.permutations(range(CLASSES)))
    order = order[: draw(st.integers(1, CLASSES))]
    cuts = sorted(draw(st.sets(st.integers(1, len(order) - 1)))) if len(order) > 1 else []
    return ClassSequence(order[a:b] for a, b in zip([0, *cuts], [*cuts, len(order)], strict=True))


@given(sequence=sequences(), everything=st.booleans())
def test_every_new_label_leads_back_to_its_paint(sequence: ClassSequence, everything: bool) -> None:
    for end in range(1, len(sequence) + 1):
        prefix = sequence.tasks[:end]
        with SCENARIO.task(prefix, 0, everything=everything) as task:
            painted = task.inputs[:, 0, 1, 1].to(torch.int64)
            assert torch.equal(torch.tensor(task.seen)[task.labels], painted)
            brought = task.seen if everything else task.classes
            assert sorted(painted.tolist()) == sorted([*brought] * 5)
        assert task.index == end - 1
        assert task.classes == prefix[-1]
        assert task.seen == tuple(label for classes in prefix for label in classes)
        assert task.old_count == len(task.seen) - len(prefix[-1])


def test_numpy_ids_do_not_change_the_seed() -> None:
    ids = np.array([0, 3])
    with SCENARIO.task((tuple(ids),), 0) as one, SCENARIO.task(((0, 3),), 0) as other:
        assert one.seed == other.seed


def test_after_its_turn_a_task_has_no_images() -> None:
    with SCENARIO.task(((0, 1), (2,)), 0) as task:
        assert len(task.inputs) == len(task.labels) == 5
    for reach in (lambda: task.inputs, lambda: task.labels):
        with pytest.raises(PastDataError, match="Task 2 has ended"):
            reach()


def test_a_task_ends_even_when_learning_fails() -> None:
    with pytest.raises(ZeroDivisionError), SCENARIO.task(((0,),), 0) as task:
        _ = 1 / 0
    with pytest.raises(PastDataError):
        _ = task.inputs


def test_a_learner_cannot_change_the_dataset() -> None:
    with SCENARIO.task(((0, 1),), 0) as task:
        task.inputs.fill_(99)
        task.labels.fill_(99)
    assert DATASET.train.inputs.max() < CLASSES
    assert DATASET.train.labels.max() < CLASSES


def test_the_seed_depends_on_the_run_and_on_the_tasks_so_far() -> None:
    def seed(tasks: tuple[tuple[int, ...], ...], run: int = 0) -> int:
        with SCENARIO.task(tasks, run) as task:
            return task.seed

    different = [
        seed(((0, 1), (2, 3))),
        seed(((0, 1), (2, 3)), run=1),
        seed(((0, 1), (2, 4))),
        seed(((2, 3), (0, 1))),
        seed(((0, 1, 2, 3),)),
        seed(((0, 1),)),
    ]
    assert len(set(different)) == len(different)
    assert seed(((0, 1), (2, 3))) == different[0]


def test_classes_that_the_dataset_does_not_have() -> None:
    with pytest.raises(UsageError, match=r"7.*'painted'.*7"), SCENARIO.task(((0, 7),), 0):
        pass


def test_a_scenario_travels_without_a_second_copy_of_the_images() -> None:
    """Workers get it pickled; the images must not be in it twice."""
    images = SCENARIO.train.inputs.numel() + SCENARIO.test.inputs.numel()
    labels = 8 * (len(SCENARIO.train.labels) + len(SCENARIO.test.labels))
    assert len(pickle.dumps(SCENARIO)) < images + labels + 3000
    assert images > 500


def test_seeds_are_the_same_on_every_machine_and_for_ever() -> None:
    """A changed number here changes every result that anyone has stored."""
    assert derive_seed(0, ((0, 1), (2, 3))) == 4529643334893885915
    assert derive_seed(0, "weights") == 5147875554478041081


def test_every_part_counts_and_so_does_where_it_stands() -> None:
    parts = [(0,), (1,), ("0",), (0, 1), (1, 0), ((0, 1),), (0, 1, 2), ((0, 1), 2), (0, (1, 2))]
    assert len({derive_seed(*each) for each in parts}) == len(parts)


def test_where_memory_cannot_be_shared_each_process_gets_a_copy(monkeypatch) -> None:
    def refuse(_: torch.Tensor) -> None:
        raise RuntimeError("unable to allocate shared memory(shm): No space left on device (28)")

    scenario = Scenario(DATASET)
    monkeypatch.setattr(torch.Tensor, "share_memory_", refuse)
    with pytest.warns(EdgecilWarning, match=r"cannot share memory \(No space left on device"):
        scenario.share_memory()
    copied = pickle.loads(ForkingPickler.dumps(scenario))
    for split, own in ((scenario.train, copied.train), (scenario.test, copied.test)):
        assert torch.equal(split.inputs, own.inputs)
        assert torch.equal(split.labels, own.labels)
        assert not own.inputs.is_shared()
