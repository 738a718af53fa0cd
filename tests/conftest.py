from __future__ import annotations

import atexit
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
from collections import defaultdict
from importlib.metadata import distribution
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from edgecil.io.device import use_portable_kernels
from edgecil.io.files import read_toml

# Before any test computes with torch: stored accuracies are those of these kernels.
use_portable_kernels()
# Tests run side by side, one for each core; so do the processes that they start.
os.environ["OMP_NUM_THREADS"] = "1"

# Neither compiling a kernel at its first call nor a busy machine must look like a slow example.
# The examples are the same in every `make test`: a red run means a change, not a new draw;
# `make attack` draws new ones.
settings.register_profile(
    "edgecil",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=not os.environ.get("EDGECIL_ATTACK"),
)
settings.load_profile("edgecil")

# Started in the background or by nohup, this process ignores these signals, and so would every
# program that a test starts and then interrupts.
for name, usual in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
    number = getattr(signal, name, None)
    if number is not None and signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)

# Tests of signals, limits and process groups, which Windows does not have.
if sys.platform == "win32":
    collect_ignore = [
        "cli/test_external.py",
        "cli/test_toolbox.py",
        "training/test_resume.py",
        "interop/test_external.py",
        "interop/test_toolbox.py",
    ]

# Tests that `make quick` leaves out, each with its seconds; `make slow` measures them again.
SLOW = Path(__file__).with_name("slow.txt")
SLOW_SECONDS = 2.0

_seconds: defaultdict[str, float] = defaultdict(float)

# Gone with the process, not with this module, which the identity of code loads a second time.
_FOLDER = Path(tempfile.mkdtemp())
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)
# A folder for what all workers of this run of pytest share; that of the process that starts them.
os.environ.setdefault("EDGECIL_TEST_FOLDER", str(_FOLDER))
_numbers = count()


@pytest.fixture(autouse=True)
def _same_start() -> None:
    """Neither chance nor the threads of a test depend on the tests before it."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)
        sys.modules["torch"].set_num_threads(1)


@pytest.fixture(autouse=True)
def hub(monkeypatch: pytest.MonkeyPatch) -> Path:
    """No hub, and an empty cache of it; huggingface_hub reads the environment when it is loaded."""
    cache = _FOLDER / f"hub-{next(_numbers)}"
    for name, value in (("HF_HUB_OFFLINE", "1"), ("HF_HUB_CACHE", str(cache))):
        monkeypatch.setenv(name, value)
        for module in ("constants", "file_download"):  # older versions copy the first's values
            loaded = sys.modules.get(f"huggingface_hub.{module}")
            if hasattr(loaded, name):
                monkeypatch.setattr(loaded, name, True if value == "1" else value)
    return cache


@pytest.fixture
def quick_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start worker processes as copies of one that has imported torch, where there are copies.

    Torch and its compiler, which deterministic algorithms import, take 4 seconds otherwise.

    They are like those of users from then on, whose start is tested without this fixture.
    """
    import torch.multiprocessing

    if "forkserver" in multiprocessing.get_all_start_methods():
        copies = multiprocessing.get_context("forkserver")
        modules = ["edgecil.training.executors.local", "tests.training.strange", "torch._inductor"]
        copies.set_forkserver_preload(modules)
        monkeypatch.setattr(torch.multiprocessing, "get_context", lambda _: copies)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores, because tests of processes and clusters often wait."""
    return (os.cpu_count() or 1) + 1


def pytest_configure() -> None:
    """Stop where the installed entry points are not those of pyproject.toml."""
    project = read_toml(Path(__file__).parents[1] / "pyproject.toml")["project"]
    wanted = {
        (group, name, value)
        for group, points in project["entry-points"].items()
        for name, value in points.items()
    }
    installed = distribution("edgecil").entry_points
    if wanted - {(point.group, point.name, point.value) for point in installed}:
        pytest.exit("The entry points have changed: install again, pip install --no-deps -e .", 4)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--store-slow", action="store_true", help=f"store the slow tests of this run in {SLOW.name}"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    slow = (
        {line.split()[0] for line in SLOW.read_text(encoding="utf-8").splitlines()}
        if SLOW.exists()
        else set()
    )
    for item in items:
        if item.nodeid.partition("[")[0] in slow:
            item.add_marker(pytest.mark.slow)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _seconds[report.nodeid.partition("[")[0]] += report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("--store-slow") and not hasattr(session.config, "workerinput"):
        slow = {name: time for name, time in sorted(_seconds.items()) if time > SLOW_SECONDS}
        SLOW.write_text(
            "".join(f"{name} {time:.1f}\n" for name, time in slow.items()), encoding="utf-8"
        )
