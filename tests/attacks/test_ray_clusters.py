"""Ray clusters that lie, end or cannot be reached; the long attacks run by `make attack`."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import edgecil
from edgecil.engine.executors import Job, get_executor
from edgecil.engine.executors.ray_cluster import Request, live_nodes, unreachable
from edgecil.engine.plan import Node
from edgecil.errors import EdgecilError, PrerequisiteError
from tests.engine import fake_gpu
from tests.engine.contexts import driver_in_this_process, make_context
from tests.engine.test_resume import wait_for
from tests.io.test_interpreter import hostile_directory

# Importing it takes seconds.
needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")


@pytest.mark.attack
@pytest.mark.timeout(600)
def test_a_lying_node_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    copy = tmp_path / "src" / "edgecil"
    shutil.copytree(Path(edgecil.__file__).parent, copy)
    file = copy / "methods" / "seeds.py"
    file.write_text(file.read_text(encoding="utf-8") + "\n# another version\n", encoding="utf-8")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        paths = os.pathsep.join([str(copy.parent), os.environ.get("PYTHONPATH", "")])
        cluster.add_node(num_cpus=1, env_vars={"PYTHONPATH": paths})
        cluster.wait_for_nodes()
        context = make_context({"instant": {}})
        with pytest.raises(PrerequisiteError, match=r"1.*2.*results.*code"):
            get_executor("ray", context, workers=2, address=cluster.address)
    finally:
        cluster.shutdown()


@pytest.mark.attack
@pytest.mark.timeout(600)
def test_a_killed_head_ends_in_a_sentence(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    trigger = tmp_path / "trigger"
    trigger.touch()
    context = make_context({"sleepy": {"classes": [0, 1], "file": str(trigger)}})
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    executor = get_executor("ray", context, workers=1, address=cluster.address)
    try:
        executor.submit(Job(Node("sleepy", 0, ((0, 1),)), None, None))
        assert executor.wait(3.0) is None
        cluster.head_node.kill_gcs_server()
        start = time.monotonic()
        with pytest.raises(EdgecilError, match="Finished results"):
            executor.wait(60.0)
        assert time.monotonic() - start < 120.0
    finally:
        executor.close()


@needs_ray
@pytest.mark.parametrize("address", ["127.0.0.1:9", "ray://127.0.0.1:9", "no.such.host.invalid:1"])
def test_an_unreachable_address_is_an_error_within_seconds(address: str) -> None:
    context = make_context({"instant": {}})
    start = time.monotonic()
    with pytest.raises(PrerequisiteError, match="Cannot reach a Ray cluster"):
        get_executor("ray", context, workers=1, address=address)
    assert time.monotonic() - start < 60.0  # Ray itself takes minutes


@pytest.mark.parametrize(
    ("request_", "gpus", "message"),
    [
        (Request(4), 0.0, "has the 4 processors of one worker; the largest has 2"),
        (Request(1, per_device=1), 0.0, "has a GPU"),
        (Request(2, per_device=1), 1.0, "has both a GPU and the 2 processors"),
    ],
)
def test_requests_that_no_node_can_satisfy(request_: Request, gpus: float, message: str) -> None:
    """They waited forever."""
    nodes = [
        {"Alive": True, "Resources": {"CPU": 1.0, "GPU": gpus}},
        {"Alive": True, "Resources": {"CPU": 2.0}},
        {"Alive": False, "Resources": {"CPU": 8.0, "GPU": 1.0}},
    ]
    offered = [node["Resources"] for node in live_nodes(SimpleNamespace(nodes=lambda: nodes))]
    with pytest.raises(PrerequisiteError, match=message):
        request_.check(offered)


def test_a_request_that_no_remaining_node_can_satisfy() -> None:
    """It waited forever when the only large node had left."""
    from edgecil.engine.executors.ray_driver import RayDriver

    driver = object.__new__(RayDriver)
    nodes = [
        {"Alive": True, "Resources": {"CPU": 1.0}},
        {"Alive": False, "Resources": {"CPU": 4.0}},
    ]
    driver._ray, driver._request = SimpleNamespace(nodes=lambda: nodes), Request(4)
    with pytest.raises(PrerequisiteError, match=r"4 processors.*resume"):
        driver._check_nodes()


@pytest.mark.attack
@pytest.mark.timeout(600)
def test_unsatisfiable_requests_and_stopped_workers_of_a_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    from edgecil.engine.executors import ray_driver

    trigger = tmp_path / "trigger"
    trigger.touch()
    strange = {"classes": [0, 1], "file": str(trigger)}
    context = make_context({"stopping": strange, "sleepy": strange})
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        start = time.monotonic()
        with pytest.raises(PrerequisiteError, match="4 processors"):
            get_executor("ray", replace(context, threads=4), workers=1, address=cluster.address)
        assert time.monotonic() - start < 120.0
        monkeypatch.setattr(ray_driver, "LOST_AFTER", 8.0)
        executor = driver_in_this_process(context, cluster.address, 1)
        job = Job(Node("stopping", 0, ((0, 1),)), None, None)
        with closing(executor):
            executor.submit(job)
            finished = executor.wait()
            assert finished is not None
            assert "did not respond for 8 s" in (finished.outcome.error or "")
            executor.submit(job)  # on the only processor, which is free again
            finished = executor.wait()
            assert finished is not None
            assert finished.outcome.result is not None
        trigger.touch()
        limited = get_executor("ray", context, workers=1, address=cluster.address, timeout=3.0)
        with closing(limited):
            limited.submit(Job(Node("sleepy", 0, ((0, 1),)), None, None))
            finished = limited.wait()
            assert finished is not None
            assert (finished.outcome.error or "").endswith(" 3 s.")
    finally:
        cluster.shutdown()


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ("AuthenticationError: Invalid or missing authentication token", "refused this process"),
        ("Ray client version mismatch", "Cannot reach a Ray cluster"),
    ],
)
def test_what_a_cluster_answers_is_named(error: str, message: str) -> None:
    from edgecil.engine.executors.ray_cluster import connect

    def init(**options: object) -> None:
        os.write(2, b"gcs_client.cc:210: not ready\n")
        raise ConnectionError(f"{error}\nmore lines")

    with pytest.raises(PrerequisiteError, match=message) as raised:
        connect(SimpleNamespace(init=init), "auto", None)
    assert error in str(raised.value)
    assert "more lines" not in str(raised.value)


def test_a_private_cluster_is_no_other_one_on_this_machine() -> None:
    """Ray connected to one that somebody had started, and refused the number of processors."""
    from edgecil.engine.executors.ray_cluster import connect

    asked: list[dict[str, object]] = []
    connect(SimpleNamespace(init=lambda **options: asked.append(options)), None, 2)
    assert [(it["address"], it["num_cpus"]) for it in asked] == [("local", 2)]


def test_a_wrong_token_is_named_although_ray_only_logs_it(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """It took three minutes and named no cause."""
    from edgecil.engine.executors.ray_cluster import ATTEMPTS, connect

    def init(**options: object) -> None:
        assert all(os.environ[name] == value for name, value in ATTEMPTS.items())
        os.write(2, b"W gcs_client.cc: Unauthenticated: RPC error: InvalidAuthToken: it is wrong\n")
        raise ConnectionError("Failed to connect to Ray cluster")

    with pytest.raises(PrerequisiteError, match="refused this process: InvalidAuthToken: it is"):
        connect(SimpleNamespace(init=init), "auto", None)
    assert not ATTEMPTS.keys() & os.environ.keys()
    assert capfd.readouterr().err == ""


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
            with pytest.raises(PrerequisiteError, match="refused this process"):
                get_executor("ray", make_context({"instant": {}}), workers=1, address=address)
            seconds = time.monotonic() - start
        finally:
            head.terminate()
            head.wait(60)
    assert seconds < 120.0
    print(f"a wrong token was refused after {seconds:.0f} s")


@contextmanager
def one_node(**resources: Any) -> Iterator[str]:
    """A cluster of one node; its address."""
    cluster_utils = pytest.importorskip("ray.cluster_utils")
    cluster = cluster_utils.Cluster(
        initialize_head=True, head_node_args={"include_dashboard": False, **resources}
    )
    try:
        yield cluster.address
    finally:
        cluster.shutdown()


@pytest.mark.attack
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore")
def test_trainings_share_a_gpu_of_a_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two on one GPU at the same time, although this process has none."""
    asked = "edgecil.engine.executors.ray_worker.gpu_type"
    context = make_context({"visible-gpu": {"folder": str(tmp_path), "together": 2}})
    on_gpu = replace(context, environment=replace(context.environment, device="cuda"))
    monkeypatch.setenv(fake_gpu.VARIABLE, "1")  # for the nodes: this process has imported it
    with one_node(num_cpus=2, num_gpus=1) as address:
        monkeypatch.setattr(asked, fake_gpu.unusable_gpu)
        with pytest.raises(PrerequisiteError, match="GPU that torch cannot use"):
            driver_in_this_process(on_gpu, address, None, 1)
        monkeypatch.setattr(asked, fake_gpu.gpu_type)
        driver = driver_in_this_process(on_gpu, address, None, 2)
        with closing(driver):
            assert (driver.capacity, driver.identity) == (2, {"gpu": fake_gpu.GPU})
            for class_ in range(2):
                driver.submit(Job(Node("visible-gpu", 0, ((class_,),)), None, None))
            outcomes = [driver.wait() for _ in range(2)]
            driver.submit(Job(Node("visible-gpu", 0, ((2,),)), None, None))
        driver.close()
        assert not sys.modules["ray"].is_initialized(), "closing again starts no private cluster"
    assert all(it is not None and it.outcome.error is None for it in outcomes), outcomes
    used = [(tmp_path / name).read_text(encoding="utf-8") for name in ("0", "1")]
    assert used == ["0", "0"]


@needs_ray
@pytest.mark.parametrize("then", ["sys.exit(3)", "time.sleep(600)"], ids=["ends", "hangs"])
@pytest.mark.parametrize("answers", [False, True], ids=["head gone", "head alive"])
def test_a_driver_that_ray_ends_or_that_waits_for_its_head_ends_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, then: str, answers: bool
) -> None:
    """A stand-in for the process that is connected to Ray."""
    from edgecil.engine.executors import ray, ray_cluster

    if answers and "sleep" in then:
        pytest.skip("it would wait as long as it must")
    with socket.socket() as head:
        head.bind(("127.0.0.1", 0))
        if answers:
            head.listen(1000)
        address = f"127.0.0.1:{head.getsockname()[1]}"
        monkeypatch.setattr(ray, "pickled", lambda *_: b"")
        monkeypatch.setattr(ray, "_TICK", 0.02)
        monkeypatch.setattr(ray_cluster, "_BETWEEN", 0.02)
        connected = ("value", ((address, {}), 1))
        answer = f"pickle.dump({connected!r}, sys.stdout.buffer); sys.stdout.flush()"
        monkeypatch.setattr(ray, "_START", f"import pickle, sys, time; {answer}; {then}")
        with pytest.raises(EdgecilError, match="same options to resume") as raised:
            get_executor("ray", make_context({"instant": {}}), workers=1)
    end = "lost with exit code 3" if answers else "has ended"
    assert f"Ray cluster at {address}" in str(raised.value)
    assert end in str(raised.value)


@needs_ray
@pytest.mark.parametrize("answered", [0, 1, 2], ids=["connect", "prepare", "wait"])
def test_a_driver_that_is_stopped_ends_the_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answered: int
) -> None:
    """Whatever it was asked for, also where it does not read a message larger than a pipe holds."""
    from edgecil.engine.executors import ray

    hostile_directory(tmp_path, monkeypatch)
    with socket.socket() as head:
        head.bind(("127.0.0.1", 0))
        head.listen(1000)
        address = f"127.0.0.1:{head.getsockname()[1]}"
        monkeypatch.setattr(ray, "pickled", lambda *_: bytes(2**18))
        for name, value in (("_TICK", 0.02), ("_CLOSING", 0.1), ("HANDSHAKE", 0.0)):
            monkeypatch.setattr(ray, name, value)
        monkeypatch.setattr(ray, "_PATIENCE", 0.1 if answered < 2 else 2.0)
        answers = [((address, {}), 1), (None, 1)][:answered]
        lines = [f"pickle.dump(('value', {it!r}), sys.stdout.buffer)" for it in answers]
        words = ["import pickle, sys, time", *lines, "sys.stdout.flush()", "time.sleep(600)"]
        monkeypatch.setattr(ray, "_START", "; ".join(words))
        with pytest.raises(EdgecilError, match=r"not respond.*resume"):  # noqa: PT012
            executor = get_executor("ray", make_context({"instant": {}}), workers=1)
            monkeypatch.setattr(ray, "_PATIENCE", 0.1)
            with closing(executor):
                executor.wait()
    assert not (tmp_path / "imported").exists()


def test_jobs_without_a_first_sign_of_life_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """They waited forever in a cluster that is busy or whose workers do not start."""
    from edgecil.engine.executors import ray_driver

    class LostError(Exception):
        pass

    beats: dict[int, Any] = {}
    driver: Any = object.__new__(ray_driver.RayDriver)
    driver._ray = SimpleNamespace(
        get=lambda *_, **__: beats,
        wait=lambda *_, **__: ([], []),
        exceptions=SimpleNamespace(RayError=LostError),
    )
    driver._pulse = SimpleNamespace(read=SimpleNamespace(remote=lambda: None))
    driver._grows, driver._timeout, driver._asked, driver._alive = True, None, 0.0, 1000.0
    driver._running = {"a": ray_driver._Sent(Job(Node("m", 0, ((0, 1),)), None, None), None, 7)}
    now = 1000.0 + ray_driver.QUEUED
    monkeypatch.setattr(ray_driver.time, "monotonic", lambda: now)
    assert driver.wait(0.0) is None
    beats[7], now = ray_driver.Beat(0, "host", "node", 1), now + 10.0
    assert driver.wait(0.0) is None
    del beats[7]
    now += ray_driver.QUEUED
    assert driver.wait(0.0) is None
    now += 10.0
    with pytest.raises(EdgecilError, match=r"sign of life for 3600 s.*resume"):
        driver.wait(0.0)

    def fail(*_: Any, **__: Any) -> None:
        raise LostError

    driver._ray.get, now = fail, now + 10.0
    with pytest.raises(EdgecilError, match="resume"):
        driver.wait(0.0)


def test_the_cluster_that_this_process_is_connected_to_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from edgecil.engine.executors.ray import _connected

    context = SimpleNamespace(gcs_address="192.0.2.1:6379")
    stand_in = SimpleNamespace(is_initialized=lambda: True, get_runtime_context=lambda: context)
    monkeypatch.setitem(sys.modules, "ray", stand_in)
    assert _connected() == "192.0.2.1:6379"
    stand_in.is_initialized = lambda: False
    assert _connected() is None
