"""The learners of the demos reach the stored accuracies to the last digit."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from edgecil.recipes import read_recipe
from edgecil.runs import read_runs
from edgecil.sequences import SequenceSpace
from edgecil.training.run import run as run_experiment
from tests.analysis.tables import rows
from tests.grouped import grouped

# The orders of the drawings that begin with one of three tasks: they share most of their work.
SHARING = list(islice(SequenceSpace.equal(6, 3).enumerate(), 18))
STORED = Path(__file__).parents[1] / "demo"
FILES = {"demo": "photographs.csv", "demo-quickdraw": "accuracies.csv"}


def check_demo(recipe: str, out: Path, runs: int, **options: Any) -> None:
    """Train a part of a demo and compare every accuracy with the stored one."""
    [table] = read_runs(STORED / FILES[recipe])
    stored = {
        (run.method, run.sequence): run.accuracy
        for run in rows(table.renumbered())
        if run.protocol != "repeats" and run.accuracy is not None
    }
    config = {name: own for name, own in read_recipe(recipe).items() if name != "execution"}
    experiment = run_experiment(**grouped(config=config, out=out, **options))
    results = {(result.method, result.sequence): result.accuracy for result in experiment.results()}
    assert len(results) == runs
    assert results == {key: stored[key] for key in results}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("recipe", "runs", "options"),
    [
        ("demo", 4, {"protocol": "random", "budget": 1}),
        ("demo", 2, {"protocol": "probes", "method": "acil"}),
        (
            "demo-quickdraw",
            19,
            {"method": "ranpac", "protocol": "random", "budget": 1, "sequences": SHARING}
            | {"one_seed": True},
        ),
    ],
)
def test_the_demos_give_the_stored_accuracies(recipe, runs, options, tmp_path) -> None:
    check_demo(recipe, tmp_path / "demo", runs, workers=1, **options)
