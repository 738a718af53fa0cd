from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edgecil.data import load_dataset
from edgecil.engine.config import ExperimentConfig
from edgecil.engine.experiment import Experiment
from edgecil.engine.run import run
from edgecil.errors import DataError, UsageError
from tests.toys import save_toy


@pytest.fixture
def config(tmp_path: Path) -> ExperimentConfig:
    dataset = save_toy(tmp_path / "toy.npz", train=4)
    return ExperimentConfig(
        ("icarl",), str(dataset), tasks=2, protocol=("random",), budget=1, training={"epochs": 1}
    )


def test_a_kept_model_predicts_what_was_counted(config, tmp_path) -> None:
    out = tmp_path / "out"
    experiment = run(config=config, out=out, execution={"workers": 1, "keep_model": True})
    (result,) = experiment.results()
    images = load_dataset(config.dataset).test
    for sequence in ("random seed-0", str(result.sequence), result.sequence):
        model = Experiment.open(out).model("icarl", sequence)
        for classifier in result.classifiers:
            right = model.predict(images.inputs, classifier=classifier) == images.labels
            assert 100.0 * right.mean() == result.metric("last", classifier)
    assert model.names == load_dataset(config.dataset).names
    with pytest.raises(UsageError, match="random seed-0"):
        experiment.model("icarl", "edge hard")
    with pytest.raises(UsageError, match="float64"):
        model.predict(np.zeros((1, *model.shape)))
    with pytest.raises(UsageError, match="nme"):
        model.predict(np.zeros((1, *model.shape), dtype=np.uint8), classifier="foot")
    run(config=config, out=out, overwrite=True, execution={"workers": 1})
    assert not list((out / "models").iterdir())


def test_a_model_that_was_not_kept_is_trained_again_with_the_same_result(config, tmp_path) -> None:
    out = tmp_path / "out"
    first = run(config=config, out=out, execution={"workers": 1})
    with pytest.raises(DataError, match="keep_model"):
        first.model("icarl", "random seed-0")
    again = run(config=config, out=out, execution={"workers": 1, "keep_model": True})
    assert (again.summary.trained, again.summary.reused) == (2, 0)
    assert [r.metric() for r in again.results()] == [r.metric() for r in first.results()]
    third = run(config=config, out=out, execution={"workers": 1})
    assert third.summary.trained == 0
    assert again.model("icarl", "random seed-0"), "later calls without 'keep_model' keep it"
