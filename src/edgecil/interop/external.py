"""Have another program train class orders, in one process per run."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import edgecil
from edgecil.errors import EdgecilError, PrerequisiteError, UsageError, format_value
from edgecil.experiments.chosen_similarity import SIMILARITY_FILE
from edgecil.experiments.experiment import Experiment, TrainingFailedError
from edgecil.experiments.experiment_files import writing
from edgecil.experiments.plan import Node
from edgecil.experiments.results import Summary, WholeRun
from edgecil.experiments.store import Store
from edgecil.interop import guard
from edgecil.interop.exchange_files import read_result, with_cost, write_order
from edgecil.interop.order_options import ChosenOrders, OrderOptions, choose_orders
from edgecil.io.progress_bar import Progress
from edgecil.options import checked
from edgecil.runs.training_seeds import PER_ORDER, SEEDS, training_seed
from edgecil.sequences.protocols import PROTOCOLS
from edgecil.sequences.sequence import ClassSequence, Tasks, format_tasks
from edgecil.sequences.task_orders import given_tasks_identity
from edgecil.similarity import SimilaritySource, save_similarity

# In the folder of a run; the first two are described in `edgecil.interop.exchange_files`.
ORDER_FILE, RESULT_FILE, LOG = "order.json", "result.json", "log.txt"
GRACE = 5.0  # seconds between SIGTERM and SIGKILL
_TAIL = 4000
_PLACES = r"\{(order_file|result_file|seed)\}"


@dataclass(frozen=True)
class ExternalPlan:
    """Everything that another program will train.

    Attributes:
        method: name under which the results are stored.
        command: the words that train a run, with `{order_file}`, `{result_file}` and `{seed}`.
        dataset: its name.
        orders: the class orders.
        repeats: number of trainings of each order.
        identity: what else decides the results.
        cwd: the folder in which the program runs.
        environment: variables that are added to the environment of this process.
    """

    method: str
    command: Sequence[str]
    dataset: str
    orders: ChosenOrders
    repeats: int
    identity: Mapping[str, Any]
    cwd: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    def nodes(self) -> list[Node]:
        """Return every sequence with every training seed, each once."""
        nodes = []
        for sequence in dict.fromkeys(self._all_sequences()):
            for repeat in range(self.repeats):
                seed = training_seed(sequence.tasks, repeat)
                nodes.append(Node(self.method, seed, sequence.tasks))
        return nodes

    def sequence_of(self, node: Node) -> ClassSequence:
        """Return the sequence of a run, as the first protocol that has it arranges it."""
        return self._sequences[node.prefix]

    @cached_property
    def _sequences(self) -> dict[Tasks, ClassSequence]:
        return {sequence.tasks: sequence for sequence in reversed(self._all_sequences())}

    def _all_sequences(self) -> list[ClassSequence]:
        sequences = []
        for runs in self.orders.sequences.values():
            sequences += [run.sequence for run in runs]
        return sequences

    def words(self, folder: Path, seed: int) -> list[str]:
        """Return the command of a run."""
        values = {
            "order_file": str(folder / ORDER_FILE),
            "result_file": str(folder / RESULT_FILE),
            "seed": str(seed),
        }

        def fill_in(place: re.Match[str]) -> str:
            return values[place[1]]

        return [re.sub(_PLACES, fill_in, word) for word in self.command]

    def full_identity(self) -> dict[str, Any]:
        """Return what decides the results, as the store keeps it."""
        return {
            "edgecil": edgecil.__version__,
            "dataset": {"name": self.dataset, "classes": list(self.orders.names)},
            "class_ids": list(self.orders.ids),
            "sizes": list(self.orders.sizes),
            **given_tasks_identity(self.orders.space),
            SEEDS: PER_ORDER,
            f"method {self.method}": dict(self.identity),
        }


@checked
def run_external(
    *,
    command: str | Sequence[str],
    out: str | Path,
    method: str = "external",
    repeats: int = 1,
    workers: int = 1,
    timeout: float | None = None,
    overwrite: bool = False,
    progress: bool = True,
    similarity: SimilaritySource | Mapping[str, Any] | str | Path | None = None,
    orders: OrderOptions | Mapping[str, Any] | None = None,
) -> Experiment:
    """Have a program train class orders, or resume; changes to the program cannot be detected.

    Args:
        command: the program that trains one run, such as `python train.py {order_file}
            {result_file}`; `{seed}` is replaced as well. The documentation describes both files
            under "Run any program".
        out: the experiment directory.
        method: name under which the results are stored.
        repeats: number of trainings of each order, each with its own training seed.
        workers: number of programs that run at the same time.
        timeout: seconds after which a run counts as failed.
        overwrite: delete existing results and start over.
        progress: show progress on stderr.
        similarity: where the similarity of the classes comes from.
        orders: which class orders to train.
    """
    try:
        words = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError as error:
        raise UsageError(
            f"`command` cannot be parsed: {error}. Got {format_value(command)}."
        ) from error
    for needed in ("{order_file}", "{result_file}"):
        if not any(needed in word for word in words):
            raise UsageError(
                f"`command` must contain {needed}. Got {format_value(' '.join(words))}."
            )
    options = OrderOptions.from_value(orders)
    source = SimilaritySource.from_value(similarity)
    plan = ExternalPlan(
        method=method,
        command=words,
        dataset=options.dataset or "",
        orders=choose_orders(options, source, out=out, overwrite=overwrite),
        repeats=repeats,
        identity={"command": shlex.join(words)},
        cwd=Path.cwd(),
    )
    return train_missing_runs(
        plan, out, workers=workers, timeout=timeout, overwrite=overwrite, progress=progress
    )


def train_missing_runs(
    plan: ExternalPlan,
    out: str | Path,
    *,
    workers: int,
    timeout: float | None,
    overwrite: bool,
    progress: bool,
) -> Experiment:
    """Train every run that the directory lacks; a failed one is recorded, and raised at the end."""
    if sys.platform == "win32":  # a program cannot be stopped together with its children
        raise PrerequisiteError(
            "Training with another program requires Linux or macOS. Got Windows; train in WSL or "
            "on another machine, and analyse the results here."
        )
    for name, number in {"repeats": plan.repeats, "workers": workers}.items():
        if number < 1:
            raise UsageError(f"`{name}` must be at least 1. Got {number} instead.")
    if timeout is not None and not 0 < timeout <= threading.TIMEOUT_MAX:
        raise UsageError(f"`timeout` must be a number of seconds above 0. Got {timeout} instead.")
    out = Path(out).absolute()
    with writing(out, overwrite=overwrite) as store:
        store.check_identity(plan.full_identity())
        for name, runs in plan.orders.sequences.items():
            # Orders that no protocol draws are added to the orders of earlier calls.
            store.add_sequences(name, runs, keep="finished" if name in PROTOCOLS else "all")
        if plan.orders.similarity is not None:
            save_similarity(plan.orders.similarity, out / SIMILARITY_FILE)
        with Progress("runs", shown=progress) as bar:
            for sentence in plan.orders.notes:
                bar.note(sentence, once=sentence)
            summary = _train_missing(plan, store, workers, timeout, bar)
    experiment = Experiment(out, summary)
    failures = [failure for failure in experiment.failures() if failure.method == plan.method]
    if summary.failed:
        raise TrainingFailedError(experiment, failures)
    return experiment


def _train_missing(
    plan: ExternalPlan, store: Store, workers: int, timeout: float | None, bar: Progress
) -> Summary:
    done = store.whole_runs()
    nodes = plan.nodes()
    missing = [node for node in nodes if node not in done]
    bar.start(len(nodes), len(nodes) - len(missing))
    failed: list[Node] = []
    results = [result for node, result in done.items() if node.method == plan.method]
    read, write = os.pipe()  # the programs run as long as `write` is open
    with (
        os.fdopen(read) as lifeline,
        os.fdopen(write, "w") as open_end,
        ThreadPoolExecutor(workers) as pool,
    ):
        futures: dict[Future[WholeRun], Node] = {
            pool.submit(_train_run, plan, node, _folder(store, node), lifeline, timeout): node
            for node in missing
        }
        try:
            for future in as_completed(futures):
                node = futures[future]
                error = future.exception() or _other_classifiers(future.result(), results[:1])
                if error is None:
                    results.append(future.result())
                    store.record(node, future.result())
                elif isinstance(error, ProgramError):
                    store.record_failure(node, str(error), error.trace)
                    failed.append(node)
                else:
                    raise error
                bar.advance()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            open_end.close()
            raise
    return Summary(len(missing) - len(failed), len(nodes) - len(missing), tuple(failed))


class ProgramError(EdgecilError):
    """A program failed to train a run; the trace is the end of its log."""

    def __init__(self, message: str, trace: str) -> None:
        super().__init__(message)
        self.trace = trace


def _train_run(
    plan: ExternalPlan, node: Node, folder: Path, lifeline: IO[str], timeout: float | None
) -> WholeRun:
    """Train one run, from order file to result file, below :mod:`edgecil.interop.guard`.

    The guard stops the program with its children after the timeout, or when the pipe that
    `lifeline` reads is closed, also because this process died.
    """
    folder.mkdir(parents=True)
    sequence = plan.sequence_of(node)
    order = write_order(folder / ORDER_FILE, sequence, plan.orders.ids, node.seed)
    guarded = [sys.executable, "-I", "-S", guard.__file__, str(timeout or 0), str(GRACE)]
    start = time.perf_counter()
    with (folder / LOG).open("wb") as log:
        process = subprocess.Popen(
            [*guarded, *plan.words(folder, node.seed)],
            stdin=lifeline,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=plan.cwd,
            env={**os.environ, **plan.environment},
            start_new_session=True,
        )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = code = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    tail = (folder / LOG).read_text(encoding="utf-8", errors="replace")[-_TAIL:]
    lines = [line.strip() for line in tail.splitlines() if line.strip()]
    last_line = f"; last log line: {lines[-1]}" if lines else ""
    if timeout is not None and code == -signal.SIGKILL and seconds >= timeout:
        raise ProgramError(f"The program was stopped after {timeout:g} seconds{last_line}", tail)
    if code != 0:
        memory = " (often: out of memory)" if -code == signal.SIGKILL else ""
        how = f"exit code {code}" if code > 0 else f"{signal.Signals(-code).name}{memory}"
        raise ProgramError(f"The program ended with {how}{last_line}", tail)
    try:
        result = read_result(folder / RESULT_FILE, len(node.prefix), order=order)
    except EdgecilError as error:
        message = f"The program ended with exit code 0, but its result is not valid: {error}"
        if not (folder / RESULT_FILE).exists():
            message = f"The program ended with exit code 0 but wrote no result file{last_line}"
        raise ProgramError(message, tail) from error
    return with_cost(result, seconds, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))


def _other_classifiers(result: WholeRun, first: Sequence[WholeRun]) -> ProgramError | None:
    """Return an error if a result has other classifiers than the first of the experiment."""
    if not first or result.classifiers == first[0].classifiers:
        return None
    message = (
        f"The result has the classifiers {', '.join(result.classifiers)} where the first one has "
        f"{', '.join(first[0].classifiers)}; all sequences must have the same."
    )
    return ProgramError(message, message)


def _folder(store: Store, node: Node) -> Path:
    """Return a folder for the next attempt at a run, into which no earlier attempt can write."""
    key = hashlib.sha256(format_tasks(node.prefix).encode()).hexdigest()[:12]
    method = re.sub(r"[^\w.-]", "_", node.method)
    home = store.directory / "trainings" / f"{method}-{node.seed}-{key}"
    attempts = [int(path.name) for path in home.glob("*") if path.name.isdigit()]
    return home / str(max(attempts, default=0) + 1)
