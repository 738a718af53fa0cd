"""Accuracy tables in CSV files and DataFrames."""

from __future__ import annotations

import csv
import gzip
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, cast

from edgecil.engine.accuracies import AccuracyTable, Run
from edgecil.engine.metrics import DEFAULT_METRIC, find_metric
from edgecil.errors import DataError, EdgecilError, nearest
from edgecil.io.files import check_header, iterate_rows, replace_file
from edgecil.io.numbers import parse_cell, parse_int
from edgecil.sequences.given import NAME as OWN_ORDERS
from edgecil.sequences.sequence import ClassSequence

_KEYS = ("method", "dataset", "protocol", "label", "sequence", "seed")
_REQUIRED = ("method", "sequence")
COLUMNS = (*_KEYS, DEFAULT_METRIC)
_NOTHING_MORE: dict[str, str] = {}  # of all runs without further columns


class DataFrame(Protocol):
    """The part of a pandas DataFrame that :func:`read_accuracies` uses."""

    @property
    def columns(self) -> Any:
        """Names of the columns."""

    def to_dict(self, orient: Any) -> Any:
        """Return the rows, for `orient="records"`."""


def read_accuracies(
    source: str | Path | DataFrame, *, metric: str = DEFAULT_METRIC
) -> list[AccuracyTable]:
    """Read the runs in a CSV file or a pandas DataFrame, one table for each dataset.

    The columns are `method,dataset,protocol,label,sequence,seed,accuracy`, of which `method`,
    `sequence` and `accuracy` are required. A sequence is written `0 1|2 3|4 5`, and an accuracy is
    in per cent; an empty or NaN accuracy is a failed run. Without the column `protocol` the orders
    are those of the protocol `given`, which do not count as random; without `seed`, rows with the
    same method and sequence are repeats. Other columns are kept as text in `Run.more`.

    Args:
        source: a `.csv` or `.csv.gz` file, or a DataFrame.
        metric: the column to read in place of `accuracy`.
    """
    if _is_frame(source):
        origin, rows = "The DataFrame", _frame_rows(cast("DataFrame", source), metric)
    else:
        path = Path(cast("str | Path", source))
        if not path.exists():
            raise DataError(f"There is no file {path}; give a CSV file or an experiment directory.")
        if path.is_dir():
            return [_read_experiment(path, metric)]
        origin, rows = str(path), _csv_rows(path, metric)
    groups: dict[str, list[Run]] = {}
    for run in _parse_rows(rows, origin, metric):
        groups.setdefault(run.dataset, []).append(run)
    if not groups:
        raise DataError(f"{origin} contains no runs.")
    _check_unit([run for group in groups.values() for run in group], origin, metric)
    return [AccuracyTable(tuple(group), metric=metric) for group in groups.values()]


def write_accuracies(
    runs: Iterable[Run], path: str | Path, *, metric: str = DEFAULT_METRIC
) -> None:
    """Write runs as a CSV file that :func:`read_accuracies` reads; `.gz` is compressed.

    Args:
        runs: what to write.
        path: the file.
        metric: the name of the column that holds `Run.accuracy`.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*_KEYS, metric))
    for run in runs:
        accuracy = "" if run.accuracy is None else repr(run.accuracy)
        sequence = str(run.sequence)
        writer.writerow(
            [run.method, run.dataset, run.protocol, run.label, sequence, run.seed, accuracy]
        )
    content = text.getvalue().encode()
    with replace_file(Path(path)) as file:
        file.write(gzip.compress(content, mtime=0) if Path(path).suffix == ".gz" else content)


def _read_experiment(directory: Path, metric: str) -> AccuracyTable:
    from edgecil.engine.experiment import Experiment  # which uses this module

    return Experiment.open(directory).table(metric)


def _is_frame(source: object) -> bool:
    return hasattr(source, "columns") and hasattr(source, "to_dict")


def _check_unit(runs: Sequence[Run], origin: str, metric: str) -> None:
    """Refuse accuracies that are all fractions; forgetting may be as small."""
    values = [run.accuracy for run in runs if run.accuracy is not None]
    is_share = find_metric(metric).bounds[0] == 0.0
    if is_share and values and max(values) <= 1.0 and any(0.0 < value < 1.0 for value in values):
        raise DataError(
            f"{origin} has {metric!r} between {min(values):g} and {max(values):g} only, but "
            "accuracies are per cent; multiply them by 100."
        )


# A row's position ("Row 2") and its cells by column.
_Rows = Iterator[tuple[int, dict[str, str]]]


def _csv_rows(path: Path, metric: str) -> _Rows:
    rows = iterate_rows(path)
    header = [cell.strip() for cell in next(rows, [])]
    if not any(header):
        raise DataError(f"{path} is empty; it requires a header line and one line for each run.")
    for separator, name in ((";", "semicolons"), ("\t", "tabs")):
        if len(header) == 1 and separator in header[0]:
            raise DataError(
                f"{path} separates its columns by {name}; save it with commas between columns and "
                "points in numbers."
            )
    check_header(header, str(path))
    _check_columns(header, str(path), metric)
    for number, cells in enumerate(rows, start=2):
        if len(cells) != len(header):
            raise DataError(
                f"Row {number} of {path} has {len(cells)} cells but the header names {len(header)}."
            )
        yield number, dict(zip(header, map(str.strip, cells), strict=True))


def _frame_rows(frame: DataFrame, metric: str) -> _Rows:
    _check_columns([str(name) for name in frame.columns], "The DataFrame", metric)
    for number, row in enumerate(frame.to_dict("records")):
        yield number, {str(name): _cell(value) for name, value in row.items()}


def _cell(value: Any) -> str:
    """Return a DataFrame's cell as a CSV file would hold it; missing values are empty."""
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer() and math.isfinite(value):
        return str(int(value))
    text = str(value).strip()
    return "" if text == "<NA>" else text


def _check_columns(header: Sequence[str], origin: str, metric: str) -> None:
    missing = [name for name in (*_REQUIRED, metric) if name not in header]
    if missing == [metric]:
        near = nearest(metric, (name for name in header if name not in _KEYS))
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise DataError(f"{origin} has no column {metric!r}.{hint} It has {','.join(header)}.")
    if missing:
        optional = [name for name in _KEYS if name not in _REQUIRED]
        raise DataError(
            f"{origin} lacks the columns {', '.join(map(repr, missing))}. It requires "
            f"{', '.join((*_REQUIRED, metric))}, and may have {', '.join(optional)}."
        )


def _parse_rows(rows: _Rows, origin: str, metric: str) -> Iterator[Run]:
    numbers: dict[tuple[object, ...], int] = {}
    sequences = _Sequences()
    repeats: dict[tuple[object, ...], int] = {}
    further: list[str] | None = None
    for number, row in rows:
        if further is None:
            further = [name for name in row if name not in (*_KEYS, metric)]
        try:
            run = _parse(row, metric, further, sequences)
        except DataError as error:
            raise DataError(f"Row {number} of {origin} {error}") from error
        order = (run.method, run.dataset, run.protocol, run.label, id(run.sequence))
        if "seed" not in row:
            repeats[order] = repeats.get(order, -1) + 1
            run = replace(run, seed=repeats[order])
        key = (*order, run.seed)
        if key in numbers:
            raise DataError(
                f"Row {number} of {origin} repeats row {numbers[key]}: the same method, protocol, "
                "label, sequence and seed; number the seeds of repeated trainings."
            )
        numbers[key] = number
        yield run


class _Sequences(dict[str, ClassSequence]):
    """The sequences of a file by their text; equal ones are one object."""

    def __init__(self) -> None:
        self._different: dict[ClassSequence, ClassSequence] = {}

    def __missing__(self, text: str) -> ClassSequence:
        try:
            sequence = ClassSequence.parse(text)
        except (ValueError, EdgecilError) as error:
            raise DataError(
                f"has the sequence {text!r}; write the ids of the classes, not their names, task "
                f"by task: '0 1|2 3|4 5' ({str(error).rstrip('.')})."
            ) from error
        self[text] = self._different.setdefault(sequence, sequence)
        return self[text]


def _parse(row: dict[str, str], metric: str, further: Sequence[str], sequences: _Sequences) -> Run:
    """Return one row of the table; `further` names its columns that are kept as text."""
    sequence = sequences[row["sequence"]]
    method, protocol = row["method"], row.get("protocol", OWN_ORDERS)
    if not method or not protocol:
        raise DataError(f"has no {'protocol' if method else 'method'}; fill it in.")
    try:
        seed = parse_int(row.get("seed", "0"))
    except ValueError as error:
        raise DataError(f"has the seed {row['seed']!r}; seeds are integers.") from error
    label = row.get("label")
    return Run(
        method,
        row.get("dataset", ""),
        protocol,
        str(sequence) if label is None else label,
        sequence,
        seed,
        _parse_value(row[metric], metric),
        {name: row[name] for name in further} if further else _NOTHING_MORE,
    )


def _parse_value(text: str, metric: str) -> float | None:
    value = parse_cell(text)
    if value is None:
        return None
    if metric == DEFAULT_METRIC and not 0.0 <= value <= 100.0:
        raise DataError(
            f"has the accuracy {text!r}; accuracies are per cent in [0, 100], or empty for a "
            "failed run."
        )
    if not math.isfinite(value):
        raise DataError(
            f"has the {metric} {text!r}; values are numbers, or empty for a failed run."
        )
    return value
