"""Training on a Ray cluster, or on a private Ray on this machine, through a process of its own."""

from __future__ import annotations

import os
import pickle
import queue
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from edgecil.backbones.pretrained import is_pretrained, weight_contents
from edgecil.engine.executors.executor import Finished, Job
from edgecil.engine.executors.ray_driver import PATIENCE, Request, ended, remove_folder, unreachable
from edgecil.engine.handshake import expected_identity
from edgecil.engine.node_training import WorkerContext
from edgecil.errors import EdgecilError, PrerequisiteError
from edgecil.io.device import cores
from edgecil.io.files import replace_file
from edgecil.io.interpreter import SAFE_PATH

_TICK = 1.0
_CLOSING = 15.0  # seconds for the driver to close, after which it is killed

# The script's name and its search path are those that Ray gives to its workers, too.
_START = (
    "import pickle, sys; requests = sys.stdin.buffer; sys.path, sys.argv, file = "
    "pickle.load(requests); globals().update({'__file__': file} if file else {}); "
    "from edgecil.engine.executors.ray_driver import serve; serve(requests)"
)


class RayExecutor:
    """Sends jobs to a :class:`~edgecil.engine.executors.ray_driver.RayDriver`.

    Ray ends every process that is connected to a cluster whose local node has ended. So a process
    of its own is connected, and this one says how it ended.

    Attributes:
        capacity: the number of jobs to submit, which follows the nodes that join and leave.
        identity: the type of GPU.

    Args:
        context: data and settings for the workers.
        workers: number of jobs at a time; by default as many as the nodes of the cluster can run.
        address: address of a cluster; None starts a private one on this machine, or uses the one
            that this process is connected to.
        timeout: seconds that a job may take.
        per_device: number of jobs that share a GPU.
        folder: the experiment directory, in which a private Ray has its files while it runs.
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
        variables = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}
        if address is None:
            workers = workers or max(1, cores() // context.threads)
            self._private = _make_private_folder(folder)
            variables |= private_variables(self._private)
            variables.pop("RAY_AUTH_TOKEN", None)  # which Ray would prefer to the file
        elif (problem := unreachable(address)) is not None:
            raise PrerequisiteError(
                f"Cannot reach a Ray cluster at {address}: {problem}; start one with 'ray start "
                "--head', or give its address."
            )
        self.capacity = workers or 1
        self._head = address
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (of Ray, which is long)
        self._replies: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [sys.executable, SAFE_PATH, "-c", _START],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=variables,
            start_new_session=True,  # Ctrl-C is for this process alone
        )
        threading.Thread(target=self._read, daemon=True).start()
        on_gpus = context.environment.device.startswith("cuda")
        request = Request(context.threads, per_device if on_gpus else None)
        try:
            file = getattr(sys.modules["__main__"], "__file__", None)
            self._send((sys.path, sys.argv, file))
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
        if self._process.poll() is None:
            with suppress(OSError, ValueError, subprocess.TimeoutExpired):
                self._send(("close", ()))
                self._process.wait(_CLOSING)
        self._process.kill()
        self._process.wait()
        for file in (self._process.stdin, self._log):
            with suppress(OSError):
                file.close()  # type: ignore[union-attr]
        remove_folder(self._private)

    def _send(self, message: object) -> None:
        assert self._process.stdin is not None
        pickle.dump(message, self._process.stdin)
        self._process.stdin.flush()

    def _call(self, name: str, *arguments: Any) -> Any:
        """Return what a method of the driver returns; raise an error if the cluster has ended."""
        try:
            self._send((name, arguments))
            kind, content = self._replies.get(timeout=PATIENCE)
        except OSError:
            kind, content = "end", None
        except queue.Empty:
            raise ended(f"{self._cluster} did not respond for {PATIENCE:g} s") from None
        if kind == "end":
            raise self._lost()
        if kind == "error":
            error, trace = content
            raise error from RuntimeError(trace)
        value, self.capacity = content
        return value

    @property
    def _cluster(self) -> str:
        return "The private Ray" if self._private else f"The Ray cluster at {self._head}"

    def _read(self) -> None:
        """Read the answers of the driver until it ends."""
        assert self._process.stdout is not None
        with self._process.stdout as answers, suppress(EOFError, pickle.UnpicklingError):
            while True:
                self._replies.put(pickle.load(answers))
        self._replies.put(("end", None))

    def _lost(self) -> EdgecilError:
        """Return the error for a driver that has ended."""
        time.sleep(_TICK)  # the head may end a little later
        if self._head is not None and unreachable(self._head) is not None:
            return ended(f"The head of the Ray cluster at {self._head} has ended")
        return ended(f"{self._cluster} ended the process that was connected to it")

    def _refusal(self) -> str | None:
        """Return why the cluster refused this process, which Ray only logs."""
        self._log.seek(0)
        lines = re.findall(rb"Unauthenticated: (?:RPC error: )?([^\n]+)", self._log.read())
        return lines[-1].decode("utf-8", "replace").rstrip(".") if lines else None


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
