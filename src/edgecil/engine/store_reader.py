"""Queries of the results in an experiment directory, which need no write access."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from edgecil.engine.database import (
    DATABASE,
    FORMAT,
    TABLES,
    cause_of,
    check_database,
    check_format,
    check_pages,
    check_tables,
    checksum_of,
    connect_read_only,
)
from edgecil.engine.plan import Node, Prefix
from edgecil.engine.results import NodeResult, RunResult, WholeRun
from edgecil.errors import DataError, UsageError
from edgecil.sequences.protocols import LabelledSequence
from edgecil.sequences.sequence import ClassSequence, format_tasks, parse_tasks

NAMES = ""
"""Name of the row of an identity that lists all other names, so that a lost one is noticed."""

Parsed = TypeVar("Parsed")

_intact: dict[Path, tuple[int, int]] = {}  # size and time of databases whose pages are consistent


class NoExperimentError(DataError):
    """A directory without results, or whose database was never filled."""


class StoreReader:
    """Queries of the results in an experiment directory; nothing in the directory is written."""

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._read: dict[str, list[tuple[Any, ...]]] = {}
        self._format = FORMAT
        try:
            self._database = self._open()
        except BaseException:
            self._remove_copy()
            raise

    def __enter__(self) -> StoreReader:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _open(self) -> sqlite3.Connection:
        path = self.directory / DATABASE
        check_database(path)
        if not path.is_file():
            raise NoExperimentError(
                f"{self.directory} is not an experiment: it contains no {DATABASE}."
            )
        try:
            try:
                return self._checked(connect_read_only(path))
            except sqlite3.OperationalError:
                # SQLite would have to create files beside the database: read a copy.
                self._copy = tempfile.TemporaryDirectory(prefix="edgecil-")
                for source in path.parent.glob(f"{path.name}*"):
                    if source.name in (path.name, f"{path.name}-wal"):
                        shutil.copyfile(source, Path(self._copy.name) / source.name)
                return self._checked(sqlite3.connect(Path(self._copy.name) / path.name))
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._unusable(error) from error

    def _checked(self, database: sqlite3.Connection) -> sqlite3.Connection:
        """Return the connection, if the database has the format that this version reads."""
        try:
            number = database.execute("PRAGMA user_version").fetchone()[0]
            if number == 0:
                raise NoExperimentError(
                    f"{self.directory} is not an experiment: its {DATABASE} is empty."
                )
            check_format(self.directory, number)
            check_tables(database)
            self._format = number
            # Rows on a damaged page may be missing, which no checksum of rows shows.
            path = (self.directory / DATABASE).absolute()
            content = path.stat().st_size, path.stat().st_mtime_ns
            if _intact.get(path) != content:
                check_pages(database, "quick_check")
                _intact[path] = content
        except BaseException:
            database.close()
            raise
        return database

    def read_all(self) -> None:
        """Read all tables in one transaction; later queries, also of a closed store, use that."""
        self._execute("BEGIN")
        self._read = {table: self._rows(table) for table in TABLES}

    def close(self) -> None:
        """Close the database."""
        self._database.close()
        self._remove_copy()

    def _remove_copy(self) -> None:
        if self._copy is not None:
            self._copy.cleanup()
            self._copy = None

    def identity(self) -> dict[str, Any]:
        """Return everything that determines the results, by name."""
        identity = {name: self._parsed(json.loads, value) for name, value in self._rows("identity")}
        names = identity.pop(NAMES, None)
        if names is not None and sorted(identity) != names:
            lost = sorted(set(names) ^ set(identity))
            raise self._damaged(f"its identity lacks {lost[0]!r}")
        return identity

    def recorded_identity(self) -> dict[str, Any]:
        """Return the identity, which must name the dataset and every method with a result."""
        identity = self.identity()
        methods = dict.fromkeys(row[0] for row in self._rows("nodes") if row[4] is not None)
        missing = [name for name in methods if f"method {name}" not in identity]
        if methods and ("dataset" not in identity or missing):
            what = f"the settings of {missing[0]!r}" if missing else "the dataset"
            raise DataError(
                f"{self.directory} has results but no record of {what}, so what they mean is "
                "unknown; restore the directory from a copy, or export the runs from the original."
            )
        return identity

    def unused_identity(self) -> set[str]:
        """Return the names on which no result depends: those of methods without a result."""
        trained = {row[0] for row in self._rows("nodes") if row[4] is not None}
        return {
            name
            for name in self.identity()
            for kind in ("method ", "code of ")
            if name.startswith(kind) and name.removeprefix(kind) not in trained
        }

    def compare_identity(
        self, identity: Mapping[str, Any], *, allowed: Sequence[str] = ()
    ) -> dict[str, str]:
        """Refuse a directory whose results differ in what determines them.

        Names that are not stored may be added. Differences in `allowed` names are returned.
        """
        stored = self.recorded_identity()
        given = json.loads(json.dumps(identity))
        free = self.unused_identity()
        unequal = [
            difference
            for name in given
            if name in stored and name not in free
            for difference in _differences(name, stored[name], given[name])
        ]
        self._refuse([entry for entry in unequal if entry[0] not in allowed])
        return {name: f"{new} instead of {old}" for name, old, new in unequal}

    def _refuse(self, differences: list[tuple[str, Any, Any]]) -> None:
        """Raise an error if the given values differ from the stored ones."""
        if differences:
            lines = [f"  {path}: {old} stored, {new} given" for path, old, new in differences]
            raise UsageError(
                f"{self.directory} contains results with other settings; set 'overwrite' to delete "
                "them and start over, or choose another 'out' directory.\n" + "\n".join(lines)
            )

    def configs(self) -> list[dict[str, Any]]:
        """Return the distinct configurations of all calls of `run`, in order."""
        if self._format < FORMAT:  # options of earlier versions had other names
            return []
        return [self._parsed(json.loads, config) for (config,) in self._rows("configs")]

    def sequences(self) -> dict[str, list[LabelledSequence]]:
        """Return the labelled sequences of every protocol, in the order of the protocol."""
        by_protocol: dict[str, list[LabelledSequence]] = {}
        for protocol, label, tasks in self._rows("sequences"):
            labelled = LabelledSequence(label, self._parsed(ClassSequence.parse, tasks))
            by_protocol.setdefault(protocol, []).append(labelled)
        return by_protocol

    def done(self) -> dict[Node, NodeResult]:
        """Return every finished task training."""
        return self._results(NodeResult)

    def whole_runs(self) -> dict[Node, WholeRun]:
        """Return every sequence that another tool has trained, by its last node."""
        return self._results(WholeRun)

    def _results(self, kind: type[Any]) -> dict[Node, Any]:
        decoder = msgspec.json.Decoder(kind)
        results: dict[Node, Any] = {}
        for method, seed, prefix, whole_run, result, *_ in self._rows("nodes"):
            if result is None or bool(whole_run) != (kind is WholeRun):
                continue
            try:
                node = Node(method, seed, self._parsed(parse_tasks, prefix))
                results[node] = decoder.decode(result)
                results[node].check(node.prefix)
            except (msgspec.MsgspecError, ValueError, DataError) as error:
                raise self._damaged(f"the result of {method!r} on {prefix}: {error}") from error
        return results

    def failures(self) -> dict[Node, tuple[str, str]]:
        """Return every failed node: the error in one line, and its traceback."""
        return {
            Node(method, seed, self._parsed(parse_tasks, prefix)): (error, trace)
            for method, seed, prefix, _, _, error, trace, _ in self._rows("nodes")
            if error is not None
        }

    def workers(self) -> dict[Node, dict[str, str]]:
        """In what the worker of a node differed from the identity, where this was allowed."""
        return {
            Node(method, seed, self._parsed(parse_tasks, prefix)): self._parsed(json.loads, worker)
            for method, seed, prefix, *_, worker in self._rows("nodes")
            if worker is not None
        }

    def runs(self) -> dict[tuple[str, int, Prefix], RunResult]:
        """Return every finished run, by method, seed and tasks."""
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

    def run_counts(self) -> dict[str, int]:
        """Return how many runs of each method are finished, without reading them."""
        whole = {tasks for _, _, tasks in self._rows("sequences")}
        nodes = self._rows("nodes")
        return dict(Counter(row[0] for row in nodes if row[4] is not None and row[2] in whole))

    def model_path(self, node: Node) -> Path:
        """Return the file with the learner after its last task, if it was to be kept."""
        return self.directory / "models" / f"{node_key(node)}.pt"

    def _rows(self, table: str) -> list[tuple[Any, ...]]:
        """Return the rows of a table as they were written, in that order."""
        if table in self._read:
            return self._read[table]
        columns = TABLES[table]
        rows = self._execute(f"SELECT {', '.join(columns)}, checksum FROM {table} ORDER BY rowid")
        for *values, checksum in rows:
            if checksum_of(values) != checksum:
                raise self._damaged(f"a row of {table!r} differs from its checksum")
        return [row[:-1] for row in rows]

    def _execute(self, query: str) -> list[tuple[Any, ...]]:
        try:
            return self._database.execute(query).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._unusable(error) from error

    def _parsed(self, parse: Callable[[str], Parsed], text: str) -> Parsed:
        try:
            return parse(text)
        except (ValueError, TypeError, AttributeError, RecursionError, DataError) as error:
            raise self._damaged(str(error)) from error

    def _damaged(self, what: str) -> DataError:
        return DataError(
            f"{self.directory / DATABASE} is damaged ({what.rstrip('.')}); run the experiment "
            "again with the same options to train damaged results again, or restore the file from "
            "a copy."
        )

    def _unusable(self, error: sqlite3.Error | UnicodeDecodeError) -> DataError:
        path = self.directory / DATABASE
        if isinstance(error, sqlite3.OperationalError):
            return DataError(f"Cannot use {path}: {cause_of(error, self.directory)}.")
        return DataError(
            f"Cannot read {path}: {error}; restore it from a copy, or train in another directory."
        )


def node_key(node: Node) -> str:
    """Return the stem of a node's files."""
    key = f"{node.method} {node.seed} {format_tasks(node.prefix)}"
    return hashlib.sha256(key.encode()).hexdigest()[:32]


def _differences(path: str, old: Any, new: Any) -> list[tuple[str, Any, Any]]:
    """Return where two plain values differ, leaf by leaf."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [
            difference
            for name in {**old, **new}
            for difference in _differences(f"{path}.{name}", old.get(name), new.get(name))
        ]
    return [] if old == new else [(path, old, new)]
