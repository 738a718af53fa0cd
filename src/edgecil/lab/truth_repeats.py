"""Repeats of a truth table that were trained at different times, or on different machines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgecil.errors import DataError
from edgecil.lab.truth_tables import Counts, TruthTable, Values

# What may differ between repeats of one method; it is kept by seed.
_MAY_DIFFER = ("commit", "kernels", "edgecil", "torch", "machine", "cpu", "gpu")


def join_repeats(first: TruthTable, second: TruthTable, method: str) -> TruthTable:
    """Return the first table with the training seeds of a method that only the second has.

    Both must be of the same sequences, with the same classifiers and test images, and every setting
    that both name must be equal. A seed that both have must have the same results. What else
    determined the new repeats is kept in the provenance, under `seed 1` for example.

    Args:
        first: a table with the method.
        second: another table with it.
        method: the method's name.

    Raises:
        DataError: if the repeats do not fit together.
    """
    reason = misfit(first, second, method)
    if reason is not None:
        raise DataError(
            f"The repeats of {method!r} in {second.name} cannot be joined with those in "
            f"{first.name}: {reason}."
        )
    one, other = first.results[method], second.results[method]
    new = [place for place, seed in enumerate(other.seeds) if seed not in one.seeds]
    if not new:
        return first
    seeds = (*one.seeds, *(other.seeds[place] for place in new))
    order = np.argsort(seeds)
    rows = np.concatenate([_rows(one), _rows(other)[new]])[order]
    joined = tuple(seeds[place] for place in order)
    result: Counts | Values = (
        replace(one, seeds=joined, values=rows)
        if isinstance(one, Values)
        else replace(one, seeds=joined, correct=rows)
    )
    about = dict(first.provenance.get(method, {}))
    later = second.provenance.get(method, {})
    for seed in (other.seeds[place] for place in new):
        differing = {name: value for name, value in later.items() if about.get(name) != value}
        if differing:
            about[f"seed {seed}"] = differing
    return replace(
        first,
        results={**first.results, method: result},
        provenance={**first.provenance, method: about},
        _computed={},
    )


def misfit(first: TruthTable, second: TruthTable, method: str) -> str | None:
    """Return why the repeats of a method in two tables cannot be joined; None if they can."""
    return next(_misfits(first, second, method), None)


def _rows(result: Counts | Values) -> NDArray[Any]:
    """Return the array whose first axis is the repeat."""
    return result.values if isinstance(result, Values) else result.correct


def _misfits(first: TruthTable, second: TruthTable, method: str) -> Iterator[str]:
    """Yield why the repeats of two tables do not fit together."""
    if (first.dataset, first.classes) != (second.dataset, second.classes):
        yield "they have other classes"
        return
    if first.sequences != second.sequences:
        yield "they have other sequences"
        return
    one, other = first.results[method], second.results[method]
    if type(one) is not type(other):
        yield "one has correct answers, the other accuracies"
        return
    for name in ("classifiers", "totals", "name"):
        mine, theirs = (np.asarray(getattr(it, name, ())).tolist() for it in (one, other))
        if mine != theirs:
            what = {"totals": "test images", "name": "metric"}.get(name, name)
            yield f"their {what} are {theirs}, not {mine}"
    own, added = (table.provenance.get(method, {}) for table in (first, second))
    yield from _differences(own, added)
    for seed in sorted({*one.seeds} & {*other.seeds}):
        results = (_rows(it)[it.seeds.index(seed)] for it in (one, other))
        if not np.array_equal(*results):
            yield f"both have seed {seed}, with different results"


def _differences(
    one: Mapping[str, Any], other: Mapping[str, Any], inside: str = ""
) -> Iterator[str]:
    """Yield the settings that both have and that differ; later versions may have more of them.

    What may differ is left out, also inside the part of a seed that was trained later.
    """
    for name in [name for name in one if name in other and name not in _MAY_DIFFER]:
        mine, theirs = one[name], other[name]
        if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
            yield from _differences(mine, theirs, f"{inside}{name} ")
        elif _plain(mine) != _plain(theirs):
            yield f"their {inside}{name} is {theirs!r}, not {mine!r}"


def _plain(value: Any) -> Any:
    """Return tuples as lists, as a file has them."""
    return [_plain(part) for part in value] if isinstance(value, (list, tuple)) else value
