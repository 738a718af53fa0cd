"""Console output of any program that names its results in common words.

    Training on Task 2
    Accuracy on Task 1: 37.49%
    Accuracy on Task 2: 98.87%
    Average accuracy: 68.18%   Forgetting: 62.42

Results are looked for in this order: accuracies by task, which grow into a matrix; a printed
matrix; a printed table; lists of accuracies after each task; metrics with their values; lines of
pairs such as `seed=1 acc=0.78`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from edgecil.errors import DataError
from edgecil.runs.cells.cell_table import Cell, CellTable
from edgecil.runs.cells.console_settings import settings_in
from edgecil.runs.cells.file_text import CELLS, decode, read_file_text, suffix_of
from edgecil.runs.cells.nested_values import tables_of_values
from edgecil.runs.cells.printed_tables import printed_tables
from edgecil.runs.cells.run_log import ALL_TASKS, number_runs, run_table
from edgecil.runs.cells.span_grid import SECTION

FORM = "console log"
_SUFFIXES = ("", ".txt", ".log", ".out", ".stdout")
_LONGEST_LINE = 5000
_LONGEST_TITLE = 200
INDEX = "index"

_UNIT = r"(?:task|context|experience|exp|session|stage|domain|batch|increment)"
_WORD = r"(?:acc(?:uracy|uracies)?|precision)"
_VALUE = r"(?P<value>\d{1,3}(?:\.\d{1,17})?)\s?(?P<percent>%?)(?![\d.\w/:@])"
_ACCURACIES_OF_TASKS = (
    # "Accuracy on Task 1: 99.91%", "acc_task0=86.9", "test accuracy for task 3 = 0.81"
    re.compile(
        rf"{_WORD}[\s_]{{0,3}}(?:(?:on|for|of|@|at)[\s_])?(?:the[\s_])?(?:test[\s_])?[(\[]?"
        rf"{_UNIT}[\s_#:]{{0,3}}(?P<task>\d{{1,3}})[)\]]?\s?(?:test set)?\s?(?:[:=]|is)\s{{0,8}}"
        + _VALUE,
        re.IGNORECASE,
    ),
    # "Test on task  0 : loss=1.428 | TAw acc= 54.5%, forg=  9.8%| TAg acc=  6.6%", as FACIL prints
    re.compile(rf"Test on task\s+(?P<task>\d{{1,3}})\s*:.*\bTAg acc=\s*{_VALUE}"),
    # "Task 1 accuracy: 91.2%", "[Task 2] test acc = 0.81"
    re.compile(
        rf"\b{_UNIT}[\s_#]{{0,2}}(?P<task>\d{{1,3}})\b[^\d%\n]{{0,30}}?\b{_WORD}[^\d%\n]{{0,12}}?"
        + _VALUE,
        re.IGNORECASE,
    ),
)
# " - Task 1: 0.9904", below a heading that names an accuracy
_LISTED_TASK = re.compile(
    rf"\W*{_UNIT}[\s_#]*(?P<task>\d{{1,3}})\s*[:=]\s*{_VALUE}\s*", re.IGNORECASE
)
_HEADING = re.compile(rf"\b{_WORD}\b", re.IGNORECASE)
_NO_TEST = re.compile(
    r"train(?:ing)?[\s_]*(?:set[\s_]*)?acc|\bval(?:id(?:ation)?)?[\s_]*acc|zero-?shot|baseline"
    r"|\bchance\b|\bbest\b|\brunning\b|\bmem acc",
    re.IGNORECASE,
)
_AVERAGE = re.compile(r"\b(?:average|avg|mean|overall)(?![a-z])", re.IGNORECASE)
_EPOCH = re.compile(r"\b(?:epo|epochs?|iter(?:ation)?|batch)\b", re.IGNORECASE)
_TRAINED = re.compile(
    rf"(?:train|learn|start|begin|finish|complet|after|={{3}}|#{{2}}|-{{3}}|\*{{3}})[^\d\n]{{0,40}}?\b"
    rf"{_UNIT}\s?#?(?P<task>\d{{1,3}})(?:\s?(?:/|of)\s?(?P<count>\d{{1,3}}))?",
    re.IGNORECASE,
)
_AVERAGES_AFTER_TASKS = (
    # "[Average accuracy till task2]  Acc@1: 90.10"; "Average accuracy after task 3: 71.2%"
    re.compile(
        r"\b(?:average|avg|mean|overall)[\s_]acc\w*\s(?:till|after|until|up to)\s(?:the\s)?"
        rf"{_UNIT}[\s_#]?(?P<task>\d{{1,3}})\b\W{{1,4}}"
        r"(?:[^\n]{0,80}?\b(?:acc@1|a_last)\s?:\s*)?" + _VALUE,
        re.IGNORECASE,
    ),
    # "Accuracy for 2 task(s):  [Class-IL]: 76.4 %", as Mammoth prints
    re.compile(r"Accuracy for (?P<task>\d{1,3}) task\(s\):\s*\[(?:Class|Domain)-IL\]:\s*" + _VALUE),
)
_METRIC = re.compile(
    r"(?<!\w)(?P<name>[A-Za-z][\w @()/%.-]{0,40}?)['\"]?(?:\s*[:=]\s*|\s{2,20})"
    r"(?P<value>[+-]?\d{1,3}(?:\.\d{1,17})?(?:\s?(?:±|\+/-)\s?\d{1,3}(?:\.\d{1,17})?)?)"
    r"\s?(?P<percent>%?)(?![\d.\w/])"
)
_METRIC_WORD = re.compile(
    r"(?<![A-Za-z])(?:acc(?:uracy)?|forgetting|forget|bwt|fwt|(?:backward|forward)[\s_]transfer|aia)"
    r"(?![A-Za-z])|accuracy|forgetting",
    re.IGNORECASE,
)
_PAIR = re.compile(
    r"(?P<name>[A-Za-z_@][\w@./-]{0,60})\s?[=:]\s?"
    r"(?P<value>[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?%?|[A-Za-z][\w.-]{0,40})(?=[\s,;|)\]]|$)"
)
_LIST = re.compile(
    r"(?:(?P<name>[A-Za-z][\w @()/.-]{0,40})\s?[:=]\s?)?"
    r"(?P<values>\[?\s*\d{1,3}(?:\.\d+)?(?:\s*,\s*\d{1,3}(?:\.\d+)?){2,200}\s*\]?)"
)
_MATRIX = re.compile(r"\[\s*(\[[\d\s.,eE+\-nai]{1,20000}\][\s,]*){2,200}\]")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|nan", re.IGNORECASE)
# The time and the level that a logger writes before a message.
_PREFIX = re.compile(
    r"^\s*(?:\[?(?:\d{4}[-/]\d{2}[-/]\d{2}[T ])?\d{2}:\d{2}:\d{2}(?:[.,]\d+)?\]?[\s:-]*)?"
    r"(?:\[?(?:DEBUG|INFO|WARNING|root)\b\]?[\s:-]*){0,2}"
)


@dataclass
class _Evaluation:
    """Accuracies by task that were printed one after another, and the task learned before them."""

    trained: int | None
    settings: Mapping[str, Cell]
    accuracies: dict[int, float] = field(default_factory=dict)


@dataclass
class _Run:
    """Accuracies on the tasks by the number of tasks learned before, and settings."""

    settings: Mapping[str, Cell]
    accuracies: dict[int, list[float]] = field(default_factory=dict)


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file is text with the suffix of a log, or without one."""
    return suffix_of(path) in _SUFFIXES and decode(head) is not None


def read(path: Path) -> list[CellTable]:
    """Return the tables of the results that a log names."""
    lines = []
    for line in read_file_text(path).split("\n"):
        shown = line.rstrip("\r").rpartition("\r")[2]  # what a progress bar wrote last
        if len(shown) <= _LONGEST_LINE:
            lines.append(_PREFIX.sub("", shown))
    CELLS.check(str(path), len(lines))
    for find_tables in (
        _tables_of_accuracies,
        _tables_of_curves,
        _tables_of_matrices,
        _tables_of_text,
        _tables_of_lists,
        _tables_of_metrics,
        _tables_of_pairs,
    ):
        tables = find_tables(lines, str(path))
        if tables:
            return tables
    raise DataError(
        f"{path} names no results in words that are read here, such as 'Accuracy on task 1: "
        "90.5'; save its results as CSV."
    )


def _tables_of_accuracies(lines: Sequence[str], source: str) -> list[CellTable]:
    """Return a table for each run whose accuracies by task are printed after each task."""
    evaluations, facts = _evaluations(lines)
    tables = []
    for run in _runs(evaluations):
        steps = range(max(run.accuracies) + 1)
        matrix = [run.accuracies.get(step, []) for step in steps]
        count = max(len(matrix), facts.get("task_count", 0))
        run_facts: dict[str, Cell] = {**run.settings, **facts, "task_count": count}
        tables.append([run_table(FORM, source, accuracies=matrix, facts=run_facts)])
    return number_runs(tables)


def _evaluations(lines: Sequence[str]) -> tuple[list[_Evaluation], dict[str, Any]]:
    """Return accuracies by task as they were printed, their unit and the number of tasks."""
    evaluations: list[_Evaluation] = []
    settings: dict[str, Cell] = {}
    facts: dict[str, Any] = {"unit": "fraction"}
    trained: int | None = None
    is_below_heading = False
    is_open = False
    for line in lines:
        accuracies = [] if _NO_TEST.search(line) else list(_accuracies_in(line, is_below_heading))
        for task, value, is_percent in accuracies:
            if not is_open or task <= max(evaluations[-1].accuracies):
                evaluations.append(_Evaluation(trained, dict(settings)))
                is_open = True
            evaluations[-1].accuracies[task] = value
            if is_percent or value > 1:
                facts["unit"] = "%"
        if accuracies or not line.strip():
            continue
        is_below_heading = _HEADING.search(line) is not None
        settings.update(settings_in(line))
        marker = _TRAINED.search(line)
        if marker:
            trained = int(marker["task"])
            is_open = False
            if marker["count"]:
                facts["task_count"] = int(marker["count"])
    return evaluations, facts


def _accuracies_in(line: str, is_below_heading: bool) -> Iterator[tuple[int, float, bool]]:
    """Yield task, accuracy, and whether it is per cent, for the accuracies in a line."""
    task_line = _LISTED_TASK.fullmatch(line) if is_below_heading else None
    if task_line:
        yield int(task_line["task"]), float(task_line["value"]), bool(task_line["percent"])
        return
    if _AVERAGE.search(line):
        return
    for pattern in _ACCURACIES_OF_TASKS:
        matches = list(pattern.finditer(line))
        for match in matches:
            yield int(match["task"]), float(match["value"]), bool(match["percent"])
        if matches:
            return


def _runs(evaluations: Sequence[_Evaluation]) -> list[_Run]:
    """Return runs: a step for each task learned; none where the steps cannot be known."""
    if not evaluations:
        return []
    first_task = min(min(evaluation.accuracies) for evaluation in evaluations)
    for evaluation in evaluations:
        expected = list(range(first_task, first_task + len(evaluation.accuracies)))
        if sorted(evaluation.accuracies) != expected or first_task > 1:
            return []
    steps = _steps(evaluations)
    runs: list[_Run] = []
    last = -1
    for evaluation, step in zip(evaluations, steps, strict=False):
        if step < last or not runs:
            runs.append(_Run(evaluation.settings))
        runs[-1].accuracies[step] = [
            evaluation.accuracies[task] for task in sorted(evaluation.accuracies)
        ]
        last = step
    return runs


def _steps(evaluations: Sequence[_Evaluation]) -> list[int]:
    """Return after how many tasks each evaluation took place; empty if that cannot be known.

    Evaluations of the tasks learned so far grow. Those of all tasks are ordered by the tasks that
    the log says it trains, or there is one for each task, or one at the end.
    """
    counts = [len(evaluation.accuracies) for evaluation in evaluations]
    trained = [evaluation.trained for evaluation in evaluations]
    if len(set(counts)) > 1 or counts[0] == 1:
        is_growing = all(later <= count + 1 for count, later in pairwise(counts))
        return [count - 1 for count in counts] if is_growing and counts[0] == 1 else []
    named = [task for task in trained if task is not None]
    if len(named) == len(trained) and len(set(named)) > 1:
        first = min(named)
        return [task - first for task in named] if max(named) - first < counts[0] else []
    if len(counts) in (1, counts[0]):
        return [counts[0] - 1] if len(counts) == 1 else list(range(counts[0]))
    return []


def _tables_of_curves(lines: Sequence[str], source: str) -> list[CellTable]:
    """Return a table for each run whose average accuracy is printed after each task."""
    runs: list[tuple[Mapping[str, Cell], list[float]]] = []
    settings: dict[str, Cell] = {}
    unit = "fraction"
    for line in lines:
        settings.update(settings_in(line))
        matches = [pattern.search(line) for pattern in _AVERAGES_AFTER_TASKS]
        match = next((match for match in matches if match), None)
        if match is None or _NO_TEST.search(line):
            continue
        task, value = int(match["task"]), float(match["value"])
        unit = "%" if match["percent"] or value > 1 else unit
        count = len(runs[-1][1]) if runs else 0
        if not runs or task < count:
            runs.append((dict(settings), []))
        elif task > count + 1:
            return []  # a task is missing
        elif task == count and count > 0:
            runs[-1][1].pop()  # a later average after the same task
        runs[-1][1].append(value)
    tables_of_runs: list[list[CellTable]] = []
    for facts, values in runs:
        facts_and_unit: dict[str, Cell] = {**facts, "unit": unit}
        table = run_table(FORM, source, curve=values, curve_name=ALL_TASKS, facts=facts_and_unit)
        tables_of_runs.append([table])
    return number_runs(tables_of_runs)


def _tables_of_matrices(lines: Sequence[str], source: str) -> list[CellTable]:
    """Return the last matrix that is printed below a line which names accuracies."""
    text = "\n".join(lines)
    matrices = []
    for match in _MATRIX.finditer(text):
        before = text[max(0, match.start() - 200) : match.start()].rstrip("\n ").splitlines()
        rows = [_NUMBER.findall(row) for row in match[0].split("]") if _NUMBER.search(row)]
        is_square = len({len(row) for row in rows}) == 1 and len(rows) == len(rows[0])
        if is_square and before and _HEADING.search(before[-1]):
            matrices.append((before[-1].strip(), rows))
    if not matrices:
        return []
    caption, rows = matrices[-1]
    values = [[None if cell.lower() == "nan" else float(cell) for cell in row] for row in rows]
    return tables_of_values(values, FORM, source, caption=caption)


def _tables_of_text(lines: Sequence[str], source: str) -> list[CellTable]:
    return printed_tables("\n".join(lines), source)


@dataclass
class _Metrics:
    """The metrics of a run in the order in which they are printed: a row until one is repeated."""

    settings: Mapping[str, Cell]
    rows: list[tuple[str, dict[str, Cell]]] = field(default_factory=list)


def _tables_of_metrics(lines: Sequence[str], source: str) -> list[CellTable]:
    """Return the metrics of each run, which new settings begin.

    Metrics that are printed several times give several rows, with the line above each.
    """
    runs: list[_Metrics] = []
    settings: dict[str, Cell] = {}
    is_new = True
    title = ""
    for line in lines:
        changes = settings_in(line)
        if any(settings.get(name) != value for name, value in changes.items()):
            settings = {**settings, **changes}
            is_new = True
        metrics = list(_metrics_in(line))
        if not metrics and any(character.isalnum() for character in line):
            title = line.strip()[:_LONGEST_TITLE]
        for name, value in metrics:
            if is_new:
                runs.append(_Metrics(settings))
                is_new = False
            rows = runs[-1].rows
            if not rows or name in rows[-1][1]:
                rows.append((title, {}))
            rows[-1][1][name] = value
    return number_runs([[_metrics_table(run, source)] for run in runs])


def _metrics_in(line: str) -> Iterator[tuple[str, str]]:
    """Yield name and value of the metrics in a line, unless the line is about an epoch."""
    if _NO_TEST.search(line) or _EPOCH.search(line):
        return
    for match in _METRIC.finditer(line):
        name = " ".join(match["name"].split()).strip(" -_.(")
        if _METRIC_WORD.search(name):
            yield name, match["value"] + match["percent"]


def _metrics_table(run: _Metrics, source: str) -> CellTable:
    names = list(dict.fromkeys(name for _, metrics in run.rows for name in metrics))
    CELLS.check(source, len(names) * len(run.rows))
    rows: list[tuple[Cell, ...]] = []
    for number, (title, metrics) in enumerate(run.rows):
        values = tuple(metrics.get(name) for name in names)
        rows.append(values if len(run.rows) == 1 else (number, title, *values))
    header = names if len(rows) == 1 else [INDEX, SECTION, *names]
    roles = {} if len(rows) == 1 else {INDEX: "index"}
    facts = run.settings
    return CellTable(FORM, source, tuple(header), tuple(rows), facts=facts, roles=roles)


def _tables_of_lists(lines: Sequence[str], source: str) -> list[CellTable]:
    """Return lists of accuracies, with the line above each; the longest of those that grow.

    A list is one of accuracies if its line or the line above says so, or if the file has nothing
    but lists and a title above each.
    """
    lists: list[tuple[str, list[float]]] = []
    caption = ""
    other_lines = 0
    for line in lines:
        match = _LIST.fullmatch(line.strip())
        if match:
            values = [float(number) for number in _NUMBER.findall(match["values"])]
            title = match["name"] or caption
            if lists and values[: len(lists[-1][1])] == lists[-1][1]:
                lists.pop()
            lists.append((title.strip(), values))
        elif line.strip():
            other_lines += 1
            caption = line.strip()[:_LONGEST_TITLE]
    named = [(title, values) for title, values in lists if _HEADING.search(title)]
    if named or other_lines != len(lists):
        lists = named
    tables = []
    for number, (title, values) in enumerate(lists, start=1):
        (table,) = tables_of_values(values, FORM, source, caption=title)
        place = f"list {number}" if len(lists) > 1 else ""
        tables.append(replace(table, place=place, facts={SECTION: title}))
    return tables


def _tables_of_pairs(lines: Sequence[str], source: str) -> list[CellTable]:
    """Return a row for each line that has several pairs of name and value, one of them a metric."""
    records = []
    for line in lines:
        pairs = {match["name"]: match["value"] for match in _PAIR.finditer(line)}
        if len(pairs) > 1 and any(map(_METRIC_WORD.search, pairs)) and not _NO_TEST.search(line):
            records.append(pairs)
    if not records:
        return []
    names = list(dict.fromkeys(name for record in records for name in record))
    CELLS.check(source, len(names) * len(records))
    rows = tuple(tuple(record.get(name) for name in names) for record in records)
    return [CellTable(FORM, source, tuple(names), rows)]
