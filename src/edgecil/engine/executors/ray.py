"""Training on a Ray cluster, through a process of its own that Ray may end."""

from __future__ import annotations

import logging
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from edgecil.backbones.pretrained import is_pretrained, weight_contents
from edgecil.engine.executors.executor import Finished, Job
from edgecil.engine.executors.ray_cluster import (
    HANDSHAKE,
    QUEUED,
    Head,
    Request,
    check_address,
)
from edgecil.engine.handshake import expected_identity
from edgecil.engine.node_training import WorkerContext
from edgecil.errors import EdgecilError, PrerequisiteError
from edgecil.io.device import cores
from edgecil.io.interpreter import SAFE_PATH

_TICK = 1.0
_PATIENCE = 300.0  # seconds for the driver to answer, beyond the limits of its own calls of Ray
_CLOSING = 15.0  # seconds for the driver to close, after which it is killed

# The script's name and its search path are those that Ray gives to its workers, too.
_START = (
    "import pickle, sys; requests = sys.stdin.buffer; sys.path, sys.argv, file = "
    "pickle.load(requests); globals().update({'__file__': file} if file else {}); "
    "from edgecil.engine.executors.ray_server import serve; serve(requests)"
)


class RayExecutor:
    """Sends jobs to a :class:`~edgecil.engine.executors.ray_driver.RayDriver`.

    Ray ends every process that is connected to a cluster whose head or local node has ended, and
    its calls wait for a head that does not answer. So a process of its own is connected, and this
    one tells how it ended.

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
    """

    def __init__(
        self,
        context: WorkerContext,
        workers: int | None,
        address: str | None,
        *,
        timeout: float | None = None,
        per_device: int = 1,
    ) -> None:
        if find_spec("ray") is None:
            raise PrerequisiteError(
                "The executor 'ray' requires Ray: run pip install 'edgecil[ray]', or use the "
                "executor 'local'."
            )
        address = address or _connected()
        if address is None:
            workers = workers or max(1, cores() // context.threads)
        else:
            check_address(address)
        on_gpus = context.environment.device.startswith("cuda")
        request = Request(context.threads, per_device if on_gpus else None)
        self.capacity = workers or 1
        self._head = Head(address, private=address is None)
        self._messages: queue.SimpleQueue[object] = queue.SimpleQueue()
        self._replies: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [sys.executable, SAFE_PATH, "-c", _START], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for task in (self._read, self._write):
            threading.Thread(target=task, daemon=True).start()
        try:
            file = getattr(sys.modules["__main__"], "__file__", None)
            self._messages.put((sys.path, sys.argv, file))
            limit = _PATIENCE + (QUEUED if on_gpus else 0.0)
            arguments = (request, workers, address, timeout)
            head, self.identity = self._call("connect", *arguments, limit=limit)
            self._head = Head(head, private=address is None)
            content = pickled(context, self.identity)
            limit = _PATIENCE + HANDSHAKE
            self._call("prepare", content, context.allow_mismatch, limit=limit)
        except BaseException:
            self.close()
            raise

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
            if finished is not None and finished.outcome.error is not None:
                self._check_now()
            if finished is not None or self.capacity > before:  # a node has joined
                return finished
            if deadline is not None and time.monotonic() >= deadline:
                return None

    def close(self) -> None:
        """Cancel running jobs; a cluster that existed before keeps running."""
        if self._process.poll() is None and self._head.answers():
            self._messages.put(("close", ()))
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_CLOSING)
        self._process.kill()
        self._process.wait()
        self._messages.put(None)

    def _call(self, name: str, *arguments: Any, limit: float | None = None) -> Any:
        """Return what a method of the driver returns; raise an error if the cluster has ended.

        Args:
            name: the method.
            arguments: of the method.
            limit: seconds for the answer.
        """
        limit = _PATIENCE if limit is None else limit
        self._messages.put((name, arguments))
        silent = 0.0
        while True:
            try:
                kind, content = self._replies.get(timeout=_TICK)
            except queue.Empty:
                silent += _TICK
                self._head.check()
                if silent >= limit:
                    raise self._head.error(
                        "The process that connects to the Ray cluster did not respond for "
                        f"{limit:g} s"
                    ) from None
                continue
            if kind == "log":
                logger, level, message = content
                logging.getLogger(logger).log(level, "%s", message)
            elif kind == "end":
                raise self._lost()
            elif kind == "error":
                error, trace = content
                self._check_now()
                raise error from RuntimeError(trace)
            else:
                value, self.capacity = content
                return value

    def _check_now(self) -> None:
        """Raise an error if the head has ended, which is the cause of any other one."""
        if not self._head.answers():
            raise self._head.error()

    def _write(self) -> None:
        """Send messages to the driver, which may not read them, until None comes."""
        assert self._process.stdin is not None
        with suppress(OSError), self._process.stdin as requests:
            while (message := self._messages.get()) is not None:
                pickle.dump(message, requests)
                requests.flush()

    def _read(self) -> None:
        """Read the answers of the driver until it ends."""
        assert self._process.stdout is not None
        with self._process.stdout as answers, suppress(EOFError, pickle.UnpicklingError):
            while True:
                self._replies.put(pickle.load(answers))
        self._replies.put(("end", None))

    def _lost(self) -> EdgecilError:
        """Return the error for a driver that has ended."""
        try:
            code = self._process.wait(_CLOSING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        return self._head.lost(code)


def pickled(context: WorkerContext, identity: Mapping[str, str]) -> bytes:
    """Return the context with everything that other machines may lack, and what they must equal.

    Classes of the main script are included, which other machines cannot import.
    """
    from ray import cloudpickle

    environment = context.environment
    names = dict.fromkeys((environment.backbone, environment.pretrained))
    weights = {name: weight_contents(name) for name in names if is_pretrained(name)}
    context = replace(
        context,
        weights={name: files for name, files in weights.items() if files},
        expected={**expected_identity(environment, context.scenario), **identity},
    )
    content: bytes = cloudpickle.dumps(context)
    return content


def _connected() -> str | None:
    """Return the address of the cluster that this process is connected to already."""
    ray = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return None
    return str(ray.get_runtime_context().gcs_address)
