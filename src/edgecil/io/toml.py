"""TOML files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from edgecil.errors import DataError
from edgecil.io.files import read_text


def read_toml(path: str | Path) -> dict[str, Any]:
    """Return the content of a TOML file."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    text = read_text(Path(path))
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise DataError(f"{path} is not usable TOML: it is nested too deeply.") from error
    except ValueError as error:  # TOMLDecodeError, and numbers with too many digits
        raise DataError(f"{path} is not valid TOML: {error}.") from error
