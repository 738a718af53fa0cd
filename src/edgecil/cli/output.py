"""What verbs print: JSON for programs, tables for people, notes on stderr."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from edgecil.errors import name_parameters
from edgecil.io.terminal import printable_lines

if TYPE_CHECKING:
    from edgecil.report.table import Table


def print_json(answer: Any, verb: str) -> None:
    """One JSON object on stdout; lists of numbers are on one line."""
    from edgecil.io.json import to_plain

    escape = "utf" not in (sys.stdout.encoding or "").lower()
    plain = {"schema": schema_name(verb), **to_plain(answer)}
    text = json.dumps(plain, ensure_ascii=escape, allow_nan=False, indent=2)
    print(re.sub(r"\[\n[-\d,\s]+\]", _join_lines, text))


def _join_lines(match: re.Match[str]) -> str:
    return " ".join(match[0].split())


def schema_name(verb: str) -> str:
    """Return the name and version of a verb's answer; a saved analysis has its own."""
    return "edgecil.analysis/8" if verb == "analyze" else f"edgecil.{verb.replace(' ', '-')}/1"


def print_parts(parts: Iterable[Table | str]) -> None:
    """Tables and lines for people, as wide as the terminal or $COLUMNS, else 100 columns."""
    from edgecil.report.table import as_text

    width = shutil.get_terminal_size((100, 24)).columns
    for part in parts:
        text = name_parameters(part) if isinstance(part, str) else as_text(part, width)
        print(printable_lines(text))


def note(message: str) -> None:
    """A remark beside the answer, on stderr."""
    print(printable_lines(name_parameters(message)), file=sys.stderr)
