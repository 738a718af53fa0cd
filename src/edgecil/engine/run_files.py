"""Tables of runs in CSV files and DataFrames, whatever columns they have.

A *long* table has a row for each run, a *wide* one a column for each method and a row for each
seed. Exports of Weights & Biases, MLflow and TensorBoard are read as well. Only the values are
required: without sequences the class orders are unknown, but a column such as `order_seed` says
which runs share one; without seeds the rows are numbered.
"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from edgecil.classes import get_classes
from edgecil.engine.metrics import DEFAULT_METRIC, METRICS, find_metric, names_value
from edgecil.engine.runs import SEED_MEANINGS, Runs
from edgecil.errors import (
    DataError,
    EdgecilError,
    UsageError,
    name_some,
    nearest,
    shown,
    unknown,
    wrong_value,
)
from edgecil.io.csv_files import Cell, check_header, iterate_rows, parse_rows, unescape, write_csv
from edgecil.io.numbers import parse_cell, parse_int
from edgecil.sequences.given import NAME as OWN_ORDERS
from edgecil.sequences.protocols import DEFAULT_PROTOCOL, PROTOCOLS
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace

if TYPE_CHECKING:
    import pandas

DataFrame: TypeAlias = "pandas.DataFrame"
_T = TypeVar("_T")

_KEYS = ("method", "dataset", "protocol", "label", "sequence", "seed")
_OWN = ("repeat", "status", "identity")
_ORDERS = ("order_seed", "class_order_seed", "class_order", "order")  # which runs share an order
_READ = (*_KEYS, *_OWN, *_ORDERS)
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
_SEEDS = 2**63
_SEED_IN_NAME = re.compile(r"(.+?)[\s_./-]*(?:seed|run)[\s_=-]*(\d+)", re.IGNORECASE)
_TENSORBOARD = b"wall time,step,value"

NAME = "edgecil name"
"""The attribute of a DataFrame that has a name, which stands for its method if it has none."""


def read_runs(
    source: str | Path | DataFrame | Sequence[str | Path],
    *,
    metric: str = DEFAULT_METRIC,
    seeds_are: str | None = None,
    orders_from: str | None = None,
    tasks: int | Sequence[int] | None = None,
) -> list[Runs]:
    """Read the runs in a CSV file or a pandas DataFrame, one table for each dataset.

    The columns of a long table are `method,dataset,protocol,label,sequence,seed,accuracy`, of which
    only `accuracy` is required; others are not read. A sequence is written `0 1|2 3|4 5`. Without
    it, runs with the same `order_seed` (or `class_order`) are trainings of one class order.
    Accuracies are per cent or fractions, the same for all runs of a method; an empty or NaN one is
    a failed run. Without the column `protocol` the orders are those of the protocol `given`, which
    do not count as random. Without `seed`, rows with the same method and sequence are repeats. A
    table without `method` and `accuracy` is a wide one.

    Args:
        source: a `.csv` or `.csv.gz` file, or a DataFrame; or several TensorBoard exports.
        metric: the column to read in place of `accuracy`.
        seeds_are: what a seed varies where there are no sequences: `orders`, `trainings` or `both`.
        orders_from: the protocol that draws the class order from `order_seed`, or else from `seed`,
            such as `random-legacy`.
        tasks: the number of tasks of these orders, or the sizes of the tasks.
    """
    if isinstance(source, (str, Path)) and Path(source).is_dir():
        from edgecil.engine.experiment import Experiment  # which uses this module

        return [Experiment.open(source).table(metric)]
    if seeds_are is not None and seeds_are not in SEED_MEANINGS:
        raise unknown("meaning of seeds", seeds_are, SEED_MEANINGS)
    grid = read_grid(source)
    grid.name_columns(metric)
    told = "sequence" if "sequence" in grid.columns else grid.order_column
    if told and (seeds_are or (orders_from and told == "sequence")):
        option = "seeds_are" if seeds_are else "orders_from"
        raise UsageError(f"{grid.origin} has a column {told!r}, so `{option}` does not apply.")
    if orders_from is not None:
        grid.draw_orders(orders_from, tasks, seeds_are)
    return _parse(grid, metric, seeds_are or "")


def write_runs(tables: Iterable[Runs], path: str | Path) -> None:
    """Write tables of one metric as a CSV or .csv.gz file that :func:`read_runs` reads."""
    parts = list(tables)
    first = parts[0]
    kind = first.stand_in
    left_out = {
        "": ["class_order"],
        "order": ["sequence"],
        "seed": ["sequence", "class_order", "protocol"],
        "run": ["sequence", "class_order", "protocol", "seed"],
    }[kind]
    header = [name for name in (*_KEYS, "class_order") if name not in left_out] + [first.metric]
    header += ["identity"] if any(any(table.identities) for table in parts) else []
    rows: list[list[Cell]] = []
    for table in parts:
        frame = table.to_pandas()
        if kind:  # the label has the seed, or the order, as it was read
            named = [label.partition(" ")[2] for label in frame["label"]]
            frame["class_order" if kind == "order" else "seed"] = named
        cells = frame[header].astype(object)
        rows += cells.where(cells.notna(), None).to_numpy().tolist()
    write_csv(Path(path), [header, *rows])


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
        return next((name for name in _ORDERS if name in self.columns), "")

    def name_columns(self, metric: str) -> None:
        """Give columns the names that :func:`read_runs` knows, and make a wide table long."""
        if metric.lower() in _READ:
            raise UsageError(f"`metric` must be a column of values. Got {metric!r}.")
        for name in (metric, *_READ):
            self._rename(name)
        for name, others in _ALSO.items():
            if name == metric or name in _READ:
                self._take_other(name, others)
        order = self.order_column
        if order and "sequence" not in self.columns and "|" in self.columns[order][0]:
            self._take(order, "sequence")
        if next(iter(self.columns)) == "Step" and any(" - " in name for name in self.columns):
            self._melt_chart(metric)  # of Weights & Biases
        if metric not in self.columns:
            self._find_values(metric)
        self.columns.setdefault("method", [self.stem] * len(self.numbers))
        order = "sequence" if "sequence" in self.columns else self.order_column
        used, given = (metric, *_KEYS, *_OWN, order), dict.fromkeys((*self.unused, *self.columns))
        self.unused = [it for it in given if it not in used and not names_value(it)]
        if self.unused:
            missing = [name for name in (*_KEYS, "order_seed") if name not in self.columns]
            near = {name: nearest(name.lower(), missing, 0.8) for name in self.unused}
            asked = [f"is {name!r} the {own[0]!r}?" for name, own in near.items() if own]
            one = len(self.unused) == 1
            self.notes.append(
                f"The column{'' if one else 's'} {name_some(self.unused)} {'is' if one else 'are'} "
                f"not used{'; ' if asked else ''}{' '.join(asked) or '.'}"
            )

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
                self.notes.append(f"The columns {','.join(values)} of {self.origin} are seeds.")
                self._melt(values, metric, "seed")
        if metric not in self.columns:
            near = nearest(metric, free)
            hint = f". Did you mean {near[0]!r}?" if near else f". It has {','.join(self.columns)}."
            if values and not near:
                hint = f"; choose one by `metric`: {', '.join(values)}."
            raise DataError(f"{self.origin} has no column {shown(metric)}{hint}")

    def _rename(self, wanted: str) -> bool:
        """Find a column by name, whatever its case, or by the last part of its name."""
        for near in (str.lower, lambda name: re.split(r"[./]", name.lower())[-1]):
            same = [name for name in self.columns if near(name) == wanted.lower()]
            if len(same) > 1:
                raise DataError(
                    f"{self.origin} has {len(same)} columns {wanted!r}: {', '.join(same)}; keep "
                    "one, or rename the others."
                )
            if same:
                self.columns = {
                    wanted if it in same else it: self.columns[it] for it in self.columns
                }
                return True
        return False

    def _take_other(self, wanted: str, names: Sequence[str]) -> None:
        """Find a column that is missing by one of its other names."""
        same = [it for it in self.columns if re.split(r"[./]", it.lower())[-1] in names]
        if wanted in self.columns or not same:
            return
        if len(same) > 1:
            raise DataError(
                f"{self.origin} has no column {wanted!r} but {' and '.join(same)}; rename one to "
                f"{wanted}."
            )
        if wanted == "status":
            self.columns[wanted] = self.columns.pop(same[0])
        else:
            self._take(same[0], wanted)

    def _take(self, column: str, name: str) -> None:
        self.notes.append(f"The column {column!r} of {self.origin} is read as {name!r}.")
        self.columns[name] = self.columns.pop(column)

    def _melt_chart(self, metric: str) -> None:
        """Read the last value of every run of a chart: a column `RUN - METRIC` each."""
        runs = {
            name.rpartition(" - ")[0]: [cell for cell in cells if cell.strip()][-1:]
            for name, cells in self.columns.items()
            if " - " in name and not name.endswith(("__MIN", "__MAX"))
        }
        named = [_SEED_IN_NAME.fullmatch(run) for run in runs]
        self.columns = {
            "method": [m[1] if m else run for m, run in zip(named, runs, strict=True)],
            metric: ["".join(cells) for cells in runs.values()],
        }
        if all(named):
            self.columns["seed"] = [m[2] for m in named if m]
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

    def draw_orders(
        self, protocol: str, tasks: int | Sequence[int] | None, seeds_are: str | None
    ) -> None:
        """Add the class orders that a protocol draws from the seeds."""
        chosen = PROTOCOLS[PROTOCOLS.resolve(protocol)]
        if not chosen.independent:
            raise UsageError(
                f"`orders_from` must be a protocol that draws an order from each seed, such as "
                f"'random-legacy'. Got {shown(protocol)}."
            )
        seeds, has_sizes = self.order_column or "seed", not (tasks is None or _is_one(tasks))
        missing = [] if seeds in self.columns else ["a column 'order_seed' or 'seed'"]
        if tasks is None:
            missing.append("the number of tasks as `tasks`")
        if "dataset" not in self.columns and not has_sizes:
            by_size = "the sizes of all tasks by `tasks` (50,25,25)"
            missing.append(f"a column 'dataset' (such as cifar100), or {by_size}")
        if missing or tasks is None:
            wanted = "; and ".join(missing)
            raise UsageError(f"`orders_from` requires for {self.origin} {wanted}.")
        sizes = (tasks,) if isinstance(tasks, int) else tuple(tasks)
        drawn: dict[tuple[str, str], tuple[str, str]] = {}
        datasets = self.columns.get("dataset", [""] * len(self.numbers))
        pairs = list(zip(datasets, self.columns[seeds], strict=True))
        for dataset, seed in dict.fromkeys(pairs):
            if has_sizes:
                space = SequenceSpace(sizes)
            else:
                space = SequenceSpace.equal(len(get_classes(dataset.strip())), sizes[0])
            (run,) = chosen.draw(space, budget=1, order_seed=_parse_seed(seed))
            drawn[dataset, seed] = str(run.sequence), run.label
        self.columns["sequence"] = [drawn[pair][0] for pair in pairs]
        self.columns.setdefault("label", [drawn[pair][1] for pair in pairs])
        self.columns["protocol"] = [chosen.name] * len(pairs)
        self.notes.append(f"The orders are those that {chosen.name} draws from {seeds!r}.")
        if seeds_are == "orders":
            self.columns["seed"] = ["0"] * len(pairs)


def _is_one(tasks: int | Sequence[int]) -> bool:
    return isinstance(tasks, int) or len(tasks) == 1


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
        stem = path.name.partition(".")[0]
        return _logged([path]) if is_tensorboard(path) else _grid(_csv_rows(path), str(path), stem)
    if isinstance(source, (list, tuple)):
        return _logged([Path(path) for path in source])
    frame: Any = source.to_pandas() if hasattr(source, "to_pandas") else source
    own = name_of(source)
    if not hasattr(frame, "iloc") or not hasattr(frame, "columns"):
        raise wrong_value("source", "a CSV file or a DataFrame", source)
    if frame.columns.nlevels > 1:
        raise DataError(
            f"The DataFrame has columns of {frame.columns.nlevels} levels; give it one level, such "
            "as by pivot(..., values='accuracy')."
        )
    # Numbers in an index of another name, such as 'trial', would look like a method's values.
    for place, name in reversed(list(enumerate(frame.index.names))):
        first = frame.index.get_level_values(place)[:1]
        is_text = name is not None and any(isinstance(cell, str) for cell in first)
        if (is_text or str(name).lower() in _KEYS) and name not in frame.columns:
            frame = frame.reset_index(level=place)
    cells, name = parse_rows(frame.to_csv(index=False), "DataFrame"), own or "DataFrame"
    return _grid(cells, name, own or "method", first=0)


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
    rows = []
    for path in paths:
        name = re.sub(r"^run-|[-_]tag-.*$", "", path.name.partition(".")[0])
        match = _SEED_IN_NAME.fullmatch(name)
        steps = list(iterate_rows(path))[1:]
        if not steps:
            raise DataError(f"{path} contains no runs.")
        rows.append((match[1] if match else name, match[2] if match else "", steps[-1][-1]))
    method, seed, values = (list(column) for column in zip(*rows, strict=True))
    columns = {"method": method, "seed": seed, DEFAULT_METRIC: values}
    if not all(seed):
        del columns["seed"]
    origin = ", ".join(map(str, paths)) if len(paths) < 3 else f"{paths[0]} and others"
    note = f"The last step in {origin} is the {DEFAULT_METRIC} of its run."
    return Grid(columns, list(range(1, len(rows) + 1)), origin, "method", [note])


def _grid(rows: Iterator[Sequence[str]], origin: str, stem: str, first: int = 2) -> Grid:
    header = [cell.strip() for cell in next(rows, ())]
    check_header(header, origin)
    cells = list(rows)
    if not cells:
        raise DataError(f"{origin} contains no runs.")
    columns = [list(column) for column in zip(*cells, strict=True)]
    return Grid(
        {name: own for name, own in zip(header, columns, strict=True) if name},
        list(range(first, first + len(cells))),
        origin,
        stem,
    )


def _csv_rows(path: Path) -> Iterator[Sequence[str]]:
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


def _parse(grid: Grid, metric: str, seeds_are: str) -> list[Runs]:
    """Return the table of each dataset."""
    columns, count = grid.columns, len(grid.numbers)
    has_orders, has_seeds = "sequence" in columns, "seed" in columns
    told = "" if has_orders else grid.order_column

    def parsed(name: str, parse: Callable[[str], _T]) -> list[_T]:
        """Parse the cells of a column, equal ones once."""
        values: dict[str, _T] = {}
        for number, cell in zip(grid.numbers, columns[name], strict=True):
            try:
                if cell not in values:
                    values[cell] = parse(cell)
            except DataError as error:
                raise DataError(f"Row {number} of {grid.origin} {error}") from error
        return [values[cell] for cell in columns[name]]

    def text(cell: str) -> str:
        return unescape(cell.strip())

    def required(name: str) -> Callable[[str], str]:
        def parse(cell: str) -> str:
            if not text(cell):
                raise DataError(f"has no {name}; fill it in.")
            return text(cell)

        return parse

    drawn = told.endswith("seed") or (not has_orders and seeds_are in ("orders", "both"))
    default = DEFAULT_PROTOCOL if drawn else OWN_ORDERS
    methods = parsed("method", required("method"))
    protocols = [default] * count
    if "protocol" in columns:
        protocols = parsed("protocol", required("protocol"))
    datasets = parsed("dataset", text) if "dataset" in columns else [""] * count
    values = parsed(metric, lambda cell: _parse_value(cell.strip(), metric))
    for row, state in enumerate(columns.get("status", [])):
        if state.strip().lower() not in ("finished", ""):
            values[row] = math.nan
    seeds = parsed("seed", _parse_seed) if has_seeds else _count_equal(methods)
    if told:
        named = parsed(told, required("class order"))
        groups = list(zip(datasets, methods, named, strict=True))
        if not has_seeds or not _tells_apart(groups, seeds):
            has_seeds = False
            seeds = [  # the same in every source
                zlib.crc32(group[2].encode()) << 20 | number
                for group, number in zip(groups, _count_equal(groups), strict=True)
            ]
        seeds_are = "both"
        grid.notes.append(f"Runs with the same {told!r} count as trainings of one class order.")
    if has_orders:
        orders = parsed("sequence", _parse_sequence)
        labels = parsed("label", text) if "label" in columns else list(map(str, orders))
    else:
        labels = [f"{'seed' if has_seeds else 'run'} {seed}" for seed in seeds]
        labels = [f"order {name.removesuffix('.0')}" for name in named] if told else labels
        keys = labels if told or has_seeds else list(zip(methods, seeds, strict=True))
        stand_ins = {key: ClassSequence([[own]]) for own, key in enumerate(dict.fromkeys(keys))}
        orders = [stand_ins[key] for key in keys]  # each a task with a class of its own
        seeds = [0] * count if seeds_are == "orders" else seeds
    tables = []
    for dataset in dict.fromkeys(datasets):
        rows = [row for row in range(count) if datasets[row] == dataset]

        def own(column: Sequence[_T], rows: list[int] = rows) -> list[_T]:
            return [column[row] for row in rows]

        numbers, notes = _in_per_cent(grid, metric, own(methods), own(values), rows)
        table = Runs.of(
            own(methods),
            own(orders),
            numbers,
            protocol=own(protocols),
            label=own(labels),
            seed=own(seeds) if has_seeds or not has_orders else None,
            identity=own(columns["identity"]) if "identity" in columns else None,
            dataset=dataset,
            metric=metric,
            has_orders=has_orders,
            seeds_are=seeds_are,
            notes=(*grid.notes, *notes),
        )
        _check_repeats(table, own(grid.numbers), grid, has_seeds=has_seeds)
        tables.append(table)
    return tables


def _tells_apart(groups: Sequence[tuple[str, str, str]], seeds: Sequence[int]) -> bool:
    """Return whether seeds tell trainings of an order apart: all differ, or some orders have two.

    A group is a row's dataset, method and order.
    """
    by_order: dict[str, set[int]] = {}
    for group, seed in zip(groups, seeds, strict=True):
        by_order.setdefault(group[2], set()).add(seed)
    is_once = len(set(groups)) == len(groups)
    return is_once or any(len(own) > 1 for own in by_order.values())


def _count_equal(values: Sequence[Hashable]) -> list[int]:
    """Return how often each value has appeared before."""
    counts: Counter[Hashable] = Counter()
    numbers = []
    for value in values:
        numbers.append(counts[value])
        counts[value] += 1
    return numbers


def _parse_sequence(text: str) -> ClassSequence:
    try:
        return ClassSequence.parse(text.strip())
    except (ValueError, EdgecilError) as error:
        raise DataError(
            f"has the sequence {text!r}; write the ids of the classes, not their names, task by "
            f"task: '0 1|2 3|4 5' ({str(error).rstrip('.')})."
        ) from error


def _parse_seed(text: str) -> int:
    try:
        seed = parse_int(text.strip().removesuffix(".0"))  # as pandas writes it beside empty cells
        if not -_SEEDS <= seed < _SEEDS:
            raise ValueError(text)
    except ValueError as error:
        raise DataError(f"has the seed {text!r}; seeds are integers of 64 bits.") from error
    return seed


def _parse_value(text: str, metric: str) -> float:
    value = parse_cell(text.removesuffix("%").rstrip())
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


def _check_repeats(table: Runs, numbers: Sequence[int], grid: Grid, *, has_seeds: bool) -> None:
    """Raise an error if two rows of a source are the same run, or a copy without a seed."""
    keys = [table.seed, table.label, table.sequence, table.protocol, table.method]
    if not has_seeds:
        keys[0] = np.unique(table.values, return_inverse=True, equal_nan=False)[1]
    by_row = np.stack(keys)
    sort = np.lexsort(by_row)
    is_same = (np.diff(by_row[:, sort], axis=1) == 0).all(axis=0)
    if is_same.any():
        pairs = np.sort(np.stack([sort[1:][is_same], sort[:-1][is_same]]), axis=0)
        other, row = min(pairs.T.tolist(), key=lambda pair: pair[1])
        shared = ", ".join(name for name in (*_KEYS[:-1], *_ORDERS) if name in grid.columns)
        apart = f" (the column {name_some(grid.unused)} is not used)" if grid.unused else ""
        same = "seed" if has_seeds else f"{table.metric}, without a seed that tells them apart"
        raise DataError(
            f"Row {numbers[row]} of {grid.origin} repeats row {numbers[other]}: the same {shared} "
            f"and {same}{apart}; remove it, or number the seeds of repeated trainings (the column "
            "'order_seed' has those of class orders)."
        )


def _in_per_cent(
    grid: Grid, metric: str, methods: Sequence[str], values: Sequence[float], rows: Sequence[int]
) -> tuple[list[float], list[str]]:
    """Return values in per cent; a method has one unit, its forgetting that of its accuracies."""
    least, most = find_metric(metric).bounds
    if not math.isfinite(most):
        return list(values), []
    numbers, notes = np.array(values, dtype=np.float64), []
    names = np.array(methods)
    beside = [name for name in grid.columns if find_metric(name).bounds[0] == 0.0]
    for method in dict.fromkeys(methods):
        own = np.flatnonzero((names == method) & ~np.isnan(numbers))
        judged = numbers[own]
        if least < 0.0:
            cells = [grid.columns[name][rows[place]] for name in beside for place in own.tolist()]
            judged = np.array([parse_cell(cell.strip()) or 0.0 for cell in cells])
        if not judged.size or not ((judged > 0.0) & (judged < 1.0)).any():
            continue
        if judged.max() <= 1.0:
            notes.append(
                f"The {metric} of {method!r} lies between {numbers[own].min():g} and "
                f"{numbers[own].max():g} in {grid.origin}; it is read as a fraction, times 100."
            )
            numbers[own] *= 100.0
    return numbers.tolist(), notes
