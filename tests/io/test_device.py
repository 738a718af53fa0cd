"""The kernels that torch may use, and what tells processors apart."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from edgecil.errors import UsageError
from edgecil.io import device

_CAPABILITY = """
import edgecil.io.device, torch
edgecil.io.device.use_portable_kernels()
print(torch.backends.cpu.get_cpu_capability())
"""


def test_processors_with_avx512_use_avx2() -> None:
    processor = Path("/proc/cpuinfo")
    if not processor.exists() or "avx512f" not in processor.read_text(encoding="utf-8"):
        pytest.skip("This processor has no AVX-512.")
    clean = {name: value for name, value in os.environ.items() if name != "ATEN_CPU_CAPABILITY"}
    command = [sys.executable, "-c", _CAPABILITY]
    answer = subprocess.run(command, env=clean, capture_output=True, check=True)
    assert answer.stdout.decode().strip() == "AVX2"


def test_the_users_choice_is_kept(monkeypatch) -> None:
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "default")
    device.use_portable_kernels()
    assert device.kernel_variables()["ATEN_CPU_CAPABILITY"] == "default"


def test_mixed_precision_on_a_cpu_uses_the_newest_kernels(monkeypatch) -> None:
    names = ("ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "MKL_CBWR")
    for name in names:
        monkeypatch.delenv(name, raising=False)
    device.use_portable_kernels(precision="bfloat16", device="cpu")
    assert device.kernel_variables() == {}
    monkeypatch.setattr(device, "choose_device", lambda name: "cuda")
    for name in names:
        monkeypatch.setenv(name, "")  # restored after the test
        monkeypatch.delenv(name)
    device.use_portable_kernels(precision="bfloat16", device="auto")
    assert sorted(device.kernel_variables()) == sorted(names)


def test_each_instruction_set_has_its_own_compiled_code(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("EDGECIL_CACHE", str(tmp_path))
    places = set()
    for capability in ("AVX2", "AVX512"):
        monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)  # noqa: B023
        monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", "")
        monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR")
        device.configure_compilation()
        places.add(os.environ["TORCHINDUCTOR_CACHE_DIR"])
    assert places == {str(tmp_path / "compiled" / name) for name in ("avx2", "avx512")}


INTEL = """processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 143
model name\t: Intel(R) Xeon(R) Platinum 8488C
flags\t\t: fpu vme

processor\t: 1
vendor_id\t: other
"""
ARM = """processor\t: 0
BogoMIPS\t: 2100.00
CPU implementer\t: 0x41
CPU part\t: 0xd4f
"""


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        (INTEL, "GenuineIntel 6 143 Intel(R) Xeon(R) Platinum 8488C"),
        (ARM, "0x41 0xd4f"),
        ("", platform.machine()),
    ],
)
def test_the_type_of_processor_is_what_linux_says(info, expected, monkeypatch) -> None:
    real = Path.read_text

    def read_text(path: Path, *args: Any, **options: Any) -> str:
        return info if path == Path("/proc/cpuinfo") else real(path, *args, **options)

    monkeypatch.setattr(Path, "exists", lambda path: True)
    monkeypatch.setattr(Path, "read_text", read_text)
    assert device.processor_type() == expected


@pytest.mark.parametrize("precision", ["tf32", "float16"])
def test_a_precision_that_a_device_lacks_is_refused(precision) -> None:
    with pytest.raises(UsageError, match=f"'{precision}'.*'cpu'"):
        device.check_precision(precision, "cpu")
    device.check_precision(precision, "cuda:1")
    device.check_precision("bfloat16", "cpu")


def test_tensor_floats_are_used_only_if_they_are_chosen() -> None:
    for precision in ("tf32", "float32", "bfloat16"):
        device.use_precision(precision)
        chosen = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
        assert chosen == (precision == "tf32",) * 2
