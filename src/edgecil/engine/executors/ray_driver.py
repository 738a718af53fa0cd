"""The process that is connected to a Ray cluster, and that Ray may end.

It is started by :class:`edgecil.engine.executors.ray.RayExecutor`, which survives its end. States
are passed as object references; this process writes those to keep.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import re
import shutil
import socket
import tempfile
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from edgecil.engine.executors import ray_worker
from edgecil.engine.executors.executor import Finished, Job
from edgecil.engine.handshake import describe_differences
from edgecil.engine.node_training import Outcome
from edgecil.engine.store import save_state
from edgecil.errors import EdgecilError, PrerequisiteError
from edgecil.io.device import kernel_variables
from edgecil.io.interpreter import outside_working_directory

PATIENCE = 300.0  # seconds: the deadline for everything but a training
_REACH = 5.0  # seconds to reach the head of a cluster
_LOOK = 5.0  # seconds between two looks at the head and the nodes


@dataclass(frozen=True)
class Request:
    """What one training uses.

    Attributes:
        threads: its processors.
        per_device: how many trainings share a GPU; None for training on processors.
    """

    threads: int
    per_device: int | None = None

    @property
    def options(self) -> dict[str, float]:
        """Options of a Ray task."""
        gpus = {} if self.per_device is None else {"num_gpus": 1 / self.per_device}
        return {"num_cpus": self.threads, **gpus}

    def slots(self, resources: Mapping[str, float]) -> int:
        """Return how many trainings fit on a node at the same time.

        >>> Request(2).slots({"CPU": 7.0}), Request(1, per_device=3).slots({"CPU": 8.0, "GPU": 2.0})
        (3, 6)
        """
        fitting = int(resources.get("CPU", 0.0) // self.threads)
        if self.per_device is None:
            return fitting
        return min(fitting, int(resources.get("GPU", 0.0)) * self.per_device)

    def check(self, offered: list[Mapping[str, float]]) -> None:
        """Raise an error if no node can ever run a training, which would wait forever."""
        most = max((resources.get("CPU", 0.0) for resources in offered), default=0.0)
        if most < self.threads:
            raise PrerequisiteError(
                f"No node of the Ray cluster has the {self.threads} processors of one worker; "
                f"the largest has {most:g}. Lower 'threads', or add a larger node."
            )
        if self.per_device is not None and not any(it.get("GPU", 0.0) >= 1 for it in offered):
            raise PrerequisiteError(
                "No node of the Ray cluster has a GPU; set 'device' to 'cpu', or add a node with "
                "one."
            )
        if not any(self.slots(resources) for resources in offered):
            raise PrerequisiteError(
                f"No node of the Ray cluster has both a GPU and the {self.threads} processors of "
                "one worker. Lower 'threads', or add such a node."
            )


def live_nodes(ray: Any) -> list[dict[str, Any]]:
    """Return the nodes of the cluster that this process is connected to."""
    return [node for node in ray.nodes() if node["Alive"]]


def can_grow(ray: Any) -> bool:
    """Return whether an autoscaler adds nodes to the cluster that this process is connected to.

    Ray has no public function for that. Both of its autoscalers report the type of each node, as
    the user has named it; without an autoscaler the type is `node_` and the node's id.
    """
    types: dict[str, str] = {}
    with suppress(Exception):  # such as no report yet, or another version of Ray
        from ray._private.ray_constants import DEBUG_AUTOSCALING_STATUS
        from ray.experimental.internal_kv import _internal_kv_get

        report = json.loads(_internal_kv_get(DEBUG_AUTOSCALING_STATUS))["autoscaler_report"]
        types |= report["node_type_mapping"]
    with suppress(Exception):
        from ray.autoscaler.v2.sdk import get_cluster_status

        status = get_cluster_status(ray.get_runtime_context().gcs_address)
        nodes = [*status.active_nodes, *status.idle_nodes]
        named = [node for node in nodes if not node.ray_node_type_name.startswith("node_")]
        types |= {node.node_id: node.ray_node_type_name for node in named}
    return any(name != f"node_{node}" for node, name in types.items())


class RayDriver:
    """Each job is a Ray task that uses as many processors as a worker has threads, or a GPU.

    This process need not have the GPU of the workers, whose type is asked for.

    Attributes:
        head: address of the head of the cluster.
        identity: the type of GPU.
        capacity: the number of jobs to submit, which follows the nodes that join and leave.

    Args:
        request: what one training uses.
        workers: number of jobs at a time; by default as many as the nodes of the cluster can run,
            and twice as many if it can grow: what waits makes an autoscaler add nodes.
        address: address of a cluster; None starts a private one on this machine.
        timeout: seconds that a job may take.
        folder: the folder of a private one.
    """

    def __init__(
        self,
        request: Request,
        workers: int | None,
        address: str | None,
        timeout: float | None = None,
        folder: Path | None = None,
    ) -> None:
        import ray

        self._ray = ray
        self._request, self._workers, self._timeout = request, workers, timeout
        self._directory = None if address else str(Path.cwd())  # also that of private workers
        self._folder = folder
        self._link: tempfile.TemporaryDirectory[str] | None = None
        self._running: dict[Any, tuple[Job, Any]] = {}
        self._states: dict[Path, Any] = {}
        with outside_working_directory():
            self._connect(address)
        try:
            self.head = str(ray.get_runtime_context().gcs_address)
            self._grows = can_grow(ray)
            self._possible = 0.0  # when a node could run a training
            self._looked = 0.0
            self.capacity = workers or 1
            self.look()
            self.identity = {} if request.per_device is None else {"gpu": self._ask_gpu()}
        except BaseException:
            self.close()
            raise
        self._train: Any = self._remote(num_returns=2, **request.options)(ray_worker.train)

    def _connect(self, address: str | None) -> None:
        """Connect this process to a cluster, or start a private one."""
        options: dict[str, Any] = {"address": address}
        if address is None:
            # The paths of sockets have at most 107 bytes: a link in a folder of this user is short.
            self._link = tempfile.TemporaryDirectory(prefix="edgecil-")
            link = Path(self._link.name, "ray")
            link.symlink_to(str(self._folder))
            options = {
                "address": "local",  # without it, Ray takes any cluster on this machine
                "num_cpus": (self._workers or 1) * self._request.threads,
                "include_dashboard": False,
                "_temp_dir": str(link / "files"),  # Ray opens it to everybody, the folder is not
            }
        try:
            self._ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
        except Exception as error:
            line = (str(error).strip() or type(error).__name__).splitlines()[0]
            where = f"reach a Ray cluster at {address}" if address else "start Ray on this machine"
            raise PrerequisiteError(f"Cannot {where}: {line}") from error

    def prepare(self, context: bytes, allow_mismatch: bool = False) -> None:
        """Send data and settings to the workers, and compare every node with this one.

        Args:
            context: the pickled :class:`~edgecil.engine.node_training.WorkerContext`.
            allow_mismatch: train also on nodes that differ.
        """
        self._context = self._ray.put(context)
        self._shake_hands(allow_mismatch=allow_mismatch)

    def submit(self, job: Job) -> None:
        """Send a job to the cluster."""
        parent = self._parent_state(job)
        arguments = [self._context], job.node, parent, bool(job.keep), self._timeout
        outcome, state = self._train.remote(*arguments, self._directory)
        self._running[outcome] = job, state

    def wait(self, seconds: float) -> Finished | None:
        """Return the next job to end; a state to keep is fetched and written to disk."""
        try:
            done, _ = self._ray.wait(list(self._running), num_returns=1, timeout=seconds)
        except self._ray.exceptions.RayError as error:
            raise ended(f"The Ray cluster failed: {str(error).splitlines()[0]}") from error
        if done:
            return self._collect(done[0])
        if time.monotonic() - self._looked > _LOOK:
            self.look()
        return None

    def _collect(self, done: Any) -> Finished:
        job, state = self._running.pop(done)
        try:
            outcome: Outcome = self._ray.get(done, timeout=PATIENCE)
            if job.keep is not None and outcome.result is not None:
                save_state(job.keep, self._ray.get(state, timeout=PATIENCE))
                self._states[job.keep] = state
        except self._ray.exceptions.RayError as error:
            self.look()  # the end of the head would be the cause
            line = str(error).splitlines()[0]
            outcome = Outcome(error=f"{type(error).__name__}: {line}", trace=str(error))
        return Finished(job, outcome)

    def look(self) -> None:
        """Raise an error if the head has ended, or no node can run what is asked; count slots."""
        now = self._looked = time.monotonic()
        if unreachable(self.head) is not None:
            raise ended(f"The head of the Ray cluster at {self.head} has ended")
        offered = [node["Resources"] for node in live_nodes(self._ray)]
        slots = sum(self._request.slots(resources) for resources in offered)
        if self._workers is None:
            self.capacity = max(1, 2 * slots if self._grows else slots)
        if slots or self._grows:
            self._possible = now
        elif not self._possible:
            self._request.check(offered)
        elif now - self._possible > PATIENCE:  # the nodes that could have left
            try:
                self._request.check(offered)
            except PrerequisiteError as error:
                raise ended(str(error).rstrip(".")) from error

    def close(self) -> None:
        """Cancel running jobs; a cluster that existed before keeps running."""
        if self._ray.is_initialized():  # else any further call would start a new cluster
            with suppress(Exception):
                for reference in self._running:
                    self._ray.cancel(reference, force=True)
            self._ray.shutdown()
        if self._link is not None:
            self._link.cleanup()
        remove_folder(self._folder)

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
        try:
            name: str | None = self._ray.get(answer, timeout=PATIENCE)
        except exceptions.GetTimeoutError as error:
            raise ended(f"No GPU of the Ray cluster became free within {PATIENCE:g} s") from error
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
        end = time.monotonic() + PATIENCE
        for answer in answers:
            try:
                left = max(0.0, end - time.monotonic())
                greetings.append(self._ray.get(answer, timeout=left))
            except lost:  # the node has left the cluster in the meantime
                continue
            except exceptions.GetTimeoutError as error:
                raise PrerequisiteError(
                    f"A node of the Ray cluster did not answer within {PATIENCE:g} s; remove it "
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


def serve(requests: IO[bytes]) -> None:
    """Answer the requests of the process that started this one; end with it.

    Each request is the name of a method of :class:`RayDriver` and its arguments; `connect` stands
    for its constructor. An answer is its value with the number of jobs to submit, or the error.
    """
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what Ray prints must not be taken for an answer
    driver: Any = None
    name = ""
    while name != "close":
        try:
            name, arguments = pickle.load(requests)
        except (EOFError, pickle.UnpicklingError):  # the process that asks was killed
            name, arguments = "close", ()
        try:
            if name == "connect":
                driver = RayDriver(*arguments)
                value: Any = (driver.head, driver.identity)
            else:
                value = None if driver is None else getattr(driver, name)(*arguments)
            answer: Any = ("value", (value, driver and driver.capacity))
        except Exception as error:
            if not isinstance(error, EdgecilError):  # which perhaps cannot be pickled
                error = RuntimeError(f"{type(error).__name__}: {error}")
            answer = ("error", (error, traceback.format_exc()))
        with suppress(OSError):
            pickle.dump(answer, replies)
            replies.flush()
    os._exit(0)  # at once: threads of Ray may wait


def remove_folder(folder: Path | None) -> None:
    """Remove the folder of a private Ray, and the experiment directory if it is empty."""
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            folder.parent.rmdir()


def ended(what: str) -> EdgecilError:
    """Return the error for a cluster that can no longer be used, with the way to resume."""
    return EdgecilError(
        f"{what}. Finished results are stored; run the experiment again with the same options to "
        "resume."
    )


def unreachable(address: str) -> str | None:
    """Return why an address does not answer; None if it does or has no port."""
    match = re.fullmatch(r"(?:ray://)?\[?([^/]+?)\]?:(\d{1,5})", address)
    if match is None:
        return None
    try:
        socket.create_connection((match[1], int(match[2])), timeout=_REACH).close()
    except (OSError, OverflowError) as error:
        return str(getattr(error, "strerror", None) or error)
    return None


def _unusable(error: Exception) -> PrerequisiteError:
    line = str(error).strip().splitlines()[-1]
    return PrerequisiteError(
        f"A node of the Ray cluster cannot train ({line}); install the same versions of edgecil "
        "and torch on every node."
    )
