"""The folder of a run of Weights & Biases: the last value of each metric, and the settings.

    wandb/run-DATE-ID/files/   wandb-summary.json   config.yaml   output.log   …

Any file of the folder gives the table of its run, and its source is the summary. The console
`output.log` is read as a log of its own where the summary is empty.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from edgecil.errors import DataError
from edgecil.io.files import parse_json
from edgecil.runs.cells.cell_table import Cell, CellTable
from edgecil.runs.cells.file_text import read_file_text

FORM = "W&B run"
_SUMMARY = "wandb-summary.json"
_SETTINGS = "config.yaml"
_CONSOLE = "output.log"
_OTHERS = ("wandb-metadata.json", "requirements.txt", "conda-environment.yaml", "diff.patch")
_SETTING = re.compile(
    r"^([A-Za-z][\w./-]{0,80}):[ ]*\n(?:[ ]+desc:.*\n)?[ ]+value:[ ]*(\S.{0,500})$", re.MULTILINE
)
_DEEPEST = 6


def recognises(path: Path, head: bytes) -> bool:
    """Return whether a file belongs to the folder of a run with values in its summary."""
    summary = path.with_name(_SUMMARY)
    if path.parent.name != "files" or not summary.is_file():
        return False
    if path.name in (_SUMMARY, _SETTINGS, *_OTHERS):
        return True
    return path.name == _CONSOLE and bool(_values(summary))


def read(path: Path) -> list[CellTable]:
    """Return the table of the run: one row with the last value of each metric."""
    summary = path.with_name(_SUMMARY)
    values = _values(summary)
    if not values:
        raise DataError(f"{summary} has no values; its run ended before it logged a number.")
    settings = path.with_name(_SETTINGS)
    facts: dict[str, Cell] = {"run": path.parent.parent.name}
    if settings.is_file():
        facts.update(_settings(read_file_text(settings)))
    return [CellTable(FORM, str(summary), tuple(values), (tuple(values.values()),), facts=facts)]


def _values(summary: Path) -> dict[str, Cell]:
    """Return the single values of a summary by name, without W&B's own values."""
    content = parse_json(read_file_text(summary), str(summary))
    values: dict[str, Cell] = {}
    if isinstance(content, dict):
        _add_values(content, "", values, 0)
    return values


def _add_values(
    content: Mapping[str, Any], prefix: str, values: dict[str, Cell], depth: int
) -> None:
    if "_type" in content or depth > _DEEPEST:  # an image, a histogram or a table
        return
    for name, value in content.items():
        if name.startswith("_"):
            continue
        if isinstance(value, Mapping):
            _add_values(value, f"{prefix}{name}.", values, depth + 1)
        elif isinstance(value, (bool, int, float, str)):
            values[f"{prefix}{name}"] = value


def _settings(text: str) -> dict[str, str]:
    """Return the settings with a single value."""
    return {match[1]: match[2].strip().strip("'\"") for match in _SETTING.finditer(text)}
