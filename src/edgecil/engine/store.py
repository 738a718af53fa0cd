"""The results in an experiment directory, and the files with states of unfinished branches."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import msgspec

from edgecil.engine.plan import Node
from edgecil.engine.results import NodeResult, WholeRun
from edgecil.engine.store_reader import (
    DATABASE,
    FORMAT,
    NAMES,
    TABLES,
    NoExperimentError,
    StoreReader,
    cause_of,
    check_pages,
    checksum_of,
    node_key,
)
from edgecil.errors import EdgecilError, UsageError
from edgecil.io.files import replace_file
from edgecil.sequences.protocols import LabelledSequence
from edgecil.sequences.sequence import format_tasks

__all__ = ["DATABASE", "FORMAT", "NoExperimentError", "Store", "StoreReader", "save_state"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS identity (
    name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS sequences (
    protocol TEXT NOT NULL, label TEXT NOT NULL, tasks TEXT NOT NULL, checksum TEXT NOT NULL,
    PRIMARY KEY (protocol, label));
CREATE TABLE IF NOT EXISTS nodes (
    method TEXT NOT NULL, seed INTEGER NOT NULL, prefix TEXT NOT NULL,
    whole_run INTEGER NOT NULL, result TEXT, error TEXT, trace TEXT, worker TEXT,
    checksum TEXT NOT NULL, PRIMARY KEY (method, seed, prefix));
CREATE TABLE IF NOT EXISTS configs (config TEXT PRIMARY KEY, checksum TEXT NOT NULL);
"""

_log = logging.getLogger(__name__)


class Store(StoreReader):
    """The results in an experiment directory, opened for writing by the process that trains.

    Each call that writes is one transaction, on disk when it returns.
    """

    def __init__(self, directory: str | Path) -> None:
        self._states = Path(directory) / "states"
        try:
            self._states.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EdgecilError(f"Cannot create {directory}: {error.strerror}.") from error
        super().__init__(directory)

    def __enter__(self) -> Store:
        return self

    def _open(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._path)
        try:
            number = database.execute("PRAGMA user_version").fetchone()[0]
            self._check_format(number or FORMAT)
            if self._format < FORMAT:
                raise UsageError(
                    f"{self.directory} was made by an earlier version of edgecil and cannot be "
                    "continued; analyse it as it is, and run in another `out` directory."
                )
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = FULL")
            database.executescript(_SCHEMA)
            database.execute(f"PRAGMA user_version = {FORMAT}")
            check_pages(database, "integrity_check")
            self._remove_damaged_results(database)
            status = self._path.stat()
            self._file = (status.st_dev, status.st_ino)
        except BaseException:
            database.close()
            raise
        return database

    def _remove_damaged_results(self, database: sqlite3.Connection) -> None:
        """Delete results that differ from their checksums; they are trained again."""
        columns = ", ".join(TABLES["nodes"])
        damaged = [
            (row,)
            for row, *values, checksum in database.execute(
                f"SELECT rowid, {columns}, checksum FROM nodes"
            )
            if checksum_of(values) != checksum
        ]
        if damaged:
            with database:
                database.executemany("DELETE FROM nodes WHERE rowid = ?", damaged)
            _log.warning(
                "%d result(s) in %s differed from their checksums; they were deleted and are "
                "trained again.",
                len(damaged),
                self.directory,
            )

    def _write(self, table: str, rows: Iterable[Sequence[Any]], *, conflict: str = "") -> None:
        """Insert rows with their checksums."""
        marks = ", ".join("?" * (len(TABLES[table]) + 1))
        self._database.executemany(
            f"INSERT {conflict} INTO {table} VALUES ({marks})",
            [(*values, checksum_of(values)) for values in rows],
        )

    def check_identity(
        self, identity: Mapping[str, Any], *, allowed: Sequence[str] = ()
    ) -> dict[str, str]:
        """Store what determines the results, or refuse a directory whose results differ in it.

        New names are added: an experiment may gain methods. Methods without a result may change.
        """
        unequal = self.compare_identity(identity, allowed=allowed)
        free = self.unused_identity()
        with self._writing():
            rows = [(name, json.dumps(value)) for name, value in identity.items()]
            self._write("identity", [row for row in rows if row[0] in free], conflict="OR REPLACE")
            self._write("identity", rows, conflict="OR IGNORE")
            self._list_names()
        return unequal

    def add_config(self, config: Mapping[str, Any]) -> None:
        """Store the configuration of a call; one directory may serve several calls."""
        with self._writing():
            self._write("configs", [(json.dumps(config),)], conflict="OR IGNORE")

    def add_sequences(
        self,
        protocol: str,
        runs: Iterable[LabelledSequence],
        *,
        keep: Literal["all", "finished"] = "finished",
    ) -> None:
        """Store the sequences of a protocol.

        A label that stood for another sequence is refused. Conversations with a language model
        are written to `transcripts`; the model's name, and the source of the similarity with the
        z and gap of certificates, to the identity.
        """
        runs = list(runs)
        earlier = self.sequences().get(protocol, [])
        stored = {run.label: str(run.sequence) for run in earlier}
        given = {run.label: str(run.sequence) for run in runs}
        self._refuse(
            [
                (f"protocol {protocol}.{label}", stored[label], tasks)
                for label, tasks in given.items()
                if stored.get(label, tasks) != tasks
            ]
        )
        if keep == "all":
            given = {**stored, **given}
        elif stored.keys() - given.keys():
            finished = {node.prefix for node in (*self.done(), *self.whole_runs())}
            done = {run.label for run in earlier if run.sequence.tasks in finished}
            given |= {
                label: tasks for label, tasks in stored.items() if label in done - given.keys()
            }
        with self._writing():
            self._database.execute("DELETE FROM sequences WHERE protocol = ?", (protocol,))
            self._write("sequences", [(protocol, label, tasks) for label, tasks in given.items()])
            source: dict[str, Any] = {}
            for run in runs:
                source |= run.source or {}
                if run.optimum is not None:
                    found = run.optimum.certificate
                    source["objective"] = found.objective
                    source[run.label] = {"z": found.z, "gap": found.gap, "exact": found.exact}
                if run.transcript is not None:
                    source["model"] = run.transcript["model"]
                    path = self.directory / "transcripts" / f"{protocol}-{run.label}.json"
                    text = json.dumps(run.transcript, ensure_ascii=False, indent=1)
                    with replace_file(path) as file:
                        file.write(text.encode())
            if source:
                row = (f"protocol {protocol}", json.dumps(source))
                self._write("identity", [row], conflict="OR REPLACE")
                self._list_names()

    def _list_names(self) -> None:
        names = sorted(name for name, _ in self._rows("identity") if name != NAMES)
        self._write("identity", [(NAMES, json.dumps(names))], conflict="OR REPLACE")

    def record(
        self,
        node: Node,
        result: NodeResult | WholeRun,
        *,
        worker: Mapping[str, str] | None = None,
    ) -> None:
        """Store the result of a node, or of a whole sequence that another tool trained."""
        self.record_all([(node, result)], worker=worker)

    def record_all(
        self,
        results: Iterable[tuple[Node, NodeResult | WholeRun]],
        *,
        worker: Mapping[str, str] | None = None,
    ) -> None:
        """Store several results in one transaction."""
        differences = json.dumps(dict(worker)) if worker else None
        rows = []
        for node, result in results:
            whole, text = isinstance(result, WholeRun), msgspec.json.encode(result).decode()
            rows.append((*_key(node), int(whole), text, None, None, differences))
        with self._writing():
            self._write("nodes", rows, conflict="OR REPLACE")

    def record_failure(self, node: Node, error: str, trace: str) -> None:
        """Store a failure; the next call trains the node again. An earlier result is kept."""
        key = _key(node)
        stored = self._database.execute(
            "SELECT whole_run, result, worker FROM nodes "
            "WHERE method = ? AND seed = ? AND prefix = ?",
            key,
        ).fetchone()
        whole_run, result, worker = stored or (0, None, None)
        with self._writing():
            row = (*key, whole_run, result, error, trace, worker)
            self._write("nodes", [row], conflict="OR REPLACE")

    def state_path(self, node: Node) -> Path:
        """Return the file with a node's state, which exists while nodes below it are unfinished."""
        return self._states / f"{node_key(node)}.pt"

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Return a transaction in a database that still has its file; a failure is one sentence."""
        try:
            self._check_file()
            with self._database:
                yield
        except sqlite3.Error as error:
            raise EdgecilError(
                f"Cannot write results to {self.directory}: {cause_of(error, self.directory)}. "
                "Results stored before are intact; remove the cause and run the experiment again "
                "with the same options."
            ) from error
        self._check_file()

    def _check_file(self) -> None:
        """Raise an error if the file was deleted or replaced, because results would be lost."""
        try:
            status = self._path.stat()
        except OSError:
            status = None
        if status is None or (status.st_dev, status.st_ino) != self._file:
            raise EdgecilError(
                f"{self._path} was deleted or replaced while this process was writing to it, so "
                "further results would be lost; restore the file and run the experiment again with "
                "the same options."
            )


def save_state(path: Path, state: bytes) -> None:
    """Write a node's state so that the file is complete or absent, and on disk on return."""
    with replace_file(path) as file:
        file.write(state)
        file.flush()
        os.fsync(file.fileno())


def _key(node: Node) -> tuple[str, int, str]:
    return node.method, node.seed, format_tasks(node.prefix)
