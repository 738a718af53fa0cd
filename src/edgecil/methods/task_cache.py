"""Results that depend on a single task, computed once for all sequences that contain it."""

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

CACHE_VERSION = 1  # increase it when a task gives another result under the same settings


def compute_once(
    kind: tuple[object, ...], task: Task, environment: Environment, compute: Callable[[Task], State]
) -> State:
    """Compute a result from one task, or read it from the cache that sequences share.

    `compute` gets the task as if it were the first (:meth:`Task.alone`), so its result is the same
    in every sequence with this task. With a shared directory (`environment.shared`), the first
    process that needs the result computes it; others wait and read it.
    """
    alone = task.alone()
    if environment.shared is None:
        return compute(alone)
    location_free = replace(environment, shared=None)
    key = content_name(CACHE_VERSION, *kind, location_free, alone.seed, alone.inputs, alone.labels)
    path = Path(environment.shared) / "tasks" / f"{key}.pt"
    with waiting_lock(path.with_suffix(".lock")):
        result = _read(path)
        if result is None:
            result = compute(alone)
            with replace_file(path) as file:
                torch.save({"result": result, "content": content_name(result)}, file)
    return result


def _read(path: Path) -> State | None:
    """Return the result in a file; None if the file does not exist or is damaged."""
    try:
        stored = torch.load(path, map_location="cpu", weights_only=True)
        result: State = stored["result"]
        intact = stored["content"] == content_name(result)
    except Exception:  # whatever the damage, the result is computed again
        return None
    return result if intact else None
