"""Shards, trained in directories of their own and merged, are one run."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from edgecil.analysis import analyze
from edgecil.errors import DataError, UsageError
from edgecil.experiments.experiment import Experiment, TrainingFailedError
from edgecil.experiments.merge import merge
from edgecil.experiments.results import NodeResult
from edgecil.experiments.store import DATABASE, NoExperimentError, Store, checksum_of
from edgecil.io.device import processor_type
from tests.grouped import train
from tests.toys import save_toy
from tests.training import strange as strange  # registers its learners

SHARDS = 3


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    dataset = save_toy(tmp_path_factory.mktemp("data") / "toy.npz", train=4)
    return {
        "method": ("instant", "raising"),
        "dataset": dataset,
        "tasks": 2,
        "protocol": ("enumerate", "random"),
        "repeats": 2,
        "workers": 1,
    }


def counts(experiment: Experiment) -> dict[Any, Any]:
    """Everything but durations and memory."""
    return {
        (run.method, run.seed, run.sequence): [
            (node.correct, node.totals, node.class_correct) for node in run.nodes
        ]
        for run in experiment.results()
    }


@pytest.fixture(scope="module")
def shards(options: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("shards")
    return [
        train(out=folder / str(number), shard=f"{number}/{SHARDS}", **options).directory
        for number in range(1, SHARDS + 1)
    ]


def test_merged_shards_equal_one_run(options, shards, tmp_path) -> None:
    whole = train(out=tmp_path / "whole", **options)
    merged = merge(shards, out=tmp_path / "merged")
    assert counts(merged) == counts(whole)
    assert len(counts(merged)) == 2 * 2 * 6
    assert merged.identity == whole.identity
    assert merged.sequences() == whole.sequences()
    assert merged.configs == whole.configs
    assert merged.status().complete
    again = train(out=tmp_path / "merged", **options)
    assert again.summary.trained == 0


def test_the_status_of_a_shard_counts_its_own_runs(shards) -> None:
    statuses = [Experiment.open(shard).status() for shard in shards]
    assert [status.shard for status in statuses] == ["1/3", "2/3", "3/3"]
    assert all(status.complete for status in statuses)
    enumerated = [
        sum(part.planned for part in status.parts if part.protocol == "enumerate")
        for status in statuses
    ]
    assert sum(enumerated) == 2 * 2 * 6
    assert max(enumerated) < 2 * 2 * 6


def test_an_unfinished_shard_is_merged_and_the_rest_resumed(options, shards, tmp_path) -> None:
    merged = merge(shards[:2], out=tmp_path / "merged")
    assert not merged.status().complete
    assert merged.status().remaining > 0
    finished = train(out=tmp_path / "merged", **options)
    whole = merge(shards, out=tmp_path / "whole")
    assert counts(finished) == counts(whole)
    added = merge([shards[2], tmp_path / "merged"], out=tmp_path / "merged")
    assert counts(added) == counts(whole)


def test_a_failure_is_merged_unless_another_directory_has_the_result(options, tmp_path) -> None:
    trigger = tmp_path / "trigger"
    trigger.touch()
    one = {**options, "method": "raising", "repeats": 1, "protocol": "enumerate"}
    one["set"] = {"raising": {"classes": [0, 1], "file": str(trigger)}}
    with pytest.raises(TrainingFailedError):
        train(out=tmp_path / "failed", **one)
    failed = merge([tmp_path / "failed"], out=tmp_path / "merged")
    assert [failure.tasks[-1] for failure in failed.failures()] == [(0, 1), (0, 1)]
    trigger.unlink()
    train(out=tmp_path / "good", **one)
    both = merge([tmp_path / "failed", tmp_path / "good"], out=tmp_path / "both")
    assert both.failures() == []
    assert both.status().complete


def test_directories_that_do_not_fit_leave_nothing_behind(options, shards, tmp_path) -> None:
    other = train(out=tmp_path / "other", **{**options, "threads": 2}).directory
    with pytest.raises(UsageError, match=r"'threads'.*1.*2"):
        merge([shards[0], other], out=tmp_path / "merged")
    with pytest.raises(NoExperimentError):
        Experiment.open(tmp_path / "merged")


def change_identity(directory: Path, name: str, value: str) -> None:
    """Store another value under a name, as another machine would have."""
    with closing(sqlite3.connect(directory / DATABASE)) as database, database:
        text = json.dumps(value)
        row = (text, checksum_of((name, text)), name)
        database.execute("UPDATE identity SET value = ?, checksum = ? WHERE name = ?", row)


def test_shards_of_another_processor_are_merged_and_noted_and_of_other_kernels_refused(
    shards, tmp_path
) -> None:
    other = merge([shards[1]], out=tmp_path / "other").directory
    change_identity(other, "processor", "GenuineIntel 6 143")
    merged = merge([shards[0], other], out=tmp_path / "merged")
    first, second = (machine["processor"] for machine in merged.machines)
    assert (first, second) == (processor_type(), "GenuineIntel 6 143")
    notes = [note for one in analyze(merged).datasets for note in one.notes]
    sentence = f"The runs come from different machines: processor {first} and {second}."
    assert sentence in notes
    change_identity(other, "kernels", "avx512 AVX512 AVX512")
    with pytest.raises(UsageError, match=r"'kernels'.*avx512"):
        merge([shards[0], other], out=tmp_path / "refused")


def test_two_results_of_one_training_are_refused(shards, tmp_path) -> None:
    changed = merge([shards[0]], out=tmp_path / "changed")
    with Store(changed.directory) as store:
        node, result = next(iter(store.done().items()))
        wrong = {name: tuple(0 for _ in right) for name, right in result.correct.items()}
        store.record(node, NodeResult(wrong, result.totals, 1.0, 1))
    with pytest.raises(DataError, match=f"{node.method}.*seed {node.seed}"):
        merge([shards[0], changed.directory], out=tmp_path / "merged")


def test_bad_calls_are_refused(tmp_path) -> None:
    with pytest.raises(UsageError, match="Got none"):
        merge([], out=tmp_path / "merged")
    with pytest.raises(DataError, match="contains no results"):
        merge([tmp_path], out=tmp_path / "merged")


@pytest.mark.parametrize("text", ["3", "3/x", "/", "-1/3"])
def test_a_shard_is_a_number_and_a_count(options, tmp_path, text) -> None:
    with pytest.raises(UsageError, match="such as '3/8'"):
        train(out=tmp_path / "out", shard=text, **options)
