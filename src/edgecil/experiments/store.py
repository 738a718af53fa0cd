"""The results in an experiment directory: the format of the database, queries, and writing.

Queries need no write access. Every row has a checksum over its columns. Beside the database are the
files with states of unfinished branches.
"""

from __future__ import annotations

import gc
import hashlib
import json
import logging
import os
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar
from urllib.parse import quote

import msgspec

from edgecil.errors import DataError, EdgecilError, UsageError, shortened
from edgecil.experiments.plan import Node, Prefix
from edgecil.experiments.results import NodeResult, RunResult, WholeRun
from edgecil.io.files import other_kind, replace_file
from edgecil.runs.identity import FILES, is_remark, remark_name
from edgecil.sequences.protocols import LabelledSequence
from edgecil.sequences.sequence import ClassSequence, format_tasks, parse_tasks

FORMAT = 4
OLDEST = 3  # with one training seed for all orders: read, never continued
DATABASE = "results.sqlite"

# Columns of each table; `checksum` is one more, over all of these.
TABLES = {
    "identity": ("name", "value"),
    "sequences": ("protocol", "label", "tasks"),
    "nodes": (*("method", "seed", "prefix", "whole_run", "result", "error", "trace"), "worker"),
    "configs": ("config",),
}
_LIST_OF_NAMES = ""
"""Name of the row of an identity that lists all other names, so that a lost one is noticed."""

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

RunKey: TypeAlias = tuple[str, int, Prefix]  # method, seed and tasks
_Parsed = TypeVar("_Parsed")
_NODES = "nodes"
_AT_ONCE = 1_000  # rows that are read together

_log = logging.getLogger(__name__)
_intact: dict[Path, tuple[int, int]] = {}  # size and time of databases whose pages are consistent


class NoExperimentError(DataError):
    """A directory without results, or whose database was never filled."""


class _NodeRow(NamedTuple):
    """A row of the table of nodes."""

    node: Node
    result: NodeResult | WholeRun | None
    error: str | None
    trace: str
    worker: str | None


class _Results(NamedTuple):
    """Results of task trainings, and of sequences that were stored as a whole."""

    trained: Mapping[Node, NodeResult]
    whole: Mapping[Node, WholeRun]


class StoreReader:
    """Queries of the results in an experiment directory; nothing in the directory is written."""

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self._path = self.directory / DATABASE
        self._read: dict[str, list[tuple[Any, ...]]] = {}
        self._parsed: dict[str, Any] = {}  # what queries return once all tables are read
        if (kind := other_kind(self._path)) is not None:
            raise DataError(
                f"Cannot use {self._path}: it is {kind}, not a database; move it away and restore "
                "the file from a copy."
            )
        with self._using():
            self._database = self._connect()
            try:
                self._prepare(self._database.execute("PRAGMA user_version").fetchone()[0])
            except BaseException:
                self.close()
                raise

    def __enter__(self) -> StoreReader:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _prepare(self, number: int) -> None:
        """Raise an error unless the database has a format that is read, and plain tables."""
        if number == 0:
            raise NoExperimentError(
                f"{self.directory} is not an experiment: its {DATABASE} is empty."
            )
        self._check_format(number)
        # A view computes its rows, possibly infinitely many; results are in plain tables.
        kinds = dict(self._database.execute("SELECT name, type FROM sqlite_master"))
        strange = [name for name in TABLES if kinds.get(name) != "table"]
        strange += [name for name, kind in kinds.items() if kind in ("view", "trigger")]
        if strange:
            raise sqlite3.DatabaseError(f"it has no plain table of results named {strange[0]!r}")
        # Rows on a damaged page may be missing, which no checksum of rows shows.
        status = self._path.stat()
        content = status.st_size, status.st_mtime_ns
        if _intact.get(self._path.absolute()) != content:
            self._check_pages("quick_check")
            _intact[self._path.absolute()] = content

    def _connect(self) -> sqlite3.Connection:
        """Return a connection that creates no files, to a copy if SQLite had to index the log."""
        if not self._path.is_file():
            raise NoExperimentError(
                f"{self.directory} is not an experiment: it contains no {DATABASE}."
            )
        log, index = (self._path.with_name(f"{DATABASE}-{suffix}") for suffix in ("wal", "shm"))
        if log.exists() and not index.exists():
            with tempfile.TemporaryDirectory(prefix="edgecil-") as folder:
                for path in (self._path, log):
                    shutil.copyfile(path, Path(folder) / path.name)
                with closing(sqlite3.connect(Path(folder) / DATABASE)) as copy:
                    memory = sqlite3.connect(":memory:")
                    copy.backup(memory)
                    return memory
        mode = "mode=ro" if log.exists() else "immutable=1"  # without a log nobody writes
        return sqlite3.connect(f"file:{quote(str(self._path.absolute()))}?{mode}", uri=True)

    def _check_format(self, number: int) -> None:
        if not OLDEST <= number <= FORMAT:
            raise DataError(
                f"{self.directory} was written by another version of edgecil (results of format "
                f"{number}, this version reads {OLDEST} and {FORMAT}); use that version, or train "
                "again in another directory."
            )
        self._format = number

    def _check_pages(self, check: str) -> None:
        """Check that pages are consistent; `quick_check` reads tables, `integrity_check` all."""
        (answer,) = self._database.execute(f"PRAGMA {check}(1)").fetchone()
        if answer != "ok":
            line = str(answer).split("\n")[-1]
            raise sqlite3.DatabaseError(f"database disk image is malformed ({line})")

    def read_all(self) -> None:
        """Read all tables in one transaction; later queries, also of a closed store, use that."""
        with self._using():
            self._database.execute("BEGIN")
        read = {table: self._rows(table) for table in TABLES if table != _NODES}
        with _uncollected():
            nodes = self._parse_nodes()  # its rows as they are stored would take much memory
        self._read = {**read, _NODES: []}
        self._parsed = {_NODES: nodes}

    def once(self, name: str, parse: Callable[[], _Parsed]) -> _Parsed:
        """Return what `parse` returns; once all tables are read, it is called only once."""
        if not self._read:
            return parse()
        if name not in self._parsed:
            self._parsed[name] = parse()
        parsed: _Parsed = self._parsed[name]
        return parsed

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def identity(self) -> dict[str, Any]:
        """Return everything that determines the results, by name."""
        return dict(self.once("identity", self._parse_identity))

    def _parse_identity(self) -> dict[str, Any]:
        rows = self._rows("identity")
        with self._parsing():
            identity = {name: json.loads(value) for name, value in rows}
        names = identity.pop(_LIST_OF_NAMES, None)
        if names is not None and sorted(identity) != names:
            lost = sorted(set(names) ^ set(identity))
            raise self._damaged(f"its identity lacks {lost[0]!r}")
        return identity

    def recorded_identity(self) -> dict[str, Any]:
        """Return the identity, which must name the dataset and every method with a result."""
        identity = self.identity()
        methods = self._methods_with_results()
        missing = [name for name in methods if f"method {name}" not in identity]
        if methods and ("dataset" not in identity or missing):
            what = f"the settings of {missing[0]!r}" if missing else "the dataset"
            raise DataError(
                f"{self.directory} has results but no record of {what}, so what they mean is "
                "unknown; restore the directory from a copy, or export the runs from the original."
            )
        return identity

    def unused_identity(self) -> set[str]:
        """Return the names on which no result depends: settings of methods without a result."""
        trained = self._methods_with_results()
        return {
            name
            for name in self.identity()
            for kind in ("method ", "code of ", FILES)
            if name.startswith(kind) and name.removeprefix(kind) not in trained
        }

    def _methods_with_results(self) -> list[str]:
        """Return the methods that have a result, each once."""
        if self._read:
            names = [row.node.method for row in self._nodes() if row.result is not None]
            return list(dict.fromkeys(names))
        query = "SELECT method FROM nodes WHERE result IS NOT NULL GROUP BY method ORDER BY rowid"
        with self._using():
            return [name for (name,) in self._database.execute(query)]

    def compare_identity(
        self, identity: Mapping[str, Any], *, allowed: Sequence[str] = ()
    ) -> dict[str, str]:
        """Refuse a directory whose results differ in what determines them.

        Names that are not stored may be added. Differences in `allowed` names are returned.
        """
        stored = self.recorded_identity()
        plain = json.loads(json.dumps(identity))
        free = self.unused_identity()
        unequal = [
            difference
            for name in plain
            if name in stored and name not in free and not is_remark(name)
            for difference in _differences(name, stored[name], plain[name])
        ]
        self._refuse([entry for entry in unequal if entry[0] not in allowed])
        return {name: f"{new} instead of {old}" for name, old, new in unequal}

    def _refuse(self, differences: list[tuple[str, Any, Any]]) -> None:
        """Raise an error if the given values differ from the stored ones."""
        if differences:
            lines = [
                f"  {path}: {shortened(str(old))} stored, {shortened(str(new))} given"
                for path, old, new in differences
            ]
            raise UsageError(
                f"{self.directory} contains results with other settings; use `overwrite` to delete "
                "them and start over, or choose another `out` directory.\n" + "\n".join(lines)
            )

    def configs(self) -> list[dict[str, Any]]:
        """Return the distinct configurations of all calls of `run`, in order."""
        if self._format < FORMAT:  # its options had other names
            return []
        rows = self._rows("configs")
        with self._parsing():
            return [json.loads(config) for (config,) in rows]

    def sequences(self) -> dict[str, list[LabelledSequence]]:
        """Return the labelled sequences of every protocol, in the order of the protocol."""
        return dict(self.once("sequences", self._parse_sequences))

    def _parse_sequences(self) -> dict[str, list[LabelledSequence]]:
        by_protocol: dict[str, list[LabelledSequence]] = {}
        for protocol, label, tasks in self._rows("sequences"):
            with self._parsing():
                labelled = LabelledSequence(label, ClassSequence.parse(tasks))
            by_protocol.setdefault(protocol, []).append(labelled)
        return by_protocol

    def done(self) -> Mapping[Node, NodeResult]:
        """Return every finished task training."""
        return self.once("results", self._parse_results).trained

    def whole_runs(self) -> Mapping[Node, WholeRun]:
        """Return every sequence that was stored as a whole, by its last node."""
        return self.once("results", self._parse_results).whole

    def _parse_results(self) -> _Results:
        trained: dict[Node, NodeResult] = {}
        whole: dict[Node, WholeRun] = {}
        for row in self._nodes():
            if isinstance(row.result, NodeResult):
                trained[row.node] = row.result
            elif isinstance(row.result, WholeRun):
                whole[row.node] = row.result
        return _Results(MappingProxyType(trained), MappingProxyType(whole))

    def training_seconds(self) -> dict[str, float]:
        """Return seconds of training and testing by method; a shared task counts once."""
        totals: dict[str, float] = {}
        for node, result in self.done().items():
            totals[node.method] = totals.get(node.method, 0.0) + result.seconds
        for node, run in self.whole_runs().items():
            seconds = sum(result.seconds for result in run.nodes)
            totals[node.method] = totals.get(node.method, 0.0) + seconds
        return totals

    def finished_nodes(self) -> list[Node]:
        """Return every node with a result, of its own or as the end of a whole run."""
        if self._read:
            return [row.node for row in self._nodes() if row.result is not None]
        rows = self._rows(_NODES)
        finished: list[Node] = []
        with self._parsing():
            for method, seed, prefix, _whole_run, result, *_ in rows:
                if result is not None:
                    finished.append(Node(method, seed, parse_tasks(prefix)))
        return finished

    def failures(self) -> dict[Node, tuple[str, str]]:
        """Return every failed node: the error in one line, and its traceback."""
        return {row.node: (row.error, row.trace) for row in self._nodes() if row.error is not None}

    def workers(self) -> dict[Node, dict[str, str]]:
        """In what the worker of a node differed from the identity, where this was allowed."""
        differing = {row.node: row.worker for row in self._nodes() if row.worker is not None}
        with self._parsing():
            return {node: json.loads(worker) for node, worker in differing.items()}

    def worker_differences(self) -> list[dict[str, str]]:
        """Return in what workers differed from the identity, each combination once."""
        texts = dict.fromkeys(row.worker for row in self._nodes() if row.worker is not None)
        with self._parsing():
            return [json.loads(text) for text in texts]

    def _nodes(self) -> list[_NodeRow]:
        """Return all rows of nodes."""
        return self.once(_NODES, self._parse_nodes)

    def _parse_nodes(self) -> list[_NodeRow]:
        decode_node = msgspec.json.Decoder(NodeResult).decode
        decode_whole = msgspec.json.Decoder(WholeRun).decode
        parsed: list[_NodeRow] = []
        for method, seed, prefix, whole_run, text, error, trace, worker in self._each_row(_NODES):
            with self._parsing():
                node = Node(method, seed, parse_tasks(prefix))
                result = None
                if text is not None:
                    result = decode_whole(text) if whole_run else decode_node(text)
                    result.check(node.prefix)
                parsed.append(_NodeRow(node, result, error, trace, worker))
        return parsed

    def runs(self) -> Mapping[RunKey, RunResult]:
        """Return every finished run, by method, seed and tasks."""
        return self.once("runs", self._join_runs)

    def _join_runs(self) -> Mapping[RunKey, RunResult]:
        done, whole_runs, identity = self.done(), self.whole_runs(), self.identity()
        versions: dict[str, str] = {
            name: identity[name] for name in ("edgecil", "torch") if name in identity
        }
        requested = {
            run.sequence.tasks: run.sequence.without_arrangement()
            for runs in self.sequences().values()
            for run in runs
        }
        results: dict[RunKey, RunResult] = {}
        for node in (*done, *whole_runs):
            sequence = requested.get(node.prefix)
            if sequence is not None:
                run = whole_runs.get(node) or WholeRun(tuple(done[step] for step in node.path))
                results[node.method, node.seed, node.prefix] = RunResult(
                    node.method, node.seed, sequence, run.nodes, versions, run.reported
                )
        return MappingProxyType(results)

    def run_counts(self) -> dict[str, int]:
        """Return how many runs of each method are finished, without reading them."""
        whole = {run.sequence.tasks for runs in self.sequences().values() for run in runs}
        finished = (node for node in self.finished_nodes() if node.prefix in whole)
        return dict(Counter(node.method for node in finished))

    def _rows(self, table: str) -> list[tuple[Any, ...]]:
        """Return the rows of a table as they were written, in that order."""
        if table in self._read:
            return self._read[table]
        return list(self._each_row(table))

    def _each_row(self, table: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a table as they were written, some at a time."""
        query = f"SELECT {', '.join(TABLES[table])}, checksum FROM {table} ORDER BY rowid"
        with self._using():
            cursor = self._database.execute(query)
        while True:
            with self._using():
                rows = cursor.fetchmany(_AT_ONCE)
            if not rows:
                return
            for *values, checksum in rows:
                if checksum_of(values) != checksum:
                    raise self._damaged(f"a row of {table!r} differs from its checksum")
                yield tuple(values)

    @contextmanager
    def _using(self) -> Iterator[None]:
        """Turn what SQLite raises into one sentence."""
        try:
            yield
        except sqlite3.OperationalError as error:
            cause = cause_of(error, self.directory)
            raise DataError(f"Cannot use {self._path}: {cause}.") from error
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise DataError(
                f"Cannot read {self._path}: {error}; restore it from a copy, or train in another "
                "directory."
            ) from error

    @contextmanager
    def _parsing(self) -> Iterator[None]:
        """Turn what a row raises that somebody else wrote into one sentence."""
        try:
            yield
        except (
            ValueError,
            TypeError,
            AttributeError,
            RecursionError,
            DataError,
            msgspec.MsgspecError,  # a ValueError since 0.21
        ) as error:
            raise self._damaged(str(error)) from error

    def _damaged(self, what: str) -> DataError:
        return DataError(
            f"{self._path} is damaged ({what.rstrip('.')}); run the experiment "
            "again with the same options to train damaged results again, or restore the file from "
            "a copy."
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

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path)

    def _prepare(self, number: int) -> None:
        """Create the tables, and delete damaged results."""
        self._check_format(number or FORMAT)
        if self._format < FORMAT:
            raise UsageError(
                f"{self.directory} was made by an earlier version of edgecil and cannot be "
                "continued; analyse it as it is, and run in another `out` directory."
            )
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = FULL")
        self._database.executescript(_SCHEMA)
        self._database.execute(f"PRAGMA user_version = {FORMAT}")
        self._check_pages("integrity_check")
        self._remove_damaged_results()
        self._file = self._path.stat()

    def _remove_damaged_results(self) -> None:
        """Delete results that differ from their checksums; they are trained again."""
        query = f"SELECT rowid, {', '.join(TABLES['nodes'])}, checksum FROM nodes"
        rows = self._database.execute(query)
        damaged = [(row,) for row, *values, checksum in rows if checksum_of(values) != checksum]
        if damaged:
            with self._database:
                self._database.executemany("DELETE FROM nodes WHERE rowid = ?", damaged)
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
        stored = {run.label: run.sequence for run in earlier}
        sequences = {run.label: run.sequence for run in runs}
        self._refuse(
            [
                (f"protocol {protocol}.{label}", str(stored[label]), str(sequence))
                for label, sequence in sequences.items()
                if stored.get(label, sequence) != sequence
            ]
        )
        if keep == "all":
            sequences = {**stored, **sequences}
        elif stored.keys() - sequences.keys():
            finished = {node.prefix for node in (*self.done(), *self.whole_runs())}
            kept = (run.label for run in earlier if run.sequence.tasks in finished)
            sequences |= {label: stored[label] for label in kept}
        with self._writing():
            self._database.execute("DELETE FROM sequences WHERE protocol = ?", (protocol,))
            self._write(
                "sequences",
                [
                    (protocol, label, sequence.arranged_text)
                    for label, sequence in sequences.items()
                ],
            )
            source: dict[str, Any] = {}
            for run in runs:
                source |= run.source or {}
                if run.optimum is not None:
                    certificate = run.optimum.certificate
                    source["objective"] = certificate.objective
                    source[run.label] = {
                        "z": certificate.z,
                        "gap": certificate.gap,
                        "exact": certificate.exact,
                    }
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

    def add_files(self, method: str, digests: Mapping[str, str]) -> None:
        """Add files that a learner has read to what determines its results."""
        name = f"{FILES}{method}"
        stored = self.identity().get(name, {})
        changed = [file for file in digests if stored.get(file, digests[file]) != digests[file]]
        self._refuse([(f"{name}.{file}", stored[file], digests[file]) for file in changed])
        self._set_identity(name, {**stored, **digests})

    def add_remark(self, subject: str, sentences: Iterable[str], **facts: Any) -> None:
        """Add sentences on a learner or the data that travel with the results, and facts.

        Remarks on other code than the given one are replaced.
        """
        name = remark_name(subject)
        stored = self.identity().get(name, {})
        if facts.get("code", stored.get("code")) != stored.get("code", facts.get("code")):
            stored = {}
        every = dict.fromkeys([*stored.get("sentences", []), *sentences])
        self._set_identity(name, {**stored, **facts, "sentences": list(every)})

    def _set_identity(self, name: str, value: Any) -> None:
        with self._writing():
            self._write("identity", [(name, json.dumps(value))], conflict="OR REPLACE")
            self._list_names()

    def _list_names(self) -> None:
        names = sorted(name for name, _ in self._rows("identity") if name != _LIST_OF_NAMES)
        self._write("identity", [(_LIST_OF_NAMES, json.dumps(names))], conflict="OR REPLACE")

    def record(
        self, node: Node, result: NodeResult | WholeRun, *, worker: Mapping[str, str] | None = None
    ) -> None:
        """Store the result of a node, or of a whole sequence that another tool trained."""
        self.record_all([(node, result)], workers={node: worker} if worker else {})

    def record_all(
        self,
        results: Iterable[tuple[Node, NodeResult | WholeRun]],
        *,
        workers: Mapping[Node, Mapping[str, str]] = MappingProxyType({}),
    ) -> None:
        """Store several results in one transaction."""
        rows = []
        for node, result in results:
            is_whole, text = isinstance(result, WholeRun), msgspec.json.encode(result).decode()
            differences = json.dumps(dict(workers[node])) if node in workers else None
            rows.append((*_key(node), int(is_whole), text, None, None, differences))
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

    def states(self) -> set[Path]:
        """Return the files with states that exist."""
        return set(self._states.glob("*.pt"))

    def state_path(self, node: Node) -> Path:
        """Return the file with a node's state, which exists while nodes below it are unfinished."""
        key = " ".join(map(str, _key(node)))
        return self._states / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.pt"

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
            is_same = os.path.samestat(self._path.stat(), self._file)
        except OSError:
            is_same = False
        if not is_same:
            raise EdgecilError(
                f"{self._path} was deleted or replaced while this process was writing to it, so "
                "further results would be lost; restore the file and run the experiment again with "
                "the same options."
            )


@contextmanager
def _uncollected() -> Iterator[None]:
    """Look for no garbage among many new objects, then or later.

    There are no cycles among results, and to visit them again and again would take longer than to
    read and analyse them.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()


def save_state(path: Path, state: bytes) -> None:
    """Write a node's state so that the file is complete or absent, and on disk on return."""
    with replace_file(path) as file:
        file.write(state)
        file.flush()
        os.fsync(file.fileno())


def _key(node: Node) -> tuple[str, int, str]:
    return node.method, node.seed, format_tasks(node.prefix)


def checksum_of(values: Iterable[Any]) -> str:
    """Return a checksum of the values of a row."""
    text = "\0".join("" if value is None else str(value) for value in values)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def cause_of(error: sqlite3.Error, directory: Path) -> str:
    """Return why a database cannot be used, in words that name the cause."""
    text = str(error)
    if "readonly" in text or "unable to open" in text:
        return f"{text}; this user may not write to {directory}"
    if "locked" in text or "busy" in text:
        return f"{text}; another process is writing to it"
    return text


def _differences(path: str, old: Any, new: Any) -> list[tuple[str, Any, Any]]:
    """Return where two plain values differ, leaf by leaf."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [
            difference
            for name in {**old, **new}
            for difference in _differences(f"{path}.{name}", old.get(name), new.get(name))
        ]
    return [] if old == new else [(path, old, new)]
