"""Accuracy tables: which run of which method reached which value of a metric."""

from __future__ import annotations

import csv
import difflib
import gzip
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any, Protocol, cast

import numpy as np

from edgecil.errors import DataError, EdgecilError, UsageError, name_some
from edgecil.io.arrays import Floats
from edgecil.io.files import check_header, read_rows, replace_file
from edgecil.io.numbers import parse_float, parse_int
from edgecil.sequences.given import NAME as OWN_ORDERS
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace

DEFAULT_METRIC = "accuracy"

_KEYS = ("method", "dataset", "protocol", "label", "sequence", "seed")
_REQUIRED = ("method", "sequence")
COLUMNS = (*_KEYS, DEFAULT_METRIC)


class DataFrame(Protocol):
    """The part of a pandas DataFrame that :func:`read_accuracies` uses."""

    @property
    def columns(self) -> Any:
        """Names of the columns."""

    def to_dict(self, orient: Any) -> Any:
        """The rows, for `orient="records"`."""


@dataclass(frozen=True)
class Run:
    """One method trained on one class sequence with one training seed.

    Attributes:
        method: the method's name.
        dataset: the dataset's name.
        protocol: the protocol that chose the sequence.
        label: the protocol's label for the sequence.
        sequence: the classes, task by task.
        seed: the training seed.
        accuracy: the value of the table's metric (by default A(O)), in per cent; None if the run
            failed or is unfinished.
        more: further columns of the file, as text.
    """

    method: str
    dataset: str
    protocol: str
    label: str
    sequence: ClassSequence
    seed: int
    accuracy: float | None
    more: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class OrderAccuracies:
    """Accuracies over class orders, one per labelled sequence: the mean over training seeds.

    Attributes:
        labels: n labels.
        sequences: n sequences.
        accuracies: (n,) per cent.
    """

    labels: tuple[str, ...]
    sequences: tuple[ClassSequence, ...]
    accuracies: Floats

    def __len__(self) -> int:
        return len(self.sequences)

    def by_sequence(self) -> Mapping[ClassSequence, float]:
        """The accuracy of each distinct sequence, averaged over the labels that share it."""
        return self._by_sequence

    @cached_property
    def _by_sequence(self) -> dict[ClassSequence, float]:
        grouped: dict[ClassSequence, list[float]] = {}
        for sequence, accuracy in zip(self.sequences, self.accuracies.tolist(), strict=True):
            grouped.setdefault(sequence, []).append(accuracy)
        return {
            sequence: values[0] if len(values) == 1 else fmean(values)
            for sequence, values in grouped.items()
        }


@dataclass(frozen=True, repr=False)
class AccuracyTable:
    """Runs on one dataset with one division of its classes into tasks.

    Attributes:
        runs: in the order of the source.
        names: names of the N classes, in ascending order of their ids; None if unknown.
        metric: the metric whose values `Run.accuracy` holds.
    """

    runs: tuple[Run, ...]
    names: tuple[str, ...] | None = None
    metric: str = DEFAULT_METRIC

    def __post_init__(self) -> None:
        if not self.runs:
            raise DataError("An accuracy table requires at least one run; got none.")
        first = self.runs[0]
        classes = set(first.sequence.order)
        checked: set[ClassSequence] = set()
        for run in self.runs:
            if run.dataset != first.dataset:
                raise UsageError(
                    f"A table has runs of one dataset, but these are of {first.dataset!r} and "
                    f"{run.dataset!r}; split the table by dataset."
                )
            if run.sequence in checked:
                continue
            checked.add(run.sequence)
            if run.sequence.sizes != first.sequence.sizes or set(run.sequence.order) != classes:
                raise DataError(
                    "All sequences of a dataset must have the same classes and task sizes, but "
                    f"{str(run.sequence)!r} ({run.method}, {run.protocol}) differs from "
                    f"{str(first.sequence)!r}."
                )

    def __repr__(self) -> str:
        methods, protocols = name_some(self.methods), name_some(self.protocols)
        return (
            f"<AccuracyTable of {self.dataset}: {len(self.runs)} runs of {methods} by {protocols}, "
            f"{self.metric}>"
        )

    @property
    def dataset(self) -> str:
        """The dataset's name."""
        return self.runs[0].dataset

    @property
    def classes(self) -> tuple[int, ...]:
        """The N class ids in the sequences, ascending."""
        return tuple(sorted(self.runs[0].sequence.order))

    @cached_property
    def space(self) -> SequenceSpace:
        """Every sequence with these task sizes."""
        return SequenceSpace(self.runs[0].sequence.sizes)

    @cached_property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods, in order of appearance."""
        return tuple(dict.fromkeys(run.method for run in self.runs))

    @cached_property
    def protocols(self) -> tuple[str, ...]:
        """Names of the protocols, in order of appearance."""
        return tuple(dict.fromkeys(run.protocol for run in self.runs))

    @cached_property
    def sequences(self) -> tuple[ClassSequence, ...]:
        """The different sequences, in order of appearance."""
        return tuple(dict.fromkeys(run.sequence for run in self.runs))

    @cached_property
    def failed(self) -> int:
        """Number of runs without an accuracy, which every statistic leaves out."""
        return sum(run.accuracy is None for run in self.runs)

    def runs_of(self, method: str, protocol: str | None = None) -> Sequence[Run]:
        """A method's runs for one protocol, or for all, in the order of the source."""
        return self._groups.get((method, protocol), ())

    @cached_property
    def _groups(self) -> dict[tuple[str, str | None], list[Run]]:
        """Runs by method and protocol, and by method alone."""
        groups: dict[tuple[str, str | None], list[Run]] = {}
        for run in self.runs:
            groups.setdefault((run.method, None), []).append(run)
            groups.setdefault((run.method, run.protocol), []).append(run)
        return groups

    def orders(self, method: str, protocol: str | None = None) -> OrderAccuracies:
        """A method's accuracies over the sequences of one protocol, or of all protocols."""
        key = method, protocol
        if key not in self._orders:
            self._orders[key] = _average_repeats(self.runs_of(*key), labelled=protocol is not None)
        return self._orders[key]

    @cached_property
    def _orders(self) -> dict[tuple[str, str | None], OrderAccuracies]:
        return {}

    def repeats(self, method: str) -> list[Floats]:
        """A method's accuracies grouped by sequence, one per training seed."""
        grouped: dict[ClassSequence, set[tuple[int, float]]] = {}
        for run in self.runs_of(method):
            if run.accuracy is not None:
                grouped.setdefault(run.sequence, set()).add((run.seed, run.accuracy))
        return [np.array([value for _, value in sorted(group)]) for group in grouped.values()]

    def contradictions(self) -> list[tuple[Run, Run]]:
        """Pairs of runs of one method, sequence and seed with different accuracies."""
        firsts: dict[tuple[str, ClassSequence, int], Run] = {}
        done = [run for run in self.runs if run.accuracy is not None]
        pairs = [
            (firsts.setdefault((run.method, run.sequence, run.seed), run), run) for run in done
        ]
        return [(first, run) for first, run in pairs if first.accuracy != run.accuracy]

    def failures(self, method: str, protocol: str) -> tuple[str, ...]:
        """Labels of a protocol's sequences on which no run of the method has an accuracy."""
        chosen = self.runs_of(method, protocol)
        done = {(run.label, run.sequence) for run in chosen if run.accuracy is not None}
        labelled = {(run.label, run.sequence): None for run in chosen}
        return tuple(label for label, sequence in labelled if (label, sequence) not in done)

    def renumbered(self) -> AccuracyTable:
        """The same runs with the classes numbered 0 … N-1, in ascending order of their ids."""
        return self._with_ids(range(len(self.classes)))

    def numbered_by(self, labels: Sequence[str]) -> AccuracyTable:
        """The same runs, each class numbered by the index of its name in a dataset's labels."""
        if self.names is None or not set(self.names) <= set(labels):
            raise DataError(
                f"The classes of {self.dataset!r} are not all among the labels of the dataset."
            )
        index_of = {label: index for index, label in enumerate(labels)}
        return self._with_ids([index_of[name] for name in self.names])

    def _with_ids(self, ids: Sequence[int]) -> AccuracyTable:
        """The same runs with N new class ids, given in ascending order of the old ones."""
        new = dict(zip(self.classes, ids, strict=True))
        if all(old == id_ for old, id_ in new.items()):
            return self
        sequences = {
            sequence: ClassSequence([new[class_] for class_ in task] for task in sequence.tasks)
            for sequence in self.sequences
        }
        names = None if self.names is None else dict(zip(ids, self.names, strict=True))
        return replace(
            self,
            runs=tuple(replace(run, sequence=sequences[run.sequence]) for run in self.runs),
            names=None if names is None else tuple(names[id_] for id_ in sorted(names)),
        )


def _average_repeats(runs: Iterable[Run], *, labelled: bool) -> OrderAccuracies:
    """The mean over training seeds of each sequence, or of each sequence under each label."""
    grouped: dict[tuple[str, ClassSequence], dict[tuple[int, float], float]] = {}
    for run in runs:
        if run.accuracy is not None:
            # Protocols share runs: equal seed and accuracy mean the same run.
            same_order = grouped.setdefault((run.label if labelled else "", run.sequence), {})
            same_order[run.seed, run.accuracy] = run.accuracy
    means = [
        next(iter(values.values())) if len(values) == 1 else fmean(values.values())
        for values in grouped.values()
    ]
    return OrderAccuracies(
        tuple(label for label, _ in grouped),
        tuple(sequence for _, sequence in grouped),
        np.array(means, dtype=np.float64),
    )


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
        origin, rows = "the DataFrame", _frame_rows(cast("DataFrame", source), metric)
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
        raise DataError(f"{origin[0].upper()}{origin[1:]} contains no runs.")
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


# A row's position ("Row 2") and its cells by column.
_Rows = Iterator[tuple[int, dict[str, str]]]


def _csv_rows(path: Path, metric: str) -> _Rows:
    rows = read_rows(path)
    header = [cell.strip() for cell in rows[0]] if rows else []
    if not any(header):
        raise DataError(f"{path} is empty; it requires a header line and one line for each run.")
    if len(header) == 1 and ";" in header[0]:
        raise DataError(f"{path} separates its columns by semicolons; save it with commas.")
    check_header(header, str(path))
    _check_columns(header, str(path), metric)
    for number, cells in enumerate(rows[1:], start=2):
        if len(cells) != len(header):
            raise DataError(
                f"Row {number} of {path} has {len(cells)} cells but the header names {len(header)}."
            )
        yield number, dict(zip(header, (cell.strip() for cell in cells), strict=True))


def _frame_rows(frame: DataFrame, metric: str) -> _Rows:
    _check_columns([str(name) for name in frame.columns], "The DataFrame", metric)
    for number, row in enumerate(frame.to_dict("records")):
        yield number, {str(name): _cell(value) for name, value in row.items()}


def _cell(value: Any) -> str:
    """A DataFrame's cell as a CSV file would hold it; missing values are empty."""
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer() and math.isfinite(value):
        return str(int(value))
    text = str(value).strip()
    return "" if text == "<NA>" else text


def _check_columns(header: Sequence[str], origin: str, metric: str) -> None:
    missing = [name for name in (*_REQUIRED, metric) if name not in header]
    if missing == [metric]:
        near = difflib.get_close_matches(metric, [it for it in header if it not in _KEYS], n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise DataError(f"{origin} has no column {metric!r}.{hint} It has {','.join(header)}.")
    if missing:
        optional = [name for name in _KEYS if name not in _REQUIRED]
        raise DataError(
            f"{origin} has no column {' and no '.join(map(repr, missing))}. It requires "
            f"{', '.join((*_REQUIRED, metric))}, and may have {', '.join(optional)}."
        )


def _parse_rows(rows: _Rows, origin: str, metric: str) -> Iterator[Run]:
    numbers: dict[tuple[object, ...], int] = {}
    sequences: dict[str, ClassSequence] = {}  # equal ones are one object
    repeats: dict[tuple[object, ...], int] = {}
    for number, row in rows:
        run = _parse(row, f"Row {number} of {origin}", metric, sequences)
        order = (run.method, run.dataset, run.protocol, run.label, run.sequence)
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


def _parse(
    row: dict[str, str], where: str, metric: str, sequences: dict[str, ClassSequence]
) -> Run:
    """One row of the table; `sequences` holds those of earlier rows by their text."""
    text = row["sequence"]
    try:
        sequence = sequences.get(text) or sequences.setdefault(text, ClassSequence.parse(text))
    except (ValueError, EdgecilError) as error:
        raise DataError(
            f"{where} has the sequence {row['sequence']!r}; write tasks of class ids as "
            f"'0 1|2 3|4 5' ({str(error).rstrip('.')})."
        ) from error
    protocol = row.get("protocol", OWN_ORDERS)
    for name, cell in (("method", row["method"]), ("protocol", protocol)):
        if not cell:
            raise DataError(f"{where} has no {name}; fill it in.")
    try:
        seed = parse_int(row.get("seed", "0"))
    except ValueError as error:
        raise DataError(f"{where} has the seed {row['seed']!r}; seeds are integers.") from error
    more = {name: cell for name, cell in row.items() if name not in (*_KEYS, metric)}
    return Run(
        row["method"],
        row.get("dataset", ""),
        protocol,
        row.get("label", str(sequence)),
        sequence,
        seed,
        _parse_value(row[metric], where, metric),
        more,
    )


def _parse_value(text: str, where: str, metric: str) -> float | None:
    if text.lower() in ("", "nan"):
        return None
    try:
        value = parse_float(text)
    except ValueError:
        value = math.nan
    if metric == DEFAULT_METRIC and not 0.0 <= value <= 100.0:
        raise DataError(
            f"{where} has the accuracy {text!r}; accuracies are per cent in [0, 100], or empty "
            "for a failed run."
        )
    if not math.isfinite(value):
        raise DataError(
            f"{where} has the {metric} {text!r}; values are numbers, or empty for a failed run."
        )
    return value
