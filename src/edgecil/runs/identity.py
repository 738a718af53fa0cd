"""What gives runs their meaning, as it is stored with an experiment and travels with every run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

VERSIONS = ("edgecil", "torch", "machine", "cpu", "kernels", "gpu")
"""What may differ from an earlier process if this is allowed."""
PROCESSOR = "processor"
"""The type of processor, which may differ: it changes results as another training seed does."""
MACHINE = (*VERSIONS, PROCESSOR, "threads")
"""What is a note where runs of several directories meet; all but the processor must agree to
resume."""

FILES = "files of "
"""Begins the name under which files that a learner has read are stored; they become known later."""
POOLED = " are averaged: "
"""In the note on every method whose runs are averaged though their settings differ."""
_REMARK = "remark on "
_OF_METHOD = {
    "method ": "settings",
    "code of ": "code",
    FILES: "files",
    "backbone of ": "backbone",
}
_NOT_OF_RUN = ("device", "compile", "seed")


def meaning(stored: Mapping[str, Any], method: str) -> dict[str, Any]:
    """Return what gives the runs of one method their meaning, from an experiment's identity.

    Runs that differ in it are never averaged: settings and code of the method, its network with
    weights, dataset with content and class names, task sizes, preparation, and whether all orders
    share a training seed.

    >>> meaning({"torch": "2.13.0", "method icarl": {"memory": 20}, "method bic": {}}, "icarl")
    {'settings': {'memory': 20}}
    """
    parts: dict[str, Any] = {}
    backbone = stored.get(f"backbone of {method}")
    for name, value in stored.items():
        prefix = next((prefix for prefix in _OF_METHOD if name.startswith(prefix)), None)
        if prefix is not None:
            if name == prefix + method:
                parts[_OF_METHOD[prefix]] = value
        elif name.startswith("weights "):
            if backbone in (None, name.removeprefix("weights ")):
                parts["weights"] = value
        elif name == "dataset":
            parts[name] = {**value, "classes": sorted(value.get("classes", []))}
        elif name == "environment":
            parts[name] = {key: entry for key, entry in value.items() if key not in _NOT_OF_RUN}
        elif name not in MACHINE and not name.startswith(("protocol ", _REMARK)):
            parts[name] = value
    return parts


def remark_name(subject: str) -> str:
    """Return the name under which remarks on a learner or the data are stored with the identity."""
    return f"{_REMARK}{subject}"


def subject_of(remark: str) -> str:
    """Return the learner, or `data`, that a name in an identity has remarks on."""
    return remark.removeprefix(_REMARK)


def is_remark(name: str) -> bool:
    """Return whether a name in an identity is of remarks, which do not determine results."""
    return name.startswith(_REMARK)


def remarks(stored: Mapping[str, Any]) -> list[str]:
    """Return the remarks that travel with the results of an experiment, in sentences."""
    values = [value for name, value in stored.items() if is_remark(name)]
    return [sentence for value in values for sentence in value.get("sentences", [])]


def digest_of(settings: Mapping[str, Any]) -> str:
    """Return a digest of what gives a run its meaning."""
    text = json.dumps(settings, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Identity:
    """Everything that determines results. Names that users give are keys of their own mappings.

    Attributes:
        settings: versions, machine, dataset, task sizes, environment.
        methods: by method, its settings.
        code: by method that is not one of edgecil's, where its program is and its digest.
        files: by such a method, the files that it has read from its own folder.
        weights: by network, the digest of its pre-trained weights.
        protocols: by protocol with constructed orders, what these come from: `constructor` and
            the source of its similarity; for certified orders the `objective` and by label `z`,
            `gap`, `exact`.
    """

    settings: dict[str, Any] = field(default_factory=dict)
    methods: dict[str, Any] = field(default_factory=dict)
    code: dict[str, Any] = field(default_factory=dict)
    files: dict[str, Any] = field(default_factory=dict)
    weights: dict[str, Any] = field(default_factory=dict)
    protocols: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Identity:
        """Read an identity from the names and values in the database of an experiment."""
        identity = cls()
        prefixes = {
            "method ": "methods",
            "code of ": "code",
            FILES: "files",
            "weights ": "weights",
            "protocol ": "protocols",
        }
        for name, value in stored.items():
            prefix = next((prefix for prefix in prefixes if name.startswith(prefix)), "")
            getattr(identity, prefixes.get(prefix, "settings"))[name.removeprefix(prefix)] = value
        return identity


@dataclass(frozen=True)
class ExperimentRecord:
    """An experiment that an analysis uses, as plain values.

    Attributes:
        directory: where its results are.
        configs: its configurations, in order; empty if another tool trained.
        identity: what determines its results.
    """

    directory: str
    configs: tuple[dict[str, Any], ...] = ()
    identity: Identity = field(default_factory=Identity)


def training_facts(records: Sequence[ExperimentRecord], methods: Collection[str]) -> dict[str, str]:
    """Return setup, backbone and budget of some methods, as far as they are recorded."""
    backbones: dict[str, list[str]] = {}
    budgets: dict[str, list[str]] = {}
    for name in methods:
        for record in records:
            if backbone := record.identity.settings.get(f"backbone of {name}"):
                backbones.setdefault(str(backbone), []).append(name)
            budget = find_budget(record.identity.methods.get(name))
            if budget is not None:
                number, unit = budget
                budgets.setdefault(f"{number} {unit} per task", []).append(name)
    configs = (config for record in records for config in record.configs)
    facts = {
        "setup": join_distinct(read_option(config, "training", "setup") for config in configs),
        "backbone": _by_method(backbones, len(methods)),
        "training": _by_method(budgets, len(methods)),
    }
    return {name: text for name, text in facts.items() if text}


def read_option(config: Mapping[str, Any], group: str, name: str) -> Any:
    """Return an option of a group in a stored configuration."""
    return (config.get(group) or {}).get(name)


def find_budget(settings: Any) -> tuple[int, str] | None:
    """Return how long a method trains a task, such as (100, "steps"); None if it is not known."""
    for unit in ("steps", "epochs"):
        number = _find(settings, unit)
        if number is not None:
            return int(number), unit
    return None


def _find(settings: Any, name: str) -> Any:
    """Return the first value under a name in nested settings; None if there is none."""
    if not isinstance(settings, Mapping):
        return None
    if settings.get(name) is not None:
        return settings[name]
    inner = (_find(value, name) for value in settings.values())
    return next((value for value in inner if value is not None), None)


def join_distinct(values: Iterable[Any]) -> str:
    """Return different values as text, without empty ones."""
    return ", ".join(dict.fromkeys(str(value) for value in values if value))


def _by_method(values: Mapping[str, list[str]], methods: int) -> str:
    """Values with the methods that have them, which are left out if all have the same."""
    if len(values) == 1 and len(set(*values.values())) == methods:
        return next(iter(values))
    parts = (f"{value} ({', '.join(dict.fromkeys(names))})" for value, names in values.items())
    return ", ".join(parts)
