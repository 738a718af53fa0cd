"""The device that networks run on, and the processor cores that are available."""

from __future__ import annotations

import os
import platform
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from edgecil.errors import UsageError, format_value
from edgecil.io.cache import writable_cache

if TYPE_CHECKING:
    import torch

# The instruction sets that torch's own kernels, oneDNN and MKL may use. By default each library
# uses the newest one of the processor, and each sums in another order: AVX-512 gives other
# accuracies than AVX2. With these limits fewer processors differ, not none: MKL chooses kernels by
# the vendor, too, and block sizes follow the caches.
_PORTABLE_KERNELS = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "MKL_CBWR": "AVX2",
}

_CAPABILITIES = ("NO AVX", "DEFAULT", "AVX2", "AVX512")  # of x86-64, as torch names them

Precision: TypeAlias = Literal["float32", "tf32", "bfloat16", "float16"]


def check_precision(precision: str, device: str) -> None:
    """Raise an error if a device does not compute in a precision."""
    if precision in ("tf32", "float16") and not device.startswith("cuda"):
        raise UsageError(
            f"The precision {precision!r} requires a CUDA device. Got {format_value(device)}; "
            "choose 'float32' or 'bfloat16'."
        )


def use_precision(precision: str) -> None:
    """Let products of float32 numbers on a GPU use TensorFloat-32, or not."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    torch.backends.cudnn.allow_tf32 = precision == "tf32"


def autocast(precision: str, device: str) -> torch.autocast:
    """Return mixed precision for a `with` block; off unless it is `bfloat16` or `float16`."""
    import torch

    mixed = {"bfloat16": torch.bfloat16, "float16": torch.float16}.get(precision)
    return torch.autocast(torch.device(device).type, dtype=mixed, enabled=mixed is not None)


def use_portable_kernels(*, precision: str = "float32", device: str = "cpu") -> None:
    """Limit torch and its libraries to AVX2, so that processors with newer kernels use them too.

    Results are then the same to the last bit on one type of processor. On another type a trained
    network differs as with another training seed.

    This has an effect only before the first operation of torch in this process and in processes
    that it starts. Variables that are already set in the environment are kept. Mixed precision on
    the CPU uses the processor's newest kernels: it is faster only with their bfloat16 instructions.
    """
    if precision == "bfloat16" and device in ("auto", "cpu") and choose_device(device) == "cpu":
        return
    for name, value in _PORTABLE_KERNELS.items():
        os.environ.setdefault(name, value)


def configure_compilation() -> None:
    """Let torch.compile keep its code by instruction set, and compile in this process.

    Its cache ignores the instruction set: code from AVX-512 gives wrong numbers under AVX2. Its own
    worker processes would compete with ours.
    """
    import torch

    capability = torch.backends.cpu.get_cpu_capability().replace(" ", "-").lower()
    place = writable_cache() / "compiled" / capability
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(place))
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")


def kernel_variables() -> dict[str, str]:
    """Return the variables of :func:`use_portable_kernels` as this process has them."""
    return {name: os.environ[name] for name in _PORTABLE_KERNELS if name in os.environ}


def processor_type() -> str:
    """Return vendor, family, model and name of the processor, as far as the system gives them."""
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return platform.processor() or platform.machine()
    first = info.read_text(encoding="utf-8", errors="replace").split("\n\n")[0]
    facts = dict(re.findall(r"^(.+?)\s*:\s*(.*)$", first, re.MULTILINE))
    names = ("vendor_id", "CPU implementer", "cpu family", "model", "CPU part", "model name")
    return " ".join(facts[name] for name in names if facts.get(name)) or platform.machine()


def expected_capability() -> str:
    """Return the instruction set that torch uses in processes that this one starts.

    This process may use a newer one, if torch was used before the variables were set.
    """
    import torch

    actual: str = torch.backends.cpu.get_cpu_capability()
    wanted = os.environ.get("ATEN_CPU_CAPABILITY", "").upper()
    if actual in _CAPABILITIES and wanted in _CAPABILITIES:
        return min(actual, wanted, key=_CAPABILITIES.index)
    return actual


def choose_device(name: str) -> str:
    """Return the device of a name; `auto` is CUDA if available, then MPS, then the CPU."""
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
            f"Device {name!r} cannot be used on this machine: {reason}; choose another `device`, "
            "such as 'cpu'."
        ) from error
    return name


def cores() -> int:
    """Return the number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def room_on(device: torch.device) -> int:
    """Return the bytes of memory that are free on a GPU; 0 where they are unknown."""
    import torch

    return int(torch.cuda.mem_get_info(device)[0]) if device.type == "cuda" else 0


def free_memory() -> int:
    """Return the bytes of memory that are available, within the limit of a control group."""
    free_sizes = [_available()]
    control_group = Path("/sys/fs/cgroup")
    for limit_name, usage_name in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),  # of version 1
    ):
        with suppress(OSError, ValueError):  # there is no such file, or it says "max"
            limit = int((control_group / limit_name).read_text("utf-8"))
            usage = int((control_group / usage_name).read_text("utf-8"))
            free_sizes.append(limit - usage)
    return max(0, min(free_sizes))


def _available() -> int:
    if sys.platform == "linux":
        lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
        line = next(line for line in lines if line.startswith("MemAvailable:"))
        return int(line.split()[1]) * 1024
    import psutil

    return int(psutil.virtual_memory().available)
