"""Tables in Markdown and HTML, and the text of published cells."""

from __future__ import annotations

import pytest

from edgecil.errors import DataError
from edgecil.runs.cells.forms import read_tables
from edgecil.runs.cells.published_text import plain_cell

TWO_TABLES = """# Results

All numbers are means of 3 runs.

## Split CIFAR-10

| Method | Acc &#8593; (%) | Forgetting $\\downarrow$ |
|:--|--:|--:|
| [ER](https://example.org) | **80.5** ± 1.5 | $9.1 \\pm 0.4$ |
| FT<sup>1</sup> | 19.4 | - |

## Split CIFAR-100

| Method | Acc |
|--|--|
| ER | 40.25<sub>1.5</sub> |
"""

PAGE = """<html><body><h2>Split CIFAR-10</h2>
<table><thead><tr><th rowspan=2>Method</th><th colspan="2">Buffer 200</th></tr>
<tr><th>Avg</th><th>Last</th></tr></thead>
<tbody><tr><td colspan=3>Replay</td></tr><tr><td>ER</td><td>80.5</td><td>70.25</td></tr>
<tr><td>DER<br>++</td><td>81</td><td><script>alert(1)</script>71</td></tr></tbody></table></body>
"""


def test_each_table_has_its_headings_and_the_sentence_above_it(tmp_path) -> None:
    path = tmp_path / "README.md"
    path.write_text(TWO_TABLES, encoding="utf-8")
    first, second = read_tables(path)
    assert (first.place, second.place) == ("table 1", "table 2")
    assert first.caption == "Results. Split CIFAR-10"
    assert first.header == ("Method", "Acc ↑ (%)", "Forgetting ↓")
    assert first.rows == (("ER", "80.5 ± 1.5", "9.1 ± 0.4"), ("FT^1", "19.4", None))
    assert second.rows == (("ER", "40.25 (1.5)"),)


def test_cells_that_span_rows_and_columns_of_a_page(tmp_path) -> None:
    path = tmp_path / "page.html"
    path.write_text(PAGE, encoding="utf-8")
    (table,) = read_tables(path)
    assert table.caption == "Split CIFAR-10"
    assert table.header == ("section", "Method", "Buffer 200 / Avg", "Buffer 200 / Last")
    assert table.rows == (("Replay", "ER", "80.5", "70.25"), ("Replay", "DER ++", "81", "71"))


def test_html_inside_markdown_is_read(tmp_path) -> None:
    path = tmp_path / "README.md"
    rows = "<tr><th>Method</th><th>Acc</th></tr>\n<tr><td>ER</td><td>80.5</td></tr>"
    path.write_text(f"# Results\n\n<table>\n{rows}\n</table>\n", encoding="utf-8")
    (table,) = read_tables(path)
    assert (table.header, table.rows) == (("Method", "Acc"), (("ER", "80.5"),))
    assert table.caption == "Results"


@pytest.mark.parametrize(
    ("cell", "plain"),
    [
        (r"$\mathbf{80.5 \pm 1.5}$", "80.5 ± 1.5"),
        (r"80.5{\scriptsize$\pm$1.5}", "80.5 ± 1.5"),
        (r"$80.5_{\pm 1.5}$", "80.5 ± 1.5"),
        (r"\underline{80.5}$^{*}$", "80.5*"),
        (r"80.5$^2$", "80.5"),
        (r"80.5$^{0.3}$", "80.5 ^0.3"),
        (r"\textcolor{red}{80.5} \footnote{see [1]}", "80.5"),
        (r"\cellcolor[HTML]{FFFFFF}80.5\%", "80.5%"),
        (r"\makecell{Avg.\\Acc}", "Avg. Acc"),
        (r"ER\_ACE~\cite{er}", "ER_ACE"),
        ("er_ace_500", "er_ace_500"),
        (r"$\mathrm{BWT}_1$", "BWT_1"),
        ("80.5&nbsp;&plusmn;&nbsp;1.5", "80.5 ± 1.5"),
        ("80.5<br>(1.5)", "80.5 (1.5)"),
        ("a" * 30_000, "a" * 20_000),
        ("{" * 5000, ""),
    ],
)
def test_published_cells_become_plain_text(cell, plain) -> None:
    assert plain_cell(cell) == plain


@pytest.mark.parametrize(
    "text",
    [
        "# Nothing here\n",
        "| a | b |\n|--|--|\n",
        "<table>" * 2000,
        "<table><tr><td colspan=99999999999999 rowspan=99999999999>x</td></tr></table>",
    ],
)
def test_a_file_without_a_table_is_one_sentence(tmp_path, text) -> None:
    path = tmp_path / "README.md"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="no table with rows"):
        read_tables(path)


def test_spans_beyond_the_limit_are_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("EDGECIL_MAX_CELLS", "5000")
    row = "<tr><td colspan=1000>x</td><td colspan=1000>y</td></tr>"
    path = tmp_path / "page.html"
    path.write_text(f"<table>{row * 6}</table>", encoding="utf-8")
    with pytest.raises(DataError, match="EDGECIL_MAX_CELLS"):
        read_tables(path)
