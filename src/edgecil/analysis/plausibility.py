"""One gate for the runs of every source: what cannot be is refused, what may be wrong is noted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from edgecil.analysis.samples import Truth
from edgecil.errors import DataError
from edgecil.runs.metrics import find_metric
from edgecil.runs.reading.units import are_fractions, note_fractions
from edgecil.runs.run_table import PENDING, Runs
from edgecil.sequences.protocols import LabelledSequence, describe_duplicates, find_protocol
from edgecil.sequences.sequence import ClassSequence

_NAMED = 3
_NO_SHARE = re.compile("loss|time|hour|minute|second", re.IGNORECASE)
_NEAR = 10.0  # points within which a fraction times 100 resembles other runs
_LEAST = 3  # runs that are alike by chance too rarely


def check_runs(table: Runs) -> list[str]:
    """Refuse runs from which no true number follows; return sentences on what may be wrong."""
    if table.missing == len(table):
        raise DataError(f"No run on {table.dataset or 'your data'} has an accuracy.")
    _check_bounds(table)
    _check_units(table)
    failed = f"{table.missing} of {len(table)} runs have no accuracy and do not count."
    return [
        *([failed] if table.missing else []),
        *_check_protocols(table),
        *_note_contradictions(table),
        *_note_extremes(table),
        *_note_methods(table),
        *_note_copies(table),
    ]


def _check_bounds(table: Runs) -> None:
    low, high = find_metric(table.metric).bounds
    outside = (table.values < low) | (table.values > high)
    if outside.any():
        row = int(np.argmax(outside))
        raise DataError(
            f"{table.methods[table.method[row]]} has the {table.metric} {table.values[row]:g}, "
            f"but it lies between {low:g} and {high:g} %."
        )


def fractions_to_per_cent(table: Runs) -> tuple[Runs, list[str]]:
    """Return values of a file's own metric times 100 if all are fractions, and a note on it."""
    values = table.values[~np.isnan(table.values)]
    is_bounded = np.isfinite(find_metric(table.metric).bounds).all()
    if is_bounded or _NO_SHARE.search(table.metric) or not are_fractions(values):
        return table, []
    note = note_fractions(f"{table.metric} of all runs", values)
    return replace(table, values=100.0 * table.values), [note]


def _check_units(table: Runs) -> None:
    """Refuse a run that looks like a fraction among others in per cent.

    The others are the runs of its method or, of a metric that may have any value, all runs.
    """
    low, high = find_metric(table.metric).bounds
    if -np.inf < low < 0.0:
        return
    for method in table.methods if np.isfinite(high) else (None,):
        rows = table.rows(method)
        values = table.values[rows]
        usual = values[values > 1.0]
        if not usual.size:
            continue
        low, high = float(usual.min()), float(usual.max())
        is_share = (values > 0.0) & (values < 1.0) & (np.abs(values - (table.chance or -1.0)) > 0.1)
        is_share &= (100.0 * values >= low - _NEAR) & (100.0 * values <= high + _NEAR)
        for row in rows[is_share].tolist():
            raise DataError(
                f"{table.methods[table.method[row]]} has the {table.metric} "
                f"{table.values[row]:g} for {table.labels[table.label[row]]!r}, while "
                f"{'its ' if method else ''}other runs have {low:g} to {high:g}; write all in per "
                "cent, or leave out a run that failed."
            )


def _check_protocols(table: Runs) -> list[str]:
    """Ask each protocol whether it can have chosen its orders; note labels that share one."""
    notes = []
    for protocol in table.protocols if table.has_orders else ():
        rows = table.rows(protocol=protocol)
        pairs = zip(table.label[rows].tolist(), table.sequence[rows].tolist(), strict=True)
        runs = [
            LabelledSequence(table.labels[code], table.sequences[place])
            for code, place in dict.fromkeys(pairs)
        ]
        objection = find_protocol(protocol).objection(runs)
        if objection is not None:
            raise DataError(
                f"The orders with the protocol {protocol!r} are not what it chooses: {objection}. "
                "Write 'given' into the column 'protocol'."
            )
        shared = describe_duplicates(protocol, ((run.label, run.sequence) for run in runs))
        notes += [] if shared is None else [shared]
    return notes


def warn_of_truth(truth: Truth | None) -> list[str]:
    """Return a sentence if the truth lacks some sequences of its space."""
    if truth is None or truth.kind == "sample" or len(truth) == truth.space_size:
        return []
    return [
        f"Only {len(truth)} of {truth.space_size} sequences have an accuracy; they are "
        "used as the truth."
    ]


def warn_of_failures(table: Runs, method: str, truth: Truth | None) -> list[str]:
    """Return a sentence on each protocol some of whose sequences have no accuracy."""
    if not table.missing:
        return []
    warnings = []
    for protocol in table.protocols:
        lost = table.failures(method, protocol)
        rows = table.rows(method, protocol)
        waits = table.label[rows[table.status[rows] == PENDING]]
        pending = {table.labels[code] for code in np.unique(waits).tolist()}
        waiting = sum(label in pending for label in lost)
        lost = tuple(label for label in lost if label not in pending)
        unit = "order" if table.counts_orders else "run"
        if waiting and (truth is None or protocol not in truth.protocols):
            orders = f"1 {unit} is" if waiting == 1 else f"{waiting} {unit}s are"
            warnings.append(f"{protocol}: {orders} not run yet.")
        if not lost or (truth is not None and protocol in truth.protocols):
            continue
        named = [*lost[:_NAMED], *([f"{len(lost) - _NAMED} more"] if lost[_NAMED:] else [])]
        left = len(table.orders(method, protocol))
        rest = f"1 {unit} remains" if left == 1 else f"{left} {unit}s remain"
        warnings.append(f"{protocol}: {' and '.join(named)} failed or did not finish; {rest}.")
    return warnings


def _note_contradictions(table: Runs) -> list[str]:
    """Return a sentence if the same training has two different accuracies."""
    columns = (column.tolist() for column in (table.method, table.sequence, table.seed))
    keys = list(zip(*columns, strict=True))
    first_row: dict[tuple[int, ...], int] = {}
    rows = np.flatnonzero(~np.isnan(table.values)).tolist()
    firsts = [(first_row.setdefault(keys[row], row), row) for row in rows]
    values = table.values
    pairs = [(earlier, row) for earlier, row in firsts if values[earlier] != values[row]]
    if not pairs:
        return []
    first, other = pairs[0]
    first_value, other_value = (
        f"{table.values[row]:g} ({table.protocols[table.protocol[row]]} "
        f"{table.labels[table.label[row]]})"
        for row in (first, other)
    )
    return [
        f"{table.methods[table.method[first]]} has two accuracies on "
        f"{str(table.sequences[table.sequence[first]])!r} with seed {table.seed[first]}, "
        f"{first_value} and {other_value}; pairs of this kind: {len(pairs)}. "
        "They count as repeated trainings; if one is wrong, remove it."
    ]


def _note_extremes(table: Runs) -> list[str]:
    """Return a sentence on each constructed sequence, such as `hard`, that is several orders."""
    notes = []
    for protocol in table.protocols:
        orders = [table.orders(method, protocol) for method in table.methods]
        for label in find_protocol(protocol).constructed or ():
            different: set[ClassSequence] = set()
            has_several = False  # of one method
            for orders_of_method in orders:
                labelled = zip(orders_of_method.labels, orders_of_method.sequences, strict=True)
                sequences = {sequence for name, sequence in labelled if name == label}
                different |= sequences
                has_several = has_several or len(sequences) > 1
            if len(different) < 2:
                continue
            effect = (
                "it is not compared with random orders"
                if has_several
                else "the methods ran different ones"
            )
            notes.append(
                f"{protocol} has {len(different)} different orders with the label {label!r}; "
                f"{effect}. Give each its own protocol."
            )
    return notes


def _note_methods(table: Runs) -> Iterator[str]:
    """Yield sentences on methods that may be in fractions, that do not vary, and that guess."""
    is_bounded, chance = np.isfinite(find_metric(table.metric).bounds[1]), table.chance
    for method in table.methods:
        orders = table.orders(method)
        if not len(orders):
            continue
        values, again, half = orders.values, orders.counts > 1, len(orders) // 2
        least, most = np.nanmin(values, axis=1), np.nanmax(values, axis=1)
        largest = float(np.abs([least, most]).max())
        if is_bounded and 0.0 < largest <= 1.0:
            yield (
                f"No {table.metric} of {method} is above {largest:g} %: if these are fractions, "
                "multiply them by 100."
            )
        is_copied = not table.has_orders and not len(orders) % 2 and half >= _LEAST
        if len(orders) >= _LEAST and np.ptp(orders.accuracies) == 0.0:
            yield f"All {len(orders)} runs of {method} have the same {table.metric}."
        elif is_copied and (values[:half] == values[half:]).all():
            yield f"The last {half} runs of {method} repeat the first {half}; a copy?"
        elif again.any() and not (most - least)[again].any():
            yield (
                f"The trainings of each order of {method} are equal whatever the seed: either it "
                "has no effect, or rows were copied."
            )
        if chance is not None and most.max() <= 1.05 * chance:
            yield (
                f"{method} is no better than guessing ({chance:.1f} % for {len(table.classes)} "
                "classes) in any run."
            )


def _note_copies(table: Runs) -> list[str]:
    """Return a sentence on each pair of methods that are equal in every run that both have."""
    notes = []
    for first, second in combinations(table.methods, 2):
        orders = table.orders(first), table.orders(second)
        _, *shared = np.intersect1d(orders[0].places, orders[1].places, return_indices=True)
        first_values = orders[0].accuracies[shared[0]]
        second_values = orders[1].accuracies[shared[1]]
        are_equal = bool((first_values == second_values).all())
        if len(first_values) >= _LEAST and are_equal and np.ptp(first_values) > 0.0:
            notes.append(
                f"{first} and {second} are equal in all {len(first_values)} runs that both "
                "have; is one a copy of the other?"
            )
    return notes
