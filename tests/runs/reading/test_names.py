"""What names say: roles of columns, directions of metrics, parts of paths."""

from __future__ import annotations

from pathlib import Path

import pytest

import edgecil
from edgecil.runs import metric_names
from edgecil.runs.metrics import find_metric
from edgecil.runs.reading import column_names
from edgecil.runs.reading.column_names import ROLES, column_name, synonyms

LOWER = "err test_err Error ppl perplexity nll mse val_loss time train_time memory FM AF forgetting"
HIGHER = "acc accuracy Top-1 avg_acc last_acc bwt BWT backward_transfer fwt f1 AUROC mIoU ACC AIA"


@pytest.mark.parametrize("name", [*LOWER.split(), "Avg Forgetting", "Err ↓", "score ↓"])
def test_low_values_of_these_metrics_are_better(name: str) -> None:
    assert not find_metric(name).higher_is_better


@pytest.mark.parametrize("name", [*HIGHER.split(), "Accuracy (%) ↑", "score ↑"])
def test_high_values_of_these_metrics_are_better(name: str) -> None:
    assert find_metric(name).higher_is_better


@pytest.mark.parametrize("name", ["score", "score2", "result", "value", "accelerator"])
def test_other_names_say_nothing_about_a_direction(name: str) -> None:
    assert metric_names.metric_name(name) is None


def test_every_line_of_the_files_is_valid_and_every_name_stands_once() -> None:
    assert {entry.role for entry in synonyms().values()} <= set(ROLES)
    for file in (column_names._FILE, metric_names._FILE):
        lines = metric_names.read_lines(file)
        names = [line.partition("->")[0].strip() for line in lines]
        assert len(set(names)) == len(names)
    assert all(metric_names.metric_name(name.rstrip("*")) is not None for name in names)


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("Random_Seed", "seed"),
        ("config.algorithm", "method"),
        ("params.seed", "seed"),
        ("bufferSize", "setting"),
        ("trained_task", "step"),
        ("num_tasks", "scenario"),
        ("benchmark", "dataset"),
        ("trial", "seed"),
        ("foo", ""),
    ],
)
def test_a_name_says_the_role_of_its_column(name: str, role: str) -> None:
    assert column_name(name).role == role


def test_a_new_synonym_is_one_line_of_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "a.csv"
    table.write_text("graine,recette,exactitude\n0,er,61\n1,er,62\n")
    with pytest.raises(edgecil.EdgecilError):
        edgecil.read(table)
    for module, line in (
        (column_names, "graine -> seed\nrecette -> method\n"),
        (metric_names, "exactitude -> higher, share\n"),
    ):
        longer = tmp_path / f"{module.__name__}.txt"
        longer.write_text(module._FILE.read_text(encoding="utf-8") + line, encoding="utf-8")
        monkeypatch.setattr(module, "_FILE", longer)
    caches = (synonyms, column_name, metric_names._lines, metric_names.metric_name)
    for cached in caches:
        cached.cache_clear()
    reading = edgecil.read(table)
    assert (reading.methods, reading.metric) == (("er",), "exactitude")
    assert reading.runs[0].seed.tolist() == [0, 1]
    monkeypatch.undo()
    for cached in caches:
        cached.cache_clear()
