"""What is odd about a table of accuracies, in sentences: repeats, contradictions, missing runs."""

from __future__ import annotations

import numpy as np

from edgecil.engine.metrics import find_metric
from edgecil.engine.runs import PENDING, Orders, Runs
from edgecil.estimation.truth import Truth
from edgecil.sequences.protocols import describe_duplicates, find_protocol
from edgecil.sequences.sequence import ClassSequence

_NAMED = 3
_FRACTION = 1.0
_NEAR = 10.0  # points


def note_oddities(table: Runs) -> list[str]:
    """Return sentences on runs that do not count, or that may not be what they seem."""
    failed = f"{table.missing} of {len(table)} runs have no accuracy and do not count."
    return [
        *([failed] if table.missing else []),
        *_note_repeats(table),
        *_note_contradictions(table),
        *_note_fractions(table),
        *_note_extremes(table),
    ]


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
        if waiting and (truth is None or protocol not in truth.protocols):
            orders = "1 order is" if waiting == 1 else f"{waiting} orders are"
            warnings.append(f"{protocol}: {orders} not run yet.")
        if not lost or (truth is not None and protocol in truth.protocols):
            continue
        named = [*lost[:_NAMED], *([f"{len(lost) - _NAMED} more"] if lost[_NAMED:] else [])]
        left = len(table.orders(method, protocol))
        rest = "1 order remains" if left == 1 else f"{left} orders remain"
        warnings.append(f"{protocol}: {' and '.join(named)} failed or did not finish; {rest}.")
    return warnings


def _note_repeats(table: Runs) -> list[str]:
    """Return a sentence on each protocol whose labels share sequences."""
    notes = []
    for protocol in table.protocols:
        rows = table.rows(protocol=protocol)
        labelled = dict.fromkeys(
            zip(table.label[rows].tolist(), table.sequence[rows].tolist(), strict=True)
        )
        sequences = ((table.labels[code], table.sequences[place]) for code, place in labelled)
        sentence = describe_duplicates(protocol, sequences)
        if sentence is None:
            continue
        others = [
            name
            for name in table.protocols
            if name != protocol and not find_protocol(name).exhaustive
        ]
        if find_protocol(protocol).independent and others:
            # gaussian on 19 truth tables of 90 orders, in standard deviations of the truth
            sentence += (
                " This puts it at a disadvantage against other protocols: three runs with one "
                "order twice have a mean W₁ of 0.76 standard deviations, three different "
                "orders 0.60."
            )
        notes.append(sentence)
    return notes


def _note_contradictions(table: Runs) -> list[str]:
    """Return a sentence if the same training has two different accuracies."""
    pairs = table.contradictions()
    if not pairs:
        return []
    first, other = pairs[0]
    one, two = (
        f"{table.values[row]:g} ({table.protocols[table.protocol[row]]} "
        f"{table.labels[table.label[row]]})"
        for row in (first, other)
    )
    return [
        f"{table.methods[table.method[first]]} has two accuracies on "
        f"{str(table.sequences[table.sequence[first]])!r} with seed {table.seed[first]}, {one} and "
        f"{two}; pairs of this kind: {len(pairs)}. "
        "They count as repeated trainings; if one is wrong, remove it."
    ]


def _note_extremes(table: Runs) -> list[str]:
    """Return a sentence on each constructed sequence, such as `hard`, that is several orders."""
    notes = []
    for protocol in table.protocols:
        orders = [table.orders(method, protocol) for method in table.methods]
        for label in find_protocol(protocol).constructed or ():
            by_method = [labelled_orders(own, label) for own in orders]
            different = set[ClassSequence]().union(*by_method)
            if len(different) < 2:
                continue
            effect = (
                "it is not compared with random orders"
                if any(len(own) > 1 for own in by_method)
                else "the methods ran different ones"
            )
            notes.append(
                f"{protocol} has {len(different)} different orders with the label {label!r}; "
                f"{effect}. Give each its own protocol."
            )
    return notes


def labelled_orders(orders: Orders, label: str) -> set[ClassSequence]:
    """Return the different orders with a label; a protocol should have one hard and one easy."""
    if label not in orders.labels:
        return set()
    pairs = zip(orders.labels, orders.sequences, strict=True)
    return {sequence for name, sequence in pairs if name == label}


def _note_fractions(table: Runs) -> list[str]:
    """Return a sentence if accuracies look like fractions."""
    most = float(np.nanmax(table.values))
    if 0.0 < most <= 1.0:
        return [
            f"No accuracy is above {most:g} %: if these are fractions, multiply them by 100, as "
            "accuracies here are per cent."
        ]
    if find_metric(table.metric).bounds[0] < 0.0:
        return []
    return [
        f"{method} has the {table.metric} {table.values[row]:g} on "
        f"{str(table.sequences[table.sequence[row]])!r} ({table.protocols[table.protocol[row]]}, "
        f"seed {table.seed[row]}), while its other orders have {low:g} to {high:g} %: if "
        "it is a fraction, multiply it by 100."
        for method in table.methods
        for row, low, high in _fractions(table, method)[:_NAMED]
    ]


def _fractions(table: Runs, method: str) -> list[tuple[int, float, float]]:
    """Return rows up to 1 % that would fit the method's others, in per cent, if times 100."""
    rows = table.rows(method)
    values = table.values[rows]
    usual = values[values > _FRACTION]
    if not usual.size or usual.size == np.isfinite(values).sum():
        return []
    low, high = float(usual.min()), float(usual.max())
    is_share = (values > 0.0) & (values <= _FRACTION)
    fits = (100.0 * values >= low - _NEAR) & (100.0 * values <= high + _NEAR)
    return [(row, low, high) for row in rows[is_share & fits].tolist()]
