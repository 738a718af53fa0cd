"""Pieces of learners that depend on one task alone: made once for all sequences that have it."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from edgecil.backbones.features import content_name
from edgecil.errors import EdgecilError
from edgecil.methods.method import Setting
from edgecil.scenario.task import Task
from edgecil.storage import replace_file

State = dict[str, Any]


def piece(name: str, task: Task, setting: Setting, compute: Callable[[Task], State]) -> State:
    """What `compute` makes of a task, whatever came before the task.

    `compute` is shown the task as if it were the first (:meth:`Task.alone`), so its result is the
    same in every sequence with this task; where sequences share a directory (`setting.shared`),
    the first to need it computes it and the others, in other processes too, wait and read it.

    Args:
        name: of the piece, with the method's: `ease adapter`.
        task: still open.
        setting: of the method.
        compute: a task to tensors on the CPU and plain values.
    """
    if setting.shared is None:
        return compute(task.alone())
    key = content_name(name, task.run_seed, task.classes)
    path = Path(setting.shared) / "pieces" / f"{key}.pt"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_suffix(".lock").open("w")
    except OSError as error:
        raise EdgecilError(f"Cannot use {path.parent}: {error.strerror or error}.") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            made = compute(task.alone())
            with replace_file(path) as file:
                torch.save(made, file)
    return _read(path)


def _read(path: Path) -> State:
    try:
        state: State = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        path.unlink(missing_ok=True)
        raise EdgecilError(
            f"{path} was damaged and has been removed; run the same command again."
        ) from error
    return state
