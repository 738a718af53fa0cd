"""Parts of a learner that depend on one task alone, computed once for all sequences with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from edgecil.backbones.features import content_name
from edgecil.io.files import replace_file
from edgecil.io.locks import waiting_lock
from edgecil.methods.method import Environment
from edgecil.methods.task import Task

State = dict[str, Any]

CACHE_VERSION = 1  # raise it when a task comes to give another piece under the same settings


def compute_once(
    kind: tuple[object, ...], task: Task, environment: Environment, compute: Callable[[Task], State]
) -> State:
    """What `compute` makes of a task, whatever came before the task.

    `compute` is shown the task as if it were the first (:meth:`Task.alone`), so its result is the
    same in every sequence with this task; where sequences share a directory (`environment.shared`),
    the first to need it computes it and the others, in other processes too, wait and read it.

    Args:
        kind: all that decides what `compute` makes of a task in an environment: the part's
            name, the method's configuration, the network.
        task: still open.
        environment: of the method.
        compute: a task to tensors on the CPU and plain values, by name.
    """
    alone = task.alone()
    if environment.shared is None:
        return compute(alone)
    elsewhere = replace(environment, shared=None)  # the same wherever it is kept
    key = content_name(CACHE_VERSION, *kind, elsewhere, alone.seed, alone.pixels, alone.labels)
    path = Path(environment.shared) / "pieces" / f"{key}.pt"
    with waiting_lock(path.with_suffix(".lock")):
        cached = _read(path)
        if cached is None:
            cached = compute(alone)
            with replace_file(path) as file:
                torch.save({"made": cached, "content": content_name(cached)}, file)
    return cached


def _read(path: Path) -> State | None:
    """The piece in a file; none if there is no such file or it is damaged."""
    try:
        held = torch.load(path, map_location="cpu", weights_only=True)
        made: State = held["made"]
        intact = held["content"] == content_name(made)
    except Exception:  # there are many ways to be damaged, and one remedy: to make it anew
        return None
    return made if intact else None
