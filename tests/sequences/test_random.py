"""Random sequences are the ones that people get from the seeds they quote."""

from __future__ import annotations

import numpy as np
import pytest

from edgecil.sequences import ClassSequence, SequenceSpace, protocol, seeded

SIZES = [(10,) * 10, (50, 10, 10, 10, 10, 10), (2, 2, 2), (1, 1), (3, 1, 2)]


def cut(order, sizes) -> ClassSequence:
    rest, tasks = [int(class_) for class_ in order], []
    for size in sizes:
        tasks.append(rest[:size])
        rest = rest[size:]
    return ClassSequence(tasks)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("seed", [0, 42, 1993, 7])
def test_a_seed_stands_for_numpys_permutation(sizes, seed) -> None:
    order = np.random.default_rng(seed).permutation(sum(sizes))
    assert seeded(SequenceSpace(sizes), seed) == cut(order, sizes)
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002
    order = np.random.permutation(sum(sizes))  # noqa: NPY002
    np.random.set_state(state)  # noqa: NPY002
    assert seeded(SequenceSpace(sizes), seed, legacy=True) == cut(order, sizes)


def test_pycils_order_of_cifar100_is_known() -> None:
    """The class order that PyCIL prints for seed 1993 begins 68, 56, 78, 8, 23, 84, 90, 65, …"""
    sequence = seeded(SequenceSpace.equal(100, 10), 1993, legacy=True)
    assert sequence.order[:10] == (68, 56, 78, 8, 23, 84, 90, 65, 74, 76)
    assert sequence.arranged[0] == sequence.order[:10]
    assert sequence.tasks[0] == (8, 23, 56, 65, 68, 74, 76, 78, 84, 90)


def test_the_global_stream_is_left_alone() -> None:
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    seeded(SequenceSpace((2, 2)), 5, legacy=True)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_rs_takes_the_papers_seeds_even_where_two_give_one_order() -> None:
    six = SequenceSpace.equal(6, 3)
    drawn = {run.label: run.sequence for run in protocol("rs", six)}
    assert drawn == {f"seed-{seed}": seeded(six, seed) for seed in (0, 42, 1993)}
    assert drawn["seed-0"] == drawn["seed-42"] != drawn["seed-1993"]
    distinct = protocol("random", six)
    assert [run.label for run in distinct] == ["seed-0", "seed-1993", "seed-1"]
    assert len({run.sequence for run in distinct}) == 3
