"""Names as they may stand on a page, in a drawing and in a file name."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from edgecil.classes.lists import words_of

if TYPE_CHECKING:
    from edgecil.runs.run_table import Runs
    from edgecil.sequences.sequence import ClassSequence

_RTL = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]+"
_RIGHT_TO_LEFT = re.compile(f"{_RTL}(?: {_RTL})*")


def printable(text: str) -> str:
    r"""A text whose control characters are blanks, also the ones that change the text direction.

    Words that are written from right to left are isolated (U+2068, U+2069), so that they do not
    change the order of what stands beside them.

    >>> printable("a\u202eb\x07c")
    'a b c'
    """
    if not text.isprintable():
        text = "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in text)
    return text if text.isascii() else _RIGHT_TO_LEFT.sub("\u2068\\g<0>\u2069", text)


def shorten(name: str, most: int = 28) -> str:
    """A name for a place with room for few letters; control characters become spaces.

    >>> shorten("icarl"), shorten("x" * 40, 5)
    ('icarl', 'xxxx…')
    """
    line = "".join(letter if letter.isprintable() else " " for letter in name)
    return line if len(line) <= most else line[: most - 1] + "…"


def slug(name: str) -> str:
    """A name with letters, digits, dots and dashes only; different names stay different.

    >>> slug("ranpac"), slug("my method/2")
    ('ranpac', 'my-method-2-a547')
    """
    plain = re.sub(r"[^A-Za-z0-9.-]+", "-", name)
    if plain == name and not name.startswith("."):
        return name
    return f"{plain.strip('.-') or 'name'}-{hashlib.sha256(name.encode()).hexdigest()[:4]}"


def class_names(table: Runs) -> list[str]:
    """The names of all classes by their id, or the ids if the table has no names."""
    if table.names is None:
        return [str(class_) for class_ in table.classes]
    return [words_of(name) for name in table.names]


def describe_sequence(names: Sequence[str], sequence: ClassSequence) -> str:
    """The classes task by task, by name."""
    return " | ".join(", ".join(map(names.__getitem__, task)) for task in sequence.tasks)


def signed_number(value: float, digits: int = 1) -> str:
    """A number with its sign and a true minus.

    >>> signed_number(2.04), signed_number(-0.5)
    ('+2.0', '−0.5')
    """
    return f"{value:+.{digits}f}".replace("-", "−")
