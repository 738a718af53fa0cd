"""Training on a Ray cluster: states are passed as object references, this process writes."""

from __future__ import annotations

import itertools
import logging
import os
import platform
import re
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from edgecil.backbones.pretrained import is_pretrained, weight_contents
from edgecil.engine.executors.executor import Finished, Job
from edgecil.engine.handshake import describe_differences, expected_identity
from edgecil.engine.node_training import Outcome, WorkerContext, train_node
from edgecil.engine.plan import Node
from edgecil.engine.store import save_state
from edgecil.errors import EdgecilError, PrerequisiteError
from edgecil.io.device import kernel_variables

HEARTBEAT = 2.0  # seconds between two signs of life of a job
LOST_AFTER = 60.0  # seconds without a sign of life after which a job is given up
WAITING_AFTER = 30.0  # seconds after which a job that no node has started is worth a warning
_REACH = 5.0  # seconds to reach the head of a cluster
_HANDSHAKE = 300.0  # seconds for all nodes to load the images and weights
_TICK = 1.0
ATTEMPTS = {"RAY_gcs_server_port_wait_time_s": "2"}  # to reach the head; 20 by default

_log = logging.getLogger(__name__)


class RayExecutor:
    """Each job is a Ray task that uses as many processors as a worker has threads.

    Args:
        context: data and settings for the workers.
        workers: number of jobs at a time.
        address: address of a cluster; None starts a private one on this machine.
        timeout: seconds that a job may take.
        per_device: number of jobs that share a GPU.
    """

    def __init__(
        self,
        context: WorkerContext,
        workers: int,
        address: str | None,
        *,
        timeout: float | None = None,
        per_device: int = 1,
    ) -> None:
        try:
            import ray
        except ModuleNotFoundError as error:
            raise PrerequisiteError(
                "The executor 'ray' requires Ray: run pip install 'edgecil[ray]', or use the "
                "executor 'local'."
            ) from error
        self._ray = ray
        self.capacity = workers
        self._timeout = timeout
        self._owner = not ray.is_initialized()
        if self._owner:
            _connect(ray, address, None if address else workers * context.threads)
        try:
            self._resources: dict[str, float] = {"num_cpus": context.threads}
            if context.environment.device.startswith("cuda"):
                self._resources["num_gpus"] = 1 / per_device
            self._check_resources(context)
            context = _portable(context)
            self._context = ray.put(context)
            self._pulse: Any = ray.remote(num_cpus=0)(_Pulse).remote()
            self._shake_hands(context)
        except BaseException:
            self.close()
            raise
        self._train: Any = self._remote(num_returns=2, **self._resources)(_train)
        self._numbers = itertools.count()
        self._running: dict[Any, _Sent] = {}
        self._states: dict[Path, Any] = {}
        self._head = _Head(ray)

    def submit(self, job: Job) -> None:
        """Send a job to the cluster."""
        number = next(self._numbers)
        outcome, state = self._train.remote(
            [self._context, self._pulse], number, job.node, self._parent_state(job), bool(job.keep)
        )
        self._running[outcome] = _Sent(job, state, number)

    def wait(self, seconds: float | None = None) -> Finished | None:
        """Return the next job to end; a state to keep is fetched and written to disk."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while True:
            tick = _TICK if deadline is None else max(0.0, min(_TICK, deadline - time.monotonic()))
            with self._losing_the_cluster():
                done, _ = self._ray.wait(list(self._running), num_returns=1, timeout=tick)
            if done:
                return self._collect(done[0])
            self._head.check()
            lost = self._check_pulse()
            if lost is not None:
                return lost
            if deadline is not None and time.monotonic() >= deadline:
                return None

    def _collect(self, done: Any) -> Finished:
        sent = self._running.pop(done)
        job = sent.job
        try:
            outcome: Outcome = self._ray.get(done, timeout=LOST_AFTER)
            if job.keep is not None and outcome.result is not None:
                save_state(job.keep, self._ray.get(sent.state, timeout=LOST_AFTER))
                self._states[job.keep] = sent.state
        except self._ray.exceptions.RayError as error:
            self._head.check()
            line = str(error).splitlines()[0]
            outcome = Outcome(error=f"{type(error).__name__}: {line}", trace=str(error))
        return Finished(job, outcome)

    def _check_pulse(self) -> Finished | None:
        """Return the first running job that is lost or overdue, as a failure."""
        now = time.monotonic()
        if now - self._head.asked < HEARTBEAT:
            return None
        self._head.asked = now
        try:
            beats: dict[int, _Beat] = self._ray.get(self._pulse.read.remote(), timeout=_REACH)
        except self._ray.exceptions.RayError:
            return None  # the head is checked separately
        for reference, sent in list(self._running.items()):
            message = sent.problem(beats.get(sent.number), now, self._timeout)
            if message is None:
                continue
            del self._running[reference]
            self._kill(reference, beats[sent.number])
            return Finished(sent.job, Outcome(error=message, trace=message))
        return None

    def _kill(self, reference: Any, beat: _Beat) -> None:
        """End the process of a job, even if it is stopped, so that its resources become free."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        with suppress(Exception):
            self._ray.cancel(reference, force=True)
            place = NodeAffinitySchedulingStrategy(beat.node, soft=False)
            kill = self._ray.remote(num_cpus=0, max_retries=0, scheduling_strategy=place)(_kill)
            self._ray.get(kill.remote(beat.pid), timeout=_REACH)

    def close(self) -> None:
        """Cancel running jobs; a cluster that existed before keeps running."""
        running = getattr(self, "_running", {})
        with suppress(Exception):
            while running:
                self._ray.cancel(running.popitem()[0], force=True)
            self._ray.kill(self._pulse)
        if self._owner:
            self._ray.shutdown()
            self._owner = False

    def _parent_state(self, job: Job) -> Any:
        """Return a reference to the parent's state, from the cluster's memory or from its file.

        References to states whose file has been deleted are released.
        """
        self._states = {path: state for path, state in self._states.items() if path.exists()}
        if job.parent is None:
            return None
        if job.parent not in self._states:
            content = job.parent.read_bytes() if job.parent.exists() else b""
            self._states[job.parent] = self._ray.put(content)
        return self._states[job.parent]

    def _remote(self, **options: Any) -> Any:
        """Return a decorator for functions of workers, whose kernels are those of this process."""
        variables = {"env_vars": kernel_variables()}
        return self._ray.remote(max_retries=0, runtime_env=variables, **options)

    def _nodes(self) -> list[dict[str, Any]]:
        return [node for node in self._ray.nodes() if node["Alive"]]

    def _check_resources(self, context: WorkerContext) -> None:
        """Raise an error if no node can ever run a job, which would wait forever."""
        offered = [node["Resources"] for node in self._nodes()]
        most = max((resources.get("CPU", 0.0) for resources in offered), default=0.0)
        if most < context.threads:
            raise PrerequisiteError(
                f"No node of the Ray cluster has the {context.threads} processors of one worker; "
                f"the largest has {most:g}. Lower 'threads', or add a larger node."
            )
        if "num_gpus" in self._resources and not any(it.get("GPU", 0.0) > 0 for it in offered):
            raise PrerequisiteError(
                "No node of the Ray cluster has a GPU; set 'device' to 'cpu', or add a node with "
                "one."
            )

    def _shake_hands(self, context: WorkerContext) -> None:
        """Compare every node with this process before anything is trained."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        usable = [
            node["NodeID"]
            for node in self._nodes()
            if all(
                node["Resources"].get(name, 0.0) >= self._resources.get(option, 0.0)
                for name, option in (("CPU", "num_cpus"), ("GPU", "num_gpus"))
            )
        ]
        answers = []
        for node in usable:
            place = NodeAffinitySchedulingStrategy(node, soft=False)
            greet = self._remote(num_cpus=0, scheduling_strategy=place)(_greet)
            answers.append(greet.remote([self._context]))
        exceptions = self._ray.exceptions
        lost = exceptions.TaskUnschedulableError, exceptions.NodeDiedError
        greetings = []
        for answer in answers:
            try:
                greetings.append(self._ray.get(answer, timeout=_HANDSHAKE))
            except lost:  # the node has left the cluster in the meantime
                continue
            except exceptions.GetTimeoutError as error:
                raise PrerequisiteError(
                    f"A node of the Ray cluster did not answer within {_HANDSHAKE:g} s; remove it "
                    "from the cluster, or start it again."
                ) from error
            except exceptions.RayError as error:
                line = str(error).strip().splitlines()[-1]
                raise PrerequisiteError(
                    f"A node of the Ray cluster cannot train ({line}); install the same versions "
                    "of edgecil and torch on every node."
                ) from error
        unequal = {host: differences for host, differences in greetings if differences}
        if unequal and not context.allow_mismatch:
            hosts = "; ".join(
                f"on {host}, {describe_differences(differences)}"
                for host, differences in unequal.items()
            )
            raise PrerequisiteError(
                f"{len(unequal)} of {len(greetings)} nodes would give other results: {hosts}. Make "
                "them equal, or set 'allow_mismatch' to train there too, which is recorded with "
                "each result."
            )

    @contextmanager
    def _losing_the_cluster(self) -> Iterator[None]:
        try:
            yield
        except self._ray.exceptions.RayError as error:
            self._head.check()
            raise EdgecilError(
                f"The Ray cluster failed: {str(error).splitlines()[0]} Finished results are "
                "stored; run the experiment again with the same options to resume."
            ) from error


@dataclass
class _Sent:
    """A job in the cluster.

    Attributes:
        job: the job.
        state: reference to its state.
        number: its number in the heartbeats.
    """

    job: Job
    state: Any
    number: int
    submitted: float = 0.0
    begun: float | None = None
    heard: float = 0.0
    last: int = -1
    warned: bool = False

    def problem(self, beat: _Beat | None, now: float, timeout: float | None) -> str | None:
        """Return why the job must be given up; None if it goes on."""
        if beat is None:
            self.submitted = self.submitted or now
            if not self.warned and now - self.submitted > WAITING_AFTER:
                self.warned = True
                _log.warning(
                    "A training has waited %g s for free processors of the Ray cluster.",
                    WAITING_AFTER,
                )
            return None
        if self.begun is None:
            self.begun = now
        if beat.count != self.last:
            self.last, self.heard = beat.count, now
        if timeout is not None and now - self.begun > timeout:
            return f"The training was stopped after {timeout:g} s."
        if now - self.heard > LOST_AFTER:
            return f"The worker on {beat.host} did not respond for {LOST_AFTER:g} s."
        return None


class _Head:
    """The head of the cluster, whose end must not leave this process waiting."""

    def __init__(self, ray: Any) -> None:
        self.address = str(ray.get_runtime_context().gcs_address)
        self.asked = time.monotonic()
        self._failures = 0
        self._checked = 0.0

    def check(self) -> None:
        """Raise an error if the head cannot be reached twice in a row."""
        if self._failures == 0 and time.monotonic() - self._checked < _REACH:
            return
        self._checked = time.monotonic()
        self._failures = 0 if _unreachable(self.address) is None else self._failures + 1
        if self._failures >= 2:
            raise EdgecilError(
                f"The head of the Ray cluster at {self.address} has ended. Finished results are "
                "stored; start the cluster and run the experiment again with the same options to "
                "resume."
            )


def _connect(ray: Any, address: str | None, processors: int | None) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address is not None and (problem := _unreachable(address)) is not None:
        raise PrerequisiteError(
            f"Cannot reach a Ray cluster at {address}: {problem}; start one with 'ray start "
            "--head', or give its address."
        )
    attempts = ATTEMPTS if address else {}
    with tempfile.TemporaryFile() as log:
        try:
            with _environment(attempts), _stderr_to(log):
                ray.init(
                    address=address,
                    num_cpus=processors,
                    include_dashboard=None if address else False,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                )
            return
        except Exception as exception:
            error = exception
        log.seek(0)
        refused = re.findall(rb"Unauthenticated: (?:RPC error: )?([^\n]+)", log.read())
    line = (str(error).strip() or type(error).__name__).splitlines()[0]
    if refused:
        line = refused[-1].decode("utf-8", "replace")
    if refused or re.search(
        r"auth|token|password|credential|permission", str(error), re.IGNORECASE
    ):
        raise PrerequisiteError(
            f"The Ray cluster at {address} refused this process: {line.rstrip('.')}. Set "
            "RAY_AUTH_MODE and RAY_AUTH_TOKEN as for the cluster."
        ) from error
    raise PrerequisiteError(
        f"Cannot reach a Ray cluster at {address or 'this machine'}: {line}"
    ) from error


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables that are not set, and remove them at the end."""
    new = {name: value for name, value in variables.items() if name not in os.environ}
    os.environ.update(new)
    try:
        yield
    finally:
        for name in new:
            del os.environ[name]


@contextmanager
def _stderr_to(file: IO[bytes]) -> Iterator[None]:
    """Write what this process writes to its standard error, Ray's own log included, to a file."""
    sys.stderr.flush()
    before = os.dup(2)
    os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(before, 2)
        os.close(before)


def _unreachable(address: str) -> str | None:
    """Return why an address does not answer; None if it does or has no port."""
    match = re.fullmatch(r"(?:ray://)?\[?([^/]+?)\]?:(\d{1,5})", address)
    if match is None:
        return None
    try:
        socket.create_connection((match[1], int(match[2])), timeout=_REACH).close()
    except (OSError, OverflowError) as error:
        return str(getattr(error, "strerror", None) or error)
    return None


def _portable(context: WorkerContext) -> WorkerContext:
    """Return the context with everything that other machines may lack, and what they must equal."""
    environment = context.environment
    names = dict.fromkeys((environment.backbone, environment.pretrained))
    weights = {name: weight_contents(name) for name in names if is_pretrained(name)}
    return replace(
        context,
        weights={name: files for name, files in weights.items() if files},
        expected=expected_identity(environment, context.scenario),
    )


@dataclass(frozen=True)
class _Beat:
    """The last sign of life of a job."""

    count: int
    host: str
    node: str
    pid: int


class _Pulse:
    """An actor that receives the signs of life of all jobs."""

    def __init__(self) -> None:
        self._beats: dict[int, _Beat] = {}

    def beat(self, number: int, beat: _Beat) -> None:
        """Note that a job is alive."""
        self._beats[number] = beat

    def read(self) -> dict[int, _Beat]:
        """Return the last sign of life of each job."""
        return self._beats


_contexts: dict[Any, WorkerContext] = {}


def _fetch(reference: Any) -> WorkerContext:
    """Return the context in a Ray worker, which fetches it once."""
    import ray

    if reference not in _contexts:
        _contexts.clear()
        _contexts[reference] = ray.get(reference)
    context = _contexts[reference]
    context.prepare()
    return context


def _greet(references: list[Any]) -> tuple[str, dict[str, str]]:
    """Return the name of the node, and in what a worker on it differs from the driver."""
    return platform.node(), _fetch(references[0]).unequal


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        # Windows has no SIGKILL; there SIGTERM ends a process at once.
        os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))


def _train(
    references: list[Any], number: int, node: Node, parent: bytes | None, keep: bool
) -> tuple[Outcome, bytes | None]:
    """Train a node in a Ray worker, with a sign of life every few seconds."""
    import ray

    reference, pulse = references
    identifier, ended = ray.get_runtime_context().get_node_id(), threading.Event()

    def beat() -> None:
        for count in itertools.count():
            with suppress(Exception):
                message = _Beat(count, platform.node(), identifier, os.getpid())
                pulse.beat.remote(number, message)
            if ended.wait(HEARTBEAT):
                return

    context = _fetch(reference)
    threading.Thread(target=beat, daemon=True).start()
    try:
        return train_node(context, node, parent, keep=keep)
    finally:
        ended.set()
