"""Each tool, following its own rule on what we export, puts each class into the intended task."""

from __future__ import annotations

import json
from itertools import accumulate

import numpy as np
import pytest

from edgecil.errors import UsageError
from edgecil.interop import FORMATS, export
from edgecil.sequences import ClassSequence, SequenceSpace, seeded

SEQUENCES = [
    seeded(SequenceSpace.equal(100, 10), 42),
    seeded(SequenceSpace.base_increment(100, 50, 10), 1993),
    seeded(SequenceSpace((2, 2, 2)), 1),
    seeded(SequenceSpace((1, 1, 1)), 3),
    ClassSequence([[3, 0, 2, 1]]),
    seeded(SequenceSpace((4, 3, 3, 2)), 5),
]
IRREGULAR = [
    seeded(SequenceSpace((2, 1, 3)), 0),
    seeded(SequenceSpace((3, 2, 1, 2)), 0),
    seeded(SequenceSpace((5, 1, 4, 2)), 0),
]
BY_SIZES = {"ids": lambda value: str(getattr(value, "sizes", value))}


def labels_of(sequence: ClassSequence) -> np.ndarray:
    """Original labels of a dataset that holds every class, some more than once, mixed."""
    everyone = list(sequence.order) + list(sequence.order)[::3]
    return np.random.default_rng(0).permutation(everyone)


def check(sequence: ClassSequence, labels, task_of_image) -> None:
    """Every image is in the task in which the sequence has its class."""
    for label, task in zip(labels, task_of_image, strict=True):
        assert label in sequence.tasks[task]


def task_by_ranges(new_labels, increments) -> list[int]:
    """The task of new labels when each task takes the next so many of them."""
    ends = list(accumulate(increments))
    return [next(task for task, end in enumerate(ends) if label < end) for label in new_labels]


@pytest.mark.parametrize("sequence", SEQUENCES, **BY_SIZES)
@pytest.mark.parametrize("format_", ["pycil", "pilot"])
def test_pycil_and_pilot(sequence, format_) -> None:
    """DataManager: increments from init_cls and increment; new label = order.index(label)."""
    config = json.loads(json.dumps(export(sequence, format_)))
    order = config["class_order"]
    increments = [config["init_cls"]]
    while sum(increments) + config["increment"] < len(order):
        increments.append(config["increment"])
    if len(order) > sum(increments):
        increments.append(len(order) - sum(increments))
    assert tuple(increments) == sequence.sizes
    assert config["shuffle"] is False
    labels = labels_of(sequence)
    check(sequence, labels, task_by_ranges([order.index(label) for label in labels], increments))


@pytest.mark.parametrize("sequence", IRREGULAR, **BY_SIZES)
@pytest.mark.parametrize("format_", ["pycil", "pilot"])
def test_pycil_and_pilot_know_no_irregular_increments(sequence, format_) -> None:
    sizes = str(list(sequence.sizes)).replace("[", r"\[").replace("]", r"\]")
    with pytest.raises(UsageError, match=sizes):
        export(sequence, format_)


@pytest.mark.parametrize("sequence", [*SEQUENCES, *IRREGULAR], **BY_SIZES)
def test_continuum(sequence) -> None:
    """ClassIncremental: new label = class_order.index(label); task t takes increment[t] labels."""
    arguments = json.loads(json.dumps(export(sequence, "continuum")))
    order, increments = arguments["class_order"], arguments["increment"]
    labels = labels_of(sequence)
    check(sequence, labels, task_by_ranges([order.index(label) for label in labels], increments))


@pytest.mark.parametrize("sequence", [*SEQUENCES, *IRREGULAR], **BY_SIZES)
def test_avalanche(sequence) -> None:
    """nc_benchmark: experience e takes the next per_exp_classes[e] of fixed_class_order."""
    arguments = json.loads(json.dumps(export(sequence, "avalanche")))
    assert arguments["shuffle"] is False
    assert arguments["task_labels"] is False
    equal = len(arguments["fixed_class_order"]) // arguments["n_experiences"]
    given = {int(key): size for key, size in arguments.get("per_exp_classes", {}).items()}
    assert bool(given) == (len(set(sequence.sizes)) > 1)
    classes_of_experience, start = [], 0
    for experience in range(arguments["n_experiences"]):
        end = start + given.get(experience, equal)
        classes_of_experience.append(arguments["fixed_class_order"][start:end])
        start = end
    assert start == len(arguments["fixed_class_order"]) == len(sequence.order)
    labels = labels_of(sequence)
    experiences = [
        next(e for e, classes in enumerate(classes_of_experience) if label in classes)
        for label in labels
    ]
    check(sequence, labels, experiences)


@pytest.mark.parametrize("sequence", [*SEQUENCES, *IRREGULAR], **BY_SIZES)
def test_mammoth(sequence) -> None:
    """targets = class_order[targets]; task t takes the next N_CLASSES_PER_TASK[t] targets."""
    arguments = json.loads(json.dumps(export(sequence, "mammoth")))
    assert arguments["permute_classes"] == 1
    labels = labels_of(sequence)
    targets = np.array(arguments["class_order"])[labels]
    check(sequence, labels, task_by_ranges(targets, arguments["N_CLASSES_PER_TASK"]))


def test_mammoths_order_is_the_inverse_of_the_others() -> None:
    sequence = ClassSequence([[2], [0], [1]])
    assert export(sequence, "continuum")["class_order"] == [2, 0, 1]
    assert export(sequence, "mammoth")["class_order"] == [1, 2, 0]


@pytest.mark.parametrize("sequence", [*SEQUENCES, *IRREGULAR], **BY_SIZES)
def test_json_is_read_back_as_the_same_sequence(sequence) -> None:
    plain = json.loads(json.dumps(export(sequence, "json")))
    assert ClassSequence(plain["tasks"]) == sequence
    assert ClassSequence.from_order(plain["order"], sequence.sizes) == sequence


@pytest.mark.parametrize("format_", FORMATS)
def test_every_format_holds_plain_numbers(format_) -> None:
    actual = export(seeded(SequenceSpace((2, 2, 2)), 0), format_)
    assert json.loads(json.dumps(actual))


@pytest.mark.parametrize("format_", FORMATS)
def test_a_sequence_over_some_of_the_classes_is_refused(format_) -> None:
    with pytest.raises(UsageError, match=r"0.*1"):
        export(ClassSequence([[3], [7]]), format_)


def test_an_unknown_format_is_named_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"'mamoth'.*'mammoth'"):
        export(ClassSequence([[0], [1]]), "mamoth")
