"""One kind of table, written for people (text, HTML, Markdown), for papers and for programs."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Cell = str | float | int | None

_ABSENT = "–"
_LATEX = {
    "\\": r"\textbackslash{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "−": "$-$",
    "…": r"\dots{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "λ": r"$\lambda$",
    "ρ": r"$\rho$",
    "Σ": r"$\Sigma$",
    "Ω": r"$\Omega$",
    "₁": "$_1$",
    "|": r"\textbar{}",
    "<": "$<$",
    ">": "$>$",
}


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes:
        title: what stands above it.
        digits: after the point, of a column of numbers; None for one of words.
        signed: whether positive numbers get a plus.
    """

    title: str
    digits: int | None = None
    signed: bool = False

    def show(self, cell: Cell) -> str:
        """A cell as people read it."""
        if cell is None:
            return _ABSENT
        if self.digits is None or isinstance(cell, str):
            return str(cell)
        least = 10.0**-self.digits
        if 0.0 < cell < least / 2.0 and not self.signed:
            return f"<{least:.{self.digits}f}"
        rounded = round(float(cell), self.digits) + 0.0  # no -0.00
        return f"{rounded:{'+' if self.signed else ''}.{self.digits}f}"


@dataclass(frozen=True)
class Table:
    """Rows under columns.

    Attributes:
        name: of its files.
        caption: a sentence on what it shows.
        columns: n of them.
        rows: cells, n in each; None where there is nothing to say.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def titles(self) -> tuple[str, ...]:
        """What stands above the columns."""
        return tuple(column.title for column in self.columns)

    def shown(self) -> list[tuple[str, ...]]:
        """The rows as people read them."""
        return [
            tuple(column.show(cell) for column, cell in zip(self.columns, row, strict=True))
            for row in self.rows
        ]


def as_csv(table: Table) -> str:
    """Numbers in full, empty cells for what is absent."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.titles)
    writer.writerows(["" if cell is None else cell for cell in row] for row in table.rows)
    return text.getvalue()


def as_markdown(table: Table) -> str:
    """A pipe table under its caption."""
    rules = ["---" if column.digits is None else "---:" for column in table.columns]
    rows = [table.titles, *table.shown()]
    lines = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines.insert(1, rules)
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table.caption}\n\n{body}\n"


def as_latex(table: Table) -> str:
    """A booktabs table, for a paper to input."""
    kinds = "".join("l" if column.digits is None else "r" for column in table.columns)
    head, *rows = (
        " & ".join(escape_latex(cell) for cell in row) + r" \\"
        for row in (table.titles, *table.shown())
    )
    lines = [
        "% \\usepackage{booktabs}",
        r"\begin{table}[t]",
        r"\centering",
        f"\\caption{{{escape_latex(table.caption)}}}",
        f"\\label{{tab:{table.name}}}",
        f"\\begin{{tabular}}{{{kinds}}}",
        r"\toprule",
        head,
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def as_html(table: Table) -> str:
    """A table that scrolls sideways by itself where the screen is narrow."""
    head = _html_row("th", table.columns, table.titles, ' scope="col"')
    body = "\n".join(_html_row("td", table.columns, row) for row in table.shown())
    return (
        f'<figure class="table" id="table-{table.name}">'
        f"<figcaption>{html.escape(table.caption)}</figcaption>"
        f'<div class="wide"><table>\n<thead>{head}</thead>\n<tbody>\n{body}\n</tbody></table></div>'
        "</figure>"
    )


# How a table is written, by the ending of its file.
FORMATS: dict[str, Callable[[Table], str]] = {
    ".csv": as_csv,
    ".md": as_markdown,
    ".tex": as_latex,
}


def escape_latex(text: str) -> str:
    r"""Plain text as LaTeX shows it.

    >>> print(escape_latex("50% of a_b"))
    50\% of a\_b
    """
    return "".join(_LATEX.get(letter, letter) for letter in text)


def _html_row(tag: str, columns: Sequence[Column], cells: Sequence[str], more: str = "") -> str:
    """One row; numbers are aligned to the right."""
    written = []
    for column, cell in zip(columns, cells, strict=True):
        kind = "" if column.digits is None else ' class="number"'
        written.append(f"<{tag}{more}{kind}>{html.escape(cell)}</{tag}>")
    return f"<tr>{''.join(written)}</tr>"
