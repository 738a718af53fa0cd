"""The demo's learners reach the stored accuracies to the last digit."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgecil.engine import read_accuracies
from edgecil.engine.run import run as run_experiment
from edgecil.recipes import read_recipe

STORED = Path(__file__).parents[1] / "demo" / "accuracies.csv"


@pytest.mark.slow
def test_the_demo_gives_the_stored_accuracies(tmp_path: Path) -> None:
    [table] = read_accuracies(STORED)
    stored = {
        (run.method, run.sequence): run.accuracy
        for run in table.renumbered().runs
        if run.accuracy is not None
    }
    experiment = run_experiment(
        config=read_recipe("demo"), protocol="random", budget=1, workers=1, out=tmp_path / "demo"
    )
    results = {(result.method, result.sequence): result.accuracy for result in experiment.results()}
    assert len(results) == 4
    assert results == {key: stored[key] for key in results}
