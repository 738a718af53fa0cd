"""A learner of your own runs through the whole engine."""

from __future__ import annotations

import linecache
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from edgecil import TrainingFailedError
from edgecil.cli.main import main
from edgecil.errors import EdgecilError, UsageError
from edgecil.experiments.experiment import Experiment
from edgecil.experiments.protocol_results import experiment_results
from tests.grouped import train
from tests.methods.learner_files import write_learner
from tests.toys import save_toy
from tests.training.test_resume import finished, started, wait_for

SLOW_LEARNER = """

class SlowNetwork(SmallNetwork):
    def fit_task(self, images, labels, classes):
        import time
        time.sleep(0.6)
        super().fit_task(images, labels, classes)
"""


def test_a_learner_in_a_file_runs_in_workers_and_its_changes_are_noticed(tmp_path: Path) -> None:
    path, data = write_learner(tmp_path / "code"), save_toy(tmp_path / "toy.npz")
    options = {"dataset": str(data), "tasks": 2, "protocol": "random", "budget": 2}
    options |= {"method": f"{path}:NearestMean", "set": {"NearestMean": {"shrink": 0.1}}}
    one = train(out=tmp_path / "one", workers=1, **options)
    two = train(out=tmp_path / "two", workers=2, **options)
    assert [result.method for result in one.results()] == ["NearestMean"] * 2
    [summary] = experiment_results(one).results
    assert (summary.method, summary.planned, summary.finished) == ("NearestMean", 2, 2)
    accuracies = [
        [each.metric("accuracy") for each in experiment.results()] for experiment in (one, two)
    ]
    assert accuracies[0] == accuracies[1]
    (path.parent / "shapes.py").write_text(
        (path.parent / "shapes.py").read_text(encoding="utf-8") + "# new\n", encoding="utf-8"
    )
    with pytest.raises(EdgecilError, match=r"shapes\.py|code of NearestMean"):
        train(out=tmp_path / "one", workers=1, **options)


def test_a_learner_of_a_notebook_trains_in_its_process_and_its_changes_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, data = write_learner(tmp_path / "code"), save_toy(tmp_path / "toy.npz")
    monkeypatch.syspath_prepend(path.parent)
    text = path.read_text(encoding="utf-8").replace("from .", "from ")
    options = {"dataset": str(data), "tasks": 2, "protocol": "random", "budget": 2}
    out = tmp_path / "run"
    learner = run_cell(text, monkeypatch).NearestMean
    here = train(method=learner, out=out, **options).results()
    again = train(method=learner, out=out, **options).results()
    own = {"method": f"{path}:NearestMean", "out": tmp_path / "file", "workers": 1}
    from_file = train(**own, **options).results()
    accuracies = [[one.metric("accuracy") for one in each] for each in (here, again, from_file)]
    assert accuracies[0] == accuracies[1] == accuracies[2]
    for given in ({"workers": 2}, {"executor": "ray"}):
        with pytest.raises(UsageError, match=r"NearestMean .*'workers'"):
            train(method=learner, out=tmp_path / "two", **given, **options)
    changed = run_cell(text.replace("def predict", "# new\n    def predict"), monkeypatch)
    with pytest.raises(EdgecilError, match="NearestMean"):
        train(method=changed.NearestMean, out=out, **options)


def run_cell(text: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Run a cell as IPython does: its lines can be looked up, and the main module has no file."""
    notebook, name = ModuleType("__main__"), f"<cell {len(text)}>"
    monkeypatch.setitem(sys.modules, "__main__", notebook)
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    exec(compile(text, name, "exec"), vars(notebook))
    return notebook


def test_a_learner_that_failed_at_once_may_be_mended_beside_finished_ones(tmp_path: Path) -> None:
    path, data = write_learner(tmp_path / "code"), save_toy(tmp_path / "toy.npz")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("for class_ in classes", "for class_ in None"), encoding="utf-8")
    options: dict[str, Any] = {"dataset": str(data), "tasks": 2, "protocol": "latin", "workers": 1}
    out = tmp_path / "run"
    finetune = train(method="finetune", out=out, epochs=1, **options).results()
    with pytest.raises(
        TrainingFailedError, match=r"TypeError: .* \(learner\.py, line 14\)"
    ) as raised:
        train(method=f"{path}:NearestMean", out=out, retries=0, **options)
    assert "for class_ in None" in str(raised.value.__cause__), "Python shows the traceback"
    path.write_text(text, encoding="utf-8")
    both = train(method=f"{path}:NearestMean", out=out, **options).results()
    assert [result.method for result in both] == ["finetune"] * 3 + ["NearestMean"] * 3
    assert [result.nodes for result in both[:3]] == [result.nodes for result in finetune]


@pytest.mark.slow
def test_the_training_loop_of_the_docs_is_killed_and_resumed(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "training_loop.py"
    code = example.read_text(encoding="utf-8").split('"""')[2].split("class SmallNetwork")[1]
    assert len([line for line in code.splitlines() if line.strip()]) <= 31
    data = save_toy(tmp_path / "toy.npz")
    # Slower than results are written, so that there is a moment for the kill.
    learner = tmp_path / "slow_loop.py"
    learner.write_text(f"{example.read_text(encoding='utf-8')}{SLOW_LEARNER}", encoding="utf-8")

    def words(out: Path) -> list[str]:
        text = f"run --method {learner}:SlowNetwork --dataset {data} --tasks 2 --workers 1"
        return [*text.split(), "--protocol", "enumerate", "--out", str(out)]

    def counts(out: Path) -> dict[Any, Any]:
        runs = Experiment.open(out).results()
        return {run.sequence: [node.class_correct for node in run.nodes] for run in runs}

    with started(words(tmp_path / "killed")) as process:
        wait_for(lambda: finished(tmp_path / "killed") >= 2, process)
    assert 2 <= finished(tmp_path / "killed") < 12
    assert main(words(tmp_path / "killed")) == 0
    assert main(words(tmp_path / "whole")) == 0
    assert counts(tmp_path / "killed") == counts(tmp_path / "whole")
    assert len(counts(tmp_path / "whole")) == 6
