"""The run directory: results in SQLite, states of unfinished branches in files beside it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from edgecil.engine.plan import Node, Prefix
from edgecil.engine.results import NodeResult, RunResult, WholeRun
from edgecil.errors import DataError, EdgecilError, UsageError
from edgecil.io.files import replace_file
from edgecil.sequences.protocols import PROTOCOLS, LabelledSequence
from edgecil.sequences.sequence import ClassSequence, format_tasks, parse_tasks

FORMAT = 1

_SCHEMA = """
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS sequences (
    protocol TEXT NOT NULL, label TEXT NOT NULL, tasks TEXT NOT NULL,
    PRIMARY KEY (protocol, label));
CREATE TABLE IF NOT EXISTS nodes (
    method TEXT NOT NULL, seed INTEGER NOT NULL, prefix TEXT NOT NULL,
    result TEXT, error TEXT, trace TEXT,
    PRIMARY KEY (method, seed, prefix));
CREATE TABLE IF NOT EXISTS configs (config TEXT PRIMARY KEY);
"""


class Store:
    """Everything that a run directory remembers. Only the driver writes it.

    Each call that writes is one transaction, on disk when it returns.
    """

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self._states = self.directory / "states"
        try:
            self._states.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EdgecilError(f"Cannot make {self.directory}: {error.strerror}.") from error
        self._database = self._connect()

    def _connect(self) -> sqlite3.Connection:
        path = self.directory / "results.sqlite"
        try:
            database = sqlite3.connect(path)
        except sqlite3.Error as error:
            raise DataError(f"Cannot use {path}: {error}.") from error
        try:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = FULL")
            found = database.execute("PRAGMA user_version").fetchone()[0]
            if found not in (0, FORMAT):
                raise DataError(
                    f"{path} was written by another version of edgecil (format {found}, this one "
                    f"reads {FORMAT}); use that version, or another directory."
                )
            database.executescript(_SCHEMA)
            database.execute(f"PRAGMA user_version = {FORMAT}")
        except (sqlite3.Error, DataError) as error:
            database.close()
            if isinstance(error, DataError):
                raise
            raise DataError(
                f"Cannot use {path}: {error}; use --fresh to start over, or another --out."
            ) from error
        return database

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    def settle(self, settings: Mapping[str, Any]) -> None:
        """Remember what decides the results, or refuse a directory that has others.

        Settings that the directory does not know yet are added: a run may gain methods.
        """
        known = self.settings()
        wanted = json.loads(json.dumps(settings))
        self._refuse(
            [
                difference
                for name in wanted
                if name in known
                for difference in _differences(name, known[name], wanted[name])
            ]
        )
        with self._writing():
            self._database.executemany(
                "INSERT OR IGNORE INTO settings VALUES (?, ?)",
                [(name, json.dumps(value)) for name, value in wanted.items()],
            )

    def settings(self) -> dict[str, Any]:
        """What decides the results, by name."""
        rows = self._rows("SELECT name, value FROM settings")
        return {name: json.loads(value) for name, value in rows}

    def add_config(self, config: Mapping[str, Any]) -> None:
        """Remember what was asked for; one directory may answer several runs."""
        with self._writing():
            self._database.execute(
                "INSERT OR IGNORE INTO configs VALUES (?)", (json.dumps(config),)
            )

    def configs(self) -> list[dict[str, Any]]:
        """Every different configuration of a run here, first one first."""
        rows = self._rows("SELECT config FROM configs ORDER BY rowid")
        return [json.loads(config) for (config,) in rows]

    def add_sequences(self, protocol: str, runs: Iterable[LabelledSequence]) -> None:
        """Remember which sequences a protocol asks for, in place of what it asked for before.

        A label that stood for another sequence is refused: the protocol was asked differently.
        Conversations that led to sequences are kept in `transcripts`, the model's name among the
        settings.
        """
        runs = list(runs)
        wanted = {run.label: str(run.sequence) for run in runs}
        known = {run.label: str(run.sequence) for run in self.sequences().get(protocol, ())}
        self._refuse(
            [
                (f"protocol {protocol}.{label}", known[label], tasks)
                for label, tasks in wanted.items()
                if known.get(label, tasks) != tasks
            ]
        )
        with self._writing():
            self._database.execute("DELETE FROM sequences WHERE protocol = ?", (protocol,))
            self._database.executemany(
                "INSERT INTO sequences VALUES (?, ?, ?)",
                [(protocol, label, tasks) for label, tasks in wanted.items()],
            )
            for run in runs:
                if run.transcript is not None:
                    self._keep_transcript(protocol, run.label, run.transcript)

    def _keep_transcript(self, protocol: str, label: str, transcript: Mapping[str, Any]) -> None:
        with replace_file(self.directory / "transcripts" / f"{protocol}-{label}.json") as file:
            file.write(json.dumps(transcript, ensure_ascii=False, indent=1).encode())
        self._database.execute(
            "INSERT OR REPLACE INTO settings VALUES (?, ?)",
            (f"protocol {protocol}", json.dumps({"model": transcript["model"]})),
        )

    def sequences(self) -> dict[str, list[LabelledSequence]]:
        """The sequences of every protocol, in the order they were asked for."""
        found: dict[str, list[LabelledSequence]] = {}
        rows = self._rows("SELECT protocol, label, tasks FROM sequences ORDER BY rowid")
        for protocol, label, tasks in rows:
            sequence = ClassSequence.parse(tasks)
            found.setdefault(protocol, []).append(LabelledSequence(label, sequence))
        return found

    def record(self, node: Node, result: NodeResult | WholeRun) -> None:
        """A node is done; or, by another tool, the whole sequence that ends there."""
        with self._writing():
            self._database.execute(
                "INSERT OR REPLACE INTO nodes VALUES (?, ?, ?, ?, NULL, NULL)",
                (node.method, node.seed, format_tasks(node.prefix), json.dumps(result.as_dict())),
            )

    def record_failure(self, node: Node, error: str, trace: str) -> None:
        """A node failed; the next run tries it again. A result from before is kept."""
        with self._writing():
            self._database.execute(
                "INSERT INTO nodes VALUES (?, ?, ?, NULL, ?, ?) "
                "ON CONFLICT DO UPDATE SET error = excluded.error, trace = excluded.trace",
                (node.method, node.seed, format_tasks(node.prefix), error, trace),
            )

    def done(self) -> dict[Node, NodeResult]:
        """Every finished node."""
        found = self._results()
        return {node: NodeResult.from_dict(data) for node, data in found.items() if _is_node(data)}

    def whole_runs(self) -> dict[Node, WholeRun]:
        """Every sequence that another tool has finished, by its last node."""
        found = self._results()
        return {
            node: WholeRun.from_dict(data) for node, data in found.items() if not _is_node(data)
        }

    def _results(self) -> dict[Node, dict[str, Any]]:
        rows = self._rows("SELECT method, seed, prefix, result FROM nodes WHERE result IS NOT NULL")
        return {
            Node(method, seed, parse_tasks(prefix)): json.loads(result)
            for method, seed, prefix, result in rows
        }

    def failures(self) -> dict[Node, tuple[str, str]]:
        """Every failed node: the error's last line, and its traceback."""
        rows = self._rows(
            "SELECT method, seed, prefix, error, trace FROM nodes WHERE error IS NOT NULL"
        )
        return {
            Node(method, seed, parse_tasks(prefix)): (error, trace)
            for method, seed, prefix, error, trace in rows
        }

    def runs(self) -> dict[tuple[str, int, Prefix], RunResult]:
        """Every finished sequence, by method, seed and tasks."""
        done = self.done()
        elsewhere = self.whole_runs()
        found = {}
        settings = self.settings()
        versions: dict[str, str] = {
            name: settings[name] for name in ("edgecil", "torch") if name in settings
        }
        wanted = {run.sequence for runs in self.sequences().values() for run in runs}
        for node in (*done, *elsewhere):
            sequence = ClassSequence(node.prefix)
            if sequence in wanted:
                run = elsewhere.get(node) or WholeRun(tuple(done[step] for step in node.path))
                found[node.method, node.seed, node.prefix] = RunResult(
                    node.method, node.seed, sequence, run.nodes, versions, run.reported
                )
        return found

    def state_path(self, node: Node) -> Path:
        """Where a node's state is kept while nodes below it are unfinished."""
        key = f"{node.method} {node.seed} {format_tasks(node.prefix)}"
        return self._states / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.pt"

    def remove_leftovers(self) -> None:
        """Delete half-written states that a killed run left behind."""
        _unlink(self._states, r"\.[0-9a-f]{32}\.pt\..+")

    def forget_features(self) -> None:
        """Delete the features that only sequences of unfinished runs would read."""
        shutil.rmtree(self.directory / "shared" / "features", ignore_errors=True)

    def _refuse(self, differences: list[tuple[str, Any, Any]]) -> None:
        """An error if this run differs from the one that the directory holds."""
        if differences:
            lines = [f"  {path}: {old} there, {new} now" for path, old, new in differences]
            raise UsageError(
                f"{self.directory} holds results with other settings; use --fresh to start over, "
                "or another --out.\n" + "\n".join(lines)
            )

    def _rows(self, query: str) -> list[Any]:
        try:
            return self._database.execute(query).fetchall()
        except sqlite3.Error as error:
            raise DataError(
                f"Cannot read {self.directory / 'results.sqlite'}: {error}; use --fresh to start "
                "over, or another --out."
            ) from error

    def _writing(self) -> _Transaction:
        return _Transaction(self._database, self.directory)


class _Transaction:
    """A transaction whose failure is one clear sentence."""

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
                f"Cannot write results to {self._directory}: {error}. What was stored before is "
                "whole; make room and run the same command again."
            ) from error


def recall_answers(directory: str | Path) -> dict[str, dict[str, ClassSequence]]:
    """What language models have answered for a run directory, by protocol and label."""
    if not (Path(directory) / "results.sqlite").exists():
        return {}
    with closing(Store(directory)) as store:
        return {
            name: {run.label: run.sequence for run in runs}
            for name, runs in store.sequences().items()
            if name in PROTOCOLS and PROTOCOLS[name].asks_model
        }


def clear(directory: str | Path) -> None:
    """Remove what runs left in a directory, and nothing else."""
    directory = Path(directory)
    _unlink(directory, r"results\.sqlite(-wal|-shm)?")
    _unlink(directory / "states", r"[0-9a-f]{32}\.pt|\.[0-9a-f]{32}\.pt\..+")
    _unlink(directory / "transcripts", r"[\w-]+-(hard|easy)\.json")
    for part in ("pieces", "features"):
        shutil.rmtree(directory / "shared" / part, ignore_errors=True)


def _unlink(directory: Path, pattern: str) -> None:
    """Delete the files of a directory whose whole name fits a pattern."""
    for path in list(directory.iterdir()) if directory.is_dir() else []:
        if re.fullmatch(pattern, path.name) and path.is_file():
            path.unlink(missing_ok=True)


def save_state(path: Path, state: bytes) -> None:
    """Write a node's state so that the file is whole or absent, and on disk on return."""
    with replace_file(path) as file:
        file.write(state)
        file.flush()
        os.fsync(file.fileno())


def _is_node(result: Mapping[str, Any]) -> bool:
    """Whether a stored result is of a single node, not of a whole run."""
    return "correct" in result


def _differences(path: str, old: Any, new: Any) -> list[tuple[str, Any, Any]]:
    """Where two plain values differ, leaf by leaf."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [
            found
            for name in {**old, **new}
            for found in _differences(f"{path}.{name}", old.get(name), new.get(name))
        ]
    return [] if old == new else [(path, old, new)]
