"""Folders of runs that MLflow and Weights & Biases write."""

from __future__ import annotations

import json

import pytest

from edgecil.errors import DataError
from edgecil.runs.cells.forms import read_files, read_tables


def write_files(folder, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


MLFLOW = {
    "meta.yaml": "run_id: 1\n",
    "metrics/acc/all": "1700000000000 0.9 0\n1700000000001 0.6 1\n1700000000002 0.65 1\n",
    "metrics/loss": "1700000000000 1.5 0\n1700000000001 1.25 1\n",
    "metrics/forgetting": "1700000000000 0.3 1\n",
    "params/method": "derpp",
    "params/seed": "7\n",
    "tags/mlflow.runName": "funny-name",
}
WANDB = {
    "files/wandb-summary.json": json.dumps(
        {"acc": 0.6, "eval": {"forgetting": 0.3}, "_step": 9, "plot": {"_type": "histogram"}}
    ),
    "files/config.yaml": (
        "wandb_version: 1\n\nmethod:\n  desc: null\n  value: derpp\nseed:\n    value: 7\n"
        "tasks:\n  desc: null\n  value:\n  - 1\n  - 2\n"
    ),
    "files/output.log": "accuracy,loss\n1,2\n3,4\n",
    "files/requirements.txt": "numpy==1\n",
}


def test_a_run_of_mlflow_is_read_from_any_of_its_files(tmp_path) -> None:
    write_files(tmp_path / "mlruns" / "0" / "abc", MLFLOW)
    files = read_files([tmp_path])
    curves, single = files.tables
    assert curves.header == ("step", "acc/all", "loss")
    assert curves.rows == ((0, 0.9, 1.5), (1, 0.65, 1.25))
    assert (single.header, single.rows) == (("step", "forgetting"), ((1, 0.3),))
    assert curves.facts == {"method": "derpp", "seed": "7", "run": "funny-name"}
    assert (files.left_out, len(files.part_of)) == ({}, 6)


@pytest.mark.parametrize("text", ["1 x 0\n", "=cmd()\n", "\n1\n"])
def test_a_metric_with_text_is_refused(tmp_path, text) -> None:
    write_files(tmp_path, {**MLFLOW, "metrics/loss": text})
    with pytest.raises(DataError, match="no value of a metric"):
        read_tables(tmp_path / "meta.yaml")


def test_a_run_of_wandb_is_its_summary_and_its_settings(tmp_path) -> None:
    write_files(tmp_path / "run-2024-abc", WANDB)
    files = read_files([tmp_path])
    (table,) = files.tables
    assert (table.header, table.rows) == (("acc", "eval.forgetting"), ((0.6, 0.3),))
    assert table.facts == {"run": "run-2024-abc", "method": "derpp", "seed": "7"}
    assert (files.left_out, len(files.part_of)) == ({}, 3)


def test_the_console_is_read_where_the_summary_is_empty(tmp_path) -> None:
    summary = {"files/wandb-summary.json": '{"_wandb": {"runtime": 2}}'}
    write_files(tmp_path / "run-2024-abc", {**WANDB, **summary})
    files = read_files([tmp_path])
    assert [table.form for table in files.tables] == ["CSV"]
    assert len(files.left_out) == 3


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a": ' * 100_000, "{'a': __import__('os')}"])
def test_a_hostile_summary_is_refused(tmp_path, text) -> None:
    write_files(tmp_path, {**WANDB, "files/wandb-summary.json": text})
    with pytest.raises(DataError, match="not valid JSON"):
        read_tables(tmp_path / "files" / "config.yaml")
