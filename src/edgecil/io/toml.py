"""TOML files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from edgecil.errors import DataError
from edgecil.io.files import read_text


def read_toml(path: str | Path) -> dict[str, Any]:
    """What a TOML file says."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(read_text(Path(path)))
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{path} is not valid TOML: {error}.") from error
