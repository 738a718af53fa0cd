"""The examples run, and what they hand to other tools are the tasks intended."""

from __future__ import annotations

import json
import os
import runpy
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from edgecil import SequenceSpace, protocol
from edgecil.classes import get_classes
from edgecil.cli.main import main
from edgecil.similarity import text_similarity

EXAMPLES = Path(__file__).parents[1] / "examples"
SPACE = SequenceSpace((4, 3, 3))
SIMILARITY = text_similarity(get_classes("cifar100")).take(np.arange(10))


def needs(tool: str) -> pytest.MarkDecorator:
    missing = [name for name in (tool, "torchvision") if find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{' and '.join(missing)} not installed")


def test_your_own_learner_takes_twenty_lines_and_depends_on_the_order(
    tmp_path, monkeypatch, capsys
) -> None:
    text = (EXAMPLES / "own_learner.py").read_text(encoding="utf-8")
    code = [line for line in text.split('"""')[2].splitlines() if line.strip()]
    assert len(code) <= 20
    monkeypatch.chdir(tmp_path)
    words = [sys.executable, str(EXAMPLES / "own_learner.py"), "{order_file}", "{result_file}"]
    asked = ["--classes", "4", "--tasks", "2", "--eval", "edge", "--budget", "2", "--json"]
    assert (
        main(["external", "quickdraw", "--command", shlex.join(words), *asked, "--out", "o"]) == 0
    )
    (result,) = json.loads(capsys.readouterr().out)["results"]
    rows = result["runs"]
    assert len({row["metrics"]["accuracy"] for row in rows}) == 2
    assert all(row["matrix"][0][0] > 50 for row in rows), "it learns its first task"


@needs("avalanche")
@pytest.mark.filterwarnings("ignore")
def test_avalanche_gets_the_tasks_intended() -> None:
    example = runpy.run_path(str(EXAMPLES / "avalanche_orders.py"))
    for run, benchmark in example["benchmarks"](SPACE, SIMILARITY):
        for stream in (benchmark.train_stream, benchmark.test_stream):
            classes = [{int(point[0]) for point, *_ in part.dataset} for part in stream]
            assert classes == [set(task) for task in run.sequence.tasks]


@needs("continuum")
@pytest.mark.filterwarnings("ignore")
def test_continuum_gets_the_tasks_intended() -> None:
    example = runpy.run_path(str(EXAMPLES / "continuum_orders.py"))
    for run, scenario in example["scenarios"](SPACE, SIMILARITY):
        classes = [set(part.get_raw_samples()[0][:, 0].astype(int).tolist()) for part in scenario]
        assert classes == [set(task) for task in run.sequence.tasks]


def test_mammoth_gets_the_tasks_intended(tmp_path) -> None:
    """Against its convention: targets = class_order[targets], then equal ranges of targets."""
    (tmp_path / "main.py").write_text(
        "import argparse, numpy\n"
        "def parse_args():\n"
        "    return argparse.Namespace(permute_classes=0)\n"
        "def main(args):\n"
        "    assert args.permute_classes\n"
        "    targets = args.class_order[numpy.arange(100)]\n"
        "    print([numpy.flatnonzero(targets // 10 == task).tolist() for task in range(10)])\n"
    )
    done = subprocess.run(
        [sys.executable, EXAMPLES / "mammoth_orders.py"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    similarity = text_similarity(get_classes("cifar100"))
    runs = protocol("edge", SequenceSpace.equal(100, 10), similarity=similarity)
    classes = [json.loads(line) for line in done.stdout.splitlines()]
    assert classes == [[list(task) for task in run.sequence.tasks] for run in runs]
