"""Options in one mapping, as tests pass them around, in the groups that `edgecil.run` takes."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import edgecil
from edgecil.experiments.config import GROUPS
from edgecil.interop.order_options import OrderOptions
from edgecil.search import SearchOptions

_GROUP = {
    entry.metadata["flag"] or entry.name: (group, entry.name)
    for group, kind in {**GROUPS, "search": SearchOptions}.items()
    for entry in fields(kind)
}


_ORDERS = {entry.name for entry in fields(OrderOptions)}


def ordered(**options: Any) -> dict[str, Any]:
    """Return keywords of `run_external` and `run_toolbox` from options by name."""
    orders = {name: options.pop(name) for name in _ORDERS & options.keys()}
    nested = grouped(**options)
    own = {**nested.pop("execution", {}), **nested.pop("training", {})}
    return {**nested, **own, "orders": orders}


def grouped(**options: Any) -> dict[str, Any]:
    """Return keywords of `edgecil.run` from options by the names of their flags."""
    nested: dict[str, Any] = {}
    for name, value in options.items():
        group, field = _GROUP.get(name, ("", name))
        (nested.setdefault(group, {}) if group else nested)[field] = value
    return nested


def train(**options: Any) -> edgecil.Experiment:
    """Run an experiment with options by the names of their flags."""
    return edgecil.run(**grouped(**options))
