"""The two files that edgecil exchanges with another program: the order and the result.

The order file is JSON: `{"order": [3, 0, …], "tasks": [[3, 0], …], "seed": 0}` with the dataset's
own class ids, in each task as the source of the order has them. The result file is JSON as well and
has one of these, the first preferred:

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
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import msgspec
import numpy as np

from edgecil.errors import DataError
from edgecil.experiments.results import NodeResult, Reported, WholeRun
from edgecil.io.files import read_json, replace_file
from edgecil.sequences.sequence import ClassSequence

MAIN = "main"
_Count = Annotated[int, msgspec.Meta(ge=0)]
_PerCent = Annotated[float, msgspec.Meta(ge=0.0, le=100.0)]
_Counts: TypeAlias = list[list[_Count]]
_Matrix: TypeAlias = list[list[_PerCent]]


class _Result(msgspec.Struct, forbid_unknown_fields=True):
    """The content of a result file; the module's docstring describes it."""

    correct: dict[str, _Counts] | _Counts | None = None
    totals: list[Annotated[int, msgspec.Meta(gt=0)]] | None = None
    matrix: dict[str, _Matrix] | _Matrix | None = None
    accuracy: dict[str, _PerCent] | _PerCent | None = None
    last: dict[str, _PerCent] | _PerCent | None = None
    average: dict[str, _PerCent] | _PerCent | None = None
    order: list[int] | None = None


def write_order(path: Path, sequence: ClassSequence, ids: Sequence[int], seed: int) -> list[int]:
    """Write the order file, and return the order in it, in the dataset's own ids of classes."""
    tasks = []
    for task in sequence.arranged:
        tasks.append([ids[class_] for class_ in task])
    order = own_order(sequence, ids)
    with replace_file(path) as file:
        file.write(json.dumps({"order": order, "tasks": tasks, "seed": seed}).encode())
    return order


def own_order(sequence: ClassSequence, ids: Sequence[int]) -> list[int]:
    """Return the order of the classes in the dataset's own ids, as an order file has it."""
    return [ids[class_] for class_ in sequence.order]


def read_result(path: Path, tasks: int, *, order: Sequence[int] | None = None) -> WholeRun:
    """Return the result of a run over `tasks` tasks; one that names another order is refused."""
    try:
        result = msgspec.convert(read_json(path), _Result)
        if order is not None and result.order not in (None, list(order)):
            raise ValueError("it is the result of another class order than the one asked for")
        if result.correct is not None:
            return _counted(result, tasks)
        return WholeRun((NodeResult({}, (), 0.0, 0),), _reported(result, tasks))
    except (ValueError, msgspec.ValidationError) as error:
        raise DataError(f"{path}: {error}.") from error


def with_cost(run: WholeRun, seconds: float, peak_memory: int) -> WholeRun:
    """Return the run with its total cost, which is stored with its last task."""
    *before, last = run.nodes
    return replace(run, nodes=(*before, replace(last, seconds=seconds, peak_memory=peak_memory)))


def _counted(result: _Result, tasks: int) -> WholeRun:
    totals = result.totals
    if totals is None or len(totals) != tasks:
        raise ValueError(f"'totals' must be {tasks} integers, the test images of each task")
    correct = _by_classifier(result.correct)
    for name, rows in correct.items():
        _check_triangle(rows, tasks, f"'correct' ({name})")
        for row in rows:
            for right, total in zip(row, totals, strict=False):
                if right > total:
                    raise ValueError(f"'correct' ({name}) is {right} of {total} test images")
    nodes = []
    for task in range(tasks):
        correct_after_task = {name: tuple(rows[task]) for name, rows in correct.items()}
        nodes.append(NodeResult(correct_after_task, tuple(totals[: task + 1]), 0.0, 0))
    return WholeRun(tuple(nodes))


def _reported(result: _Result, tasks: int) -> dict[str, Reported]:
    accuracies = result.accuracy if result.matrix is None else result.matrix
    if accuracies is None:
        raise ValueError("it must contain one of 'correct', 'matrix' and 'accuracy'")
    main = _by_classifier(accuracies)
    last, average = _by_classifier(result.last), _by_classifier(result.average)
    if not {*last, *average} <= main.keys():
        raise ValueError(
            f"'last' and 'average' must be given by classifier, as one of {', '.join(main)}"
        )
    reported = {}
    best = 0.0
    for name, value in main.items():
        rows: tuple[tuple[float, ...], ...] = ()
        if result.matrix is not None:
            _check_triangle(value, tasks, f"'matrix' ({name})")
            rows = tuple(map(tuple, value))
        reported[name] = Reported(
            tasks,
            accuracy=float(np.mean(rows[-1])) if rows else value,
            last=last.get(name),
            average=average.get(name),
            rows=rows,
        )
        best = max(best, reported[name].accuracy, *map(max, rows))
    if 0.0 < best <= 1.0:
        raise ValueError(f"accuracies must be in per cent, not in [0, 1]. The best is {best:g}")
    return reported


def _by_classifier(value: Any) -> dict[str, Any]:
    """Return a value for each classifier; a bare value belongs to the only classifier."""
    if value is None:
        return {}
    return value if isinstance(value, dict) and value else {MAIN: value}


def _check_triangle(rows: Any, tasks: int, what: str) -> None:
    """Raise unless there are rows of 1, 2, … entries, one after each task."""
    if not isinstance(rows, list) or [len(row) for row in rows] != list(range(1, tasks + 1)):
        raise ValueError(f"{what} must be {tasks} lists, of 1 to {tasks} numbers")
