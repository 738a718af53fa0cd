"""The demo's learners reach the stored accuracies to the last digit."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from edgecil.engine import read_runs
from edgecil.engine.run import run as run_experiment
from edgecil.recipes import read_recipe
from edgecil.sequences import SequenceSpace
from tests.estimation.tables import rows
from tests.grouped import grouped

# The orders of the demo that begin with one of three tasks: they share most of their work.
SHARING = list(islice(SequenceSpace.equal(6, 3).enumerate(), 18))
STORED = Path(__file__).parents[1] / "demo" / "accuracies.csv"


def check_demo(out: Path, runs: int, **options: Any) -> None:
    """Train a part of the demo and compare every accuracy with the stored one."""
    [table] = read_runs(STORED)
    stored = {
        (run.method, run.sequence): run.accuracy
        for run in rows(table.renumbered())
        if run.accuracy is not None
    }
    assert len(stored) == 360
    experiment = run_experiment(
        **grouped(config=read_recipe("demo"), out=out, one_seed=True, **options)
    )
    results = {(result.method, result.sequence): result.accuracy for result in experiment.results()}
    assert len(results) == runs
    assert results == {key: stored[key] for key in results}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runs", "options"),
    [
        (4, {"protocol": "random", "budget": 1}),
        (19, {"method": "ranpac", "protocol": "random", "budget": 1, "sequences": SHARING}),
    ],
)
def test_the_demo_gives_the_stored_accuracies(
    runs: int, options: dict[str, Any], tmp_path: Path
) -> None:
    check_demo(tmp_path / "demo", runs, workers=1, **options)
