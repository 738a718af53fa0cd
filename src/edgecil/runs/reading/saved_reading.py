"""Readings as TOML files: the options with which a source was read, for the next one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from edgecil.errors import DataError, unknown_name_error
from edgecil.hints import class_types
from edgecil.io.files import read_toml, replace_file
from edgecil.options import check_value
from edgecil.runs.reading.reading_options import ReadingOptions

_HEADING = "# How results are read: `edgecil analyze FILE --reading THIS_FILE`.\n"


def save_reading(options: Mapping[str, Any], path: Path) -> None:
    """Write options of a reading as TOML, which :func:`load_reading` reads."""
    lines = [_HEADING]
    tables = []
    for name, value in options.items():
        if isinstance(value, Mapping):
            tables.append((name, value))
        else:
            lines.append(f"{name} = {_toml(value)}\n")
    for name, mapping in tables:
        lines.append(f"\n[{name}]\n")
        lines += [f"{_toml(str(key))} = {_toml(value)}\n" for key, value in mapping.items()]
    with replace_file(path) as file:
        file.write("".join(lines).encode())


def load_reading(path: Path) -> dict[str, Any]:
    """Return the options in a TOML file that :func:`save_reading` wrote."""
    if not path.is_file():
        raise DataError(f"There is no file {path}; write one by `edgecil read FILE --save {path}`.")
    options: dict[str, Any] = read_toml(path)
    types = {**class_types(ReadingOptions), "metric": str}
    for name, value in options.items():
        if name not in types or name == "reading":
            raise unknown_name_error("option of a reading", name, types)
        check_value(name, value, types[name])
    return options


def _toml(value: Any) -> str:
    """Return a text, a number, a truth value or a list of these as TOML."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)
