"""The status of an experiment and the plan of a run, in sentences."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from edgecil.io.numbers import format_duration

if TYPE_CHECKING:
    from edgecil.engine.plan_run import RunPlan
    from edgecil.engine.status import Status


def describe_status(status: Status) -> Iterator[str]:
    """How many runs are finished, the trainings under way, and the time left."""
    shard = "" if status.shard is None else f" of shard {status.shard}"
    tasks = f"{status.tasks} trained task{'' if status.tasks == 1 else 's'}"
    yield f"{status.finished} of {status.planned} runs{shard}, {tasks}"
    if status.alive:
        now = time.time()
        for task in status.running:
            since = format_duration(now - task.started)
            yield f"Running for {since}: {task.method}, seed {task.seed}, task {len(task.tasks)}"
    elif status.remaining:
        some = "training remains" if status.remaining == 1 else "trainings remain"
        yield f"Not running; {status.remaining} task {some}."
    if status.remaining and status.seconds_left is not None:
        without = f", without {', '.join(status.unmeasured)}" if status.unmeasured else ""
        yield f"Expected time left: {format_duration(status.seconds_left)}{without}"
    elif status.alive:
        yield "Expected time left: unknown until the first training has finished"


def describe_plan(plan: RunPlan) -> Iterator[str]:
    """The task trainings that a run would do, the expected time and disk space."""
    remaining = plan.tasks - plan.stored
    trainings = f"{remaining} task training{'' if remaining == 1 else 's'}"
    yield f"Would train {trainings}, {plan.workers} at a time. Nothing was written."
    if plan.seconds is None:
        reasons = "; ".join(f"{method}: {reason}" for method, reason in plan.unknown.items())
        yield f"Expected time: unknown ({reasons})."
    else:
        yield f"Expected time: {format_duration(plan.seconds)}"
    if plan.disk is not None:
        yield f"Expected disk space: at most {plan.disk / 1e6:,.1f} MB in {plan.directory}"
