"""What a report rests on: the runs, their judgement, and what the run directory says of both."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from edgecil.classes.lists import words_of
from edgecil.engine.config import ExperimentConfig, build_config
from edgecil.engine.plan import Prefix
from edgecil.engine.results import RunResult
from edgecil.engine.store import Store
from edgecil.estimation import AccuracyTable, DatasetAnalysis, Predictor
from edgecil.sequences.sequence import ClassSequence

# Which protocol is taken for "hard, median, easy", the first that was run.
_EXTREME = ("edge", "optimal", "adversarial", "maxcover")


@dataclass(frozen=True, eq=False)
class Journal:
    """What a run directory remembers beside accuracies.

    Attributes:
        results: of every finished sequence, by method, seed and tasks.
        settings: what decided the results, by name.
        configs: what was asked for, in the order of asking.
    """

    results: Mapping[tuple[str, int, Prefix], RunResult] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    configs: tuple[ExperimentConfig, ...] = ()


@dataclass(frozen=True, eq=False)
class Evidence:
    """What one dataset's report rests on.

    Attributes:
        source: the run directory or file, as it was named.
        table: every run, classes numbered 0 … N-1.
        judgement: of the table.
        predictor: the one that estimates used; None without one.
        journal: empty where the source is a file.
        origin: what S comes from, in a few words; None where it is not known.
        remarks: what was left out, and why.
        out: the report's folder, where another than `report/` in the run directory was named.
        options: with what else the report was asked for, as words of a command line.
    """

    source: str
    table: AccuracyTable
    judgement: DatasetAnalysis
    predictor: Predictor | None = None
    journal: Journal = field(default_factory=Journal)
    origin: str | None = None
    remarks: tuple[str, ...] = ()
    out: str | None = None
    options: tuple[str, ...] = ()

    @property
    def protocols(self) -> tuple[str, ...]:
        """Protocols to be judged: all but those that are the truth."""
        judged = {
            name: None for method in self.judgement.methods.values() for name in method.estimates
        }
        return tuple(name for name in self.table.protocols if name in judged)

    @property
    def compared(self) -> tuple[str, ...]:
        """Random first, which is judged by its draws even where it was not run; then the others."""
        drawn = any("random" in method.averages for method in self.judgement.methods.values())
        others = tuple(name for name in self.protocols if name != "random")
        return ("random", *others) if drawn or "random" in self.protocols else others

    @property
    def extreme_protocol(self) -> str | None:
        """The protocol whose hard, median and easy sequence are looked at one by one."""
        return next((name for name in _EXTREME if name in self.protocols), None)

    @property
    def predictor_name(self) -> str:
        """What people call the predictor."""
        if self.predictor is None:
            return "a predictor"
        return "S" if self.predictor.name == "adjacent" else self.predictor.name

    def ends(self, method: str) -> tuple[float, float]:
        """The least and the greatest accuracy of all orders that a method ran."""
        accuracies = self.table.orders(method).accuracies
        return float(accuracies.min()), float(accuracies.max())

    def describe(self, sequence: ClassSequence) -> str:
        """The classes task by task, by name where names are known."""
        names = self.table.names
        return " | ".join(
            ", ".join(str(class_) if names is None else words_of(names[class_]) for class_ in task)
            for task in sequence.tasks
        )


def slug(name: str) -> str:
    """A name that may stand in paths and links; different names stay different.

    >>> slug("ranpac"), slug("my method/2")
    ('ranpac', 'my-method-2-a547')
    """
    plain = re.sub(r"[^A-Za-z0-9.-]+", "-", name)
    if plain == name and not name.startswith("."):
        return name
    return f"{plain.strip('.-')}-{hashlib.sha256(name.encode()).hexdigest()[:4]}"


def read_journal(directory: str | Path) -> Journal:
    """What a run directory remembers."""
    with closing(Store(directory)) as store:
        return Journal(
            store.runs(),
            store.identity(),
            tuple(build_config(config) for config in store.configs()),
        )
