"""The device that networks run on, and the processor cores that are available."""

from __future__ import annotations

import os

from edgecil.errors import UsageError


def choose_device(name: str) -> str:
    """The device of that name; `auto` is CUDA if available, then MPS, then the CPU."""
    import torch

    if name == "auto":
        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).split("\n")[0].split(". ")[0].rstrip(".")
        raise UsageError(
            f"Device {name!r} cannot be used on this machine: {reason}; choose another 'device', "
            "such as 'cpu'."
        ) from error
    return name


def cores() -> int:
    """The number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
