"""The handshake of workers: what must be equal for results to be equal to the last bit.

Sums of floating-point numbers depend on the vector instructions that the libraries use, so the same
code on the same data gives other last bits with other kernels. A worker with other versions or
kernels is refused. One on another type of processor with the same kernels trains, and the
difference is recorded with its results: they differ as with another training seed.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import torch

import edgecil
from edgecil.backbones.pretrained import fingerprint, is_pretrained
from edgecil.io.device import expected_capability, kernel_variables, processor_type
from edgecil.methods.task import Scenario
from edgecil.runs.identity import PROCESSOR

_CHUNK = 1024


def machine_identity(*, here: bool = False) -> dict[str, str]:
    """Return versions and instruction set of the processes that train, or of this very one."""
    return {
        "edgecil": edgecil.__version__,
        "torch": torch.__version__,
        "machine": platform.machine(),
        "cpu": torch.backends.cpu.get_cpu_capability() if here else expected_capability(),
        "kernels": " ".join(kernel_variables().values()),
        PROCESSOR: processor_type(),
    }


def suits(device: str) -> bool:
    """Return whether this very process computes as those that it starts."""
    return device != "cpu" or torch.backends.cpu.get_cpu_capability() == expected_capability()


def worker_identity(
    networks: Iterable[str], scenario: Scenario | None = None, *, here: bool = False
) -> dict[str, str]:
    """Return all that the results of a worker, or of this very process, depend on besides a GPU."""
    identity = {**machine_identity(here=here), "code": _code_digest()}
    for name in networks:
        if is_pretrained(name):
            identity[f"weights {name}"] = fingerprint(name)
    if scenario is not None:
        identity["dataset"] = _scenario_digest(scenario)
    return identity


def gpu_identity(device: str) -> dict[str, str]:
    """Return the type of the GPU; nothing for other devices."""
    return {"gpu": torch.cuda.get_device_name(device)} if device.startswith("cuda") else {}


def differences(expected: Mapping[str, str], actual: Mapping[str, str]) -> dict[str, str]:
    """Return what differs, by name, as `given instead of expected`."""
    return {
        name: f"{actual.get(name)} instead of {expected.get(name)}"
        for name in {**expected, **actual}
        if actual.get(name) != expected.get(name)
    }


@cache
def _code_digest() -> str:
    """SHA-256 over the Python files of this package."""
    root = Path(edgecil.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(f"{path.relative_to(root).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _scenario_digest(scenario: Scenario) -> str:
    """SHA-256 over labels and pixels."""
    digest = hashlib.sha256()
    for split in (scenario.train, scenario.test):
        digest.update(split.labels.cpu().numpy().tobytes())
        for start in range(0, len(split.labels), _CHUNK):
            digest.update(split.inputs[start : start + _CHUNK].cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]
