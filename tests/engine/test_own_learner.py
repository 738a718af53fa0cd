"""A learner of your own runs through the whole engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgecil.engine.run import run
from edgecil.errors import EdgecilError
from tests.methods.learner_files import write_learner
from tests.toys import save_toy


def test_a_learner_in_a_file_runs_in_workers_and_its_changes_are_noticed(tmp_path: Path) -> None:
    path, data = write_learner(tmp_path / "code"), save_toy(tmp_path / "toy.npz")
    options = {
        "method": f"{path}:NearestMean",
        "dataset": str(data),
        "tasks": 2,
        "protocol": "random",
        "budget": 2,
        "set": {"NearestMean": {"shrink": 0.1}},
    }
    one = run(out=tmp_path / "one", workers=1, **options)  # type: ignore[arg-type]
    two = run(out=tmp_path / "two", workers=2, **options)  # type: ignore[arg-type]
    assert [result.method for result in one.results()] == ["NearestMean"] * 2
    accuracies = [
        [each.metric("accuracy") for each in experiment.results()] for experiment in (one, two)
    ]
    assert accuracies[0] == accuracies[1]
    (path.parent / "shapes.py").write_text((path.parent / "shapes.py").read_text() + "# new\n")
    with pytest.raises(EdgecilError, match=r"shapes\.py|code of NearestMean"):
        run(out=tmp_path / "one", workers=1, **options)  # type: ignore[arg-type]
