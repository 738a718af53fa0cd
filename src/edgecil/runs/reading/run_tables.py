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
from edgecil.runs.reading.reading_options import Declarations
from edgecil.runs.run_table import Runs
from edgecil.sequences.sequence import ClassSequence

_T = TypeVar("_T")
_SEEDS = 2**63
OWN_ORDERS = "given"


@dataclass
class RunList:
    """Finished runs of all frames, by column; each list has an entry for every run.

    Columns that are unknown are None. `origins` name the file of a run, `places` its row.
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
    notes: list[str] = field(default_factory=list)
    key_names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.method)

    def parsed(self, name: str, cells: list[Cell], parse: Callable[[str], _T]) -> list[_T]:
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
    count = len(runs)
    seeds_are = declared.seeds_are or ""
    has_orders = runs.sequence is not None
    named_orders = None if has_orders else runs.order
    has_seeds = runs.seed is not None
    is_drawn = runs.order_name.endswith("seed") or seeds_are in ("orders", "both")
    protocols = ["random" if is_drawn and not has_orders else OWN_ORDERS] * count
    if runs.protocol is not None:
        protocols = runs.parsed("protocol", runs.protocol, _required("protocol"))
    seeds = _count_equal(list(zip(runs.method, runs.dataset, strict=True)))
    if runs.seed is not None:
        seeds = _seeds_of(runs, runs.seed)
    orders_named: list[str] = []
    if named_orders is not None:
        orders_named = runs.parsed("order", named_orders, _required(runs.order_name or "order"))
        groups = list(zip(runs.dataset, runs.method, orders_named, strict=True))
        # Seeds tell trainings of an order apart: all differ, or some orders have two.
        pairs = set(zip(orders_named, seeds, strict=True))
        has_two = len(pairs) > len(set(orders_named))
        has_seeds = has_seeds and (has_two or len(set(groups)) == count)
        if not has_seeds:
            seeds = [  # the same in every source
                zlib.crc32(group[2].encode()) << 20 | number
                for group, number in zip(groups, _count_equal(groups), strict=True)
            ]
        seeds_are = "both"
        runs.notes.append(
            f"Runs with the same {runs.order_name!r} count as trainings of one class order."
        )
    if runs.sequence is not None:
        orders = runs.parsed("sequence", runs.sequence, _parse_sequence)
        labels = list(map(str, orders))
        if runs.label is not None:
            labels = runs.parsed("label", runs.label, str)
    else:
        labels = [f"{'seed' if has_seeds else 'run'} {seed}" for seed in seeds]
        if named_orders is not None:
            labels = [f"order {name}" for name in orders_named]
        keys: list[Hashable] = list(labels)
        if named_orders is None and not has_seeds:
            keys = list(zip(runs.method, seeds, strict=True))
        stand_ins = {key: ClassSequence([[place]]) for place, key in enumerate(dict.fromkeys(keys))}
        orders = [stand_ins[key] for key in keys]  # each a task with a class of its own
        seeds = [0] * count if seeds_are == "orders" else seeds
    identities = None
    if runs.identity is not None:
        identities = [text_of(cell) for cell in runs.identity]
    tables = []
    rows_of_dataset: dict[str, list[int]] = {}
    for row, dataset in enumerate(runs.dataset):
        rows_of_dataset.setdefault(dataset, []).append(row)
    for dataset, rows in rows_of_dataset.items():
        table = Runs.of(
            [runs.method[row] for row in rows],
            [orders[row] for row in rows],
            runs.values[rows],
            protocol=[protocols[row] for row in rows],
            label=[labels[row] for row in rows],
            seed=[seeds[row] for row in rows] if has_seeds or not has_orders else None,
            identity=None if identities is None else [identities[row] for row in rows],
            dataset=dataset,
            metric=metric,
            has_orders=has_orders,
            seeds_are=seeds_are,
            notes=tuple(runs.notes),
        )
        _check_repeats(table, runs, rows, has_seeds=has_seeds)
        tables.append(table)
    return tables


def _required(name: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if not text:
            raise DataError(f"has no {name}; fill it in.")
        return text

    return parse


def _seeds_of(runs: RunList, cells: list[Cell]) -> list[int]:
    """Return seeds as integers; names of runs without numbers are counted."""
    numbers = [number_in(cell) for cell in dict.fromkeys(cells)]
    if any(number is not None for number in numbers) or any(is_absent(cell) for cell in cells):
        return runs.parsed("seed", cells, parse_seed)
    texts = [text_of(cell) for cell in cells]
    ends = {text: text[len(text.rstrip("0123456789")) :] for text in texts}
    if all(ends.values()) and len(set(ends.values())) == len(ends):
        return [parse_seed(ends[text]) for text in texts]
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    return [places[text] for text in texts]


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
    for row, key in enumerate(zip(*(it.tolist() for it in (*columns, apart)), strict=True)):
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
