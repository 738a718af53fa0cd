"""A Ray cluster: how it is reached, what its nodes offer, and whether its head is alive."""

from __future__ import annotations

import json
import logging
import os
import re
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any

from edgecil.errors import EdgecilError, PrerequisiteError

REACH = 5.0  # seconds to reach the head of a cluster
HANDSHAKE = 300.0  # seconds for all nodes to load the images and weights
QUEUED = 3600.0  # seconds without a sign of life of any job, after which a run ends
_BETWEEN = 1.0  # seconds between two checks: Ray ends this process soon after its head
ATTEMPTS = {"RAY_gcs_server_port_wait_time_s": "2"}  # to reach the head; 20 by default


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


class Head:
    """The head of a cluster, whose end must not leave this process waiting.

    Args:
        address: its address; None before a private cluster has one.
        private: whether the cluster was started for one run.
    """

    def __init__(self, address: str | None, *, private: bool) -> None:
        self.address = address
        self._name = "the Ray cluster" + (f" at {address}" if address else "")
        self._start = "" if private else "start the cluster and "
        self._failures = 0
        self._checked = 0.0

    def answers(self) -> bool:
        """Return whether the head can be reached."""
        return self.address is None or unreachable(self.address) is None

    def check(self) -> None:
        """Raise an error if the head cannot be reached twice in a row."""
        if time.monotonic() - self._checked < _BETWEEN:
            return
        self._checked = time.monotonic()
        self._failures = 0 if self.answers() else self._failures + 1
        if self._failures >= 2:
            raise self.error()

    def error(self, what: str | None = None) -> EdgecilError:
        """Return an error with the way to resume; by default, that the head has ended."""
        what = what or f"The head of {self._name} has ended"
        return EdgecilError(
            f"{what}. Finished results are stored; {self._start}run the experiment again with the "
            "same options to resume."
        )

    def lost(self, code: int) -> EdgecilError:
        """Return the error for a driver that has ended with an exit code."""
        deadline = time.monotonic() + 2 * _BETWEEN  # the head may end a little later
        while time.monotonic() < deadline:
            if not self.answers():
                return self.error()
            time.sleep(_BETWEEN / 10)
        return self.error(
            f"The connection to {self._name} was lost with exit code {code}, as when the cluster's "
            "node on this machine ends"
        )


def check_address(address: str) -> None:
    """Raise an error if nothing answers at an address; Ray itself would take minutes."""
    problem = unreachable(address)
    if problem is not None:
        raise PrerequisiteError(
            f"Cannot reach a Ray cluster at {address}: {problem}; start one with 'ray start "
            "--head', or give its address."
        )


def connect(ray: Any, address: str | None, processors: int | None) -> None:
    """Connect this process to a cluster, or start a private one with some processors."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    attempts = ATTEMPTS if address else {}
    with tempfile.TemporaryFile() as log:
        try:
            with _environment(attempts), _stderr_to(log):
                ray.init(
                    address=address or "local",  # without it, Ray takes any cluster on this machine
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


def unreachable(address: str) -> str | None:
    """Return why an address does not answer; None if it does or has no port."""
    match = re.fullmatch(r"(?:ray://)?\[?([^/]+?)\]?:(\d{1,5})", address)
    if match is None:
        return None
    try:
        socket.create_connection((match[1], int(match[2])), timeout=REACH).close()
    except (OSError, OverflowError) as error:
        return str(getattr(error, "strerror", None) or error)
    return None
