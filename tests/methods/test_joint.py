from __future__ import annotations

from dataclasses import replace

import torch

from edgecil.methods.joint import Joint
from edgecil.methods.task import Scenario
from tests.toys import QUICK, TASKS, Tasks, build, learn, learn_all, same, toy_dataset

DATASET = toy_dataset()
SCENARIO = Scenario(DATASET)


def given(tasks: Tasks) -> dict[bytes, int]:
    """Every image that the last task brings, with its original class."""
    with SCENARIO.task(tasks, 0, everything=Joint.sees_everything) as task:
        classes = torch.tensor(task.seen)[task.labels].tolist()
        return {
            image.numpy().tobytes(): class_
            for image, class_ in zip(task.inputs, classes, strict=True)
        }


def test_sees_every_image_of_every_class_so_far() -> None:
    everything = {
        image.tobytes(): label
        for image, label in zip(DATASET.train.inputs, DATASET.train.labels.tolist(), strict=True)
    }
    assert given(TASKS) == everything
    assert given(TASKS[:2]) == {
        image: label for image, label in everything.items() if label in (0, 3, 1, 4)
    }


def test_a_budget_in_steps_counts_for_every_task_so_far() -> None:
    """Epochs grow with the images by themselves."""
    for changes, expected in (({"steps": 7}, [7, 14, 21]), ({"epochs": 3}, [3, 3, 3])):
        method = build("joint", DATASET, schedule=replace(QUICK, **changes))
        durations = []
        for end in range(1, len(TASKS) + 1):
            with SCENARIO.task(TASKS[:end], 0) as task:
                durations.append(method.schedule_of(task).duration)
        assert durations == expected


def test_starts_over_at_every_task() -> None:
    """What it had learnt before leaves no trace."""
    seasoned, fresh = build("joint", DATASET), build("joint", DATASET)
    learn_all(seasoned, SCENARIO, TASKS)
    learn(fresh, SCENARIO, TASKS)
    assert same(seasoned.state(), fresh.state())
