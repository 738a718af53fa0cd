"""Tables that programs print as text."""

from __future__ import annotations

import pytest

from edgecil.errors import DataError
from edgecil.runs.cells.forms import read_tables

FRAMED = """\
+--------+------+------+
| Method | seed |  Acc |
+--------+------+------+
| ER (5) |  1   | 80.5 |
| DER    |  2   | 81.0 |
+--------+------+------+
"""
BOXED = FRAMED.replace("|", "│").replace("+", "┼").replace("-", "─")
RULED = """\
Method      seed    Acc
--------  ------  -----
ER (5)         1   80.5
DER            2   81.0
"""
ALIGNED = """\
Method          seed       Acc
------------------------------
ER (5)          1   80.5
DER                2   81.0
"""
FRAME = """\
   Method  seed   Acc
0  ER (5)     1  80.5
1  DER        2  81.0
"""


@pytest.mark.parametrize("text", [FRAMED, BOXED, RULED, ALIGNED, FRAMED.replace("\n", "\r\n")])
def test_shapes_of_a_table_give_the_same_cells(tmp_path, text) -> None:
    path = tmp_path / "table.txt"
    path.write_text(text, encoding="utf-8")
    (table,) = read_tables(path)
    assert table.form == "printed table"
    assert table.header == ("Method", "seed", "Acc")
    assert table.rows == (("ER (5)", "1", "80.5"), ("DER", "2", "81.0"))


def test_a_frame_of_pandas_has_its_index(tmp_path) -> None:
    path = tmp_path / "table.txt"
    path.write_text(FRAME)
    (table,) = read_tables(path)
    assert table.header == ("", "Method", "seed", "Acc")
    assert table.rows[1] == ("1", "DER", "2", "81.0")


def test_spreads_belong_to_their_numbers(tmp_path) -> None:
    path = tmp_path / "table.txt"
    path.write_text("Method   Acc    BWT\nER  (5)  80.5 ± 1.5  -3.2±0.5\nDER 81.0±1 -2±1\n")
    (table,) = read_tables(path)
    assert table.rows == (("ER (5)", "80.5±1.5", "-3.2±0.5"), ("DER", "81.0±1", "-2±1"))


def test_a_table_inside_a_log_is_read_where_nothing_else_is(tmp_path) -> None:
    path = tmp_path / "out.log"
    path.write_text("loading\nepoch 1\nepoch 2\nsaving\n" * 5 + "\nFinal results\n\n" + FRAMED)
    (table,) = read_tables(path)
    assert table.rows == (("ER (5)", "1", "80.5"), ("DER", "2", "81.0"))
    assert table.caption == "Final results"


@pytest.mark.parametrize("text", ["|" * 3000, "+-" * 900 + "\n" + "|\n" * 900, "a  b\n" * 900])
def test_a_hostile_text_is_refused(tmp_path, text) -> None:
    path = tmp_path / "table.txt"
    path.write_text(text)
    with pytest.raises(DataError, match="names no results"):
        read_tables(path)


GROUPS = """\
|-----------|-------|-----------------|
| Optimizer | Phase |    Accuracy     |
|-----------|-------|-----------------|
|           |   0   | 0.9580+-0.0031  |
|      Adam |   1   | 0.0200+-0.0025  |
|           |   2   | 0.9790+-0.0006  |
|-----------|-------|-----------------|
|           |   0   | 0.9533+-0.0035  |
|       SGD |   1   | 0.0177+-0.0023  |
|           |   2   | 0.9701+-0.0015  |
|-----------|-------|-----------------|
"""


def test_a_label_between_rules_is_that_of_all_rows_between_them(tmp_path) -> None:
    path = tmp_path / "retention.txt"
    path.write_text(GROUPS)
    (table,) = read_tables(path)
    assert table.form == "printed table"
    assert table.column("Optimizer") == ["Adam"] * 3 + ["SGD"] * 3
    assert table.column("Accuracy")[3] == "0.9533+-0.0035"


def test_lines_around_a_table_are_caption_and_facts(tmp_path) -> None:
    path = tmp_path / "summary.txt"
    path.write_text(
        f"Model:   HGNN\nSeeds:   [42, 123, 456]\n\n{ALIGNED}\nmean and std over 3 seeds\n"
    )
    (table,) = read_tables(path)
    assert table.facts == {"Model": "HGNN", "Seeds": "[42, 123, 456]"}
    assert table.caption == "mean and std over 3 seeds"
