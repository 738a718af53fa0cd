"""Sequences trained by another program: one process each, results in a run directory like any."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import edgecil
from edgecil.engine.plan import Node
from edgecil.engine.results import Summary, WholeRun
from edgecil.engine.store import Store, clear
from edgecil.errors import EdgecilError, UsageError
from edgecil.interop.contract import read_result, with_cost, write_order
from edgecil.interop.process import Processes, last_words, signals_interrupt
from edgecil.io.locks import locked
from edgecil.sequences.protocols import LabelledSequence
from edgecil.sequences.sequence import ClassSequence, format_tasks


@dataclass(frozen=True)
class Training:
    """One sequence for another program to train.

    Attributes:
        node: the method's name, the training seed, and all tasks.
        folder: for the order file, the result file and what the program says.
    """

    node: Node
    folder: Path

    @property
    def order_file(self) -> Path:
        """What to train; see `edgecil.interop.contract`."""
        return self.folder / "order.json"

    @property
    def result_file(self) -> Path:
        """What came out."""
        return self.folder / "result.json"

    @property
    def log(self) -> Path:
        """All that the program said."""
        return self.folder / "log.txt"


@dataclass(frozen=True)
class ExternalRun:
    """What another program is to train.

    Attributes:
        method: name under which the results are kept.
        command: the words of the command that does a training.
        dataset: name of the dataset.
        names: of the N classes that take part.
        ids: the dataset's own ids of these classes.
        sequences: over classes 0 … N-1, by protocol.
        seeds: how often to repeat each sequence, with training seeds 0, 1, ….
        identity: what else decides the results; a directory holds one of each.
        cwd: where the program runs.
        environment: variables it gets besides ours.
    """

    method: str
    command: Callable[[Training], Sequence[str]]
    dataset: str
    names: Sequence[str]
    ids: Sequence[int]
    sequences: Mapping[str, Sequence[LabelledSequence]]
    seeds: int
    identity: Mapping[str, Any]
    cwd: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    def nodes(self) -> list[Node]:
        """Every sequence with every seed, each once."""
        distinct = dict.fromkeys(run.sequence for runs in self.sequences.values() for run in runs)
        return [
            Node(self.method, seed, sequence.tasks)
            for sequence in distinct
            for seed in range(self.seeds)
        ]

    def settings(self) -> dict[str, Any]:
        """What decides the results, as the store keeps it."""
        first = next(run.sequence for runs in self.sequences.values() for run in runs)
        return {
            "edgecil": edgecil.__version__,
            "dataset": {"name": self.dataset, "classes": list(self.names)},
            "class_ids": list(self.ids),
            "sizes": list(first.sizes),
            f"method {self.method}": dict(self.identity),
        }


def command_line(words: Sequence[str]) -> Callable[[Training], list[str]]:
    """A command with `{order_file}`, `{result_file}` and, if wanted, `{seed}` to fill in."""
    for needed in ("{order_file}", "{result_file}"):
        if not any(needed in word for word in words):
            raise UsageError(
                f"The command must say where its {needed} goes. Got {' '.join(words)!r}."
            )

    def fill(training: Training) -> list[str]:
        values = {
            "{order_file}": str(training.order_file),
            "{result_file}": str(training.result_file),
            "{seed}": str(training.node.seed),
        }
        return [_replace(word, values) for word in words]

    return fill


def run_external(
    run: ExternalRun,
    out: str | Path,
    *,
    workers: int = 1,
    timeout: float | None = None,
    fresh: bool = False,
    on_finished: Callable[[Node, WholeRun | str], None] = lambda node, result: None,
) -> tuple[Store, Summary]:
    """Have every sequence trained that the directory does not hold yet.

    A training that fails is recorded with the program's last words; the others go on.

    Args:
        run: what to train.
        out: the run directory.
        workers: programs at a time.
        timeout: seconds that a training may take; a longer one has failed.
        fresh: forget what the directory holds.
        on_finished: told of every training that ends, with its result or its error.

    Returns:
        The open store, and what was done.
    """
    if workers < 1:
        raise UsageError(f"--workers must be at least 1. Got {workers} instead.")
    if timeout is not None and not 0 < timeout <= threading.TIMEOUT_MAX:
        raise UsageError(f"--timeout must be a number of seconds above 0. Got {timeout} instead.")
    out = Path(out).absolute()
    with locked(out):
        if fresh:
            clear(out)
        store = Store(out)
        try:
            store.check_identity(run.settings())
            for name, runs in run.sequences.items():
                store.add_sequences(name, runs)
            with signals_interrupt():
                return store, _execute(run, store, workers, timeout, on_finished)
        except BaseException:
            store.close()
            raise


def _execute(
    run: ExternalRun,
    store: Store,
    workers: int,
    timeout: float | None,
    on_finished: Callable[[Node, WholeRun | str], None],
) -> Summary:
    done, nodes = store.whole_runs(), run.nodes()
    todo = [Training(node, _folder(store, node)) for node in nodes if node not in done]
    processes, failed = Processes(), []
    finished = [result for node, result in done.items() if node.method == run.method]
    with ThreadPoolExecutor(workers) as pool:
        futures: dict[Future[WholeRun], Training] = {
            pool.submit(_train, run, training, processes, timeout): training for training in todo
        }
        try:
            for future in as_completed(futures):
                node = futures[future].node
                error = future.exception() or _other_classifiers(future.result(), finished[:1])
                if error is None:
                    finished.append(future.result())
                    store.record(node, future.result())
                    on_finished(node, future.result())
                elif isinstance(error, TrainingError):
                    store.record_failure(node, str(error), error.trace)
                    failed.append(node)
                    on_finished(node, str(error))
                else:
                    raise error
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            processes.stop()
            raise
    return Summary(len(todo) - len(failed), len(nodes) - len(todo), tuple(failed))


class TrainingError(EdgecilError):
    """A program did not train its sequence.

    Attributes:
        trace: the end of what it said.
    """

    def __init__(self, message: str, trace: str) -> None:
        super().__init__(message)
        self.trace = trace


def _train(
    run: ExternalRun, training: Training, processes: Processes, timeout: float | None
) -> WholeRun:
    """Have one sequence trained, from order file to result file."""
    training.folder.mkdir(parents=True, exist_ok=True)
    training.result_file.unlink(missing_ok=True)
    sequence = ClassSequence(training.node.prefix)
    write_order(training.order_file, sequence, run.ids, training.node.seed)
    words = list(run.command(training))
    try:
        ended = processes.run(
            words, training.log, cwd=run.cwd, environment=run.environment, timeout=timeout
        )
    except OSError as error:
        message = f"{words[0]!r} cannot be started: {error.strerror or error}."
        raise TrainingError(message, message) from error
    said, tail = last_words(training.log)
    if ended.too_long:
        raise TrainingError(f"The program was stopped after {timeout:g} seconds{said}", tail)
    if ended.code != 0:
        raise TrainingError(f"The program ended with {ended.how}{said}", tail)
    try:
        found = read_result(training.result_file, len(sequence))
    except EdgecilError as error:
        message = f"The program ended well, but its result cannot be used: {error}"
        if not training.result_file.exists():
            message = f"The program ended well, but left no result file{said}"
        raise TrainingError(message, tail) from error
    return with_cost(found, ended.seconds, ended.peak_memory)


def _other_classifiers(result: WholeRun, first: Sequence[WholeRun]) -> TrainingError | None:
    """An error if a result reads its predictions in other ways than the first one of the run."""
    for other in first:
        if result.classifiers != other.classifiers:
            message = (
                f"The result has the classifiers {', '.join(result.classifiers)} where the first "
                f"one has {', '.join(other.classifiers)}; all sequences must have the same."
            )
            return TrainingError(message, message)
    return None


def _folder(store: Store, node: Node) -> Path:
    key = hashlib.sha256(format_tasks(node.prefix).encode()).hexdigest()[:12]
    method = re.sub(r"[^\w.-]", "_", node.method)
    return store.directory / "trainings" / f"{method}-{node.seed}-{key}"


def _replace(word: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        word = word.replace(name, value)
    return word
