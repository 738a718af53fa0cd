"""Tables in LaTeX: what stands in which cell."""

from __future__ import annotations

import pytest

from edgecil.errors import DataError
from edgecil.runs.cells.cell_table import CellTable
from edgecil.runs.cells.forms import read_tables

BOOKTABS = r"""
\begin{table}[t]
  \caption{Average accuracy (\%), mean $\pm$ std over 3 seeds.}
  \begin{tabular}{@{}l|c*{2}{r}@{}}
    \toprule
    Method & \multicolumn{2}{c}{CIFAR-100} & Buffer \\
    \cmidrule(lr){2-3}
           & Avg $\uparrow$ & Last (\%) & \\
    \midrule
    ER~\cite{er} & $80.5 \pm 1.5$ & 70.1 & 500 \\ % the best
    \textbf{DER++} & \textbf{81.25}\tiny{$\pm$0.5} & $71.0_{0.4}$ & 1,000 \\[2pt]
    \bottomrule
  \end{tabular}
\end{table}
"""


def tables_of(folder, text: str) -> list[CellTable]:
    path = folder / "table.tex"
    path.write_text(text, encoding="utf-8")
    return read_tables(path)


def only_table(folder, text: str) -> CellTable:
    (table,) = tables_of(folder, text)
    return table


def tabular(*lines: str) -> str:
    return "\\begin{tabular}{lrr}\n" + "\n".join(lines) + "\n\\end{tabular}\n"


def test_levels_of_the_header_marks_and_caption(tmp_path) -> None:
    table = only_table(tmp_path, BOOKTABS)
    assert table.form == "LaTeX table"
    assert table.header == ("Method", "CIFAR-100 / Avg ↑", "CIFAR-100 / Last (%)", "Buffer")
    assert table.rows == (
        ("ER", "80.5 ± 1.5", "70.1", "500"),
        ("DER++", "81.25 ± 0.5", "71.0 (0.4)", "1,000"),
    )
    assert table.caption == "Average accuracy (%), mean ± std over 3 seeds."


def test_lines_between_all_rows_leave_one_header(tmp_path) -> None:
    text = tabular(
        r"\hline", r"Method & seed & acc \\ \hline", r"ER & 1 & 80 \\ \hline", r"DER & 1 & 81 \\"
    )
    table = only_table(tmp_path, text)
    assert table.header == ("Method", "seed", "acc")
    assert table.rows == (("ER", "1", "80"), ("DER", "1", "81"))


def test_cells_over_rows_fill_the_empty_places_below_or_above(tmp_path) -> None:
    text = tabular(
        r"Data & Method & acc \\ \midrule",
        r"\multirow{2}{*}{MNIST} & ER & 80 \\",
        r" & DER & 81 \\ \midrule",
        r" & ER & 50 \\",
        r"\multirow[t]{-2}*{CIFAR} & DER & 51 \\",
    )
    table = only_table(tmp_path, text)
    assert table.column("Data") == ["MNIST", "MNIST", "CIFAR", "CIFAR"]
    assert table.column("acc") == ["80", "81", "50", "51"]


def test_titles_between_rows_are_a_column(tmp_path) -> None:
    text = tabular(
        r"Method & A & B \\ \midrule",
        r"\multicolumn{3}{c}{\textit{no memory}} \\ \midrule",
        r"LwF & 40 & 30 \\",
        r"\multicolumn{3}{c}{500 exemplars} \\",
        r"ER & 80 & 70 \\",
    )
    table = only_table(tmp_path, text)
    assert table.header == ("section", "Method", "A", "B")
    assert table.column("section") == ["no memory", "500 exemplars"]


def test_commands_of_the_file_are_replaced(tmp_path) -> None:
    text = (
        r"\newcommand{\res}[2]{#1{\scriptsize$\pm$#2}}" + "\n"
        r"\newcommand\ours{\textsc{Ours}}" + "\n"
        + tabular(r"Method & A & B \\ \midrule", r"\ours & \res{80.5}{1.5} & \res{7}{2} \\")
    )  # fmt: skip
    assert only_table(tmp_path, text).rows == (("Ours", "80.5 ± 1.5", "7 ± 2"),)


def test_a_table_inside_a_cell_is_its_text(tmp_path) -> None:
    text = tabular(
        r"Method & \begin{tabular}[c]{@{}c@{}}Avg\\ acc\end{tabular} & B \& C \\ \midrule",
        r"ER & \makecell{80.5 \\ (1.5)} & 3\,\% \\",
    )
    table = only_table(tmp_path, text)
    assert table.header == ("Method", "Avg acc", "B & C")
    assert table.rows == (("ER", "80.5 (1.5)", "3 %"),)


@pytest.mark.parametrize("environment", ["tabular*", "tabularx", "longtable"])
def test_widths_are_no_cells(tmp_path, environment) -> None:
    width = r"{\textwidth}" if environment != "longtable" else ""
    text = f"\\begin{{{environment}}}{width}[t]{{l@{{\\hskip 2em}}r}}\nMethod & acc \\\\ \\hline\n"
    table = only_table(tmp_path, text + f"ER & 80 \\\\\n\\end{{{environment}}}")
    assert table.header == ("Method", "acc")
    assert table.rows == (("ER", "80"),)


def test_several_tables_have_places(tmp_path) -> None:
    text = tabular(r"Method & acc \\ \midrule", r"ER & 80 \\")
    assert [table.place for table in tables_of(tmp_path, text * 2)] == ["table 1", "table 2"]


@pytest.mark.parametrize(
    "text",
    [
        r"\documentclass{article} \input{/etc/passwd}",
        r"\newcommand{\a}{80.5}",
        tabular(r"Method & acc \\"),
        r"\begin{tabular}{l" * 20_000,
        "{" * 200_000,
        "\\" * 100_001,
    ],
)
def test_a_file_without_rows_is_refused(tmp_path, text) -> None:
    with pytest.raises(DataError, match="no table with rows"):
        tables_of(tmp_path, text)


def test_commands_that_define_each_other_end(tmp_path) -> None:
    definitions = r"\newcommand{\a}{\b\b\b\b}\newcommand{\b}{\a\a\a\a}"
    text = definitions + tabular(r"Method & acc \\ \midrule", r"ER & \a 80 \\")
    assert only_table(tmp_path, text).rows == (("ER", "80"),)


def test_files_and_programs_are_not_touched(tmp_path) -> None:
    cells = r"\input{/etc/passwd} & \immediate\write18{true}<script>alert(1)</script> 80 \\"
    table = only_table(tmp_path, tabular(r"Method & acc \\ \midrule", cells))
    assert table.rows == (("/etc/passwd", "18truealert(1) 80"),)


def test_too_many_columns_are_refused(tmp_path) -> None:
    row = r"\multicolumn{999}{c}{x} & " * 9000
    with pytest.raises(DataError, match="more than the limit"):
        tables_of(tmp_path, tabular(r"Method & acc \\ \midrule", row + r"1 \\"))


def test_too_many_tables_are_refused(tmp_path) -> None:
    with pytest.raises(DataError, match="more than 1,000 tables"):
        tables_of(tmp_path, r"\begin{tabular}{l}a\\\end{tabular}" * 1001)
