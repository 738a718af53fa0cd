"""Logs of Continuum's logger."""

from __future__ import annotations

import json

import pytest

from edgecil.errors import DataError
from edgecil.runs.cells.forms import read_tables

RUN = (
    {"task": 0, "acc": 90.5, "avg_acc": 90.5, "acc_per_task": [90.5], "bwt": 0.0},
    {"task": 1, "acc": 60.25, "avg_acc": 75.4, "acc_per_task": [40.0, 80.5], "bwt": -50.5},
)


def tables_of(folder, *records: object):
    path = folder / "metrics.json"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return read_tables(path)


def test_lines_are_the_matrix_and_the_curve(tmp_path) -> None:
    (table,) = tables_of(tmp_path, *RUN, {"last": 60.25, "avg": 75.4})
    assert table.form == "Continuum log"
    assert table.header == ("after task", "task", "accuracy", "accuracy of all classes")
    assert table.rows == ((0, 0, 90.5, 90.5), (1, 0, 40.0, 60.25), (1, 1, 80.5, 60.25))
    assert table.facts == {"unit": "%"}


def test_the_first_task_begins_a_run_and_a_later_line_counts(tmp_path) -> None:
    again = {**RUN[1], "acc": 61.0}
    first, second = tables_of(tmp_path, *RUN, RUN[0], RUN[1], again)
    assert first.rows[-1] == (1, 1, 80.5, 60.25)
    assert second.rows[-1] == (1, 1, 80.5, 61.0)


@pytest.mark.parametrize(
    "record", [{"task": 10**9}, {"task": "0"}, {"task": -1}, {"task": True, "acc": 1}]
)
def test_a_hostile_task_is_refused(tmp_path, record) -> None:
    with pytest.raises(DataError, match="has the task"):
        tables_of(tmp_path, RUN[0], record)


def test_deep_lines_are_refused(tmp_path) -> None:
    path = tmp_path / "metrics.json"
    path.write_text(json.dumps(RUN[0]) + "\n" + "[" * 100_000 + "\n")
    with pytest.raises(DataError, match="not valid JSON"):
        read_tables(path)
