"""Class orders that logs give: the sequences of their runs, and the protocol that drew them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from edgecil.runs.cells.cell_table import Cell
from edgecil.runs.reading.frames import text_of
from edgecil.runs.reading.run_tables import RunList
from edgecil.sequences.protocols import USER_SEQUENCES

RANDOM_LEGACY = "random-legacy"
_OF_ORDER = ("shuffle", "init_cls", "increment", "init cls")
"""Settings that say how the order and its tasks are made, which the order itself shows."""

_MOST_CLASSES = 100_000


def place_logged_orders(
    runs: RunList,
    orders: Sequence[Cell],
    sizes: Sequence[Cell],
    shuffled: Sequence[str],
    settings: Sequence[dict[str, str]],
    scenarios: Sequence[dict[str, str]],
) -> None:
    """Give runs the class orders of their logs, if all of them have one.

    Args:
        runs: the runs.
        orders: of each run the classes, "3 1 0 2".
        sizes: of each run the sizes of its tasks, "2 2".
        shuffled: of each run whether its log says that the seed drew the order: "True".
        settings: of each run; settings that describe its order are left out.
        scenarios: of each run; other sizes of the tasks become one.
    """
    if runs.order is not None or runs.sequence is not None or not len(runs):
        return
    flat = [_whole_numbers(cell) for cell in orders]
    tasks = [_whole_numbers(cell) for cell in sizes]
    if not all(flat) or not all(map(_is_permutation, flat)):
        return
    fit = [sum(numbers) == len(order) for numbers, order in zip(tasks, flat, strict=True)]
    for settings_of_run in settings:
        for name in _OF_ORDER:
            settings_of_run.pop(name, None)
    if not all(fit):
        runs.order = [_digest(str(order)) for order in flat]
        runs.order_name = "class_order"
        return
    for sizes_of_run, scenario in zip(tasks, scenarios, strict=True):
        scenario["tasks"] = _describe_sizes(sizes_of_run)
    texts: dict[tuple[tuple[int, ...], tuple[int, ...]], str] = {}
    sequence: list[Cell] = []
    protocol: list[Cell] = []
    label: list[Cell] = []
    for row, (order, sizes_of_run) in enumerate(zip(flat, tasks, strict=True)):
        key = tuple(order), tuple(sizes_of_run)
        if key not in texts:
            texts[key] = _text(order, sizes_of_run)
        seed = "" if runs.seed is None else text_of(runs.seed[row])
        is_drawn = shuffled[row].lower() == "true" and _is_drawn(order, seed)
        sequence.append(texts[key])
        protocol.append(RANDOM_LEGACY if is_drawn else USER_SEQUENCES)
        label.append(f"seed-{seed}" if is_drawn else f"order-{_digest(texts[key])}")
    runs.sequence, runs.protocol, runs.label = sequence, protocol, label


def _whole_numbers(cell: Cell) -> list[int]:
    parts = text_of(cell).split()
    if not parts or len(parts) > _MOST_CLASSES:
        return []
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        return []
    return [int(part) for part in parts]


def _is_permutation(order: Sequence[int]) -> bool:
    return sorted(order) == list(range(len(order)))


def _is_drawn(order: Sequence[int], seed: str) -> bool:
    """Return whether NumPy's legacy generator draws an order with a seed, as PyCIL does."""
    if not (seed.isascii() and seed.isdigit()) or len(seed) > 10 or int(seed) >= 2**32:
        return False
    drawn = np.random.RandomState(int(seed)).permutation(len(order))
    return bool(np.array_equal(drawn, order))


def _text(order: Sequence[int], sizes: Sequence[int]) -> str:
    """Return a class order as text, task by task: `3 1|0 2`."""
    tasks = []
    start = 0
    for size in sizes:
        tasks.append(" ".join(map(str, order[start : start + size])))
        start += size
    return "|".join(tasks)


def _describe_sizes(sizes: Sequence[int]) -> str:
    """Return the sizes of tasks in a few words.

    >>> _describe_sizes([10, 10]), _describe_sizes([50, 10, 10])
    ('2 of 10', '50 and 2 of 10')
    """
    first_size, *later_sizes = sizes
    if len(set(sizes)) == 1:
        return f"{len(sizes)} of {first_size}"
    if len(set(later_sizes)) == 1:
        return f"{first_size} and {len(later_sizes)} of {later_sizes[0]}"
    return f"{len(sizes)} of {min(sizes)} to {max(sizes)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
