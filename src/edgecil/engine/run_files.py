"""Tables of runs in CSV files and DataFrames."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from edgecil.engine.metrics import DEFAULT_METRIC, find_metric
from edgecil.engine.runs import Runs
from edgecil.errors import DataError, EdgecilError, nearest
from edgecil.io.csv_files import check_header, iterate_rows, unescape, write_csv
from edgecil.io.numbers import parse_cell, parse_int
from edgecil.sequences.given import NAME as OWN_ORDERS
from edgecil.sequences.sequence import ClassSequence

if TYPE_CHECKING:
    import pandas

DataFrame: TypeAlias = "pandas.DataFrame"

_KEYS = ("method", "dataset", "protocol", "label", "sequence", "seed")
_REQUIRED = ("method", "sequence")
_OWN = ("repeat", "status", "identity")  # columns that the table makes itself
_SEEDS = 2**63


def read_runs(source: str | Path | DataFrame, *, metric: str = DEFAULT_METRIC) -> list[Runs]:
    """Read the runs in a CSV file or a pandas DataFrame, one table for each dataset.

    The columns are `method,dataset,protocol,label,sequence,seed,accuracy`, of which `method`,
    `sequence` and `accuracy` are required. A sequence is written `0 1|2 3|4 5`, and an accuracy is
    in per cent; an empty or NaN accuracy is a failed run. Without the column `protocol` the orders
    are those of the protocol `given`, which do not count as random; without `seed`, rows with the
    same method and sequence are repeats. Other columns are kept as text in `Runs.more`.

    Args:
        source: a `.csv` or `.csv.gz` file, or a DataFrame.
        metric: the column to read in place of `accuracy`.
    """
    if not isinstance(source, (str, Path)):
        return _parse(_frame_rows(source), "The DataFrame", metric, first=0)
    path = Path(source)
    if not path.exists():
        raise DataError(f"There is no file {path}; give a CSV file or an experiment directory.")
    if path.is_dir():
        from edgecil.engine.experiment import Experiment  # which uses this module

        return [Experiment.open(path).table(metric)]
    return _parse(_csv_rows(path), str(path), metric, first=2)


def write_runs(tables: Iterable[Runs], path: str | Path) -> None:
    """Write tables of one metric as a CSV file that :func:`read_runs` reads; `.gz` is compressed.

    Args:
        tables: what to write.
        path: the file.
    """
    parts = list(tables)
    write_csv(Path(path), [(*_KEYS, parts[0].metric), *(row for it in parts for row in _cells(it))])


def _cells(table: Runs) -> Iterator[tuple[str | int | float | None, ...]]:
    texts = [str(sequence) for sequence in table.sequences]
    columns = (table.method, table.protocol, table.label, table.sequence, table.seed, table.values)
    for method, protocol, label, place, seed, value in zip(
        *(column.tolist() for column in columns), strict=True
    ):
        yield (
            table.methods[method],
            table.dataset,
            table.protocols[protocol],
            table.labels[label],
            texts[place],
            seed,
            None if math.isnan(value) else value,
        )


_Rows = Iterator[Sequence[str]]  # the header, then the cells of every row


def _csv_rows(path: Path) -> _Rows:
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
    yield header
    for number, cells in enumerate(rows, start=2):
        if len(cells) != len(header):
            raise DataError(
                f"Row {number} of {path} has {len(cells)} cells but the header names {len(header)}."
            )
        yield cells


def _frame_rows(frame: DataFrame) -> _Rows:
    yield [str(name) for name in frame.columns]
    columns = [frame.iloc[:, place].tolist() for place in range(len(frame.columns))]
    for row in zip(*columns, strict=True):
        yield [_cell(value) for value in row]


def _cell(value: Any) -> str:
    """Return a DataFrame's cell as a CSV file would hold it; missing values are empty."""
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer() and math.isfinite(value):
        return str(int(value))
    text = str(value)
    return "" if text == "<NA>" else text


def _check_columns(header: Sequence[str], origin: str, metric: str) -> None:
    check_header(header, origin)
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


@dataclass
class _Columns:
    """The rows of one dataset, column by column, and their numbers in the source."""

    method: list[str] = field(default_factory=list)
    protocol: list[str] = field(default_factory=list)
    label: list[str] = field(default_factory=list)
    sequence: list[ClassSequence] = field(default_factory=list)
    seed: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    more: list[tuple[str, ...]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)


def _parse(rows: _Rows, origin: str, metric: str, *, first: int) -> list[Runs]:
    """Return the tables in some rows, of which the header is not counted.

    Args:
        rows: the header, then the cells of each row.
        origin: of the rows, for error messages.
        metric: the column with values.
        first: the number of the first row.
    """
    header = next(rows)
    _check_columns(header, origin, metric)
    place = {name: header.index(name) for name in header}
    further = [name for name in header if name not in (*_KEYS, *_OWN, metric)]
    sequences, texts, groups = _Sequences(), _Texts(), dict[str, _Columns]()
    optional = [place.get(name) for name in ("dataset", "protocol", "label", "seed")]
    in_dataset, in_protocol, in_label, in_seed = optional
    required = place["method"], place["sequence"], place[metric]
    in_method, in_sequence, in_metric = required
    number = first - 1
    for number, cells in enumerate(rows, start=first):
        try:
            sequence = sequences[cells[in_sequence]]
            method = texts[cells[in_method]]
            protocol = OWN_ORDERS if in_protocol is None else texts[cells[in_protocol]]
            if not method or not protocol:
                raise DataError(f"has no {'protocol' if method else 'method'}; fill it in.")
            seed = 0 if in_seed is None else _parse_seed(cells[in_seed])
            value = _parse_value(cells[in_metric].strip(), metric)
        except DataError as error:
            raise DataError(f"Row {number} of {origin} {error}") from error
        dataset = "" if in_dataset is None else texts[cells[in_dataset]]
        columns = groups.get(dataset) or groups.setdefault(dataset, _Columns())
        columns.method.append(method)
        columns.protocol.append(protocol)
        columns.label.append(str(sequence) if in_label is None else texts[cells[in_label]])
        columns.sequence.append(sequence)
        columns.seed.append(seed)
        columns.values.append(value)
        columns.numbers.append(number)
        if further:
            columns.more.append(tuple(cells[place[name]].strip() for name in further))
    if not groups:
        raise DataError(f"{origin} contains no runs.")
    tables = []
    for dataset, columns in groups.items():
        table = Runs.of(
            columns.method,
            columns.sequence,
            columns.values,
            protocol=columns.protocol,
            label=columns.label,
            seed=None if in_seed is None else columns.seed,
            dataset=dataset,
            metric=metric,
            more=dict(zip(further, zip(*columns.more, strict=True), strict=True)),
        )
        _check_repeats(table, columns.numbers, origin)
        tables.append(table)
    _check_unit(tables, origin, metric)
    return tables


class _Texts(dict[str, str]):
    """Cells without blanks around them; equal ones are one object."""

    def __missing__(self, cell: str) -> str:
        self[cell] = unescape(cell.strip())
        return self[cell]


class _Sequences(dict[str, ClassSequence]):
    """The sequences of a file by their text; equal ones are one object."""

    def __init__(self) -> None:
        self._different: dict[ClassSequence, ClassSequence] = {}

    def __missing__(self, text: str) -> ClassSequence:
        try:
            sequence = ClassSequence.parse(text.strip())
        except (ValueError, EdgecilError) as error:
            raise DataError(
                f"has the sequence {text!r}; write the ids of the classes, not their names, task "
                f"by task: '0 1|2 3|4 5' ({str(error).rstrip('.')})."
            ) from error
        self[text] = self._different.setdefault(sequence, sequence)
        return self[text]


def _parse_seed(text: str) -> int:
    try:
        seed = parse_int(text)
        if not -_SEEDS <= seed < _SEEDS:
            raise ValueError(text)
    except ValueError as error:
        raise DataError(f"has the seed {text!r}; seeds are integers of 64 bits.") from error
    return seed


def _parse_value(text: str, metric: str) -> float:
    value = parse_cell(text)
    if value is None:
        return math.nan
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


def _check_repeats(table: Runs, numbers: Sequence[int], origin: str) -> None:
    """Raise an error if two rows of a source are the same run."""
    keys = np.stack([table.seed, table.label, table.sequence, table.protocol, table.method])
    sort = np.lexsort(keys)
    is_same = (np.diff(keys[:, sort], axis=1) == 0).all(axis=0)
    if is_same.any():
        pairs = zip(sort[1:][is_same].tolist(), sort[:-1][is_same].tolist(), strict=True)
        row, other = min(pairs)
        raise DataError(
            f"Row {numbers[row]} of {origin} repeats row {numbers[other]}: the same method, "
            "protocol, label, sequence and seed; number the seeds of repeated trainings."
        )


def _check_unit(tables: Sequence[Runs], origin: str, metric: str) -> None:
    """Refuse accuracies that are all fractions; forgetting may be as small."""
    values = np.concatenate([table.values for table in tables])
    values = values[~np.isnan(values)]
    is_share = find_metric(metric).bounds[0] == 0.0 and values.size and values.max() <= 1.0
    if is_share and ((values > 0.0) & (values < 1.0)).any():
        raise DataError(
            f"{origin} has {metric!r} between {values.min():g} and {values.max():g} only, but "
            "accuracies are per cent; multiply them by 100."
        )
