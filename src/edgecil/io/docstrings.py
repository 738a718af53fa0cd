"""What docstrings say about the fields of a class and the parameters of a function."""

from __future__ import annotations

import re
from inspect import cleandoc


def read_section(docstring: str | None, title: str = "Attributes") -> dict[str, str]:
    r"""Return the entries of a section of a docstring, by name, each on one line.

    >>> read_section("A pair.\n\nAttributes:\n    left: the first\n        one.\n    right: other.")
    {'left': 'the first one.', 'right': 'other.'}
    """
    section = cleandoc(docstring or "").partition(f"{title}:\n")[2].partition("\n\n")[0]
    entries = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", section, flags=re.MULTILINE)
    return {name: " ".join(meaning.split()) for name, meaning in entries}
