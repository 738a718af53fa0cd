"""What is recorded of an experiment: its directory, its configurations and its identity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Identity:
    """Everything that determines results. Names that users give are keys of their own mappings.

    Attributes:
        settings: versions, machine, dataset, task sizes, environment.
        methods: by method, its settings.
        code: by method that is not one of edgecil's, where its program is and its digest.
        weights: by network, the digest of its pre-trained weights.
    """

    settings: dict[str, Any] = field(default_factory=dict)
    methods: dict[str, Any] = field(default_factory=dict)
    code: dict[str, Any] = field(default_factory=dict)
    weights: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Identity:
        """Read an identity from the names and values in the database of an experiment.

        >>> Identity.of({"torch": "2.13.0", "method icarl": {"memory": 20}}).methods
        {'icarl': {'memory': 20}}
        """
        identity = cls()
        prefixes = {"method ": "methods", "code of ": "code", "weights ": "weights"}
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
