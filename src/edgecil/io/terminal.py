"""Text that is safe to print on a terminal."""

from __future__ import annotations

import re
import unicodedata

# Marks that reverse the direction of the text after them.
_BIDIRECTIONAL = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable(text: str) -> str:
    r"""Return a text without control characters, in one line.

    Control characters can change colours, move the cursor or set a terminal's title; marks of
    direction can make a name look like another. Tabs and line breaks become blanks.

    >>> printable("cat\x1b[31m\ndog\u202e")
    'cat[31m dog'
    """
    text = re.sub("[\t\n\r\u2028\u2029]", " ", text)
    return "".join(
        character
        for character in text
        if unicodedata.category(character) not in ("Cc", "Cs") and character not in _BIDIRECTIONAL
    )


def printable_lines(text: str) -> str:
    r"""Return a text of several lines without control characters; tabs are kept.

    >>> printable_lines("a\x1b[2J\tb\nc")
    'a[2J\tb\nc'
    """
    if text.isprintable():
        return text
    lines = ("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))
    return "\n".join(lines)
