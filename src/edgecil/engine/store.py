"""The database of an experiment directory, and the files with states of unfinished branches."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from edgecil.engine.plan import Node, Prefix
from edgecil.engine.results import NodeResult, RunResult, WholeRun
from edgecil.errors import DataError, EdgecilError, UsageError
from edgecil.io.files import replace_file
from edgecil.sequences.protocols import LabelledSequence
from edgecil.sequences.sequence import ClassSequence, format_tasks, parse_tasks

FORMAT = 2
DATABASE = "results.sqlite"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS identity (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS sequences (
    protocol TEXT NOT NULL, label TEXT NOT NULL, tasks TEXT NOT NULL,
    PRIMARY KEY (protocol, label));
CREATE TABLE IF NOT EXISTS nodes (
    method TEXT NOT NULL, seed INTEGER NOT NULL, prefix TEXT NOT NULL,
    whole_run INTEGER NOT NULL, result TEXT, error TEXT, trace TEXT,
    PRIMARY KEY (method, seed, prefix));
CREATE TABLE IF NOT EXISTS configs (config TEXT PRIMARY KEY);
"""


class NoExperimentError(DataError):
    """A directory without results, or whose database was never filled."""


class StoreReader:
    """Queries of the results in an experiment directory; nothing in the directory is written."""

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._database = self._open()

    def __enter__(self) -> StoreReader:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _open(self) -> sqlite3.Connection:
        path = self.directory / DATABASE
        if not path.is_file():
            raise NoExperimentError(
                f"{self.directory} is not an experiment: it holds no {DATABASE}."
            )
        try:
            try:
                return self._checked(_connect_read_only(path))
            except sqlite3.OperationalError:
                # SQLite would have to create files beside the database: read a copy.
                return self._checked(self._connect_copy(path))
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def _connect_copy(self, path: Path) -> sqlite3.Connection:
        self._copy = tempfile.TemporaryDirectory(prefix="edgecil-")
        for suffix in ("", "-wal"):
            source = path.with_name(path.name + suffix)
            if source.exists():
                shutil.copyfile(source, Path(self._copy.name) / source.name)
        return sqlite3.connect(Path(self._copy.name) / path.name)

    def _checked(self, database: sqlite3.Connection) -> sqlite3.Connection:
        """The connection, if the database has the format that this version reads."""
        try:
            number = database.execute("PRAGMA user_version").fetchone()[0]
            if number == 0:
                raise NoExperimentError(
                    f"{self.directory} is not an experiment: its {DATABASE} is empty."
                )
            _check_format(self.directory, number)
        except BaseException:
            database.close()
            raise
        return database

    def close(self) -> None:
        """Close the database."""
        self._database.close()
        if self._copy is not None:
            self._copy.cleanup()
            self._copy = None

    def identity(self) -> dict[str, Any]:
        """Everything that determines the results, by name."""
        rows = self._rows("SELECT name, value FROM identity")
        return {name: json.loads(value) for name, value in rows}

    def configs(self) -> list[dict[str, Any]]:
        """The distinct configurations of all calls of `run`, in order."""
        rows = self._rows("SELECT config FROM configs ORDER BY rowid")
        return [json.loads(config) for (config,) in rows]

    def sequences(self) -> dict[str, list[LabelledSequence]]:
        """The labelled sequences of every protocol, in the order of the protocol."""
        by_protocol: dict[str, list[LabelledSequence]] = {}
        rows = self._rows("SELECT protocol, label, tasks FROM sequences ORDER BY rowid")
        for protocol, label, tasks in rows:
            labelled = LabelledSequence(label, ClassSequence.parse(tasks))
            by_protocol.setdefault(protocol, []).append(labelled)
        return by_protocol

    def done(self) -> dict[Node, NodeResult]:
        """Every finished task training."""
        return self._results(NodeResult)

    def whole_runs(self) -> dict[Node, WholeRun]:
        """Every sequence that another tool has trained, by its last node."""
        return self._results(WholeRun)

    def _results(self, kind: type[Any]) -> dict[Node, Any]:
        rows = self._rows(
            "SELECT method, seed, prefix, result FROM nodes "
            f"WHERE result IS NOT NULL AND whole_run = {int(kind is WholeRun)}"
        )
        decoder = msgspec.json.Decoder(kind)
        try:
            return {
                Node(method, seed, parse_tasks(prefix)): decoder.decode(result)
                for method, seed, prefix, result in rows
            }
        except (msgspec.MsgspecError, DataError) as error:
            raise DataError(
                f"A result in {self.directory / DATABASE} is damaged: {error}"
            ) from error

    def failures(self) -> dict[Node, tuple[str, str]]:
        """Every failed node: the error in one line, and its traceback."""
        rows = self._rows(
            "SELECT method, seed, prefix, error, trace FROM nodes WHERE error IS NOT NULL"
        )
        return {
            Node(method, seed, parse_tasks(prefix)): (error, trace)
            for method, seed, prefix, error, trace in rows
        }

    def runs(self) -> dict[tuple[str, int, Prefix], RunResult]:
        """Every finished run, by method, seed and tasks."""
        done, whole_runs, identity = self.done(), self.whole_runs(), self.identity()
        versions: dict[str, str] = {
            name: identity[name] for name in ("edgecil", "torch") if name in identity
        }
        requested = {run.sequence for runs in self.sequences().values() for run in runs}
        results = {}
        for node in (*done, *whole_runs):
            sequence = ClassSequence(node.prefix)
            if sequence in requested:
                run = whole_runs.get(node) or WholeRun(tuple(done[step] for step in node.path))
                results[node.method, node.seed, node.prefix] = RunResult(
                    node.method, node.seed, sequence, run.nodes, versions, run.reported
                )
        return results

    def model_path(self, node: Node) -> Path:
        """The file with the learner after its last task, if it was to be kept."""
        return self.directory / "models" / f"{_node_key(node)}.pt"

    def _rows(self, query: str) -> list[Any]:
        try:
            return self._database.execute(query).fetchall()
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def _unusable(self, error: sqlite3.Error) -> DataError:
        path = self.directory / DATABASE
        if isinstance(error, sqlite3.OperationalError):  # a full disk, a lock, no permission
            return DataError(f"Cannot use {path}: {error}.")
        return DataError(
            f"Cannot read {path}: {error}; set 'overwrite' to delete it and start over, or choose "
            "another directory."
        )


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
        path = self.directory / DATABASE
        try:
            database = sqlite3.connect(path)
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        try:
            number = database.execute("PRAGMA user_version").fetchone()[0]
            _check_format(self.directory, number or FORMAT)
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = FULL")
            database.executescript(_SCHEMA)
            database.execute(f"PRAGMA user_version = {FORMAT}")
        except (sqlite3.Error, DataError) as error:
            database.close()
            if isinstance(error, DataError):
                raise
            raise self._unusable(error) from error
        return database

    def check_identity(self, identity: Mapping[str, Any]) -> None:
        """Store what determines the results, or refuse a directory whose results differ in it.

        New names are added: an experiment may gain methods.
        """
        stored = self.identity()
        given = json.loads(json.dumps(identity))
        self._refuse(
            [
                difference
                for name in given
                if name in stored
                for difference in _differences(name, stored[name], given[name])
            ]
        )
        with self._writing():
            self._database.executemany(
                "INSERT OR IGNORE INTO identity VALUES (?, ?)",
                [(name, json.dumps(value)) for name, value in given.items()],
            )

    def add_config(self, config: Mapping[str, Any]) -> None:
        """Store the configuration of a call; one directory may serve several calls."""
        with self._writing():
            self._database.execute(
                "INSERT OR IGNORE INTO configs VALUES (?)", (json.dumps(config),)
            )

    def add_sequences(self, protocol: str, runs: Iterable[LabelledSequence]) -> None:
        """Store the sequences of a protocol in place of its earlier ones.

        A label that stood for another sequence is refused. Conversations with a language model
        are written to `transcripts`, and the model's name to the identity.
        """
        runs = list(runs)
        given = {run.label: str(run.sequence) for run in runs}
        stored = {run.label: str(run.sequence) for run in self.sequences().get(protocol, ())}
        self._refuse(
            [
                (f"protocol {protocol}.{label}", stored[label], tasks)
                for label, tasks in given.items()
                if stored.get(label, tasks) != tasks
            ]
        )
        with self._writing():
            self._database.execute("DELETE FROM sequences WHERE protocol = ?", (protocol,))
            self._database.executemany(
                "INSERT INTO sequences VALUES (?, ?, ?)",
                [(protocol, label, tasks) for label, tasks in given.items()],
            )
            for run in runs:
                if run.transcript is not None:
                    self._write_transcript(protocol, run.label, run.transcript)

    def _write_transcript(self, protocol: str, label: str, transcript: Mapping[str, Any]) -> None:
        with replace_file(self.directory / "transcripts" / f"{protocol}-{label}.json") as file:
            file.write(json.dumps(transcript, ensure_ascii=False, indent=1).encode())
        self._database.execute(
            "INSERT OR REPLACE INTO identity VALUES (?, ?)",
            (f"protocol {protocol}", json.dumps({"model": transcript["model"]})),
        )

    def record(self, node: Node, result: NodeResult | WholeRun) -> None:
        """Store the result of a node, or of a whole sequence that another tool trained."""
        whole_run = int(isinstance(result, WholeRun))
        text = msgspec.json.encode(result).decode()
        with self._writing():
            self._database.execute(
                "INSERT OR REPLACE INTO nodes VALUES (?, ?, ?, ?, ?, NULL, NULL)",
                (node.method, node.seed, format_tasks(node.prefix), whole_run, text),
            )

    def record_failure(self, node: Node, error: str, trace: str) -> None:
        """Store a failure; the next call trains the node again. An earlier result is kept."""
        with self._writing():
            self._database.execute(
                "INSERT INTO nodes VALUES (?, ?, ?, 0, NULL, ?, ?) "
                "ON CONFLICT DO UPDATE SET error = excluded.error, trace = excluded.trace",
                (node.method, node.seed, format_tasks(node.prefix), error, trace),
            )

    def state_path(self, node: Node) -> Path:
        """The file with a node's state, which exists while nodes below it are unfinished."""
        return self._states / f"{_node_key(node)}.pt"

    def remove_leftovers(self) -> None:
        """Delete half-written states of a process that was killed."""
        for folder in (self._states, self.directory / "models"):
            _unlink(folder, r"\.[0-9a-f]{32}\.pt\..+")

    def remove_features(self) -> None:
        """Delete the shared features, which only unfinished runs need."""
        shutil.rmtree(self.directory / "shared" / "features", ignore_errors=True)

    def _refuse(self, differences: list[tuple[str, Any, Any]]) -> None:
        """Raise an error if the given values differ from the stored ones."""
        if differences:
            lines = [f"  {path}: {old} stored, {new} given" for path, old, new in differences]
            raise UsageError(
                f"{self.directory} holds results with other settings; set 'overwrite' to delete "
                "them and start over, or choose another 'out' directory.\n" + "\n".join(lines)
            )

    def _writing(self) -> _Transaction:
        return _Transaction(self._database, self.directory)


class _Transaction:
    """A transaction that turns a failure to write into one sentence."""

    def __init__(self, database: sqlite3.Connection, directory: Path) -> None:
        self._database, self._directory = database, directory

    def __enter__(self) -> None:
        self._database.__enter__()

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        try:
            self._database.__exit__(kind, error, trace)
        except sqlite3.Error as failure:
            error = failure
        if isinstance(error, sqlite3.Error):
            raise EdgecilError(
                f"Cannot write results to {self._directory}: {error}. Results stored before are "
                "intact; free some space and run the same command again."
            ) from error


def clear(directory: str | Path) -> None:
    """Delete what runs and analyses wrote to a directory, and nothing else."""
    directory = Path(directory)
    _unlink(directory, r"results\.sqlite(-wal|-shm)?|similarity\.npz")
    _unlink(directory / "analyses", r"[0-9a-f]+\.json")
    for folder in ("states", "models"):
        _unlink(directory / folder, r"[0-9a-f]{32}\.pt|\.[0-9a-f]{32}\.pt\..+")
    _unlink(directory / "transcripts", r"[\w-]+-(hard|easy)\.json")
    for part in ("tasks", "features"):
        shutil.rmtree(directory / "shared" / part, ignore_errors=True)


def _node_key(node: Node) -> str:
    """The stem of a node's files."""
    key = f"{node.method} {node.seed} {format_tasks(node.prefix)}"
    return hashlib.sha256(key.encode()).hexdigest()[:32]


def save_state(path: Path, state: bytes) -> None:
    """Write a node's state so that the file is complete or absent, and on disk on return."""
    with replace_file(path) as file:
        file.write(state)
        file.flush()
        os.fsync(file.fileno())


def _connect_read_only(path: Path) -> sqlite3.Connection:
    """A connection that creates no files.

    Without a write-ahead log no process uses the database; with a log and without its index, a
    killed process left the log.
    """
    log, index = (path.with_name(path.name + suffix).exists() for suffix in ("-wal", "-shm"))
    if log and not index:
        raise sqlite3.OperationalError("the index of the write-ahead log is missing")
    mode = "mode=ro" if log else "immutable=1"
    database = sqlite3.connect(f"file:{quote(str(path.absolute()))}?{mode}", uri=True)
    try:
        database.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.Error:
        database.close()
        raise
    return database


def _check_format(directory: Path, number: int) -> None:
    if number != FORMAT:
        raise DataError(
            f"{directory} was written by another version of edgecil (results of format {number}, "
            f"this version reads {FORMAT}); use that version, or train again in another directory."
        )


def _unlink(directory: Path, pattern: str) -> None:
    """Delete the files of a directory whose whole name matches a pattern."""
    for path in list(directory.iterdir()) if directory.is_dir() else []:
        if re.fullmatch(pattern, path.name) and path.is_file():
            path.unlink(missing_ok=True)


def _differences(path: str, old: Any, new: Any) -> list[tuple[str, Any, Any]]:
    """Where two plain values differ, leaf by leaf."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [
            difference
            for name in {**old, **new}
            for difference in _differences(f"{path}.{name}", old.get(name), new.get(name))
        ]
    return [] if old == new else [(path, old, new)]
