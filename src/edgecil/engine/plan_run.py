"""What a run would do: task trainings, shared ones, expected time and disk space."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import Empty
from typing import TYPE_CHECKING, Any

from edgecil.engine.describe import describe_plan
from edgecil.engine.estimate import elapsed_seconds, expected_seconds
from edgecil.engine.main_guard import WORKER, check_exit, refuse_while_importing, start_worker
from edgecil.engine.plan import Node, Plan
from edgecil.engine.run import Config, advise, resolve
from edgecil.engine.store import NoExperimentError, StoreReader
from edgecil.errors import UsageError, warn
from edgecil.io.device import cores, use_portable_kernels
from edgecil.io.interpreter import forget_safe_path, safe_path
from edgecil.io.notebook import show_printed
from edgecil.io.packages import require_training

if TYPE_CHECKING:
    from edgecil.engine.executors.placement import Placement
    from edgecil.engine.node_training import WorkerContext

_STARTUP = 60  # seconds
_ROW = 2000  # bytes of a result in the database


@dataclass(frozen=True)
class PlannedMethod:
    """The task trainings of one method.

    Attributes:
        method: the method's name.
        runs: sequences times repeats.
        tasks: task trainings; sequences that begin with the same tasks share them.
        shared: task trainings that sharing saves.
        stored: task trainings whose results are stored already.
        seconds: expected duration of the others, one after another; None if nothing was measured.
    """

    method: str
    runs: int
    tasks: int
    shared: int
    stored: int
    seconds: float | None


@dataclass(frozen=True, repr=False)
class RunPlan:
    """What a call of `run` would do.

    Attributes:
        directory: the experiment directory.
        methods: the work by method.
        workers: number of trainings at the same time.
        seconds: expected time from start to end; None if a method could not be measured.
        disk: expected bytes in the directory at most: results, and states of unfinished sequences;
            None if no state was measured.
        measured: the methods that a trial measured, because no results of them are stored.
        unknown: why the time of a method is not known, by method.
    """

    directory: Path
    methods: tuple[PlannedMethod, ...]
    workers: int
    seconds: float | None
    disk: int | None
    measured: tuple[str, ...]
    unknown: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<RunPlan for {self.directory}: {self.tasks} tasks, {self.stored} of them stored>"

    def __str__(self) -> str:
        """Return the runs and tasks of each method, a line each, the time and the disk space."""
        parts = (
            f"{it.method}: {it.runs} runs, {it.tasks} tasks, {it.stored} of them stored"
            for it in self.methods
        )
        return "\n".join([*parts, *describe_plan(self)])

    _repr_pretty_ = show_printed

    @property
    def tasks(self) -> int:
        """Number of task trainings, finished ones included."""
        return sum(part.tasks for part in self.methods)

    @property
    def shared(self) -> int:
        """Number of task trainings that sharing saves."""
        return sum(part.shared for part in self.methods)

    @property
    def stored(self) -> int:
        """Number of task trainings whose results are stored already."""
        return sum(part.stored for part in self.methods)


def plan_run(
    *,
    out: str | Path | None = None,
    config: Config = None,
    overwrite: bool | None = None,
    **options: Any,
) -> RunPlan:
    """Return what `run` with the same arguments would do; nothing is written.

    A directory whose results have other settings is refused, as by `run`, and so is a method that
    cannot be used with the network or the images.

    The expected time comes from the results in `out`. For a method without any, the first two tasks
    of one sequence are trained twice in another process and discarded: the second time shows what
    they cost when features and parts of learners are shared. `execution.trial_seconds` limits the
    time of such a trial.

    Args:
        out: the experiment directory, which need not exist; required unless `config` has it.
        config: as for :func:`edgecil.run`.
        overwrite: plan as if `out` held no results.
        options: the other keywords of :func:`edgecil.run`.
    """
    refuse_while_importing()
    require_training()
    from edgecil.engine.experiment import stored_answers
    from edgecil.engine.handshake import MACHINE
    from edgecil.engine.prepare import prepare

    asked = resolve(config, options, out=out, overwrite=overwrite)
    experiment, execution, out, overwrite = (
        asked.config,
        asked.execution,
        asked.out,
        asked.overwrite,
    )
    training, trial_seconds = experiment.training, execution.trial_seconds
    use_portable_kernels(precision=training.precision, device=training.device)  # as a run does
    has_goal = asked.goal is not None
    if execution.repeats_on is not None:
        warn("The plan does not include the further trainings of 'repeats_on'.")
    answered = {} if overwrite else stored_answers(out)
    remote = execution.executor == "ray"
    prepared = prepare(
        experiment, answered, storage=execution.storage, remote=remote, clip=has_goal
    )
    if has_goal:
        most = prepared.config.budget
        warn(f"The plan is for {most} orders; 'until' may be decided with fewer.")
    prepared = prepared.part(execution)
    plan, workers = prepared.plan, _count(prepared.placement(execution), training.threads)
    allowed = MACHINE if execution.allow_mismatch else ()
    measured, sizes = ({}, []) if overwrite else _stored(out, prepared.identity, allowed)
    stored = measured.keys() & set(plan)
    if not measured:
        advise(prepared, execution)
    first_times: dict[str, float] = {}
    unknown: dict[str, str] = {}
    for method in dict.fromkeys(run.method for run in plan.runs):
        if any(node.method == method for node in measured):
            continue
        if trial_seconds <= 0:
            unknown[method] = "nothing was measured"
            continue
        run = next(run for run in plan.runs if run.method == method)
        trial = _trial(prepared.context, run.path[:2], trial_seconds, share=execution.share)
        measured = {**measured, **trial.seconds}
        sizes = [*sizes, *trial.sizes]
        if trial.seconds:
            first_times[method] = trial.first_time
        else:
            unknown[method] = trial.reason
    expected = expected_seconds((node for node in plan if node not in stored), measured)
    expected = _with_first_times(expected, first_times)
    depth = max((len(run.prefix) for run in plan.runs), default=0)
    states = workers * max(depth - 1, 0) * max(sizes, default=0)
    return RunPlan(
        out,
        tuple(
            _of_method(method, plan, stored, expected)
            for method in dict.fromkeys(run.method for run in plan.runs)
        ),
        workers,
        elapsed_seconds(expected, workers),
        states + _ROW * len(plan) if sizes or depth < 2 else None,
        tuple(first_times),
        unknown,
    )


def _count(workers: Placement | int | None, threads: int) -> int:
    """Return a number of workers; without one for a Ray cluster, that of this machine."""
    if workers is None:
        return max(1, cores() // threads)
    return workers if isinstance(workers, int) else workers.capacity


def _of_method(
    method: str, plan: Plan, stored: set[Node], expected: Mapping[Node, float | None]
) -> PlannedMethod:
    nodes = [node for node in plan if node.method == method]
    runs = [run for run in plan.runs if run.method == method]
    durations = [seconds for node, seconds in expected.items() if node.method == method]
    return PlannedMethod(
        method,
        len(runs),
        len(nodes),
        sum(len(run.prefix) for run in runs) - len(nodes),
        sum(node in stored for node in nodes),
        None if None in durations else sum(seconds or 0.0 for seconds in durations),
    )


def _stored(
    out: Path, identity: Mapping[str, Any], allowed: Sequence[str]
) -> tuple[dict[Node, float], list[int]]:
    """Return seconds of the stored task trainings, and the sizes of stored states in bytes."""
    try:
        with StoreReader(out) as store:
            store.compare_identity(identity, allowed=allowed)
            seconds = {node: result.seconds for node, result in store.done().items()}
    except NoExperimentError:
        return {}, []
    return seconds, [path.stat().st_size for path in (out / "states").glob("*.pt")]


@dataclass
class _Trial:
    """Measured task trainings of one method.

    Attributes:
        seconds: by node, with everything that sequences share already computed.
        sizes: bytes of the states.
        first_time: seconds that a task costs in addition when it is trained for the first time.
        reason: why not all nodes were trained; empty if they were.
    """

    seconds: dict[Node, float]
    sizes: list[int]
    first_time: float = 0.0
    reason: str = ""


def _with_first_times(
    expected: Mapping[Node, float | None], first_times: Mapping[str, float]
) -> dict[Node, float | None]:
    """Add what each different task costs once to the expected seconds, spread evenly."""
    nodes: dict[str, list[Node]] = {}
    for node in expected:
        nodes.setdefault(node.method, []).append(node)
    added = {
        method: first_times.get(method, 0.0) * len({node.prefix[-1] for node in own}) / len(own)
        for method, own in nodes.items()
    }
    return {
        node: None if seconds is None else seconds + added[node.method]
        for node, seconds in expected.items()
    }


def _trial(context: WorkerContext, nodes: Sequence[Node], limit: float, *, share: bool) -> _Trial:
    """Train nodes twice in a process of its own, for at most `limit` seconds after its start.

    The second time, what sequences share (features, adapters) is there already.

    Raises:
        UsageError: the learner refused its settings, its network or its images.
    """
    import torch.multiprocessing

    spawn = torch.multiprocessing.get_context("spawn")
    with safe_path():
        queue: Any = spawn.Queue()
    durations: list[float] = []
    sizes: list[int] = []
    with tempfile.TemporaryDirectory(prefix="edgecil-") as folder:
        shared = folder if share else None
        context = replace(context, environment=replace(context.environment, shared=shared))
        work = (context, [*nodes, *nodes], queue, folder)
        process = spawn.Process(target=_train, args=work, daemon=True, name=WORKER)
        start_worker(process, context)
        reason = ""
        try:
            _receive(queue, process, _STARTUP)
            for _ in range(2 * len(nodes)):
                duration, size = _receive(queue, process, max(0.1, limit - sum(durations)))
                durations.append(duration)
                sizes.append(size)
        except Empty:
            reason = "the trial of a first task took too long"
        except _TrialError as error:
            durations, reason = [], str(error)
        finally:
            process.terminate()
            process.join()
    first, second = durations[: len(nodes)], durations[len(nodes) :]
    seconds = dict(zip(nodes, [*second, *first[len(second) :]], strict=False))
    extra = [max(0.0, cold - warm) for cold, warm in zip(first, second, strict=False)]
    return _Trial(seconds, sizes, sum(extra) / len(extra) if extra else 0.0, reason)


class _TrialError(Exception):
    """A trial failed; its message says why."""


def _receive(queue: Any, process: Any, limit: float) -> Any:
    """Return the next message of a trial.

    Raises:
        UsageError: the learner refused its settings, its network or its images.
        _TrialError: the training failed, or its process ended.
        Empty: no message came in `limit` seconds.
    """
    end = time.monotonic() + limit
    while True:
        ended = process.exitcode is not None  # asked first: its last message may be on the way
        with suppress(Empty):
            message = queue.get(timeout=max(0.1, min(1.0, end - time.monotonic())))
            break
        check_exit(process.exitcode)
        if ended:
            raise _TrialError(f"the trial's process ended with exit code {process.exitcode}")
        if time.monotonic() >= end:
            raise Empty
    if isinstance(message, UsageError):
        raise message
    if isinstance(message, str):
        raise _TrialError(f"the trial failed with {message}")
    return message


def _train(context: WorkerContext, nodes: list[Node], queue: Any, cache: str) -> None:
    """Send None when ready, then seconds and bytes of each node; an error is sent and ends it."""
    from edgecil.engine.node_training import train_node

    os.environ["EDGECIL_CACHE"] = cache
    forget_safe_path()
    try:
        context.prepare()
    except Exception as error:
        queue.put(error if isinstance(error, UsageError) else f"{type(error).__name__}: {error}")
        return
    queue.put(None)
    state: bytes | None = None
    for node in nodes:
        outcome, state = train_node(context, node, state if node.parent else None, keep=True)
        if outcome.result is None or state is None:
            line = outcome.error or "no state"
            refused = line.startswith(f"{UsageError.__name__}: ")
            queue.put(UsageError(line.partition(": ")[2]) if refused else line)
            return
        queue.put((outcome.result.seconds, len(state)))
