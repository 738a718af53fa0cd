"""Text that is safe to print on a terminal."""

from __future__ import annotations

import re


def without_control_characters(text: str) -> str:
    r"""Return a text without control characters, in one line.

    Control characters can change colours, move the cursor or set a terminal's title; marks of
    text direction can make a name look like another. Every blank becomes a space.

    >>> without_control_characters("cat\x1b[31m\ndog\u202e")
    'cat[31m dog'
    """
    return "".join(filter(str.isprintable, re.sub(r"\s", " ", text)))


def printable_lines(text: str) -> str:
    """Return a text of several lines without control characters; tabs are kept."""
    if text.isprintable():
        return text
    lines = []
    for line in text.split("\n"):
        cells = map(without_control_characters, line.split("\t"))
        lines.append("\t".join(cells))
    return "\n".join(lines)
