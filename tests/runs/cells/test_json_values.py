"""JSON and JSON Lines: records, columns, nested mappings, lists."""

from __future__ import annotations

import json

import pytest

from edgecil.errors import DataError
from edgecil.runs.cells.cell_table import CellTable
from edgecil.runs.cells.forms import read_tables


def tables_of(folder, value: object) -> list[CellTable]:
    path = folder / "results.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return read_tables(path)


def test_records_are_rows(tmp_path) -> None:
    records = [{"method": "er", "config": {"lr": 0.1}, "acc": 80.5}, {"method": "b", "acc": None}]
    (table,) = tables_of(tmp_path, records)
    assert table.header == ("method", "config.lr", "acc")
    assert table.rows == (("er", 0.1, 80.5), ("b", None, None))


@pytest.mark.parametrize(
    "frame",
    [
        {"method": ["er", "der"], "acc": [80.5, 81.5]},
        {"columns": ["method", "acc"], "index": [0, 1], "data": [["er", 80.5], ["der", 81.5]]},
        [["method", "acc"], ["er", 80.5], ["der", 81.5]],
        [{"method": "er", "acc": 80.5}, {"method": "der", "acc": 81.5}],
    ],
)
def test_frames_in_any_orientation_are_one_table(tmp_path, frame) -> None:
    (table,) = tables_of(tmp_path, frame)
    assert (table.header, table.rows) == (("method", "acc"), (("er", 80.5), ("der", 81.5)))


def test_columns_of_numbered_rows(tmp_path) -> None:
    (table,) = tables_of(tmp_path, {"method": {"0": "er", "1": "b"}, "acc": {"0": 80.5, "1": 81}})
    assert table.header == ("key", "method", "acc")
    assert table.rows == (("0", "er", 80.5), ("1", "b", 81))


def test_names_of_inner_mappings_are_columns(tmp_path) -> None:
    runs = {"er": {"s1": {"acc": 80.5}, "s2": {"acc": 81.5}}, "ft": {"s1": {"acc": 19.5}}}
    (table,) = tables_of(tmp_path, {"cifar10": runs, "cub": runs})
    assert table.header == ("key 1", "key 2", "key 3", "acc")
    assert table.rows[:3] == (
        ("cifar10", "er", "s1", 80.5),
        ("cifar10", "er", "s2", 81.5),
        ("cifar10", "ft", "s1", 19.5),
    )


def test_orders_as_names(tmp_path) -> None:
    (table,) = tables_of(tmp_path, {"(0, 1, 2)": 0.93, "(0, 2, 1)": 0.92})
    assert (table.header, table.rows[1]) == (("key", "value"), ("(0, 2, 1)", 0.92))


def test_lists_are_tables_of_their_own_with_what_stands_beside_them(tmp_path) -> None:
    run = {"seed": 1, "class_order": [2, 0, 1], "args": {"lr": 0.1}, "acc": [[0.9], [0.5, 0.8]]}
    record, matrix = tables_of(tmp_path, run)
    assert record.header == ("seed", "class_order", "args.lr")
    assert record.rows == ((1, "2 0 1", 0.1),)
    assert matrix.header == ("index 1", "index 2", "acc")
    assert matrix.rows == ((0, 0, 0.9), (1, 0, 0.5), (1, 1, 0.8))
    assert matrix.roles == {"index 1": "index", "index 2": "index"}
    assert matrix.facts == {"seed": 1, "class_order": "2 0 1", "args.lr": 0.1}
    assert matrix.place == "acc"


def test_lists_of_many_records_are_one_table(tmp_path) -> None:
    _, curve = tables_of(tmp_path, [{"seed": 1, "accs": [90.5, 70]}, {"seed": 2, "accs": [91]}])
    assert curve.header == ("seed", "index", "accs")
    assert curve.rows == ((1, 0, 90.5), (1, 1, 70), (2, 0, 91))


@pytest.mark.parametrize("name", ["log.jsonl", "log.txt"])
def test_json_lines(tmp_path, name) -> None:
    path = tmp_path / name
    path.write_text('{"epoch": 0, "acc": 80.5}\n{"epoch": 1, "acc": 81, "lr": 0.1}\n{"epo')
    (table,) = read_tables(path)
    assert table.header == ("epoch", "acc", "lr")
    assert table.rows == ((0, 80.5, None), (1, 81, 0.1))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[" * 100_000, "not valid JSON"),
        ('{"a": ' * 300 + "1" + "}" * 300, "more than 12 levels"),
        ("[" * 300 + "1" + "]" * 300, "more than 12 levels"),
        ('{"a": 1, "a": 2}', "twice"),
        ("{}", "has no values"),
        ('{"a": 1' + "0" * 5000 + "}", "not valid JSON"),
    ],
)
def test_hostile_json_is_one_sentence(tmp_path, text, problem) -> None:
    path = tmp_path / "results.json"
    path.write_text(text)
    with pytest.raises(DataError, match=problem):
        read_tables(path)


def test_columns_times_records_are_limited(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("EDGECIL_MAX_CELLS", "5000")
    with pytest.raises(DataError, match="EDGECIL_MAX_CELLS"):
        tables_of(tmp_path, [{f"column {number}": 1} for number in range(100)])


@pytest.mark.parametrize(
    "matrix",
    [
        {"b": {"after_b": 0.9, "after_a": 0.4}, "a": {"after_a": 0.8}},
        {"after training on b": {"b": 0.9}, "after training on a": {"b": 0.4, "a": 0.8}},
    ],
)
def test_a_matrix_with_names_of_tasks_is_long(tmp_path, matrix) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"method": "er", "seed": 1, "accuracy_matrix": matrix}))
    _, table = read_tables(path)
    assert table.header == ("after task", "task", "accuracy_matrix")
    assert table.rows == ((0, 0, 0.9), (1, 0, 0.4), (1, 1, 0.8))
    assert table.roles == {"after task": "step", "task": "task"}
    assert (table.facts["method"], table.facts["seed"]) == ("er", 1)


def test_names_without_values_are_no_table_beside_their_lists(tmp_path) -> None:
    path = tmp_path / "run.json"
    path.write_text('{"er": [90.5, 60.25], "der": [91, 70.5], "(0, 1)": [1, 2], "x": [3, 4, 5]}')
    tables = read_tables(path)
    assert all(len(table.header) > 1 or table.header[0] != "key" for table in tables)


def test_the_time_of_a_log_is_no_list(tmp_path) -> None:
    path = tmp_path / "run.log"
    path.write_text("[01:13:42] start\n[01:13:43] Average accuracy: 60.5\n")
    (table,) = read_tables(path)
    assert table.form == "console log"
    assert table.rows == (("60.5",),)
