"""Names of methods and datasets as parts of file names, ids and links."""

from __future__ import annotations

import hashlib
import re


def slug(name: str) -> str:
    """A name with letters, digits, dots and dashes only; different names stay different.

    >>> slug("ranpac"), slug("my method/2")
    ('ranpac', 'my-method-2-a547')
    """
    plain = re.sub(r"[^A-Za-z0-9.-]+", "-", name)
    if plain == name and not name.startswith("."):
        return name
    return f"{plain.strip('.-') or 'name'}-{hashlib.sha256(name.encode()).hexdigest()[:4]}"
