"""Training on a Ray cluster, or on a private Ray on this machine.

Ray ends every process that is connected to a cluster whose local node has ended. So a process of
its own is connected (:class:`RayDriver`), and the one that stores results (:class:`RayExecutor`)
says how it ended.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
import re
import secrets
import shutil
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from edgecil.backbones.pretrained import is_pretrained, weight_contents
from edgecil.errors import EdgecilError, PrerequisiteError
from edgecil.experiments.config import Execution
from edgecil.experiments.store import save_state
from edgecil.io.device import cores, kernel_variables
from edgecil.training.chains import Job, Outcomes, train_job
from edgecil.training.executors import Finished
from edgecil.training.handshake import worker_identity
from edgecil.training.main_guard import hidden_script, safe_path, without_interrupts
from edgecil.training.node_training import Outcome, WorkerContext, at_most

DEADLINE = 180.0  # seconds for everything but a training: to connect, to answer, to have a node
_MEMORY = Path("/dev/shm")  # where Ray keeps objects, on Linux
_LOOK = 5.0  # seconds between two looks at the head and the nodes


def slots(resources: Mapping[str, float], threads: int, per_device: int | None) -> int:
    """Return how many trainings fit on a node; `per_device` share a GPU, None without GPUs."""
    fitting = int(resources.get("CPU", 0.0) // threads)
    if per_device is None:
        return fitting
    return min(fitting, int(resources.get("GPU", 0.0)) * per_device)


_TOKEN = "set RAY_AUTH_MODE and RAY_AUTH_TOKEN as for the cluster."


class RayExecutor:
    """Sends jobs to a :class:`RayDriver` in a process of its own."""

    def __init__(self, context: WorkerContext, execution: Execution, folder: Path) -> None:
        address = execution.address
        if find_spec("ray") is None:
            raise PrerequisiteError(
                "The executor 'ray' requires Ray: run pip install 'edgecil[ray]', or use the "
                "executor 'local'."
            )
        if address is not None and (problem := unreachable(address)) is not None:
            raise PrerequisiteError(
                f"Cannot reach a Ray cluster at {address}: {problem}; start one with 'ray start "
                "--head', or give its address."
            )
        self._cluster = f"the Ray cluster at {address}" if address else "the private Ray"
        self._private = None if address else _Private(folder)
        default = None if address else max(1, cores() // context.threads)
        workers = execution.workers or default
        self.capacity = workers or 1
        spawning = multiprocessing.get_context("spawn")
        self._connection, other = spawning.Pipe()
        self._process: Any = spawning.Process(
            target=_serve, args=(other, self._private), daemon=True
        )
        with safe_path(), without_interrupts(), hidden_script():
            self._process.start()
        other.close()
        on_gpu = context.environment.device.startswith("cuda")
        share = (execution.workers_per_device or 1) if on_gpu else None
        try:
            call = pickled(context), context.threads, share, workers, address
            self.identity = self._call("connect", *call, execution.timeout, self._private)
        except BaseException:
            self.close()
            raise

    def submit(self, job: Job) -> None:
        """Send a job to the cluster."""
        self._call("submit", job)

    def wait(self) -> Finished | None:
        """Return the next job to end; None if none ends within seconds."""
        finished: Finished | None = self._call("wait", _LOOK)
        return finished

    def close(self) -> None:
        """Cancel running jobs; a cluster that existed before keeps running."""
        with suppress(OSError, ValueError):
            self._connection.send(("close", ()))
        self._process.join(15.0)
        self._process.kill()
        self._process.join()
        self._connection.close()
        if self._private is not None:
            self._private.remove()

    def _call(self, name: str, *arguments: Any) -> Any:
        """Return what a method of the driver returns; raise an error if the cluster has ended."""
        try:
            self._connection.send((name, arguments))
            if not self._connection.poll(DEADLINE):
                raise _ended(f"No response of {self._cluster} for {DEADLINE:g} s")
            error, value, self.capacity = self._connection.recv()
        except (OSError, EOFError):
            if name == "connect":
                raise PrerequisiteError(
                    f"Cannot connect to {self._cluster}, which refused this process or failed: "
                    f"{_TOKEN}"
                ) from None
            raise _ended(
                f"The head of {self._cluster}, or its node on this machine, has ended"
            ) from None
        if error is not None:
            raise error
        return value


def _ended(what: str) -> EdgecilError:
    return EdgecilError(
        f"{what}. Finished results are stored; run the experiment again with the same options to "
        "resume."
    )


class _Private:
    """The files of a private Ray, in the experiment directory and for this user alone."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._folder = Path(tempfile.mkdtemp(prefix="ray-", dir=directory)).resolve()
        self._token = self._folder / "token"
        self._token.touch(mode=0o600)
        self._token.write_text(secrets.token_hex(32), encoding="utf-8")
        # The paths of sockets have at most 107 bytes: a link in a folder of this user is short.
        self._link = Path(tempfile.mkdtemp(prefix="edgecil-"))
        (self._link / "ray").symlink_to(self._folder)
        # Ray opens its folder to everybody; the folder around it is closed.
        self.files = str(self._link / "ray" / "files")

    def set_environment(self) -> None:
        """Make a Ray of this process listen on loopback only, and require its own token."""
        os.environ.pop("RAY_AUTH_TOKEN", None)  # which Ray would prefer to the file
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ["RAY_AUTH_TOKEN_PATH"] = str(self._token)
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # its node's address is 127.0.0.1

    def remove(self) -> None:
        """Remove the files, and the experiment directory if it is empty."""
        for folder in (self._link, self._folder):
            shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            self._folder.parent.rmdir()


def _serve(connection: Connection, private: _Private | None) -> None:
    """Answer the requests of the process that started this one; end with it.

    Each request is the name of a method of :class:`RayDriver` and its arguments; `connect` stands
    for its constructor. An answer is the error, the value and the number of jobs to submit.
    """
    os.setsid()  # Ctrl-C is for the other process alone
    for output in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), output)
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    if private is not None:
        private.set_environment()
    driver: Any = None
    name = ""
    while name != "close":
        try:
            name, arguments = connection.recv()
        except (EOFError, OSError):  # the process that asks was killed
            name, arguments = "close", ()
        error: Exception | None = None
        value = None
        try:
            if name == "connect":
                driver = RayDriver(*arguments)
                value = driver.identity
            elif driver is not None:
                value = getattr(driver, name)(*arguments)
        except EdgecilError as raised:
            error = raised
        except Exception:  # which perhaps cannot be pickled
            error = RuntimeError(traceback.format_exc())
        with suppress(OSError):
            connection.send((error, value, driver.capacity if driver else 1))
    os._exit(0)  # at once: threads of Ray may wait


class RayDriver:
    """Each job is a Ray task that uses as many processors as a worker has threads, or a GPU.

    This process need not have the GPU of the workers, whose type is asked for. The capacity is one
    more than the nodes can run, so that what waits makes an autoscaler add nodes; or as many as the
    user wants.
    """

    def __init__(
        self,
        context: bytes,
        threads: int,
        per_device: int | None,
        workers: int | None,
        address: str | None,
        timeout: float | None = None,
        private: _Private | None = None,
    ) -> None:
        import ray

        self._ray = ray
        self._threads, self._per_device = threads, per_device
        self._workers, self._timeout, self._private = workers, timeout, private
        self._directory = None if address else str(Path.cwd())  # also that of private workers
        self._running: dict[Any, Job] = {}
        options: dict[str, Any] = {"address": address}
        if private is not None:
            options = {
                "address": "local",  # without it, Ray takes any cluster on this machine
                "num_cpus": (workers or 1) * threads,
                "include_dashboard": False,
                "_temp_dir": private.files,
            }
            if _MEMORY.is_dir() and not os.access(_MEMORY, os.W_OK):
                raise PrerequisiteError(
                    f"Ray requires a folder {_MEMORY} that can be written; set `executor` to "
                    "'local', which does not."
                )
        try:
            with outside_working_directory():
                ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
        except Exception as error:
            line = (str(error).strip() or type(error).__name__).splitlines()[0]
            if address is None:
                raise PrerequisiteError(f"Cannot start Ray on this machine: {line}") from error
            raise PrerequisiteError(
                f"Cannot reach a Ray cluster at {address}: {line.rstrip('.')}. If it requires a "
                f"token, {_TOKEN}"
            ) from error
        self._head = str(ray.get_runtime_context().gcs_address)
        self._possible = time.monotonic()
        self.look()
        self.identity = {} if per_device is None else {"gpu": self._ask_gpu()}
        self._train: Any = self._remote(train)
        self._context = ray.put((context, self.identity))

    def submit(self, job: Job) -> None:
        """Send a job to the cluster, with the states before its chains."""
        paths = [chain.before for chain in job.chains if chain.before is not None]
        states = {path: path.read_bytes() for path in paths if path.exists()}
        arguments = [self._context], job, states
        self._running[self._train.remote(*arguments, self._timeout, self._directory)] = job

    def wait(self, seconds: float) -> Finished | None:
        """Return the next job to end; states to keep are fetched and written to disk."""
        done, _ = self._ray.wait(list(self._running), num_returns=1, timeout=seconds)
        if not done:
            self.look()
            return None
        job = self._running.pop(done[0])
        try:
            outcomes, states = self._ray.get(done[0])
        except self._ray.exceptions.RayError as error:
            self.look()  # the end of the head would be the cause
            line = f"{type(error).__name__}: {str(error).splitlines()[0]}"
            return Finished(job, (), Outcome(error=line, trace=str(error)))
        for path, state in states.items():
            save_state(path, state)
        return Finished(job, outcomes)

    def look(self) -> None:
        """Count what the nodes can run; raise an error if the head or all of them are gone."""
        now = time.monotonic()
        if unreachable(self._head) is not None:
            raise _ended(f"The head of the Ray cluster at {self._head} has ended")
        alive = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        fitting = sum(slots(node, self._threads, self._per_device) for node in alive)
        self.capacity = self._workers or fitting + 1
        if fitting:
            self._possible = now
        elif now - self._possible > DEADLINE:  # nodes may come back, or be added
            gpu = "" if self._per_device is None else " and a GPU"
            raise _ended(
                f"No node of the Ray cluster has had the {self._threads} processors{gpu} of one "
                f"worker for {DEADLINE:g} s; lower `threads`, or add a node"
            )

    def close(self) -> None:
        """Cancel running jobs; a cluster that existed before keeps running."""
        if self._ray.is_initialized():  # else any further call would start a new cluster
            with suppress(Exception):
                for reference in self._running:
                    self._ray.cancel(reference, force=True)
            self._ray.shutdown()
        if self._private is not None:
            self._private.remove()

    def _remote(self, function: Any) -> Any:
        """Return a function of workers, which use the same kernels as this process."""
        gpus = {} if self._per_device is None else {"num_gpus": 1 / self._per_device}
        return self._ray.remote(
            max_retries=0,
            runtime_env={"env_vars": kernel_variables()},
            num_cpus=self._threads,
            **gpus,
        )(function)

    def _ask_gpu(self) -> str:
        """Return the type of the first GPU that is free; all others must equal it."""
        name: str | None = self._ray.get(self._remote(gpu_type).remote())
        if name is None:
            raise PrerequisiteError(
                "A node of the Ray cluster offers a GPU that torch cannot use; install torch with "
                "CUDA there, or set `device` to 'cpu'."
            )
        return name


_contexts: dict[Any, WorkerContext] = {}  # of a worker


def gpu_type() -> str | None:
    """Return the GPU that Ray gives to a worker; None if torch cannot use it."""
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else None


class _InMemory:
    """States by the paths of their files, which are on another machine."""

    def __init__(self, states: Mapping[Path, bytes]) -> None:
        self._before = states
        self.written: dict[Path, bytes] = {}

    def read(self, path: Path) -> bytes:
        """Return a state that came with the job."""
        if path not in self._before:
            raise FileNotFoundError(path)
        return self._before[path]

    def write(self, path: Path, state: bytes) -> None:
        """Keep a state for the process that sent the job."""
        self.written[path] = state


def train(
    references: list[Any],
    job: Job,
    states: Mapping[Path, bytes],
    timeout: float | None = None,
    directory: str | None = None,
) -> tuple[list[list[Outcome]], dict[Path, bytes]]:
    """Train a job in a worker, which fetches the context once; its outcomes and states to keep."""
    import ray

    if directory is not None:
        os.chdir(directory)
    if references[0] not in _contexts:
        _contexts.clear()
        packed, identity = ray.get(references[0])
        context: WorkerContext = pickle.loads(packed)
        expected = {**(context.expected or {}), **identity}
        _contexts[references[0]] = replace(context, expected=expected)
    context = _contexts[references[0]]
    context.prepare()
    files, outcomes = _InMemory(states), Outcomes(job)
    train_job(context, job, files, outcomes, limit=lambda: at_most(timeout))
    return outcomes.by_chain, files.written


def pickled(context: WorkerContext) -> bytes:
    """Return the context with everything that other machines may lack, and what they must equal."""
    from ray import cloudpickle  # with classes of the main script

    names = context.networks
    weights = {name: weight_contents(name) for name in names if is_pretrained(name)}
    context = replace(
        context,
        weights={name: files for name, files in weights.items() if files},
        expected=worker_identity(names, context.scenario),
    )
    content: bytes = cloudpickle.dumps(context)
    return content


@contextmanager
def outside_working_directory() -> Iterator[None]:
    """Leave the working directory for a while, unless this process takes modules from it.

    Ray searches the working directory of the process that connects to it for modules before all
    others. Python does so for a script of that directory, for `python -m` and interactively.
    """
    here = os.path.realpath(os.curdir)
    if any(os.path.realpath(entry or os.curdir) == here for entry in sys.path):
        yield
        return
    os.chdir(sys.prefix)
    try:
        yield
    finally:
        os.chdir(here)


def unreachable(address: str) -> str | None:
    """Return why an address does not answer; None if it does or has no port."""
    match = re.fullmatch(r"(?:ray://)?\[?([^/]+?)\]?:(\d{1,5})", address)
    if match is None:
        return None
    try:
        socket.create_connection((match[1], int(match[2])), timeout=5.0).close()
    except (OSError, OverflowError) as error:
        return str(getattr(error, "strerror", None) or error)
    return None
