"""The progress of a call of `run`, in a file that other processes read."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from edgecil.errors import EdgecilError
from edgecil.experiments.plan import Node, Prefix
from edgecil.io import limits
from edgecil.io.files import check_file, replace_file

PROGRESS_FILE = "progress.json"

_PERIOD = 2.0  # seconds between two writes
_SILENT = 30.0  # seconds without a write after which a call counts as ended


@dataclass(frozen=True)
class RunningTask:
    """A task training under way."""

    method: str
    seed: int
    tasks: Prefix  # this task and all earlier ones
    started: float  # in seconds since 1970

    @property
    def node(self) -> Node:
        """The node in the plan."""
        return Node(self.method, self.seed, self.tasks)


@dataclass(frozen=True)
class RunProgress:
    """The last news of a call of `run`."""

    updated: float  # in seconds since 1970
    workers: int
    shard: str | None = None
    running: tuple[RunningTask, ...] = ()
    ended: bool = False

    @property
    def alive(self) -> bool:
        """Whether the call is still training: a process that was killed has no news."""
        return not self.ended and time.time() - self.updated < _SILENT


def read_progress(directory: Path) -> RunProgress | None:
    """Return the progress in an experiment directory; None if there is none or it is damaged."""
    path = directory / PROGRESS_FILE
    try:
        check_file(path, limits.TEXT)  # reading a pipe would not end
        return msgspec.json.decode(path.read_bytes(), type=RunProgress)
    except (OSError, EdgecilError, UnicodeDecodeError, msgspec.MsgspecError):
        return None


class ProgressWriter:
    """Keeps the file up to date while trainings run, every two seconds."""

    def __init__(self, directory: Path, *, workers: int, shard: str | None = None) -> None:
        self._path, self._workers, self._shard = directory / PROGRESS_FILE, workers, shard
        self._running: dict[Node, float] = {}
        self._stop = threading.Event()
        self._beat = threading.Thread(target=self._repeat, daemon=True)

    def __enter__(self) -> ProgressWriter:
        self._write()
        self._beat.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._beat.join()
        self._running.clear()
        self._write(ended=True)

    def begin(self, node: Node) -> None:
        """A training has started."""
        self._running[node] = time.time()

    def end(self, node: Node) -> None:
        """A training has ended."""
        self._running.pop(node, None)

    def _repeat(self) -> None:
        while not self._stop.wait(_PERIOD):
            self._write()

    def _write(self, *, ended: bool = False) -> None:
        running = tuple(
            RunningTask(node.method, node.seed, node.prefix, started)
            for node, started in list(self._running.items())
        )
        news = RunProgress(time.time(), self._workers, self._shard, running, ended)
        with suppress(EdgecilError), replace_file(self._path) as file:
            file.write(msgspec.json.encode(news))
