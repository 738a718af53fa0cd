"""The two files that edgecil exchanges with another program: the order and the result.

The order file is JSON: `{"order": [3, 0, …], "tasks": [[0, 3], …], "seed": 0}` with the dataset's
own class ids. The result file is JSON as well and holds one of these, the first preferred:

- `{"correct": [[8], [5, 9]], "totals": [10, 10]}`: right answers on each task's test images after
  each task, and how many images there are;
- `{"matrix": [[80.0], [50.0, 90.0]]}`: the same as accuracies in per cent;
- `{"accuracy": 70.0}`: A(O) alone, the mean over tasks of the final accuracy, in per cent.

The last two may be accompanied by `last` and `average`: the accuracy over all test images at the
end, and the average incremental accuracy. A program with several classifiers gives an object by
classifier, the main one first: `{"accuracy": {"head": 70.0, "nme": 71.5}}`. `order` may repeat
the order that was trained; a result of another one is refused. Nothing else may be in the file, and
all results of a run must have the same classifiers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from edgecil.engine.results import NodeResult, Reported, WholeRun
from edgecil.errors import DataError, shown
from edgecil.io.files import read_json, replace_file
from edgecil.sequences.sequence import ClassSequence

MAIN = "main"
KEYS = ("correct", "totals", "matrix", "accuracy", "last", "average", "order")


def write_order(path: Path, sequence: ClassSequence, ids: Sequence[int], seed: int) -> None:
    """Write the order file.

    Args:
        path: the file.
        sequence: over classes 0 … N-1.
        ids: the dataset's own ids of these N classes.
        seed: the training seed.
    """
    tasks = [sorted(ids[class_] for class_ in task) for task in sequence.tasks]
    order = [id_ for task in tasks for id_ in task]
    with replace_file(path) as file:
        file.write(json.dumps({"order": order, "tasks": tasks, "seed": seed}).encode())


def read_result(path: Path, tasks: int, *, order: Sequence[int] | None = None) -> WholeRun:
    """Return the result of a run over `tasks` tasks; its cost is added by :func:`with_cost`.

    Args:
        path: the file.
        tasks: number of tasks.
        order: the class order that was asked for; a result that names another is refused.
    """
    data = read_json(path)
    if not isinstance(data, dict):
        raise DataError(f"{path} must contain a JSON object. Got {json.dumps(data)[:60]}.")
    strange = [key for key in data if key not in KEYS]
    if strange:
        raise DataError(f"{path} may contain only {', '.join(KEYS)}. Got {', '.join(strange)}.")
    trained = data.get("order")
    if trained is not None and order is not None and trained != list(order):
        raise DataError(f"{path} is the result of another class order than the one asked for.")
    try:
        if "correct" in data:
            return _counted(data, tasks)
        return WholeRun((NodeResult({}, (), 0.0, 0),), _reported(data, tasks))
    except ValueError as error:
        raise DataError(f"{path}: {error}") from error


def with_cost(run: WholeRun, seconds: float, peak_memory: int) -> WholeRun:
    """Return the run with its total cost, which is stored with its last task."""
    *before, last = run.nodes
    return replace(run, nodes=(*before, replace(last, seconds=seconds, peak_memory=peak_memory)))


def _counted(data: Mapping[str, Any], tasks: int) -> WholeRun:
    totals = data.get("totals")
    if (
        not isinstance(totals, list)
        or len(totals) != tasks
        or not all(map(_is_count, totals))
        or 0 in totals
    ):
        raise ValueError(f"'totals' must be {tasks} integers, the test images of each task.")
    correct = {
        name: _triangle(rows, tasks, f"'correct' ({name})")
        for name, rows in _by_classifier(data["correct"]).items()
    }
    for name, rows in correct.items():
        for row in rows:
            for right, total in zip(row, totals, strict=False):
                if not _is_count(right) or right > total:
                    raise ValueError(
                        f"'correct' ({name}) must contain integers up to the task's total. "
                        f"Got {shown(right)} of {total}."
                    )
    nodes = [
        NodeResult(
            {name: tuple(rows[task]) for name, rows in correct.items()},
            tuple(totals[: task + 1]),
            0.0,
            0,
        )
        for task in range(tasks)
    ]
    return WholeRun(tuple(nodes))


def _reported(data: Mapping[str, Any], tasks: int) -> dict[str, Reported]:
    kind = "matrix" if "matrix" in data else "accuracy"
    if kind not in data:
        raise ValueError("it must contain one of 'correct', 'matrix' and 'accuracy'.")
    main = _by_classifier(data[kind])
    last, average = (_beside(data, name, main) for name in ("last", "average"))
    reported = {}
    for name, value in main.items():
        rows: tuple[tuple[float, ...], ...] = ()
        if kind == "matrix":
            triangle = _triangle(value, tasks, f"'matrix' ({name})")
            rows = tuple(tuple(_per_cent(entry, "matrix") for entry in row) for row in triangle)
        reported[name] = Reported(
            tasks,
            accuracy=float(np.mean(rows[-1])) if rows else _per_cent(value, "accuracy"),
            last=None if last.get(name) is None else _per_cent(last[name], "last"),
            average=None if average.get(name) is None else _per_cent(average[name], "average"),
            rows=rows,
        )
    best = max(max((one.accuracy, *(max(row) for row in one.rows))) for one in reported.values())
    if 0.0 < best <= 1.0:
        raise ValueError(f"accuracies must be in per cent, not in [0, 1]. The best is {best:g}.")
    return reported


def _beside(data: Mapping[str, Any], name: str, main: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of `last` or `average` by classifier; empty if not given."""
    if data.get(name) is None:
        return {}
    values = _by_classifier(data[name])
    strange = [classifier for classifier in values if classifier not in main]
    if strange:
        given = "a bare number" if strange == [MAIN] else ", ".join(strange)
        raise ValueError(
            f"{name!r} must be given by classifier, as one of {', '.join(main)}. Got {given}."
        )
    return values


def _by_classifier(value: Any) -> dict[str, Any]:
    """Return a value for each classifier; a bare one is that of the only classifier."""
    return dict(value) if isinstance(value, Mapping) and value else {MAIN: value}


def _triangle(rows: Any, tasks: int, what: str) -> list[list[Any]]:
    """Return rows of 1, 2, … entries, one after each task."""
    lengths = (
        [len(row) if isinstance(row, list) else 0 for row in rows] if isinstance(rows, list) else []
    )
    if lengths != list(range(1, tasks + 1)):
        raise ValueError(f"{what} must be {tasks} lists, of 1 to {tasks} numbers.")
    triangle: list[list[Any]] = rows
    return triangle


def _per_cent(value: Any, what: str) -> float:
    if type(value) not in (int, float) or not 0.0 <= value <= 100.0:
        raise ValueError(f"{what!r} must be in per cent, from 0 to 100. Got {shown(value)}.")
    return float(value)


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0
