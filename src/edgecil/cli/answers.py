"""The types of what `--json` prints.

`{"schema": "edgecil.<verb>/1", …}`: lists stay lists, and names that users give are keys only in
mappings of their own.
"""

from __future__ import annotations

from typing import Any

import msgspec

from edgecil.cli.main import all_verbs


def answer_types() -> dict[str, Any]:
    """Return the type of the answer of every verb that has `--json`."""
    types = {name: verb.answer() for name, verb in all_verbs().items()}
    return {
        name: msgspec.defstruct(name.replace(" ", "-"), kind.items())
        if isinstance(kind, dict)
        else kind
        for name, kind in types.items()
    }
