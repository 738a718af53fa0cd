"""The cells of a table in a CSV file or a DataFrame, by column, whatever its columns are called.

A *long* table has a row for each run, a *wide* one a column for each method and a row for each
seed. Exports of Weights & Biases, MLflow and TensorBoard are read as well.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from edgecil.errors import (
    DataError,
    UsageError,
    format_value,
    name_some,
    nearest,
    short_name,
    wrong_value_error,
)
from edgecil.io.csv_files import check_header, parse_rows, read_rows
from edgecil.io.files import read_text
from edgecil.io.numbers import parse_cell
from edgecil.runs.metrics import DEFAULT_METRIC, METRICS, names_value

if TYPE_CHECKING:
    import pandas

DataFrame: TypeAlias = "pandas.DataFrame"

KEYS = ("method", "dataset", "protocol", "label", "sequence", "seed")
ORDERS = ("order_seed", "class_order_seed", "class_order", "order")  # which runs share an order
_OWN = ("repeat", "status", "identity")
_READ = (*KEYS, *_OWN, *ORDERS)
_ALSO = {  # other names of columns
    "status": ("state",),
    "method": ("model", "algorithm", "learner", "approach"),
    "seed": ("training_seed", "train_seed"),
    DEFAULT_METRIC: ("acc",),
}
_NUMBERING = re.compile(
    r"(.*[ _.-])?(seed|run|epochs?|trial|fold|steps?|index|id|rep|iteration|tasks?)|unnamed: \d+",
    re.IGNORECASE,
)
_SEED_IN_NAME = re.compile(r"(.+?)[\s_./-]*(?:seed|run)[\s_=-]*(\d+)", re.IGNORECASE)
_TENSORBOARD = b"wall time,step,value"

NAME = "edgecil name"
"""The attribute of a DataFrame that has a name, which stands for its method if it has none."""


@dataclass
class Grid:
    """The cells of a table as text, by column.

    Error messages have the row's number in the source and its `origin`; `stem` stands for the
    method if the table names none. `unused` are columns that are not read.
    """

    columns: dict[str, list[str]]
    numbers: list[int]
    origin: str
    stem: str
    notes: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)

    @property
    def order_column(self) -> str:
        """The column that says which runs share a class order; empty without one."""
        return next((name for name in ORDERS if name in self.columns), "")

    def name_columns(self, metric: str) -> None:
        """Give columns the names that :func:`read_runs` knows, and make a wide table long."""
        if metric.lower() in _READ:
            raise UsageError(f"`metric` must be a column of values. Got {metric!r}.")
        for name in (metric, *_READ):
            self._find(name, _ALSO.get(name, ()))
        order = self.order_column
        if order and "sequence" not in self.columns and "|" in self.columns[order][0]:
            self._take(order, "sequence")
        chart = [it for it in self.columns if " - " in it and not it.endswith(("__MIN", "__MAX"))]
        if chart and next(iter(self.columns)) == "Step":
            self._melt_chart(chart, metric)  # of Weights & Biases
        if metric not in self.columns:
            self._find_values(metric)
        self.columns.setdefault("method", [self.stem] * len(self.numbers))
        order = "sequence" if "sequence" in self.columns else self.order_column
        used, given = (metric, *KEYS, *_OWN, order), dict.fromkeys((*self.unused, *self.columns))
        self.unused = [it for it in given if it not in used and not names_value(it)]
        if self.unused:
            missing = [name for name in (*KEYS, "order_seed") if name not in self.columns]
            near = {name: nearest(name.lower(), missing, 0.8) for name in self.unused}
            asked = [f"is {name!r} the {own[0]!r}?" for name, own in near.items() if own]
            one = len(self.unused) == 1
            self.notes.append(
                f"The column{'' if one else 's'} {name_some(self.unused)} {'is' if one else 'are'} "
                f"not used{'; ' if asked else ''}{' '.join(asked) or '.'}"
            )

    def _find(self, wanted: str, others: Sequence[str]) -> None:
        """Find a column by name, whatever its case, by the last part of its name, or by another."""
        last = {name: re.split(r"[./]", name.lower())[-1] for name in self.columns}
        spelt = [name for name in last if name.lower() == wanted.lower()]
        spelt = spelt or [name for name in last if last[name] == wanted.lower()]
        same = spelt or [name for name in last if last[name] in others]
        if len(same) > 1:
            raise DataError(
                f"{self.origin} has {len(same)} columns {wanted!r}: {', '.join(same)}; keep one, "
                "or rename the others."
            )
        if same and (spelt or wanted == "status"):
            self.columns = {wanted if it in same else it: self.columns[it] for it in self.columns}
        elif same:
            self._take(same[0], wanted)

    def _take(self, column: str, name: str) -> None:
        self.notes.append(f"The column {column!r} of {self.origin} is read as {name!r}.")
        self.columns[name] = self.columns.pop(column)

    def _find_values(self, metric: str) -> None:
        """Find the values of a table that has no column of the metric's name."""
        free = [name for name in self.columns if name not in _READ]
        numeric = [name for name in free if _is_numeric(self.columns[name])]
        texts = [name for name in free if name not in numeric]
        values = [
            name
            for name in numeric
            if not _NUMBERING.fullmatch(name) and not nearest(name.lower(), _READ, 0.8)
        ]
        named = [name for name in values if names_value(name)]
        if metric == DEFAULT_METRIC and not set(values) & set(METRICS) and len(named) < 2:
            if "method" not in self.columns and len(texts) == len(values) == 1:
                self._take(texts[0], "method")
            if len(values) == 1 and (named or "method" in self.columns):
                self._take(values[0], metric)
            elif "method" not in self.columns and values and not texts:
                self._melt(values, metric, "method")
            elif "seed" not in self.columns and values and all(map(str.isdigit, values)):
                self.notes.append(f"The columns {name_some(values)} of {self.origin} are seeds.")
                self._melt(values, metric, "seed")
        if metric not in self.columns:
            near = nearest(metric, free)
            hint = (
                f". Did you mean {near[0]!r}?"
                if near
                else f". It has {name_some(list(self.columns), 12)}."
            )
            if values and not near:
                hint = f"; choose one by `metric`: {name_some(values, 12)}."
            raise DataError(f"{self.origin} has no column {format_value(metric)}{hint}")

    def _melt_chart(self, names: Sequence[str], metric: str) -> None:
        """Read the last value of every run of a chart: a column `RUN - METRIC` each."""
        runs = {
            name.rpartition(" - ")[0]: "".join([it for it in self.columns[name] if it.strip()][-1:])
            for name in names
        }
        self.columns = _columns_of(runs.items(), metric)
        self.numbers = list(range(1, len(runs) + 1))
        self.notes.append(f"The last step of every run in {self.origin} is its {metric}.")

    def _melt(self, names: Sequence[str], metric: str, column: str) -> None:
        """Make a long table of columns that are methods, whose rows are seeds, or of seeds."""
        count = len(self.numbers)
        told = {"seed", "sequence", self.order_column} & set(self.columns)
        if not told and column == "method":
            self.columns["seed"] = [str(number) for number in range(count)]
            self.notes.append(f"Each row of {self.origin} counts as one seed of all methods.")
        kept = {name: self.columns[name] for name in _READ if name in self.columns}
        self.unused = [name for name in self.columns if name not in (*kept, *names)]
        values = [cell for name in names for cell in self.columns[name]]
        self.columns = {name: cells * len(names) for name, cells in kept.items()}
        self.columns[column] = [name for name in names for _ in range(count)]
        self.columns[metric] = values
        self.numbers = self.numbers * len(names)


def _columns_of(runs: Iterable[tuple[str, str]], metric: str) -> dict[str, list[str]]:
    """Return methods, seeds and values of runs whose names may end in their seeds."""
    names, values = (list(column) for column in zip(*runs, strict=True))
    named = [_SEED_IN_NAME.fullmatch(name) for name in names]
    columns = {"method": [m[1] if m else name for m, name in zip(named, names, strict=True)]}
    if all(named):
        columns["seed"] = [m[2] for m in named if m]
    return {**columns, metric: values}


def _is_numeric(cells: Sequence[str]) -> bool:
    values = [parse_cell(cell.strip().removesuffix("%")) for cell in cells]
    given = [value for value in values if value is not None]
    return bool(given) and not any(math.isnan(value) for value in given)


def read_grid(source: str | Path | DataFrame | Sequence[str | Path]) -> Grid:
    """Return the cells of a file or a DataFrame, or of several TensorBoard exports as one table."""
    if isinstance(source, (str, Path)):
        path = Path(source)
        if not path.exists():
            raise DataError(f"There is no file {path}; give a CSV file or an experiment directory.")
        if not is_tensorboard(path):
            rows = parse_rows(read_text(path), str(path))
            return _grid(rows, str(path), path.name.partition(".")[0])
        source = [path]
    if isinstance(source, (list, tuple)):
        return _logged([Path(path) for path in source])
    frame: Any = source.to_pandas() if hasattr(source, "to_pandas") else source
    own = name_of(source)
    if not hasattr(frame, "iloc") or not hasattr(frame, "columns"):
        raise wrong_value_error("source", "a CSV file or a DataFrame", source)
    if frame.columns.nlevels > 1:
        raise DataError(
            f"The DataFrame has columns of {frame.columns.nlevels} levels; give it one level, such "
            "as by pivot(..., values='accuracy')."
        )
    # Numbers in an index of another name, such as 'trial', would look like a method's values.
    for place, name in reversed(list(enumerate(frame.index.names))):
        first = frame.index.get_level_values(place)[:1]
        is_text = name is not None and any(isinstance(cell, str) for cell in first)
        if (is_text or str(name).lower() in KEYS) and name not in frame.columns:
            frame = frame.reset_index(level=place)
    return _grid(parse_rows(frame.to_csv(index=False), "DataFrame"), own or "DataFrame", own, 0)


def name_of(source: object) -> str | None:
    """Return the name of a DataFrame that has one."""
    return getattr(source, "attrs", {}).get(NAME)


def is_tensorboard(source: object) -> bool:
    """Return whether a source is a CSV file that TensorBoard wrote: the steps of one run."""
    if not isinstance(source, (str, Path)) or not Path(source).is_file():
        return False
    with Path(source).open("rb") as file:
        return file.read(len(_TENSORBOARD)).lower() == _TENSORBOARD


def _logged(paths: Sequence[Path]) -> Grid:
    """Return the last values of TensorBoard's exports, whose names are those of the runs."""
    runs = []
    for path in paths:
        steps = read_rows(path)[1:]
        if not steps:
            raise DataError(f"{path} contains no runs; export it again once a step is logged.")
        name = re.sub(r"^run-|[-_]tag-.*$", "", path.name.partition(".")[0])
        runs.append((name, steps[-1][-1]))
    origin = ", ".join(map(str, paths)) if len(paths) < 3 else f"{paths[0]} and others"
    note = f"The last step in {origin} is the {DEFAULT_METRIC} of its run."
    numbers = list(range(1, len(runs) + 1))
    return Grid(_columns_of(runs, DEFAULT_METRIC), numbers, origin, "method", [note])


def _grid(rows: Iterator[list[str]], origin: str, stem: str | None, first: int = 2) -> Grid:
    header = [short_name(cell.strip()) for cell in next(rows, [])]
    if not any(header):
        raise DataError(f"{origin} is empty; it requires a header line and one line for each run.")
    for separator, name in ((";", "semicolons"), ("\t", "tabs")):
        if len(header) == 1 and separator in header[0]:
            raise DataError(
                f"{origin} separates its columns by {name}; save it with commas between columns "
                "and points in numbers."
            )
    check_header(header, origin)
    cells = list(rows)
    if not cells:
        raise DataError(f"{origin} contains no runs; write a line for each below its header.")
    for number, row in enumerate(cells, first):
        if len(row) != len(header):
            raise DataError(
                f"Row {number} of {origin} has {len(row)} cells, not {len(header)}; write one "
                "for each column."
            )
    columns = {
        name: list(own) for name, own in zip(header, zip(*cells, strict=True), strict=True) if name
    }
    return Grid(columns, list(range(first, first + len(cells))), origin, stem or "method")
