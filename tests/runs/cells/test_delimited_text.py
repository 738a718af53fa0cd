"""CSV and its relatives: what stands in which cell."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from edgecil.errors import DataError
from edgecil.runs.cells.cell_table import CellTable
from edgecil.runs.cells.forms import read_tables


def read_text_file(folder: Path, name: str, text: str) -> CellTable:
    path = folder / name
    path.write_bytes(text.encode())
    (table,) = read_tables(path)
    return table


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("runs.csv", "method,seed,accuracy\ner,1,80.5\nder,1,81.25\n", "CSV"),
        ("runs.tsv", "method\tseed\taccuracy\r\ner\t1\t80.5\r\nder\t1\t81.25\r\n", "TSV"),
        ("runs.csv", "method;seed;accuracy\ner;1;80,5\nder;1;81,25\n", "CSV with semicolons"),
        (
            "runs.csv",
            "sep=;\nmethod;seed;accuracy\ner;1;80.5\nder;1;81.25",
            "CSV with semicolons",
        ),
        ("runs.csv", '"method","seed","accuracy"\n"er","1","80,5"\n"der","1","81,25"\n', "CSV"),
        ("runs.csv", "method,seed,accuracy,\ner,1,80.5,\nder,1,81.25,\n", "CSV"),
        ("runs.txt", "method,seed,accuracy\ner,1,80.5\nder,1,81.25\n", "CSV"),
        ("runs.dat", "method seed accuracy\ner     1  80.5\nder    1  81.25\n", "text in columns"),
        ("runs.csv", "\ufeffmethod,seed,accuracy\n\ner,1,80.5\n\nder,1,81.25\n", "CSV"),
    ],
)
def test_delimiters_and_decimal_commas_give_the_same_cells(tmp_path, name, text, form) -> None:
    table = read_text_file(tmp_path, name, text)
    assert table.form == form
    assert table.header == ("method", "seed", "accuracy")
    assert table.rows == (("er", "1", "80.5"), ("der", "1", "81.25"))


def test_a_packed_file_is_read(tmp_path) -> None:
    path = tmp_path / "runs.csv.gz"
    path.write_bytes(gzip.compress(b"method,accuracy\ner,80.5\n"))
    assert read_tables(path)[0].rows == (("er", "80.5"),)


def test_comments_are_caption_and_facts(tmp_path) -> None:
    text = "# three class orders\n# seed: 7\nmethod,accuracy\ner,80.5\n# pause\nder,81\n"
    table = read_text_file(tmp_path, "runs.csv", text)
    assert table.facts == {"seed": "7"}
    assert table.rows == (("er", "80.5"), ("der", "81"))
    assert "three class orders" in table.caption


def test_the_header_may_stand_in_a_comment(tmp_path) -> None:
    table = read_text_file(tmp_path, "runs.csv", "# task,accuracy\n0,80.5\n1,70.5\n")
    assert table.header == ("task", "accuracy")


def test_numbers_alone_have_no_header(tmp_path) -> None:
    table = read_text_file(tmp_path, "matrix.txt", "0.91 0.00\n0.55 0.88\n")
    assert table.header == ("", "")
    assert table.rows == (("0.91", "0.00"), ("0.55", "0.88"))


def test_whole_numbers_above_fractions_are_names(tmp_path) -> None:
    assert read_text_file(tmp_path, "runs.csv", "0,1,2\n80.1,81.2,82.3\n").header == ("0", "1", "2")


def test_levels_of_a_header_are_joined(tmp_path) -> None:
    text = ",acc,acc,forgetting,forgetting\n,mean,std,mean,std\nmethod,,,,\ner,80.1,1.5,9.1,.4\n"
    table = read_text_file(tmp_path, "summary.csv", text)
    assert table.header == (
        "method", "acc / mean", "acc / std", "forgetting / mean", "forgetting / std",
    )  # fmt: skip
    assert table.rows == (("er", "80.1", "1.5", "9.1", ".4"),)


def test_a_title_above_the_header_is_the_caption(tmp_path) -> None:
    table = read_text_file(tmp_path, "runs.csv", "Split CIFAR-100\nmethod,seed,acc\ner,1,8\nb,2,9")
    assert table.caption == "Split CIFAR-100"
    assert table.header == ("method", "seed", "acc")


def test_a_repeated_header_is_no_row(tmp_path) -> None:
    table = read_text_file(tmp_path, "runs.csv", "method,acc\ner,1\nmethod,acc\nder,2\n")
    assert table.rows == (("er", "1"), ("der", "2"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("method,accuracy\ner,80.5\nder\n", "has 1 cells, not 2"),
        ("method,accuracy\n", "contains no runs"),
        ("", "is empty"),
        ('method,accuracy\n"er,80.5\n' + "x" * 200_000, "is not valid CSV"),
    ],
)
def test_a_broken_file_is_one_sentence(tmp_path, text, problem) -> None:
    with pytest.raises(DataError, match=problem):
        read_text_file(tmp_path, "runs.csv", text)


def test_commas_between_thousands_are_not_decimal(tmp_path) -> None:
    table = read_text_file(tmp_path, "runs.tsv", "method\tparameters\tacc\ner\t5,898\t80.5\n")
    assert table.rows == (("er", "5,898", "80.5"),)


def test_more_cells_than_the_limit_are_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("EDGECIL_MAX_CELLS", "100")
    with pytest.raises(DataError, match="EDGECIL_MAX_CELLS"):
        read_text_file(tmp_path, "runs.csv", "a,b\n" + "1,2\n" * 60)


def test_a_packed_bomb_is_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("EDGECIL_MAX_TEXT_BYTES", "100000")
    path = tmp_path / "runs.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 100_000))
    with pytest.raises(DataError, match="EDGECIL_MAX_TEXT_BYTES"):
        read_tables(path)


def test_lists_in_cells_are_long_with_what_stands_beside_them(tmp_path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text('method,seed,curve\ner,1,"[90.5, 60.25]"\nder,1,[91.  70.5]\n')
    single, curves = read_tables(path)
    assert single.rows == (("er", "1"), ("der", "1"))
    assert curves.header == ("method", "seed", "index", "curve")
    assert curves.rows[:3] == (("er", "1", 0, 90.5), ("er", "1", 1, 60.25), ("der", "1", 0, 91.0))
    assert curves.roles == {"index": "index"}


def test_dictionaries_in_cells_are_columns(tmp_path) -> None:
    text = "order,step,acc\n1,1,\"{'Task_1': 36.0, 'Task_2': np.float64(53.5)}\"\n"
    table = read_text_file(tmp_path, "runs.csv", text)
    assert table.header == ("order", "step", "acc.Task_1", "acc.Task_2")
    assert table.rows == (("1", "1", 36.0, 53.5),)


@pytest.mark.parametrize(
    "cell", ["[__import__('os').system('true')]", "{" * 900, "[" * 5000, "{x for x in ()}"]
)
def test_programs_in_cells_stay_text(tmp_path, cell) -> None:
    table = read_text_file(tmp_path, "runs.csv", f"method;curve\ner;{cell}\n")
    assert table.rows == (("er", cell),)


def test_sentences_with_commas_are_no_table(tmp_path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("we train, then test\nthen rest, and sleep\nso it goes, and ends\n")
    with pytest.raises(DataError, match="names no results"):
        read_tables(path)
