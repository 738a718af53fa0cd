"""Data that make accuracy look better than it is are refused, or named wherever results are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import edgecil
from edgecil.analysis.sources import collect_runs
from edgecil.cli.main import main
from edgecil.errors import DataError
from tests.grouped import train
from tests.toys import toy_dataset


def save(path: Path, leaked: int) -> str:
    """Write a dataset some of whose test inputs are training inputs of the same class."""
    dataset = toy_dataset(4, contrast=40)
    for place in range(leaked):
        same_class = np.flatnonzero(dataset.train.labels == dataset.test.labels[place])
        dataset.test.inputs[place] = dataset.train.inputs[same_class[0]]
    np.savez(
        path,
        x_train=dataset.train.inputs,
        y_train=dataset.train.labels,
        x_test=dataset.test.inputs,
        y_test=dataset.test.labels,
        names=np.array(dataset.names),
    )
    return str(path)


OPTIONS: dict[str, Any] = {"method": "finetune", "epochs": 1, "tasks": 2, "protocol": "random"}


def test_most_test_inputs_in_training_are_refused_unless_there_is_a_reason(tmp_path: Path) -> None:
    data, out = save(tmp_path / "toy.npz", 16), tmp_path / "run"
    with pytest.raises(DataError, match=r"16 of 32 test inputs of toy occur in training"):
        train(dataset=data, out=out, workers=1, **OPTIONS)
    assert not out.exists()
    train(dataset=data, out=out, allow_leak="it is a demo", workers=1, **OPTIONS)
    expected = "That was allowed for this reason: it is a demo."
    assert expected in collect_runs(out).datasets[0].notes
    [config] = edgecil.Experiment.open(out).configs
    assert config.data.allow_leak == "it is a demo"


def test_fewer_are_a_note_that_travels_with_the_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out = save(tmp_path / "toy.npz", 2), tmp_path / "run"
    words = [
        "--method",
        "finetune",
        "--epochs",
        "1",
        "--tasks",
        "2",
        "--protocol",
        "random",
        "--out",
        str(out),
    ]
    assert main(["run", data, *words, "--workers", "1"]) == 0
    sentence = "2 of 32 test inputs of toy occur in training."
    assert sentence in capsys.readouterr().err
    assert sentence in collect_runs(out).datasets[0].notes
    assert main(["analyze", str(out)]) == 0
    assert sentence in capsys.readouterr().err


def test_check_lists_doubts_before_anything_is_trained(tmp_path: Path) -> None:
    options = {"method": "finetune", "tasks": 2, "protocol": "random"}
    doubtful = edgecil.check(dataset=save(tmp_path / "few.npz", 2), **options)
    assert doubtful.ready
    [found] = [it.about for it in doubtful.requirements if it.name == "data"]
    assert found == "2 of 32 test inputs of few occur in training."
    refused = edgecil.check(dataset=save(tmp_path / "most.npz", 32), **options)
    assert [it.name for it in refused.problems] == ["data"]
