"""Where to compute."""

from __future__ import annotations

import os

import torch

from edgecil.errors import UsageError


def choose_device(name: str) -> str:
    """`auto` takes CUDA, then MPS, then the CPU; any other name must be usable here."""
    if name == "auto":
        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).split("\n")[0].split(". ")[0].rstrip(".")
        raise UsageError(
            f"Device {name!r} cannot be used here: {reason}; choose another with --device, say cpu."
        ) from error
    return name


def cores() -> int:
    """Processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
