"""A table has the same values in every format, and names cannot break any of them."""

from __future__ import annotations

import csv
import io

import pytest
from rich.cells import cell_len

from edgecil.report.table import Column, Table, as_csv, as_latex, as_markdown, as_text, files_of

TABLE = Table(
    "distances",
    "Distances",
    "In 100 % of a_b.",
    (Column("method"), Column("W₁", 2), Column("r", 1, signed=True)),
    (("a|b & <c>", 1.23456, -0.04), ("d", None, 0.25)),
)


def named(*names: str) -> Table:
    """A table with hostile names in its rows and headers."""
    return Table("t", names[0], names[0], tuple(map(Column, names)), (names,))


def test_csv_has_all_digits_and_empty_cells_for_missing_values() -> None:
    rows = list(csv.reader(io.StringIO(as_csv(TABLE))))
    assert rows == [["method", "W₁", "r"], ["a|b & <c>", "1.23456", "-0.04"], ["d", "", "0.25"]]
    assert as_csv(named("=cmd()")) == "'=cmd()\n'=cmd()\n"


def test_markdown_has_rounded_numbers_aligned_to_the_right() -> None:
    assert as_markdown(TABLE).splitlines() == [
        "**Distances**",
        "",
        "In 100 % of a_b.",
        "",
        "| method | W₁ | r |",
        "| --- | ---: | ---: |",
        "| a\\|b & \\<c\\> | 1.23 | +0.0 |",
        "| d | – | +0.2 |",
    ]


def test_latex_has_booktabs_rules_and_escapes_special_letters() -> None:
    lines = as_latex(TABLE).splitlines()
    assert r"\caption{Distances. In 100 \% of a\_b.}" in lines
    assert r"\begin{tabular}{lrr}" in lines
    assert r"method & W$_1$ & r \\" in lines
    assert r"a\textbar{}b \& $<$c$>$ & 1.23 & +0.0 \\" in lines
    rules = [line for line in lines if line.endswith("rule")]
    assert rules == [r"\toprule", r"\midrule", r"\bottomrule"]


def test_a_long_table_is_a_csv_file_with_every_row() -> None:
    table = Table("t", "t", "", (Column("x", 0),), tuple((i,) for i in range(3000)))
    assert list(files_of(table)) == [".csv"]
    assert len(as_csv(table).splitlines()) == 3001


@pytest.mark.parametrize(
    ("names", "row"),
    [
        (
            ("\\input{x}", "$x_1$", 'a"b', "two\nlines"),
            r"\textbackslash{}input\{x\} & \$x\_1\$ & a\char34{}b & two lines \\",
        ),
        (("[b]", "*"), r"{[}b] & {*} \\"),  # a row never begins with an option
        (("a\u202eb\u0007c",), r"a b c \\"),
    ],
)
def test_latex_commands_in_names_are_text(names: tuple[str, ...], row: str) -> None:
    assert as_latex(named(*names)).splitlines().count(row) == 2


@pytest.mark.parametrize("width", [40, 60, 100])
def test_text_fits_the_width_and_holds_every_cell(width) -> None:
    columns = (Column("method"), *(Column(f"number {i}", 2) for i in range(12)))
    rows = tuple((f"method {i}", *(i + j / 100.0 for j in range(12))) for i in range(3))
    rows = (*rows, ("y" * 300, *rows[0][1:]))
    text = as_text(Table("t", "Title", "Words " * 40, columns, rows), width)
    assert max(map(cell_len, text.splitlines())) <= width
    for row in rows:
        assert all(f"{value:.2f}" in text for value in row[1:])
    assert text.count("y") % 300 == 0


@pytest.mark.parametrize(
    ("cell", "shown"),
    [(-0.001, "0.00"), (0.0, "0.00"), (0.001, "<0.01"), (None, "–"), (12, "12.00"), ("n/a", "n/a")],
)
def test_cells_are_rounded(cell, shown) -> None:
    assert Column("x", 2).format(cell) == shown
