"""Options in one mapping, as tests pass them around, in the groups that `edgecil.run` takes."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from edgecil.engine.config import GROUPS
from edgecil.search import SearchOptions

_GROUP = {
    entry.metadata["flag"] or entry.name: (group, entry.name)
    for group, kind in {**GROUPS, "search": SearchOptions}.items()
    for entry in fields(kind)
}


def grouped(**options: Any) -> dict[str, Any]:
    """Return keywords of `edgecil.run` from options by the names of their flags."""
    nested: dict[str, Any] = {}
    for name, value in options.items():
        group, field = _GROUP.get(name, ("", name))
        (nested.setdefault(group, {}) if group else nested)[field] = value
    return nested
