"""The kernels of other processors: which instruction sets torch, oneDNN and MKL may use.

Each of them rounds sums in its own way, as the libraries of another processor would.
"""

from __future__ import annotations

from pathlib import Path

VARIABLES = ("ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "MKL_CBWR")

# By name, the values of VARIABLES.
SETTINGS = {
    "avx2": ("avx2", "AVX2", "AVX2"),  # what edgecil sets
    "sse": ("default", "SSE41", "COMPATIBLE"),
    "avx": ("default", "AVX", "AVX"),
    "compatible": ("avx2", "AVX2", "COMPATIBLE"),
    "avx512": ("avx512", "AVX512_CORE", "AVX512"),
}


def has_avx512() -> bool:
    """Return whether this processor has AVX-512, where the system says so."""
    processor = Path("/proc/cpuinfo")
    return processor.exists() and "avx512f" in processor.read_text(encoding="utf-8")


def environments() -> dict[str, dict[str, str]]:
    """Return the settings that this processor can use, as variables of the environment."""
    names = [name for name in SETTINGS if name != "avx512" or has_avx512()]
    return {name: dict(zip(VARIABLES, SETTINGS[name], strict=True)) for name in names}
