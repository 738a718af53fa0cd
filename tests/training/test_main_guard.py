"""A script needs the guard of its main part only if it defines the learner."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest

import edgecil
from edgecil.errors import UsageError
from edgecil.training.main_guard import (
    UNGUARDED,
    WORKER,
    forget_safe_path,
    refuse_while_importing,
    safe_path,
)
from tests.methods.learner_files import write_learner
from tests.toys import save_toy

SCRIPT = """\
import torch

import edgecil


class Mine:
    def __init__(self):
        self.classes, self.means = [], []

    def fit_task(self, images, labels, task):
        self.classes += task
        self.means += [images[labels == class_].float().mean(0) for class_ in task]

    def predict(self, images):
        distances = [(images.float() - mean).flatten(1).norm(dim=1) for mean in self.means]
        return [self.classes[place] for place in torch.stack(distances).argmin(dim=0)]

    def state_dict(self):
        return {{"classes": self.classes, "means": self.means}}

    def load_state_dict(self, state):
        self.classes, self.means = list(state["classes"]), list(state["means"])


print("running")
{first}
edgecil.run(
    out="out", dataset="toy.npz", tasks=2, protocol="random", budget=1, {method},
    execution={{"workers": 2}},
)
"""


CHECK = "from edgecil.testing import check_method; check_method(Mine)"
RESOLVE = "from edgecil.methods import resolve_method; resolve_method(Mine)"


def run_script(folder: Path, method: str, first: str = "") -> subprocess.CompletedProcess[str]:
    save_toy(folder / "toy.npz", train=4)
    (folder / "script.py").write_text(SCRIPT.format(method=method, first=first))
    return subprocess.run(
        [sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, timeout=300
    )


@pytest.mark.slow
def test_a_script_that_defines_none_of_its_learners_needs_no_guard(tmp_path: Path) -> None:
    path = write_learner(tmp_path / "code")
    method = f'method=("finetune", "{path}:NearestMean"), training={{"schedule": {{"epochs": 1}}}}'
    ran = run_script(tmp_path, method)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "running\n", "no worker ran the script"
    assert len(edgecil.Experiment.open(tmp_path / "out").results()) == 2


@pytest.mark.slow
@pytest.mark.parametrize("first", [RESOLVE, CHECK])
def test_a_script_that_defines_its_learner_ends_with_one_sentence_without_it(
    first: str, tmp_path: Path
) -> None:
    ran = run_script(tmp_path, "method=Mine", first)
    assert ran.returncode == 1
    assert ran.stderr.count("Traceback") == 1, "that of the script itself"
    assert ran.stderr.count('if __name__ == "__main__":') == 1
    assert "in use by another process" not in ran.stderr


def test_only_processes_that_import_the_script_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    process = multiprocessing.current_process()
    refuse_while_importing()
    monkeypatch.setattr(process, "_inheriting", True, raising=False)
    with pytest.raises(UsageError, match="__main__"):
        refuse_while_importing()
    monkeypatch.setattr(type(process), "name", WORKER)
    with pytest.raises(SystemExit) as ended:
        refuse_while_importing()
    assert ended.value.code == UNGUARDED


@pytest.mark.skipif(sys.version_info < (3, 11), reason="a variable of Python 3.11")
def test_worker_processes_import_nothing_from_the_working_directory(tmp_path, monkeypatch) -> None:
    text = f"open({str(tmp_path / 'imported')!r}, 'a').write(__name__); raise ImportError"
    for name in ("pickle", "multiprocessing", "threading", "torch", "edgecil"):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    process = multiprocessing.get_context("spawn").Process(target=os.getcwd)
    with safe_path():
        process.start()
    process.join()
    assert process.exitcode == 0
    assert not (tmp_path / "imported").exists()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="a variable of Python 3.11")
def test_the_programs_of_workers_start_as_usual(monkeypatch) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    with safe_path():
        assert os.environ["PYTHONSAFEPATH"]
        forget_safe_path()  # in a worker
        assert "PYTHONSAFEPATH" not in os.environ
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    with safe_path():
        forget_safe_path()
    assert os.environ["PYTHONSAFEPATH"] == "1", "as the user has set it"
