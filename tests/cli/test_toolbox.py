"""`edgecil toolbox` on a miniature of PyCIL."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Answer, Cli
from tests.interop.miniature import write_toolbox


@pytest.fixture
def config() -> Path:
    return write_toolbox(Path("box"), "pycil")


def drive(cli: Cli, config: Path, *more: object) -> Answer:
    orders = ("--classes", 4, "--protocol", "random", "--budget", 2, "--out", "out")
    return cli("toolbox", "box", "--config", config, *orders, *more)


def test_options_reach_the_toolbox_and_results_come_back(cli, config) -> None:
    answer = drive(cli, config, "--set", "memory_size=20", "--repeats", 2, "--json").json
    [part] = answer["results"]
    assert (part["method"], part["finished"], answer["trained"]) == ("drifting", 2, 4)
    assert len({run["seed"] for run in part["runs"]}) == 4, "every order has seeds of its own"
    assert all(list(run["classifiers"]) == ["head", "nme"] for run in part["runs"])


@pytest.mark.parametrize("setting", ["device", "seed=1", "shuffle=true"])
def test_a_wrong_setting_is_a_usage_error(cli, config, setting) -> None:
    answer = drive(cli, config, "--set", setting)
    assert answer.code == 2
    assert not Path("out").exists()


def test_a_gpu_that_is_missing_is_named_before_any_training(cli, config, monkeypatch) -> None:
    Path("libraries/torch").mkdir(parents=True)
    Path("libraries/torch/cuda.py").write_text("def device_count(): return 2")
    Path("libraries/torch/__init__.py").write_text("from torch import cuda")
    monkeypatch.setenv("PYTHONPATH", str(Path("libraries").absolute()))
    answer = drive(cli, config, "--set", "device=[0,2]")
    assert (answer.code, Path("out").exists()) == (2, False)
    assert "GPU 2" in answer.err
    assert "--set device=-1" in answer.err
