"""TOML files."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from edgecil.errors import DataError
from edgecil.io.files import read_text

_MOST_DOTS = 2_000
_DOTS = re.compile(r"(?<![0-9])\.|\.(?![0-9])|\.(?=[0-9]{1,20}\.)")  # not those of numbers


def read_toml(path: str | Path) -> dict[str, Any]:
    """Return the content of a TOML file."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    text = read_text(Path(path))
    if len(_DOTS.findall(text)) > _MOST_DOTS:  # the parser takes time and memory by their square
        raise DataError(f"{path} is not usable TOML: it has more than {_MOST_DOTS:,} dotted keys.")
    try:
        content = tomllib.loads(text)
        _check_integers(content)
        return content
    except RecursionError as error:
        raise DataError(f"{path} is not usable TOML: it is nested too deeply.") from error
    except ValueError as error:  # TOMLDecodeError, and numbers with too many digits
        raise DataError(f"{path} is not valid TOML: {error}.") from error


def _check_integers(content: dict[str, Any]) -> None:
    """Raise an error for integers beyond those of TOML; Python would read and not print them."""
    values: list[Any] = [content]
    while values:
        value = values.pop()
        if isinstance(value, dict):
            values += value.values()
        elif isinstance(value, list):
            values += value
        elif isinstance(value, int) and value.bit_length() > 64:
            raise ValueError("it has an integer of more than 64 bits")
