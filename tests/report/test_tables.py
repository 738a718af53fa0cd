"""A table says the same to people, papers and programs."""

from __future__ import annotations

import csv
import io

import pytest

from edgecil.report.tables import Column, Table, as_csv, as_html, as_latex, as_markdown

TABLE = Table(
    "found",
    "What 100 % of a_b found.",
    (Column("method"), Column("W₁", 2), Column("r", 1, signed=True)),
    (("a|b & <c>", 1.23456, -0.04), ("d", None, 0.25)),
)


def test_programs_get_numbers_in_full_and_nothing_for_what_is_absent() -> None:
    rows = list(csv.reader(io.StringIO(as_csv(TABLE))))
    assert rows == [["method", "W₁", "r"], ["a|b & <c>", "1.23456", "-0.04"], ["d", "", "0.25"]]


def test_people_get_rounded_numbers_aligned_to_the_right() -> None:
    assert as_markdown(TABLE).splitlines() == [
        "What 100 % of a_b found.",
        "",
        "| method | W₁ | r |",
        "| --- | ---: | ---: |",
        "| a\\|b & <c> | 1.23 | +0.0 |",
        "| d | – | +0.2 |",
    ]


def test_latex_has_booktabs_rules_and_no_bare_special_letters() -> None:
    lines = as_latex(TABLE).splitlines()
    assert r"\caption{What 100 \% of a\_b found.}" in lines
    assert r"\begin{tabular}{lrr}" in lines
    assert r"method & W$_1$ & r \\" in lines
    assert r"a\textbar{}b \& $<$c$>$ & 1.23 & +0.0 \\" in lines
    assert [line for line in lines if line.endswith("rule")] == [
        r"\toprule",
        r"\midrule",
        r"\bottomrule",
    ]


def test_html_escapes_what_names_may_hold() -> None:
    page = as_html(TABLE)
    assert "<td>a|b &amp; &lt;c&gt;</td>" in page
    assert '<td class="number">1.23</td>' in page
    assert '<th scope="col" class="number">r</th>' in page


@pytest.mark.parametrize(
    ("cell", "shown"),
    [(-0.001, "0.00"), (0.0, "0.00"), (0.001, "<0.01"), (None, "–"), (12, "12.00"), ("n/a", "n/a")],
)
def test_a_cell_is_shown_as_people_write_it(cell, shown) -> None:
    assert Column("x", 2).show(cell) == shown
