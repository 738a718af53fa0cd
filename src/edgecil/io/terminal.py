"""Text that is safe to print on a terminal."""

from __future__ import annotations

import re


def printable(text: str) -> str:
    r"""Return a text without control characters, in one line.

    Control characters can change colours, move the cursor or set a terminal's title; marks of
    direction can make a name look like another. All kinds of blanks become the usual one.

    >>> printable("cat\x1b[31m\ndog\u202e")
    'cat[31m dog'
    """
    return "".join(filter(str.isprintable, re.sub(r"\s", " ", text)))


def printable_lines(text: str) -> str:
    """Return a text of several lines without control characters; tabs are kept."""
    if text.isprintable():
        return text
    lines = ("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))
    return "\n".join(lines)
