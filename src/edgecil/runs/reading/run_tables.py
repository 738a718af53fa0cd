"""Tables of runs, one for each dataset, from the cells of finished runs."""

from __future__ import annotations

import itertools
import math
import zlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from edgecil.errors import DataError, EdgecilError, format_value, name_some
from edgecil.io.arrays import Floats
from edgecil.io.numbers import parse_int
from edgecil.runs.cells.cell_table import Cell
from edgecil.runs.metrics import DEFAULT_METRIC
from edgecil.runs.reading.frames import is_absent, number_in, text_of
from edgecil.runs.reading.named_tasks import parse_task_order, what_orders_arrange
from edgecil.runs.reading.reading_options import Declarations
from edgecil.runs.run_table import ORDER_NAMES, Arranged, Runs
from edgecil.sequences.protocols import USER_SEQUENCES
from edgecil.sequences.sequence import ClassSequence

_T = TypeVar("_T")
_SEEDS = 2**63


@dataclass
class RunList:
    """Finished runs of all frames, by column; each list has an entry for every run.

    Columns that are unknown are None. `origins` name the file of a run, `places` its row, and
    `is_log` says whether a toolbox wrote it.
    """

    method: list[str]
    dataset: list[str]
    values: Floats
    origins: list[str]
    places: list[str]
    seed: list[Cell] | None = None
    order: list[Cell] | None = None
    order_name: str = ""
    run: list[Cell] | None = None
    sequence: list[Cell] | None = None
    protocol: list[Cell] | None = None
    label: list[Cell] | None = None
    identity: list[Cell] | None = None
    is_log: list[bool] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    key_names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.method)

    def keys(self) -> list[tuple[str, ...]]:
        """Return what tells the runs of a method and a dataset apart: seed, order and name."""
        columns = [cells for cells in (self.seed, self.order, self.sequence, self.run) if cells]
        texts = [[text_of(cell) for cell in cells] for cells in columns]
        return [tuple(column[row] for column in texts) for row in range(len(self))]

    def take(self, rows: Sequence[int]) -> None:
        """Keep some runs."""
        self.values = self.values[list(rows)]
        for name in ("method", "dataset", "origins", "places", "is_log"):
            setattr(self, name, [getattr(self, name)[row] for row in rows])
        for name in ("seed", "order", "run", "sequence", "protocol", "label", "identity"):
            cells = getattr(self, name)
            if cells is not None:
                setattr(self, name, [cells[row] for row in rows])

    def parsed(self, cells: Sequence[Cell], parse: Callable[[str], _T]) -> list[_T]:
        """Parse the cells of a column, equal ones once; an error names the row."""
        values: dict[Cell, _T] = {}
        for row, cell in enumerate(cells):
            if cell in values:
                continue
            try:
                values[cell] = parse(text_of(cell))
            except DataError as error:
                raise DataError(f"{self.places[row]} {error}") from error
        return [values[cell] for cell in cells]


def tables_of_runs(runs: RunList, metric: str, declared: Declarations) -> list[Runs]:
    """Return a table of runs for each dataset, in order of appearance."""
    placed = _placed_by_task_names(runs, declared.given_tasks)
    if placed is None and runs.sequence:
        placed = _placed_by_sequence(runs)
    elif placed is None:
        placed = _placed_by_seed(runs, declared)
    rows_of_dataset: dict[str, list[int]] = {}
    for row, dataset in enumerate(runs.dataset):
        rows_of_dataset.setdefault(dataset, []).append(row)
    identities = [text_of(cell) for cell in runs.identity or ()]
    tables = []
    for dataset, rows in rows_of_dataset.items():
        table = Runs.of(
            [runs.method[row] for row in rows],
            [placed.orders[row] for row in rows],
            runs.values[rows],
            protocol=[placed.protocols[row] for row in rows],
            label=[placed.labels[row] for row in rows],
            seed=None if placed.seeds is None else [placed.seeds[row] for row in rows],
            identity=[identities[row] for row in rows] if identities else None,
            dataset=dataset,
            metric=metric,
            has_orders=placed.has_orders,
            names=placed.names,
            arranges=placed.arranges,
            seeds_are=placed.seeds_are,
            notes=tuple(dict.fromkeys(runs.notes)),
        )
        _check_repeats(table, runs, rows, has_seeds=placed.has_seeds)
        tables.append(table)
    return tables


@dataclass
class _Placed:
    """Class orders, or their stand-ins, with protocols, labels and seeds: an entry for each run."""

    orders: list[ClassSequence]
    protocols: list[str]
    labels: list[str]
    seeds: list[int] | None
    has_seeds: bool
    seeds_are: str = ""
    has_orders: bool = False
    names: tuple[str, ...] | None = None
    arranges: Arranged = "classes"


def _placed_by_task_names(runs: RunList, names: tuple[str, ...]) -> _Placed | None:
    """Place runs by orders that name the given tasks; None if the file has other orders."""
    column = runs.sequence if runs.sequence is not None else runs.order
    if not names or column is None:
        return None
    orders = []
    for cell in column:
        order = parse_task_order(text_of(cell), names)
        if order is None:
            return None
        orders.append(order)
    labels = (
        [str(order) for order in orders] if runs.label is None else runs.parsed(runs.label, str)
    )
    seeds = None if runs.seed is None else runs.parsed(runs.seed, parse_seed)
    protocols = _protocols(runs, USER_SEQUENCES)
    has_seeds = seeds is not None
    return _Placed(
        orders,
        protocols,
        labels,
        seeds,
        has_seeds,
        "",
        has_orders=True,
        names=names,
        arranges="tasks",
    )


def _placed_by_sequence(runs: RunList) -> _Placed:
    """Place runs by the class orders in the file."""
    orders = runs.parsed(runs.sequence or [], _parse_sequence)
    labels = [str(order) for order in orders]
    if runs.label is not None:
        labels = runs.parsed(runs.label, str)
    seeds = None if runs.seed is None else runs.parsed(runs.seed, parse_seed)
    protocols = _protocols(runs, USER_SEQUENCES)
    return _Placed(orders, protocols, labels, seeds, seeds is not None, has_orders=True)


def _placed_by_seed(runs: RunList, declared: Declarations) -> _Placed:
    """Place runs whose class orders are unknown by their seeds, or by the names of orders."""
    seeds_are = declared.seeds_are or ""
    is_drawn = runs.order_name.lower().endswith("seed") or seeds_are in ("orders", "both")
    protocols = _protocols(runs, "random" if is_drawn else USER_SEQUENCES)
    seeds, is_seed = _seeds_of(runs)
    has_seeds = any(is_seed)
    arranges: Arranged = "classes"
    if runs.order is not None:
        arranges = what_orders_arrange(runs.order_name, declared.given_tasks)
        names = runs.parsed(runs.order, _required(runs.order_name or "order"))
        seeds, has_seeds = _seeds_within_orders(runs, names, seeds, has_seeds=has_seeds)
        seeds_are = "both"
        labels = [f"order {name}" for name in names]
        keys: list[Hashable] = list(labels)
        runs.notes.append(
            f"Runs with the same {runs.order_name!r} count as trainings of one "
            f"{ORDER_NAMES[arranges]}."
        )
    else:
        labels = [
            f"{'seed' if has_seed else 'run'} {seed}"
            for has_seed, seed in zip(is_seed, seeds, strict=True)
        ]
        keys = [
            label if has_seed else (method, label)
            for has_seed, label, method in zip(is_seed, labels, runs.method, strict=True)
        ]
    stand_ins = {key: ClassSequence([[place]]) for place, key in enumerate(dict.fromkeys(keys))}
    orders = [stand_ins[key] for key in keys]  # each a task with a class of its own
    seeds = [0] * len(runs) if seeds_are == "orders" else seeds
    return _Placed(orders, protocols, labels, seeds, has_seeds, seeds_are, arranges=arranges)


def _seeds_within_orders(
    runs: RunList, names: list[str], seeds: list[int], *, has_seeds: bool
) -> tuple[list[int], bool]:
    """Return seeds that tell the trainings of an order apart, and whether they are the file's.

    Seeds of a file do so if all runs of an order differ in them, or some order has two.
    """
    groups = list(zip(runs.dataset, runs.method, names, strict=True))
    has_two = len(set(zip(names, seeds, strict=True))) > len(set(names))
    if has_seeds and (has_two or len(set(groups)) == len(runs)):
        return seeds, True
    numbers = _count_equal(groups)
    return [  # the same in every source
        zlib.crc32(name.encode()) << 20 | number
        for name, number in zip(names, numbers, strict=True)
    ], False


def _protocols(runs: RunList, default: str) -> list[str]:
    if runs.protocol is None:
        return [default] * len(runs)
    return runs.parsed(runs.protocol, _required("protocol"))


def _required(name: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if not text:
            raise DataError(f"has no {name}; fill it in.")
        return text

    return parse


def _seeds_of(runs: RunList) -> tuple[list[int], list[bool]]:
    """Return a seed for every run, and whether it is one of the file; runs without are counted.

    Seeds that are names, such as `trial_a`, are counted.
    """
    keys = list(zip(runs.method, runs.dataset, strict=True))
    counted = _count_equal(keys)
    if runs.seed is None:
        return counted, [False] * len(runs)
    is_seed = [not is_absent(cell) for cell in runs.seed]
    texts = {text_of(cell) for cell in runs.seed} - {""}
    ends = {text: text[len(text.rstrip("0123456789")) :] for text in texts}
    numbers: dict[str, int] = {}
    if not any(number_in(text) is not None for text in texts):
        places = {text: str(place) for place, text in enumerate(sorted(texts))}
        has_numbers = all(ends.values()) and len(set(ends.values())) == len(ends)
        numbers = {text: int((ends if has_numbers else places)[text][:18]) for text in texts}

    def parse(text: str) -> int:
        if not text:
            return -1
        return numbers[text] if numbers else parse_seed(text)

    parsed = runs.parsed(runs.seed, parse)
    seeds = [
        seed if has_seed else number
        for seed, has_seed, number in zip(parsed, is_seed, counted, strict=True)
    ]
    return seeds, is_seed


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


def parse_seed(text: str) -> int:
    """Return a seed; an error if it is no integer of 64 bits."""
    try:
        seed = parse_int(text)
        if not -_SEEDS <= seed < _SEEDS:
            raise ValueError(text)
    except ValueError as error:
        raise DataError(f"has the seed {text!r}; seeds are integers of 64 bits.") from error
    return seed


def parse_values(cells: Sequence[Cell], places: Sequence[str], metric: str) -> Floats:
    """Return the values of runs; NaN where a cell is empty."""
    values: dict[Cell, float] = {}
    for row, cell in enumerate(cells):
        if cell in values:
            continue
        number = number_in(cell)
        if number is None and is_absent(cell):
            values[cell] = math.nan
            continue
        is_accuracy = metric == DEFAULT_METRIC
        if number is None or (is_accuracy and not 0.0 <= number.value <= 100.0):
            allowed = (
                "accuracies are per cent in [0, 100], or empty for a failed run"
                if is_accuracy
                else "values are numbers, or empty for a failed run"
            )
            raise DataError(
                f"{places[row]} has the {metric} {format_value(text_of(cell))}; {allowed}."
            )
        values[cell] = number.value
    return np.array([values[cell] for cell in cells], dtype=np.float64)


def _check_repeats(table: Runs, runs: RunList, rows: Sequence[int], *, has_seeds: bool) -> None:
    """Raise an error if two rows of a source are the same run, or a copy without a seed."""
    columns = table.method, table.protocol, table.label, table.sequence
    apart = table.seed if has_seeds else table.values
    firsts: dict[tuple[float, ...], int] = {}
    keys = zip(*(column.tolist() for column in (*columns, apart)), strict=True)
    for row, key in enumerate(keys):
        first = firsts.setdefault(key, row)
        if first == row:
            continue
        shared = name_some(list(runs.key_names) or ["method"], 12)
        same = "" if has_seeds else f" and {table.metric}, without a seed that tells them apart"
        raise DataError(
            f"{runs.places[rows[row]]} repeats {_lower(runs.places[rows[first]])}: the same "
            f"{shared}{same}; remove it, or add the column that tells them apart."
        )


def _lower(text: str) -> str:
    return text[0].lower() + text[1:]
