"""What verbs print: JSON for programs, tables for people."""

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
    """One JSON object on stdout; keys in the order given, lists of numbers on one line, no NaN."""
    escape = "utf" not in (sys.stdout.encoding or "").lower()
    text = json.dumps(answer, ensure_ascii=escape, allow_nan=False, indent=2)
    print(re.sub(r"\[\n[-\d,\s]+\]", lambda numbers: " ".join(numbers[0].split()), text))


def console() -> Console:
    """Where people read: as wide as the terminal or $COLUMNS, or 100 columns without either."""
    from rich.console import Console

    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(highlight=False, width=None if known else 100)


def note(message: str) -> None:
    """A remark beside the answer, on stderr."""
    print(message, file=sys.stderr)


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[str] = ()
) -> None:
    """A plain table; columns named in `right` are aligned to the right."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(
            column,
            justify="right" if column in right else "left",
            no_wrap=column != columns[-1],
        )
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    console().print(table)
