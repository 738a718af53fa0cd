"""Logs of PyCIL, of PILOT, and of the many programs that grew from them, such as InfLoRA's.

A log names the settings and the class order, and gives accuracies in per cent, rounded to two
digits: over all classes seen, and over groups of classes. PILOT's groups are the tasks; PyCIL's
have ten classes. One file holds several runs if a command has several seeds or was started again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

import numpy as np

from edgecil.errors import DataError, first_line
from edgecil.runs.cells.cell_table import Cell, CellTable
from edgecil.runs.cells.file_text import read_file_text
from edgecil.runs.cells.run_log import (
    ACCURACY,
    AFTER_TASK,
    ALL_CLASSES,
    ROLES,
    TASK,
    number_runs,
    parse_literal,
)

FORM = "PyCIL log"
# Every class has as many test images as every other.
BALANCED = ("cifar10", "cifar100", "cifar224", "imagenet100", "imagenet1000")
CLASSIFIERS = ("CNN", "NME")

_LINE = re.compile(rb"\[[\w.-]+\.py\] => ")
_MESSAGE = re.compile(r" => (.*)")
_SETTING = re.compile(r"(\w+): (.*)")
_ORDER = re.compile(r"\[\d{1,9}(, \d{1,9})+\]", re.ASCII)
_TESTED = re.compile(r"(CNN|NME): (\{.*\})")
_CURVE = re.compile(r"(CNN|NME) top1 curve: (\[.*\])")
_MOST_CLASSES = 100_000


class NoLogError(DataError):
    """A file that is not a log of PyCIL or PILOT."""


@dataclass
class LogRun:
    """One run in a log.

    `place` counts the runs of the same command before it. By classifier and after each task,
    `totals` are accuracies over all classes seen, and `groups` have the first and last new label
    of a group and its accuracy. `order` is empty if the log names none.
    """

    path: Path
    settings: dict[str, str]
    order: list[int]
    place: int = 0
    totals: dict[str, list[float]] = field(default_factory=dict)
    groups: dict[str, list[list[tuple[int, int, float]]]] = field(default_factory=dict)


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file has the lines of PyCIL's logger."""
    return _LINE.search(head) is not None and b": " in head


def read(path: Path) -> list[CellTable]:
    """Return a table for each run and classifier."""
    runs = [run for run in parse_log(path, read_file_text(path)) if run.totals]
    if not runs:
        raise NoLogError(f"{path} has no accuracies; its runs ended before the first task did.")
    tables_of_runs = [[_table(run, classifier) for classifier in run.totals] for run in runs]
    return number_runs(tables_of_runs)


def parse_log(path: Path, text: str) -> list[LogRun]:
    """Return the runs in a log; several seeds or orders of one command share a file."""
    settings: dict[str, str] = {}
    runs: list[LogRun] = []
    first_setting = ""
    is_new = True
    for line in text.splitlines():
        matched = _MESSAGE.search(line)
        message = matched[1].strip() if matched else ""
        tested, setting = _TESTED.fullmatch(message), _SETTING.fullmatch(message)
        curve = _CURVE.fullmatch(message)
        if _ORDER.fullmatch(message):
            order = [int(class_) for class_ in message.strip("[]").split(", ")]
            if runs and runs[-1].settings == settings and not runs[-1].totals:
                runs[-1].order = order  # nothing was trained on the one before
            else:
                runs.append(_new_run(path, settings, order, runs))
            is_new = False
        elif tested or curve:
            if is_new:
                runs.append(_new_run(path, settings, [], runs))
                is_new = False
            if tested:
                _add_results(runs[-1], tested[1], tested[2])
            elif curve:
                _add_curve(runs[-1], curve[1], curve[2])
        elif setting:
            if setting[1] == first_setting:  # the command was started again, or the next seed
                settings = {}
                is_new = True
            first_setting = first_setting or setting[1]
            settings[setting[1]] = setting[2]
    return runs


def _new_run(
    path: Path, settings: dict[str, str], order: list[int], runs: Sequence[LogRun]
) -> LogRun:
    place = sum(run.settings == settings for run in runs)
    return LogRun(path, dict(settings), order, place)


def _add_results(run: LogRun, classifier: str, text: str) -> None:
    """Add the accuracies after one task."""
    try:
        table = parse_literal(text, str(run.path))
        total = float(table["total"])
        groups = [
            (int(name.split("-")[0]), int(name.split("-")[1]), float(value))
            for name, value in table.items()
            if "-" in name
        ]
        accuracies = [total, *(accuracy for _, _, accuracy in groups)]
        if not all(0.0 <= accuracy <= 100.0 for accuracy in accuracies):
            raise ValueError("it has an accuracy that is not per cent in [0, 100]")
    except (DataError, KeyError, ValueError, TypeError) as error:
        raise DataError(
            f"{run.path} has a result that is no table of accuracies: {text[:80]} "
            f"({first_line(error)})."
        ) from error
    run.totals.setdefault(classifier, []).append(total)
    run.groups.setdefault(classifier, []).append(groups)


def _add_curve(run: LogRun, classifier: str, text: str) -> None:
    """Take the curve of accuracies where the log gives no table after each task."""
    if classifier in run.groups:
        return
    try:
        values = [float(value) for value in parse_literal(text, str(run.path))]
    except (DataError, ValueError, TypeError) as error:
        raise DataError(
            f"{run.path} has a curve that is no list of accuracies: {text[:80]}."
        ) from error
    run.totals[classifier] = values


def by_task(
    groups: Sequence[tuple[int, int, float]], sizes: Sequence[int], *, balanced: bool
) -> list[float] | None:
    """Return accuracies of tasks from groups of classes; None where groups cross tasks.

    The last group may claim classes that have not come yet. Groups can be averaged if classes are
    balanced, with as many test images each.

    >>> by_task([(0, 9, 80.0), (10, 19, 60.0), (20, 29, 50.0)], (20, 10), balanced=True)
    [70.0, 50.0]
    """
    ends = list(accumulate(sizes))
    row = []
    for size, end in zip(sizes, ends, strict=True):
        start = end - size
        inside = [group for group in groups if start <= group[0] < end]
        counts = [min(last + 1, ends[-1]) - first for first, last, _ in inside]
        if sum(counts) != size or (len(inside) > 1 and not balanced):
            return None
        row.append(float(np.average([accuracy for *_, accuracy in inside], weights=counts)))
    return row


def is_balanced(settings: dict[str, str]) -> bool:
    """Return whether every class of the dataset has as many test images as every other."""
    return settings.get("dataset", "").lower().removesuffix("_aa") in BALANCED


def _sizes(run: LogRun, steps: int) -> list[int]:
    """Return the sizes of the tasks; empty if the log does not determine them."""
    first, increment = (_whole(run.settings.get(key, "")) for key in ("init_cls", "increment"))
    if not increment:
        return []
    first = first or increment
    count = len(run.order) or min(first + increment * (steps - 1), _MOST_CLASSES)
    if first > count:
        return []
    starts = [0, *range(first, count, increment)]
    ends = [*starts[1:], count]
    return [end - start for start, end in zip(starts, ends, strict=True)]


def _whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _table(run: LogRun, classifier: str) -> CellTable:
    totals = run.totals[classifier]
    sizes = _sizes(run, len(totals))
    tasks = list(_task_rows(run, classifier, sizes))
    rows: list[tuple[Cell, ...]]
    header: tuple[str, ...]
    if len(tasks) == len(totals):
        header = (AFTER_TASK, TASK, ACCURACY, ALL_CLASSES)
        rows = [
            (step, task, accuracy, totals[step])
            for step, accuracies in enumerate(tasks)
            for task, accuracy in enumerate(accuracies)
        ]
    else:
        header = (AFTER_TASK, ALL_CLASSES)
        rows = list(enumerate(totals))
    names = {"method": "model_name", "dataset": "dataset", "seed": "seed"}
    facts: dict[str, Cell] = {
        fact: run.settings[name] for fact, name in names.items() if name in run.settings
    }
    if run.order:
        facts["class_order"] = " ".join(map(str, run.order))
    if sizes and run.order:
        facts["task_sizes"] = " ".join(map(str, sizes))
    settings = {name: value for name, value in run.settings.items() if name not in names.values()}
    facts = {**facts, "classifier": classifier, "unit": "%"}
    facts = {**facts, **{name: value for name, value in settings.items() if name not in facts}}
    return CellTable(FORM, str(run.path), header, tuple(rows), facts=facts, roles=ROLES)


def _task_rows(run: LogRun, classifier: str, sizes: Sequence[int]) -> Iterator[list[float]]:
    """Yield the accuracies of the tasks after each task, as long as the log determines them."""
    balanced = is_balanced(run.settings)
    for step, groups in enumerate(run.groups.get(classifier, [])):
        if step >= len(sizes):
            return
        row = by_task(groups, sizes[: step + 1], balanced=balanced)
        if row is None:
            return
        yield row
