"""Tables of runs in CSV files and DataFrames, whatever columns they have.

Only the values are required: without sequences the class orders are unknown, but a column such as
`order_seed` says which runs share one; without seeds the rows are numbered.
"""

from __future__ import annotations

import itertools
import math
import zlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from edgecil.classes import get_classes
from edgecil.errors import (
    DataError,
    EdgecilError,
    UsageError,
    format_value,
    name_some,
    wrong_value_error,
)
from edgecil.io.arrays import Floats
from edgecil.io.csv_files import Cell, unescape, write_csv
from edgecil.io.numbers import parse_cell, parse_int
from edgecil.runs.grid import KEYS, ORDERS, DataFrame, Grid, read_grid
from edgecil.runs.metrics import DEFAULT_METRIC, find_metric
from edgecil.runs.run_table import SEED_MEANINGS, Runs
from edgecil.sequences.protocols import DEFAULT_PROTOCOL, PROTOCOLS
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.sequences.user_sequences import USER_SEQUENCES as OWN_ORDERS

_T = TypeVar("_T")

_SEEDS = 2**63


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
    if seeds_are is not None and seeds_are not in SEED_MEANINGS:
        raise wrong_value_error("seeds_are", f"one of {', '.join(SEED_MEANINGS)}", seeds_are)
    grid = read_grid(source)
    grid.name_columns(metric)
    told = "sequence" if "sequence" in grid.columns else grid.order_column
    if told and (seeds_are or (orders_from and told == "sequence")):
        option = "seeds_are" if seeds_are else "orders_from"
        raise UsageError(f"{grid.origin} has a column {told!r}, so `{option}` does not apply.")
    if orders_from is not None:
        _draw_orders(grid, orders_from, tasks, seeds_are)
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
    header = [name for name in (*KEYS, "class_order") if name not in left_out] + [first.metric]
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


def _draw_orders(
    grid: Grid, protocol: str, tasks: int | Sequence[int] | None, seeds_are: str | None
) -> None:
    """Add the class orders that a protocol draws from the seeds."""
    chosen = PROTOCOLS[PROTOCOLS.resolve(protocol)]
    if not chosen.independent:
        raise UsageError(
            f"`orders_from` must be a protocol that draws an order from each seed, such as "
            f"'random-legacy'. Got {format_value(protocol)}."
        )
    columns, seeds = grid.columns, grid.order_column or "seed"
    sizes = (tasks,) if isinstance(tasks, int) else tuple(tasks or ())
    if seeds not in columns or not sizes or ("dataset" not in columns and len(sizes) == 1):
        raise UsageError(
            f"`orders_from` requires for {grid.origin} a column 'order_seed' or 'seed', `tasks`, "
            "and a column 'dataset' (such as cifar100) unless `tasks` has all sizes (50,25,25)."
        )
    drawn: dict[tuple[str, str], tuple[str, str]] = {}
    pairs = list(zip(columns.get("dataset", columns[seeds]), columns[seeds], strict=True))
    for dataset, seed in dict.fromkeys(pairs):
        space = SequenceSpace(sizes)
        if len(sizes) == 1:
            space = SequenceSpace.equal(len(get_classes(dataset.strip())), sizes[0])
        (run,) = chosen.draw(space, budget=1, order_seed=_parse_seed(seed))
        drawn[dataset, seed] = str(run.sequence), run.label
    columns["sequence"] = [drawn[pair][0] for pair in pairs]
    columns.setdefault("label", [drawn[pair][1] for pair in pairs])
    columns["protocol"] = [chosen.name] * len(pairs)
    grid.notes.append(f"The orders are those that {chosen.name} draws from {seeds!r}.")
    if seeds_are == "orders":
        columns["seed"] = ["0"] * len(pairs)


def _parse(grid: Grid, metric: str, seeds_are: str) -> list[Runs]:
    """Return the table of each dataset."""
    columns, count = grid.columns, len(grid.numbers)
    has_orders, has_seeds = "sequence" in columns, "seed" in columns
    told = "" if has_orders else grid.order_column

    def parsed(name: str, parse: Callable[[str], _T], *, required: bool = False) -> list[_T]:
        """Parse the cells of a column, equal ones once."""
        values: dict[str, _T] = {}
        for number, cell in zip(grid.numbers, columns[name], strict=True):
            try:
                if required and not cell.strip():
                    raise DataError(f"has no {name}; fill it in.")
                if cell not in values:
                    values[cell] = parse(cell.strip())
            except DataError as error:
                raise DataError(f"Row {number} of {grid.origin} {error}") from error
        return [values[cell] for cell in columns[name]]

    drawn = told.endswith("seed") or (not has_orders and seeds_are in ("orders", "both"))
    protocols = [DEFAULT_PROTOCOL if drawn else OWN_ORDERS] * count
    if "protocol" in columns:
        protocols = parsed("protocol", unescape, required=True)
    methods = parsed("method", unescape, required=True)
    datasets = parsed("dataset", unescape) if "dataset" in columns else [""] * count
    values = np.array(parsed(metric, lambda cell: _parse_value(cell, metric)))
    for row, state in enumerate(columns.get("status", [])):
        if state.strip().lower() not in ("finished", ""):
            values[row] = math.nan
    seeds = parsed("seed", _parse_seed) if has_seeds else _count_equal(methods)
    if told:
        named = parsed(told, unescape, required=True)
        groups = list(zip(datasets, methods, named, strict=True))
        # Seeds tell trainings of an order apart: all differ, or some orders have two.
        has_two = len(set(zip(named, seeds, strict=True))) > len(set(named))
        has_seeds = has_seeds and (has_two or len(set(groups)) == count)
        if not has_seeds:
            seeds = [  # the same in every source
                zlib.crc32(group[2].encode()) << 20 | number
                for group, number in zip(groups, _count_equal(groups), strict=True)
            ]
        seeds_are = "both"
        grid.notes.append(f"Runs with the same {told!r} count as trainings of one class order.")
    if has_orders:
        orders = parsed("sequence", _parse_sequence)
        labels = parsed("label", unescape) if "label" in columns else list(map(str, orders))
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

        numbers, notes = _in_per_cent(grid, metric, own(methods), values[rows], rows)
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


def _count_equal(values: Sequence[Hashable]) -> list[int]:
    """Return how often each value has appeared before."""
    counters: defaultdict[Hashable, Iterator[int]] = defaultdict(itertools.count)
    return [next(counters[value]) for value in values]


def _parse_sequence(text: str) -> ClassSequence:
    try:
        return ClassSequence.parse(text)
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
    columns = table.method, table.protocol, table.label, table.sequence
    apart = table.seed if has_seeds else table.values
    firsts: dict[tuple[float, ...], int] = {}
    for row, key in enumerate(zip(*(it.tolist() for it in (*columns, apart)), strict=True)):
        first = firsts.setdefault(key, row)
        if first == row:
            continue
        shared = ", ".join(name for name in (*KEYS[:-1], *ORDERS) if name in grid.columns)
        unused = f" (the column {name_some(grid.unused)} is not used)" if grid.unused else ""
        same = "seed" if has_seeds else f"{table.metric}, without a seed that tells them apart"
        raise DataError(
            f"Row {numbers[row]} of {grid.origin} repeats row {numbers[first]}: the same {shared} "
            f"and {same}{unused}; remove it, or number the seeds of repeated trainings (the column "
            "'order_seed' has those of class orders)."
        )


def _in_per_cent(
    grid: Grid, metric: str, methods: Sequence[str], values: Floats, rows: Sequence[int]
) -> tuple[Floats, list[str]]:
    """Return values in per cent; a method has one unit, its forgetting that of its accuracies."""
    least, most = find_metric(metric).bounds
    if not math.isfinite(most):
        return values, []
    notes, names = [], np.array(methods)
    beside = [name for name in grid.columns if find_metric(name).bounds[0] == 0.0]
    for method in dict.fromkeys(methods):
        own = np.flatnonzero((names == method) & ~np.isnan(values))
        judged = values[own]
        if least < 0.0:
            cells = [grid.columns[name][rows[place]] for name in beside for place in own.tolist()]
            judged = np.array([parse_cell(cell.strip()) or 0.0 for cell in cells])
        if are_fractions(judged):
            notes.append(note_fractions(f"{metric} of {method!r} in {grid.origin}", values[own]))
            values[own] *= 100.0
    return values, notes


def are_fractions(values: Floats) -> bool:
    """Return whether values are shares of 1 rather than per cent."""
    is_inside = (values >= 0.0) & (values <= 1.0)
    return bool(is_inside.all() and ((values > 0.0) & (values < 1.0)).any())


def note_fractions(what: str, values: Floats) -> str:
    """Return a sentence on values that are multiplied by 100."""
    return (
        f"The {what} lies between {values.min():g} and {values.max():g}; it is read as a fraction, "
        "times 100."
    )
