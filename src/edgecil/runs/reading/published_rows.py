"""Published numbers: rows and cells with a mean, its spread and a number of runs.

A number after ± may be a standard deviation or a standard error, over an unknown number of runs;
what neither the table nor the user says is a question.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

import numpy as np

from edgecil.errors import DataError, format_value, short_name
from edgecil.io.arrays import Floats
from edgecil.runs.cells.cell_table import Cell
from edgecil.runs.published import PublishedResult
from edgecil.runs.reading.finished_runs import SEED_LIKE, RunRows
from edgecil.runs.reading.frames import Frame, is_constant, number_in, numbers_in
from edgecil.runs.reading.memory_tables import TYPED_MEAN
from edgecil.runs.reading.questions import ReadingQuestion
from edgecil.runs.reading.reading_options import Declarations
from edgecil.runs.reading.run_tables import RunList

PUBLISHED_FORMS = ("Markdown table", "HTML table", "LaTeX table", TYPED_MEAN)
"""Forms of tables that people write for readers."""

_STD = re.compile(r"(?<![a-z])(?:std|stdev|s\.?d\.|standard deviations?|σ)(?![a-z])", re.IGNORECASE)
_STDERR = re.compile(
    r"(?<![a-z])(?:std\.? ?err(?:or)?|stderr|s\.?e\.?m?\.|sem|standard errors?)(?![a-z])",
    re.IGNORECASE,
)
_INTERVAL = re.compile(r"95 ?%|confidence interval|(?<![a-z])ci(?![a-z])", re.IGNORECASE)
_WORDS = {
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "twenty": 20,
}
_COUNT = re.compile(
    rf"(?<![\w.])(?P<count>\d{{1,4}}|{'|'.join(_WORDS)})[\s-]+(?:\w+[\s-]+){{0,2}}?"
    r"(?:runs?|seeds?|trials?|repetitions?|repeats?|times|replicates?|trainings?|class orders?|"
    r"orders?|initiali[sz]ations?)(?!\w)"
    r"|(?<![\w])n\s*=\s*(?P<n>\d{1,4})",
    re.IGNORECASE,
)
_NORMAL_95 = 1.96


@dataclass(frozen=True)
class Spread:
    """The number after a mean, and what it is: `std`, `stderr`, `ci`, or unknown if empty."""

    value: float
    kind: str


def is_published(frame: Frame, column: str) -> bool:
    """Return whether a column of a frame has means over runs, not runs."""
    if frame.roles.get(column) == "mean":
        return True
    seeds = [name for name in frame.with_role(*SEED_LIKE) if not is_constant(frame.columns[name])]
    if seeds:
        _refuse_means_among_runs(frame, column)
        return False
    cells = [cell for cell in dict.fromkeys(frame.columns[column]) if isinstance(cell, str)]
    numbers = [number_in(cell) for cell in cells]
    has_spread = any(number is not None and number.spread is not None for number in numbers)
    return has_spread or all(table.form in PUBLISHED_FORMS for table in frame.tables)


def _refuse_means_among_runs(frame: Frame, column: str) -> None:
    """Refuse a column of single runs in which some cells are a mean with its spread."""
    with_spread: list[Cell] = []
    plain: list[Cell] = []
    for cell, number in numbers_in(frame.columns[column]).items():
        if number is not None:
            (plain if number.spread is None else with_spread).append(cell)
    if with_spread and plain:
        raise DataError(
            f"{frame.origin} has a mean with a spread among results of single runs: "
            f"{format_value(str(with_spread[0]))} in the column {column!r}. Put means into a file "
            "of their own."
        )


def published_results(
    rows: RunRows, runs: RunList, metric: str, declared: Declarations
) -> list[PublishedResult]:
    """Return the published results in the rows of a frame; a missing number is a question.

    Args:
        rows: where the results stand.
        runs: the same rows with methods and datasets, and means in their unit.
        metric: the name of the metric.
        declared: what the user says.
    """
    frame = rows.frame
    spreads = _spreads(rows)
    counts = _counts(rows, declared)
    _ask(frame, spreads, counts, declared)
    raw = [number_in(cell) for cell in rows.values]
    results = []
    for place, mean in enumerate(runs.values.tolist()):
        number = raw[place]
        if number is None or math.isnan(mean):
            continue
        scale = mean / number.value if number.value else _scale(runs.values, raw)
        spread, count = spreads[place], counts[place]
        std, ddof = _standard_deviation(spread, count, declared)
        results.append(
            PublishedResult(
                runs.method[place],
                mean,
                None if std is None else std * scale,
                count if std is not None else None,
                ddof if std is not None else None,
                runs.dataset[place],
                metric,
                runs.origins[place],
            )
        )
    return results


def tell_published_apart(
    results: Sequence[PublishedResult], notes: list[str]
) -> list[PublishedResult]:
    """Return published results, equal ones once; several of a method are named by their places."""
    places: dict[tuple[str, str], list[PublishedResult]] = {}
    for result in dict.fromkeys(results):
        places.setdefault((result.method, result.dataset), []).append(result)
    apart = []
    for (method, _), of_method in places.items():
        if len(of_method) == 1:
            apart += of_method
            continue
        sources = {PurePath(result.source).name for result in of_method}
        for number, result in enumerate(of_method, start=1):
            is_file = len(sources) == len(of_method)
            label = PurePath(result.source).name if is_file else str(number)
            apart.append(replace(result, method=short_name(f"{method} ({label})")))
        notes.append(
            f"{method!r} has {len(of_method)} published results, which are kept apart by "
            f"{'their files' if len(sources) == len(of_method) else 'their order'}."
        )
    return apart


def _scale(values: Floats, raw: Sequence[object]) -> float:
    """Return by what the numbers of a frame were multiplied."""
    for value, number in zip(values.tolist(), raw, strict=True):
        raw_value = getattr(number, "value", 0.0)
        if raw_value and not math.isnan(value):
            return float(value / raw_value)
    return 1.0


def _spreads(rows: RunRows) -> list[Spread | None]:
    """Return the spread of each mean, from a column of its own or from the cell."""
    frame = rows.frame
    column = rows.column
    if column in frame.spreads:
        name, kind = frame.spreads[column]
        numbers = [number_in(frame.columns[name][row]) for row in rows.rows]
        return [None if number is None else Spread(number.value, kind) for number in numbers]
    spreads: list[Spread | None] = []
    for row, cell in zip(rows.rows, rows.values, strict=True):
        number = number_in(cell)
        if number is None or number.spread is None:
            spreads.append(None)
            continue
        table = frame.tables[frame.table_of_row[row]]
        spreads.append(Spread(number.spread, _kind(f"{table.caption} {column} {number.note}")))
    return spreads


def _kind(text: str) -> str:
    """Return what a text says about the numbers after ±; empty if it does not, or is unclear."""
    kinds = {
        "stderr": _STDERR.search(text),
        "ci": _INTERVAL.search(text),
        "std": _STD.search(_STDERR.sub(" ", text)),
    }
    named = [kind for kind, match in kinds.items() if match]
    return named[0] if len(named) == 1 else ""


def _counts(rows: RunRows, declared: Declarations) -> list[int | None]:
    """Return how many runs each mean has: from a column, the user, the header or the caption."""
    frame = rows.frame
    if declared.n is not None:
        return [declared.n] * len(rows.rows)
    names = frame.with_role("n")
    counts: list[int | None] = []
    for row in rows.rows:
        cell: Cell = frame.columns[names[0]][row] if names else None
        number = number_in(cell)
        if number is not None and number.value >= 1 and number.value == int(number.value):
            counts.append(int(number.value))
            continue
        caption = frame.tables[frame.table_of_row[row]].caption
        counts.append(_count_in(f"{caption} {rows.column}"))
    return counts


def _count_in(text: str) -> int | None:
    """Return the number of runs that a caption names; None if it names none, or several.

    >>> _count_in("Mean and std over five random seeds."), _count_in("n = 3"), _count_in("10 tasks")
    (5, 3, None)
    """
    counts = set()
    for match in _COUNT.finditer(text):
        word = (match["count"] or match["n"]).lower()
        counts.add(_WORDS[word] if word in _WORDS else int(word))
    return counts.pop() if len(counts) == 1 else None


def _ask(
    frame: Frame,
    spreads: Sequence[Spread | None],
    counts: Sequence[int | None],
    declared: Declarations,
) -> None:
    """Ask for the number of runs, or for the kind of the spread, where they are unknown."""
    options: dict[str, list[int]] = {}
    parts = []
    advice = []
    counted_spreads = [
        (spread, count)
        for spread, count in zip(spreads, counts, strict=True)
        if spread is not None and spread.value
    ]
    if any(count is None for _, count in counted_spreads):
        options["n"] = [3, 5, 10]
        parts.append("an unknown number of runs")
        advice.append("`n` 3 for three runs")
    is_unknown = any(not spread.kind for spread, _ in counted_spreads)
    if is_unknown and declared.std_ddof is None:
        options["std_ddof"] = [0, 1]
        advice.append("`std_ddof` 0 for standard deviations as NumPy has them, 1 for others")
    if not options:
        return
    what = "standard deviations or standard errors" if is_unknown else "standard deviations"
    over = f" over {parts[0]}" if parts else ""
    raise ReadingQuestion(
        f"{frame.origin} has means with a spread; these may be {what}{over}; "
        f"say {' and '.join(advice)}.",
        options,
    )


def _standard_deviation(
    spread: Spread | None, count: int | None, declared: Declarations
) -> tuple[float | None, int | None]:
    """Return the standard deviation behind a spread, and what its denominator lacks."""
    if spread is None or count is None:
        return (0.0, None) if spread is not None and count is not None else (None, None)
    if declared.std_ddof is None and spread.kind in ("stderr", "ci"):
        error = spread.value if spread.kind == "stderr" else spread.value / _NORMAL_95
        return float(error * np.sqrt(count)), 1
    return spread.value, declared.std_ddof
