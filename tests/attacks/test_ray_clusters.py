"""Ray clusters that lie, end or cannot be reached; the long attacks run by `make attack`."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import edgecil
from edgecil.errors import EdgecilError, PrerequisiteError
from edgecil.experiments.plan import Node
from edgecil.training.executors.ray import RayDriver, pickled, unreachable
from tests.attacks.ray_nodes import cluster
from tests.training import fake_gpu
from tests.training.contexts import executor_for, job_of, make_context
from tests.training.test_executors import ended
from tests.training.test_resume import wait_for

# Importing it takes seconds.
needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")


@pytest.mark.attack
@pytest.mark.timeout(600)
def test_a_lying_node_is_refused(tmp_path: Path) -> None:
    copy = tmp_path / "src" / "edgecil"
    shutil.copytree(Path(edgecil.__file__).parent, copy)
    file = copy / "errors.py"
    file.write_text(file.read_text(encoding="utf-8") + "\n# another version\n", encoding="utf-8")
    paths = os.pathsep.join([str(copy.parent), os.environ.get("PYTHONPATH", "")])
    context = make_context({"instant": {}})
    with (
        cluster(env_vars={"PYTHONPATH": paths}) as nodes,
        closing(executor_for("ray", context, workers=2, address=nodes.address)) as executor,
    ):
        for class_ in range(2):  # one for each node
            executor.submit(job_of(Node("instant", 0, ((class_,),))))
        outcomes = [ended(executor) for _ in range(2)]
    assert sorted(outcome.refused for outcome in outcomes) == [False, True]
    assert any("code" in (outcome.error or "") for outcome in outcomes)


@needs_ray
@pytest.mark.parametrize("address", ["127.0.0.1:9", "ray://127.0.0.1:9", "no.such.host.invalid:1"])
def test_an_unreachable_address_is_an_error_within_seconds(address: str) -> None:
    context = make_context({"instant": {}})
    start = time.monotonic()
    with pytest.raises(PrerequisiteError, match="Cannot reach a Ray cluster"):
        executor_for("ray", context, workers=1, address=address)
    assert time.monotonic() - start < 60.0  # Ray itself takes minutes


@pytest.mark.attack
@pytest.mark.timeout(600)
def test_a_real_cluster_refuses_a_wrong_token(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = f"start --head --port={port} --num-cpus=1 --include-dashboard=false --block"
    with subprocess.Popen(
        [sys.executable, "-m", "ray.scripts.scripts", *words.split()],
        env={**os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "right" * 8},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as head:
        try:
            address = f"127.0.0.1:{port}"
            wait_for(lambda: unreachable(address) is None)
            monkeypatch.setenv("RAY_AUTH_MODE", "token")
            monkeypatch.setenv("RAY_AUTH_TOKEN", "wrong" * 8)
            start = time.monotonic()
            with pytest.raises(PrerequisiteError, match="RAY_AUTH_TOKEN as for the cluster"):
                executor_for("ray", make_context({"instant": {}}), workers=1, address=address)
            seconds = time.monotonic() - start
        finally:
            head.terminate()
            head.wait(60)
    assert seconds < 120.0
    print(f"a wrong token was refused after {seconds:.0f} s")


@pytest.mark.attack
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore")
def test_trainings_share_a_gpu_of_a_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two on one GPU at the same time, although this process has none."""
    gpu_query = "edgecil.training.executors.ray.gpu_type"
    context = make_context({"visible-gpu": {"folder": str(tmp_path), "together": 2}})
    on_gpu = replace(context, environment=replace(context.environment, device="cuda"))
    monkeypatch.setenv(fake_gpu.VARIABLE, "1")  # for the nodes: this process has imported it
    with cluster(head={"num_cpus": 2, "num_gpus": 1}) as nodes:
        address = nodes.address
        monkeypatch.setattr(gpu_query, fake_gpu.unusable_gpu)
        with pytest.raises(PrerequisiteError, match="GPU that torch cannot use"):
            RayDriver(pickled(on_gpu), 1, 1, None, address)
        sys.modules["ray"].shutdown()  # as by the end of a driver's own process
        monkeypatch.setattr(gpu_query, fake_gpu.gpu_type)
        driver = RayDriver(pickled(on_gpu), 1, 2, None, address)
        with closing(driver):
            assert (driver.capacity, driver.identity) == (3, {"gpu": fake_gpu.GPU})
            for class_ in range(2):
                driver.submit(job_of(Node("visible-gpu", 0, ((class_,),))))
            outcomes = [driver.wait(300.0) for _ in range(2)]
            driver.submit(job_of(Node("visible-gpu", 0, ((2,),))))
        driver.close()
        assert not sys.modules["ray"].is_initialized(), "closing again starts no private cluster"
    for outcome in outcomes:
        assert outcome is not None
        assert outcome.outcomes[0][0].error is None, outcome
    used = [(tmp_path / name).read_text(encoding="utf-8") for name in ("0", "1")]
    assert used == ["0", "0"]


@pytest.mark.attack
@pytest.mark.timeout(600)
def test_a_training_that_takes_too_long_is_stopped_in_a_cluster(tmp_path: Path) -> None:
    trigger = tmp_path / "trigger"
    trigger.touch()
    context = make_context({"sleepy": {"classes": [0, 1], "file": str(trigger)}})
    with (
        cluster(head={}) as nodes,
        closing(
            executor_for("ray", context, workers=1, address=nodes.address, timeout=3.0)
        ) as executor,
    ):
        executor.submit(job_of(Node("sleepy", 0, ((0, 1),))))
        assert (ended(executor).error or "").endswith(" 3 s.")
        executor.submit(job_of(Node("sleepy", 0, ((2, 3),))))  # which is not slow
        assert ended(executor).result is not None


@needs_ray
def test_a_private_ray_is_for_this_user_on_this_machine_alone(tmp_path: Path) -> None:
    psutil = pytest.importorskip("psutil")
    out = tmp_path / ("a long name" * 9) / "run"
    executor: Any = executor_for("ray", make_context({"instant": {}}), workers=1, folder=out)
    with closing(executor):
        (folder,) = out.iterdir()
        assert folder.stat().st_mode & 0o077 == 0
        assert (folder / "token").stat().st_mode & 0o777 == 0o600
        driver = psutil.Process(executor._process.pid)
        addresses = {
            connection.laddr.ip.removeprefix("::ffff:")
            for process in (driver, *driver.children(recursive=True))
            for connection in process.net_connections("inet")
            if connection.status == "LISTEN"
        }
        assert addresses == {"127.0.0.1"}
        assert not any(
            set(process.environ()) & {"RAY_AUTH_TOKEN"}
            for process in driver.children(recursive=True)
        )
        executor.submit(job_of(Node("instant", 0, ((0, 1),))))
        assert ended(executor).result is not None
    assert not out.exists(), "nothing is left"


@needs_ray
def test_a_private_ray_ends_with_the_process_that_uses_it(tmp_path: Path) -> None:
    """Killed, it leaves neither processes nor files."""
    psutil = pytest.importorskip("psutil")
    program = (
        "import sys, time; from tests.training.contexts import executor_for, make_context\n"
        "from pathlib import Path\n"
        "executor = executor_for('ray', make_context({'instant': {}}), workers=1, "
        f"folder=Path({str(tmp_path / 'run')!r}))\n"
        "print(executor._process.pid, flush=True); time.sleep(600)"
    )
    words = [sys.executable, "-c", program]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        driver = psutil.Process(int(process.stdout.readline()))
        processes = [driver, *driver.children(recursive=True)]
        assert len(processes) > 2
        process.kill()
    gone, alive = psutil.wait_procs(processes, timeout=60)
    assert not alive
    assert gone
    assert not (tmp_path / "run").exists()


@needs_ray
def test_a_driver_that_ray_ends_ends_in_a_sentence(tmp_path: Path) -> None:
    executor: Any = executor_for("ray", make_context({"instant": {}}), workers=1, folder=tmp_path)
    with closing(executor):
        executor._process.kill()
        with pytest.raises(EdgecilError, match="to resume"):
            executor.wait()
    assert not list(tmp_path.glob("*")), "nothing is left"
