"""LaTeX: plain text, rows, and tables with booktabs rules in a float."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

LATEX_BOLD = r"\textbf{{{}}}"
_SPECIAL = {
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
    '"': r"\char34{}",  # in any font encoding
    "[": "{[}",  # a row that begins with it would be an option of the row before
    "*": "{*}",
    "✓": r"$\checkmark$",
    "○": r"$\circ$",
    "✗": r"$\times$",
}


def escape_latex(text: str) -> str:
    r"""Plain text as LaTeX shows it.

    >>> print(escape_latex("50% of a_b"))
    50\% of a\_b
    """
    plain = (letter if letter.isprintable() else " " for letter in " ".join(text.splitlines()))
    return "".join(_SPECIAL.get(letter, letter) for letter in plain)


def latex_row(cells: Iterable[str]) -> str:
    """Return cells that are LaTeX already as a row of a table."""
    return " & ".join(cells) + r" \\"


def latex_spans(titles: Sequence[tuple[str, int]], start: int = 2) -> list[str]:
    """Return a row of plain titles over several columns each, and a row of rules below them.

    Args:
        titles: each with its number of columns.
        start: the column of the first title.
    """
    cells = [""] * (start - 1)
    rules = []
    for title, width in titles:
        bold = LATEX_BOLD.format(escape_latex(title))
        cells.append(f"\\multicolumn{{{width}}}{{c}}{{{bold}}}")
        rules.append(f"\\cmidrule(lr){{{start}-{start + width - 1}}}")
        start += width
    return [latex_row(cells), " ".join(rules)]


def latex_tabular(columns: str, head: Sequence[str], rows: Sequence[str]) -> list[str]:
    """Return the lines of a tabular with these columns, such as `lcc`, head and rows."""
    return [
        f"\\begin{{tabular}}{{{columns}}}",
        *(r"\toprule", *head, r"\midrule", *rows, r"\bottomrule"),
        r"\end{tabular}",
    ]


def latex_table(tabular: Sequence[str], caption: str, name: str, packages: str) -> str:
    """Return a floating table; `packages` is a comment with the packages that it requires."""
    lines = [
        packages,
        *(r"\begin{table}[t]", r"\centering", f"\\caption{{{caption}}}"),
        f"\\label{{tab:{name}}}",
        *tabular,
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"
