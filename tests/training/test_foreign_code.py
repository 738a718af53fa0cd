"""Code of the user that runs inside a run can neither end it, nor see, nor forget too much."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from edgecil import TrainingFailedError
from edgecil.cli.main import main
from edgecil.data.load import load_dataset
from edgecil.experiments.experiment import Experiment
from edgecil.io.code import ForeignExitError, load_code, locate_code
from tests.grouped import train
from tests.methods.learner_files import LEARNER, write_learner
from tests.toys import save_toy

EXIT = "raise SystemExit(0)"


def learner_that_exits(folder: Path, call: str) -> str:
    """Write a learner one of whose calls ends the process, as `sys.exit(0)` does."""
    path = write_learner(folder)
    start = LEARNER.index(f"def {call}(")
    end_of_line = LEARNER.index(":\n", start) + 2
    text = f"{LEARNER[:end_of_line]}        {EXIT}\n{LEARNER[end_of_line:]}"
    path.write_text(text, encoding="utf-8")
    return f"{path}:NearestMean"


@pytest.mark.parametrize(
    ("call", "workers"),
    [
        ("fit_task", 1),
        ("predict", 1),
        ("state_dict", 1),
        ("__init__", 1),
        pytest.param("fit_task", 2, marks=pytest.mark.slow),
    ],
)
def test_a_learner_that_exits_is_a_failed_training(call: str, workers: int, tmp_path: Path) -> None:
    method = learner_that_exits(tmp_path / "code", call)
    options: dict[str, Any] = {"dataset": str(save_toy(tmp_path / "toy.npz")), "tasks": 2}
    with pytest.raises(TrainingFailedError, match=r"sys\.exit\(0\).*\(learner\.py, line"):
        train(method=method, out=tmp_path / "run", protocol="random", workers=workers, **options)
    failures = Experiment.open(tmp_path / "run").failures()
    assert len(failures) == 3
    assert {failure.node.method for failure in failures} == {"NearestMean"}


def test_the_command_line_reports_a_learner_that_exits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    method = learner_that_exits(tmp_path / "code", "fit_task")
    words = ["run", str(save_toy(tmp_path / "toy.npz")), "--method", method, "--tasks", "2"]
    assert main([*words, "--workers", "1", "--out", str(tmp_path / "run")]) == 1
    assert "NearestMean called sys.exit(0)" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "import sys\ndef load():\n    sys.exit(0)\n",
        "import sys\nsys.exit(0)\ndef load(): ...\n",
        "class Items(list):\n    def __getitem__(self, index):\n        raise SystemExit(0)\n"
        "def load():\n    return Items([1, 2]), Items([1, 2])\n",
    ],
)
def test_a_dataset_function_that_exits_is_an_error(text: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ForeignExitError, match=r"called sys\.exit\(0\)"):
        load_dataset(f"{path}:load")


def test_a_file_that_exits_while_it_is_imported_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("class Mine: ...\nraise SystemExit('done')\n", encoding="utf-8")
    with pytest.raises(ForeignExitError, match=r"mine\.py called sys\.exit\('done'\)"):
        load_code(locate_code(f"{path}:Mine"))
