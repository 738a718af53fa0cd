"""Training on a Ray cluster, or on a private Ray on this machine.

Ray ends every process that is connected to a cluster whose local node has ended. So a process of
its own is connected (:class:`RayDriver`), and the one that stores results (:class:`RayExecutor`)
says how it ended. States are passed as object references; the driver writes those to keep.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
import platform
import re
import secrets
import shutil
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from edgecil.backbones.pretrained import is_pretrained, weight_contents
from edgecil.engine.executors.executor import Finished, Job
from edgecil.engine.handshake import describe_differences, expected_identity
from edgecil.engine.main_guard import hidden_script
from edgecil.engine.node_training import (
    Outcome,
    State,
    TooLongError,
    WorkerContext,
    at_most,
    train_node,
)
from edgecil.engine.plan import Node
from edgecil.engine.store import save_state
from edgecil.errors import EdgecilError, PrerequisiteError
from edgecil.io.device import cores, kernel_variables
from edgecil.io.files import replace_file
from edgecil.io.interpreter import outside_working_directory, safe_path

PATIENCE = 60.0  # seconds: the deadline for everything but a training and the first answers
_STARTUP = 300.0  # seconds for the first answers: workers import torch before
_TICK = 1.0
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


class RayExecutor:
    """Sends jobs to a :class:`RayDriver` in a process of its own.

    Attributes:
        capacity: the number of jobs to submit, which follows the nodes that join and leave.
        identity: the type of GPU.

    Without an address, a private Ray is started, or the one that this process is connected to used.
    """

    def __init__(
        self,
        context: WorkerContext,
        workers: int | None,
        address: str | None,
        *,
        timeout: float | None = None,
        per_device: int = 1,
        folder: Path,
    ) -> None:
        if find_spec("ray") is None:
            raise PrerequisiteError(
                "The executor 'ray' requires Ray: run pip install 'edgecil[ray]', or use the "
                "executor 'local'."
            )
        address = address or _connected()
        self._private = None
        variables = {"RAY_USAGE_STATS_ENABLED": "0"}
        if address is None:
            workers = workers or max(1, cores() // context.threads)
            self._private = _make_private_folder(folder)
            variables |= private_variables(self._private)
        elif (problem := unreachable(address)) is not None:
            raise PrerequisiteError(
                f"Cannot reach a Ray cluster at {address}: {problem}; start one with 'ray start "
                "--head', or give its address."
            )
        self.capacity = workers or 1
        self._head = address
        self._log = tempfile.NamedTemporaryFile(prefix="edgecil-")  # noqa: SIM115 (of Ray)
        spawning = multiprocessing.get_context("spawn")
        self._connection, other = spawning.Pipe()
        self._process: Any = spawning.Process(
            target=_serve, args=(other, variables, self._log.name), daemon=True
        )
        with safe_path(), hidden_script():
            self._process.start()
        other.close()
        on_gpus = context.environment.device.startswith("cuda")
        request = Request(context.threads, per_device if on_gpus else None)
        try:
            arguments = (request, workers, address, timeout, self._private)
            self._head, self.identity = self._call("connect", *arguments)
            self._call("prepare", pickled(context, self.identity), context.allow_mismatch)
        except BaseException as error:
            refused = self._refusal() if isinstance(error, EdgecilError) else None
            self.close()
            if refused is None:
                raise
            raise PrerequisiteError(
                f"The Ray cluster at {address} refused this process: {refused}. Set RAY_AUTH_MODE "
                "and RAY_AUTH_TOKEN as for the cluster."
            ) from error

    def submit(self, job: Job) -> None:
        """Send a job to the cluster."""
        self._call("submit", job)

    def wait(self, seconds: float | None = None) -> Finished | None:
        """Return the next job to end; a state to keep is on disk."""
        deadline = None if seconds is None else time.monotonic() + seconds
        before = self.capacity
        while True:
            left = _TICK if deadline is None else max(0.0, deadline - time.monotonic())
            finished: Finished | None = self._call("wait", min(_TICK, left))
            if finished is not None or self.capacity > before:  # a node has joined
                return finished
            if deadline is not None and time.monotonic() >= deadline:
                return None

    def close(self) -> None:
        """Cancel running jobs; a cluster that existed before keeps running."""
        with suppress(OSError, ValueError):
            self._connection.send(("close", ()))
        self._process.join(15.0)
        self._process.kill()
        self._process.join()
        self._connection.close()
        self._log.close()
        _remove_folder(self._private)

    def _call(self, name: str, *arguments: Any) -> Any:
        """Return what a method of the driver returns; raise an error if the cluster has ended."""
        try:
            self._connection.send((name, arguments))
            if not self._connection.poll(2 * _STARTUP):  # the driver keeps its own deadlines
                raise _ended(f"{self._cluster} did not respond for {2 * _STARTUP:g} s")
            error, value, self.capacity, trace = self._connection.recv()
        except (OSError, EOFError):
            time.sleep(_TICK)  # the head may end a little later
            if self._head is not None and unreachable(self._head) is not None:
                raise _ended(f"The head of the Ray cluster at {self._head} has ended") from None
            raise _ended(f"{self._cluster} ended the process connected to it") from None
        if error is not None:
            raise error from RuntimeError(trace)
        return value

    @property
    def _cluster(self) -> str:
        return "The private Ray" if self._private else f"The Ray cluster at {self._head}"

    def _refusal(self) -> str | None:
        """Return why the cluster refused this process, which Ray only logs."""
        text = Path(self._log.name).read_text(encoding="utf-8", errors="replace")
        lines = re.findall(r"Unauthenticated: (?:RPC error: )?([^\n]+)", text)
        return lines[-1].rstrip(".") if lines else None


def _serve(connection: Connection, variables: Mapping[str, str], log: str) -> None:
    """Answer the requests of the process that started this one; end with it.

    Each request is the name of a method of :class:`RayDriver` and its arguments; `connect` stands
    for its constructor. An answer is the error, the value, the number of jobs to submit, and the
    traceback.
    """
    os.setsid()  # Ctrl-C is for the other process alone
    for output in (1, 2):
        os.dup2(os.open(log, os.O_WRONLY | os.O_APPEND), output)
    os.environ.update(variables)
    if "RAY_AUTH_TOKEN_PATH" in variables:
        os.environ.pop("RAY_AUTH_TOKEN", None)  # which Ray would prefer to the file
    driver: Any = None
    name = ""
    while name != "close":
        try:
            name, arguments = connection.recv()
        except (EOFError, OSError):  # the process that asks was killed
            name, arguments = "close", ()
        error, value, trace = None, None, ""
        try:
            if name == "connect":
                driver = RayDriver(*arguments)
                value = (driver.head, driver.identity)
            elif driver is not None:
                value = getattr(driver, name)(*arguments)
        except Exception as raised:
            own = isinstance(raised, EdgecilError)  # another perhaps cannot be pickled
            error = raised if own else RuntimeError(f"{type(raised).__name__}: {raised}")
            trace = traceback.format_exc()
        with suppress(OSError):
            connection.send((error, value, driver.capacity if driver else 1, trace))
    os._exit(0)  # at once: threads of Ray may wait


class RayDriver:
    """Each job is a Ray task that uses as many processors as a worker has threads, or a GPU.

    This process need not have the GPU of the workers, whose type is asked for.

    Attributes:
        head: address of the head of the cluster.
        identity: the type of GPU.
        capacity: the number of jobs to submit: one more than the nodes can run, so that what waits
            makes an autoscaler add nodes; or as many as the user wants.
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
            self._possible = self._looked = time.monotonic()
            self.look()
            self.identity = {} if request.per_device is None else {"gpu": self._ask_gpu()}
        except BaseException:
            self.close()
            raise
        self._train: Any = self._remote(num_returns=2, **request.options)(train)

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
        """Send a pickled context to the workers, and compare every node with this one."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self._context = self._ray.put(context)
        answers = []
        for node in self._nodes():
            if self._request.slots(node["Resources"]):
                place = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
                ask = self._remote(num_cpus=0, scheduling_strategy=place)(greet)
                answers.append(ask.remote([self._context]))
        exceptions = self._ray.exceptions
        greetings = []
        end = time.monotonic() + _STARTUP
        for answer in answers:
            # A node that has left the cluster in the meantime does not count.
            with suppress(exceptions.TaskUnschedulableError, exceptions.NodeDiedError):
                greetings.append(self._get(answer, end - time.monotonic(), "A node"))
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

    def submit(self, job: Job) -> None:
        """Send a job to the cluster."""
        parent = self._parent_state(job)
        arguments = [self._context, parent], replace(job, parent=None), self._timeout
        outcome, state = self._train.remote(*arguments, self._directory)
        self._running[outcome] = job, state

    def wait(self, seconds: float) -> Finished | None:
        """Return the next job to end; a state to keep is fetched and written to disk."""
        try:
            done, _ = self._ray.wait(list(self._running), num_returns=1, timeout=seconds)
        except self._ray.exceptions.RayError as error:
            raise _ended(f"The Ray cluster failed: {str(error).splitlines()[0]}") from error
        if not done:
            if time.monotonic() - self._looked > _LOOK:
                self.look()
            return None
        job, state = self._running.pop(done[0])
        try:
            outcome: Outcome = self._ray.get(done[0], timeout=PATIENCE)
            if job.keep is not None and outcome.result is not None:
                save_state(job.keep, self._ray.get(state, timeout=PATIENCE))
                self._states[job.keep] = state
        except self._ray.exceptions.RayError as error:
            self.look()  # the end of the head would be the cause
            line = str(error).splitlines()[0]
            outcome = Outcome(error=f"{type(error).__name__}: {line}", trace=str(error))
        return Finished(job, outcome)

    def look(self) -> None:
        """Count what the nodes can run; raise an error if the head or all of them are gone."""
        now = self._looked = time.monotonic()
        if unreachable(self.head) is not None:
            raise _ended(f"The head of the Ray cluster at {self.head} has ended")
        slots = sum(self._request.slots(node["Resources"]) for node in self._nodes())
        self.capacity = self._workers or slots + 1
        if slots:
            self._possible = now
        elif now - self._possible > PATIENCE:  # nodes may come back, or be added
            gpu = "" if self._request.per_device is None else " and a GPU"
            raise _ended(
                f"No node of the Ray cluster has had the {self._request.threads} processors{gpu} "
                f"of one worker for {PATIENCE:g} s; lower 'threads', or add a node"
            )

    def close(self) -> None:
        """Cancel running jobs; a cluster that existed before keeps running."""
        if self._ray.is_initialized():  # else any further call would start a new cluster
            with suppress(Exception):
                for reference in self._running:
                    self._ray.cancel(reference, force=True)
            self._ray.shutdown()
        if self._link is not None:
            self._link.cleanup()
        _remove_folder(self._folder)

    def _nodes(self) -> list[dict[str, Any]]:
        return [node for node in self._ray.nodes() if node["Alive"]]

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
        answer = self._remote(**self._request.options)(gpu_type).remote()
        name: str | None = self._get(answer, _STARTUP, "A GPU")
        if name is None:
            raise PrerequisiteError(
                "A node of the Ray cluster offers a GPU that torch cannot use; install torch with "
                "CUDA there, or set 'device' to 'cpu'."
            )
        return name

    def _get(self, answer: Any, seconds: float, who: str) -> Any:
        """Return the answer of a worker; an error says why there is none."""
        exceptions = self._ray.exceptions
        try:
            return self._ray.get(answer, timeout=max(0.0, seconds))
        except (exceptions.TaskUnschedulableError, exceptions.NodeDiedError):
            raise
        except exceptions.GetTimeoutError as error:
            raise PrerequisiteError(
                f"{who} of the Ray cluster did not answer within {_STARTUP:g} s; start its node "
                "again, remove it from the cluster, or wait until it is free."
            ) from error
        except exceptions.RayError as error:
            line = str(error).strip().splitlines()[-1]
            raise PrerequisiteError(
                f"A node of the Ray cluster cannot train ({line}); install the same versions of "
                "edgecil and torch on every node."
            ) from error


_contexts: dict[Any, WorkerContext] = {}  # of a worker


def _fetch(reference: Any) -> WorkerContext:
    """Return the context in a worker, which fetches it once."""
    import ray

    if reference not in _contexts:
        _contexts.clear()
        _contexts[reference] = pickle.loads(ray.get(reference))
    context = _contexts[reference]
    context.prepare()
    return context


def gpu_type() -> str | None:
    """Return the GPU that Ray gives to a worker; None if torch cannot use it."""
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else None


def greet(references: list[Any]) -> tuple[str, dict[str, str]]:
    """Return the name of the node, and in what a worker on it differs from the driver.

    Ray hides the GPUs from it; every training compares its own.
    """
    return platform.node(), _fetch(references[0]).differences(gpu=False)


def train(
    references: list[Any], job: Job, timeout: float | None = None, directory: str | None = None
) -> tuple[Outcome, bytes | None]:
    """Train a job in a worker; its outcome and, if it is kept, the state."""
    import ray

    if directory is not None:
        os.chdir(directory)
    context = _fetch(references[0])
    node: Node = job.node
    handed: bytes | State | None = context.take_handed(node)
    if handed is None and references[1] is not None:
        handed = ray.get(references[1])
    try:
        with at_most(timeout):
            return train_node(
                context,
                node,
                handed,
                keep=job.keep is not None,
                final=job.final,
                hand_on=job.only_child,
            )
    except TooLongError:
        message = f"The training was stopped after {timeout:g} s."
        return Outcome(error=message, trace=message), None


def _make_private_folder(directory: Path) -> Path:
    """Make the folder of a private Ray, for this user alone; remove those of killed processes."""
    for old in directory.glob("ray-*"):
        with suppress(ValueError, ProcessLookupError, PermissionError):
            os.kill(int(old.name.removeprefix("ray-")), 0)
            continue
        shutil.rmtree(old, ignore_errors=True)
    folder = directory / f"ray-{os.getpid()}"
    shutil.rmtree(folder, ignore_errors=True)
    directory.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700)
    with replace_file(folder / "token", private=True) as file:
        file.write(secrets.token_hex(32).encode())
    return folder.resolve()


def _remove_folder(folder: Path | None) -> None:
    """Remove the folder of a private Ray, and the experiment directory if it is empty."""
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            folder.parent.rmdir()


def private_variables(folder: Path) -> dict[str, str]:
    """Return the environment of a Ray that listens on loopback only and requires its own token."""
    return {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(folder / "token"),
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # the address of its node is 127.0.0.1
    }


def pickled(context: WorkerContext, identity: Mapping[str, str]) -> bytes:
    """Return the context with everything that other machines may lack, and what they must equal.

    Classes of the main script are included, which other machines cannot import.
    """
    from ray import cloudpickle

    names = context.networks
    weights = {name: weight_contents(name) for name in names if is_pretrained(name)}
    context = replace(
        context,
        weights={name: files for name, files in weights.items() if files},
        expected={**expected_identity(names, context.scenario), **identity},
    )
    content: bytes = cloudpickle.dumps(context)
    return content


def _connected() -> str | None:
    """Return the address of the cluster that this process is connected to already."""
    ray = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return None
    return str(ray.get_runtime_context().gcs_address)


def _ended(what: str) -> EdgecilError:
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
