"""Pieces of learners that depend on one task alone: made once for all sequences that have it."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from edgecil.backbones.features import content_name
from edgecil.errors import EdgecilError
from edgecil.methods.method import Setting
from edgecil.scenario.task import Task
from edgecil.storage import replace_file

State = dict[str, Any]

PIECES_VERSION = 1  # raise it when a task comes to give another piece under the same settings


def piece(
    kind: tuple[object, ...], task: Task, setting: Setting, compute: Callable[[Task], State]
) -> State:
    """What `compute` makes of a task, whatever came before the task.

    `compute` is shown the task as if it were the first (:meth:`Task.alone`), so its result is the
    same in every sequence with this task; where sequences share a directory (`setting.shared`),
    the first to need it computes it and the others, in other processes too, wait and read it.

    Args:
        kind: all that decides what `compute` makes of a task under a setting: the piece's name, the
            method's configuration, the network.
        task: still open.
        setting: of the method.
        compute: a task to tensors on the CPU and plain values, by name.
    """
    alone = task.alone()
    if setting.shared is None:
        return compute(alone)
    elsewhere = replace(setting, shared=None)  # the same wherever it is kept
    key = content_name(PIECES_VERSION, *kind, elsewhere, alone.seed, alone.pixels, alone.labels)
    path = Path(setting.shared) / "pieces" / f"{key}.pt"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_suffix(".lock").open("w")
    except OSError as error:
        raise EdgecilError(f"Cannot use {path.parent}: {error.strerror or error}.") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = _read(path)
        if found is None:
            found = compute(alone)
            with replace_file(path) as file:
                torch.save({"made": found, "content": content_name(found)}, file)
    return found


def _read(path: Path) -> State | None:
    """The piece in a file; none if there is no such file or it is damaged."""
    try:
        held = torch.load(path, map_location="cpu", weights_only=True)
        made: State = held["made"]
        intact = held["content"] == content_name(made)
    except Exception:  # there are many ways to be damaged, and one remedy: to make it anew
        return None
    return made if intact else None
