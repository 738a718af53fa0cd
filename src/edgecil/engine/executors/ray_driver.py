"""The Ray driver: the process that is connected to a Ray cluster, and that Ray may end.

It is started by :class:`edgecil.engine.executors.ray.RayExecutor`, which survives its end and gets
its answers from :mod:`edgecil.engine.executors.ray_server`. States are passed as object
references; this process writes those to keep.
"""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgecil.engine.executors import ray_worker
from edgecil.engine.executors.executor import Finished, Job
from edgecil.engine.executors.ray_cluster import (
    HANDSHAKE,
    QUEUED,
    REACH,
    Request,
    can_grow,
    connect,
    live_nodes,
)
from edgecil.engine.executors.ray_worker import HEARTBEAT, Beat
from edgecil.engine.handshake import describe_differences
from edgecil.engine.node_training import Outcome
from edgecil.engine.store import save_state
from edgecil.errors import EdgecilError, PrerequisiteError
from edgecil.io.device import kernel_variables
from edgecil.io.interpreter import outside_working_directory

LOST_AFTER = 60.0  # seconds without a sign of life after which a job is given up
WAITING_AFTER = 30.0  # seconds after which a job that no node has started is worth a warning
_TICK = 1.0
_COUNTED = 5.0  # seconds between two counts of the nodes

_log = logging.getLogger(__name__)


class RayDriver:
    """Each job is a Ray task that uses as many processors as a worker has threads, or a GPU.

    This process need not have the GPU of the workers, whose type is asked for.

    Attributes:
        head: address of the head of the cluster.
        identity: the type of GPU.

    Args:
        request: what one training uses.
        workers: number of jobs at a time; by default as many as the nodes of the cluster can run,
            and twice as many if it can grow: what waits makes an autoscaler add nodes.
        address: address of a cluster; None starts a private one on this machine.
        timeout: seconds that a job may take.
    """

    def __init__(
        self,
        request: Request,
        workers: int | None,
        address: str | None,
        timeout: float | None = None,
    ) -> None:
        import ray

        self._ray = ray
        self._request, self._workers, self._timeout = request, workers, timeout
        self._directory = None if address else str(Path.cwd())  # also that of private workers
        with outside_working_directory():
            connect(ray, address, None if address else (workers or 1) * request.threads)
        try:
            self.head = str(ray.get_runtime_context().gcs_address)
            self._grows = can_grow(ray)
            if not self._grows:
                self._request.check([node["Resources"] for node in live_nodes(ray)])
            self._capacity, self._counted = 1, 0.0
            self.identity = {} if request.per_device is None else {"gpu": self._ask_gpu()}
        except BaseException:
            self.close()
            raise
        self._train: Any = self._remote(num_returns=2, **request.options)(ray_worker.train)
        self._numbers = itertools.count()
        self._running: dict[Any, _Sent] = {}
        self._states: dict[Path, Any] = {}
        self._asked = time.monotonic()

    def prepare(self, context: bytes, allow_mismatch: bool = False) -> None:
        """Send data and settings to the workers, and compare every node with this one.

        Args:
            context: the pickled :class:`~edgecil.engine.node_training.WorkerContext`.
            allow_mismatch: train also on nodes that differ.
        """
        self._context = self._ray.put(context)
        self._pulse = self._start_pulse()
        self._shake_hands(allow_mismatch=allow_mismatch)
        self._alive = time.monotonic()

    def _start_pulse(self) -> Any:
        """Start the actor of the heartbeats on this process's own node, which cannot be lost."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = self._ray.get_runtime_context().get_node_id()
        place = NodeAffinitySchedulingStrategy(here, soft=True)
        actor = self._ray.remote(num_cpus=0, max_restarts=-1, scheduling_strategy=place)(
            ray_worker.Pulse
        )
        return actor.remote()

    @property
    def capacity(self) -> int:
        """The number of jobs to submit, which follows the nodes that join and leave."""
        if self._workers is not None:
            return self._workers
        now = time.monotonic()
        if now - self._counted > _COUNTED:
            self._counted = now
            slots = sum(self._request.slots(node["Resources"]) for node in live_nodes(self._ray))
            self._capacity = max(1, 2 * slots if self._grows else slots)
        return self._capacity

    def submit(self, job: Job) -> None:
        """Send a job to the cluster."""
        number = next(self._numbers)
        outcome, state = self._train.remote(
            [self._context, self._pulse],
            number,
            job.node,
            self._parent_state(job),
            bool(job.keep),
            self._directory,
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
            lost = self._check_pulse()
            if lost is not None:
                return lost
            if deadline is not None and time.monotonic() >= deadline:
                return None

    def _collect(self, done: Any) -> Finished:
        sent = self._running.pop(done)
        self._alive = time.monotonic()
        job = sent.job
        try:
            outcome: Outcome = self._ray.get(done, timeout=LOST_AFTER)
            if job.keep is not None and outcome.result is not None:
                save_state(job.keep, self._ray.get(sent.state, timeout=LOST_AFTER))
                self._states[job.keep] = sent.state
        except self._ray.exceptions.RayError as error:
            line = str(error).splitlines()[0]
            outcome = Outcome(error=f"{type(error).__name__}: {line}", trace=str(error))
        return Finished(job, outcome)

    def _check_pulse(self) -> Finished | None:
        """Return the first running job that is lost or overdue, as a failure."""
        now = time.monotonic()
        if now - self._asked < HEARTBEAT:
            return None
        self._asked = now
        try:
            beats: dict[int, Beat] = self._ray.get(self._pulse.read.remote(), timeout=REACH)
        except self._ray.exceptions.RayError:  # the executor watches the head
            self._check_progress({}, now)
            return None
        self._check_progress(beats, now)
        for reference, sent in list(self._running.items()):
            message = sent.problem(beats.get(sent.number), now, self._timeout)
            if sent.waits and not self._grows:
                self._check_nodes()
            if message is None:
                continue
            del self._running[reference]
            self._kill(reference, beats[sent.number])
            return Finished(sent.job, Outcome(error=message, trace=message))
        return None

    def _check_progress(self, beats: dict[int, Beat], now: float) -> None:
        """Raise an error if no job has given a sign of life for too long; perhaps all wait."""
        if any(sent.number in beats for sent in self._running.values()):
            self._alive = now  # a job that falls silent later is given up by itself
        if now - self._alive > QUEUED:
            raise EdgecilError(
                f"No training has given a sign of life for {QUEUED:g} s: the Ray cluster is busy, "
                "or its workers do not start. Finished results are stored; run the experiment "
                "again with the same options to resume."
            )

    def _check_nodes(self) -> None:
        """Raise an error if the nodes that could run a waiting job have left the cluster."""
        try:
            self._request.check([node["Resources"] for node in live_nodes(self._ray)])
        except PrerequisiteError as error:
            raise PrerequisiteError(
                f"{error} Finished results are stored; run the experiment again with the same "
                "options to resume."
            ) from error

    def _kill(self, reference: Any, beat: Beat) -> None:
        """End the process of a job, even if it is stopped, so that its resources become free."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        with suppress(Exception):
            self._ray.cancel(reference, force=True)
            place = NodeAffinitySchedulingStrategy(beat.node, soft=False)
            kill = self._ray.remote(num_cpus=0, max_retries=0, scheduling_strategy=place)(
                ray_worker.kill
            )
            self._ray.get(kill.remote(beat.pid), timeout=REACH)

    def close(self) -> None:
        """Cancel running jobs; a cluster that existed before keeps running."""
        if not self._ray.is_initialized():
            return  # any further call would start a new cluster on this machine
        with suppress(Exception):
            for reference in getattr(self, "_running", {}):
                self._ray.cancel(reference, force=True)
            self._ray.kill(self._pulse)
        self._ray.shutdown()

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

    def _ask_gpu(self) -> str:
        """Return the type of the first GPU that is free; all others must equal it."""
        answer = self._remote(**self._request.options)(ray_worker.gpu_type).remote()
        exceptions = self._ray.exceptions
        if not self._ray.wait([answer], timeout=WAITING_AFTER)[0]:
            _log.warning("Waiting for a free GPU of the Ray cluster.")
        try:
            name: str | None = self._ray.get(answer, timeout=QUEUED)
        except exceptions.GetTimeoutError as error:
            raise PrerequisiteError(
                f"No GPU of the Ray cluster became free within {QUEUED:g} s. Finished results are "
                "stored; run the experiment again with the same options to resume."
            ) from error
        except exceptions.RayError as error:
            raise _unusable(error) from error
        if name is None:
            raise PrerequisiteError(
                "A node of the Ray cluster offers a GPU that torch cannot use; install torch with "
                "CUDA there, or set 'device' to 'cpu'."
            )
        return name

    def _shake_hands(self, *, allow_mismatch: bool) -> None:
        """Compare every node with this process before anything is trained."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        usable = [
            node["NodeID"]
            for node in live_nodes(self._ray)
            if self._request.slots(node["Resources"])
        ]
        answers = []
        for node in usable:
            place = NodeAffinitySchedulingStrategy(node, soft=False)
            greet = self._remote(num_cpus=0, scheduling_strategy=place)(ray_worker.greet)
            answers.append(greet.remote([self._context]))
        exceptions = self._ray.exceptions
        lost = exceptions.TaskUnschedulableError, exceptions.NodeDiedError
        greetings = []
        end = time.monotonic() + HANDSHAKE
        for answer in answers:
            try:
                left = max(0.0, end - time.monotonic())
                greetings.append(self._ray.get(answer, timeout=left))
            except lost:  # the node has left the cluster in the meantime
                continue
            except exceptions.GetTimeoutError as error:
                raise PrerequisiteError(
                    f"A node of the Ray cluster did not answer within {HANDSHAKE:g} s; remove it "
                    "from the cluster, or start it again."
                ) from error
            except exceptions.RayError as error:
                raise _unusable(error) from error
        unequal = {host: differences for host, differences in greetings if differences}
        if unequal and not allow_mismatch:
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
    waits: bool = False

    def problem(self, beat: Beat | None, now: float, timeout: float | None) -> str | None:
        """Return why the job must be given up; None if it goes on."""
        if beat is None:
            self.submitted = self.submitted or now
            if not self.waits and now - self.submitted > WAITING_AFTER:
                self.waits = True
                _log.warning(
                    "A training has waited %g s for free processors of the Ray cluster.",
                    WAITING_AFTER,
                )
            return None
        self.waits = False
        if self.begun is None and beat.trains:
            self.begun = now
        if beat.count != self.last:
            self.last, self.heard = beat.count, now
        if timeout is not None and self.begun is not None and now - self.begun > timeout:
            return f"The training was stopped after {timeout:g} s."
        if now - self.heard > LOST_AFTER:
            return f"The worker on {beat.host} did not respond for {LOST_AFTER:g} s."
        return None


def _unusable(error: Exception) -> PrerequisiteError:
    line = str(error).strip().splitlines()[-1]
    return PrerequisiteError(
        f"A node of the Ray cluster cannot train ({line}); install the same versions of edgecil "
        "and torch on every node."
    )
