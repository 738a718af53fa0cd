"""What a run learns about learners of the user: the files they read, and what the checks showed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from edgecil.errors import name_some, warn
from edgecil.experiments.plan import Node
from edgecil.experiments.store import NoExperimentError, Store, StoreReader
from edgecil.io.code import CodeSource
from edgecil.io.file_reads import ReadFiles, digest_files
from edgecil.methods import MethodEntry
from edgecil.runs.identity import FILES, remark_name
from edgecil.training.learner_checks import LearnerChecks
from edgecil.training.node_training import Outcome


def unchecked_learners(
    directory: Path | None, methods: Mapping[str, MethodEntry]
) -> frozenset[str]:
    """Return the learners whose code has not been checked in an experiment, if it exists."""
    identity: dict[str, Any] = {}
    if directory is not None:
        with suppress(NoExperimentError), StoreReader(directory) as store:
            identity = store.identity()
    checked = {
        name
        for name, entry in methods.items()
        if entry.source is not None
        and identity.get(remark_name(name), {}).get("code") == entry.source.digest
    }
    return frozenset(methods.keys() - checked)


class LearnerRecords:
    """What is stored about learners of the user while they train."""

    def __init__(self, store: Store, methods: Mapping[str, MethodEntry]) -> None:
        self._store = store
        self._sources: dict[str, CodeSource] = {
            name: entry.source for name, entry in methods.items() if entry.source is not None
        }
        self._recorded: dict[str, set[str]] = {name: set() for name in self._sources}

    def identity(self) -> dict[str, Any]:
        """Return the contents, as they are now, of the files that earlier trainings have read."""
        stored = self._store.identity()
        return {
            f"{FILES}{name}": digest_files(source.folder, stored[f"{FILES}{name}"])
            for name, source in self._sources.items()
            if f"{FILES}{name}" in stored
        }

    def take(self, node: Node, outcome: Outcome) -> None:
        """Store what the outcome of a training says about its learner."""
        self.add_files(node.method, outcome.files)
        if outcome.checks is not None:
            self._add_checks(node.method, outcome.checks)

    def add_files(self, method: str, files: ReadFiles) -> None:
        """Store the files that a learner has read."""
        if method not in self._sources:
            return
        new = {*files.digests, *files.unrecorded} - self._recorded[method]
        if not new:
            return
        self._recorded[method] |= new
        if files.digests:
            self._store.add_files(method, files.digests)
        if files.unrecorded:
            sentence = (
                f"{method} reads files that cannot be part of its runs' identity, because they "
                f"change while it trains or are too many: {name_some(files.unrecorded)}."
            )
            self._store.add_remark(method, [sentence])
            if new & set(files.unrecorded):
                warn(sentence)

    def _add_checks(self, method: str, checks: LearnerChecks) -> None:
        sentences = []
        if checks.adapts:
            sentences.append(
                f"Predictions of {method} depend on the other test inputs, as it declares "
                "(adapts = True)."
            )
        elif checks.changed:
            sentences.append(
                f"{checks.changed} of {checks.inputs} predictions of {method} change with the "
                "order and the number of the test inputs."
            )
        code = self._sources[method].digest
        self._store.add_remark(method, sentences, code=code, inputs=checks.inputs)
        for sentence in sentences:
            warn(sentence)
