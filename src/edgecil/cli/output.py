"""What verbs print: JSON for programs, tables for people, notes on stderr."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


def print_json(answer: Any) -> None:
    """One JSON object on stdout: a struct of `edgecil.cli.answers`, or plain values.

    Lists of numbers are on one line; NaN is refused.
    """
    import msgspec

    escape = "utf" not in (sys.stdout.encoding or "").lower()
    plain = msgspec.to_builtins(answer)
    text = json.dumps(plain, ensure_ascii=escape, allow_nan=False, indent=2)
    print(re.sub(r"\[\n[-\d,\s]+\]", lambda numbers: " ".join(numbers[0].split()), text))


def console() -> Console:
    """Stdout for people: as wide as the terminal or $COLUMNS, or 100 columns without either."""
    from rich.console import Console

    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(highlight=False, width=None if has_width else 100)


def print_line(text: str, style: str | None = None) -> None:
    """A line for people, as it is: nothing in it is markup."""
    console().print(text, style=style, markup=False)


def note(message: str) -> None:
    """A remark beside the answer, on stderr."""
    print(message, file=sys.stderr)


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[str] = ()
) -> None:
    """A plain table; columns named in `right` are aligned to the right and never cut.

    On a narrow terminal the titles of these columns and the texts of the last one are wrapped.
    """
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    rows = list(rows)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, column in enumerate(columns):
        number = column in right
        table.add_column(
            escape(column),
            justify="right" if number else "left",
            no_wrap=not number and column != columns[-1],
            min_width=max((len(row[place]) for row in rows), default=0) if number else None,
        )
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    console().print(table)


def yes_no(value: bool) -> str:
    """A truth value for people."""
    return "yes" if value else "no"
