"""The forms of result files, in the order in which they are recognised, and a file read by them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Protocol

from edgecil.errors import DataError, EdgecilError
from edgecil.registry import installed
from edgecil.runs.cells.cell_table import CellTable
from edgecil.runs.cells.file_text import read_head, suffix_of

ENTRY_POINTS = "edgecil.forms"

# Within a group no two forms recognise one file; an earlier group is asked first. Forms that are
# known by their content come before forms that are known by shape or suffix.
FORMS: tuple[tuple[str, ...], ...] = (
    (
        "pycil_log",
        "facil_results",
        "mammoth_log",
        "avalanche_csv",
        "avalanche_log",
        "libcontinual_log",
        "continuum_log",
        "online_cl_log",
        "mlflow_run",
        "wandb_run",
        "tensorboard_events",
        "numpy_arrays",
        "excel_sheets",
    ),
    ("json_values", "json_lines"),
    ("html_tables", "markdown_tables", "latex_tables", "delimited_text"),
    ("printed_tables",),
    ("console_log",),
)
_MODULES = "edgecil.runs.cells."
_FORMS_OF_SUFFIX = {
    ".csv": ("avalanche_csv", "delimited_text"),
    ".tsv": ("delimited_text",),
}
"""Suffixes by which all but a few forms are ruled out."""

_TRACKER_FOLDERS = ("files", "metrics", "params", "tags")
_DEEPEST_TRACKER = 7
_HIDDEN = (".", "__")


class Form(Protocol):
    """A module that reads one form of file."""

    def recognises(self, path: Path, head: bytes) -> bool:
        """Return whether the file has this form."""
        ...

    def read(self, path: Path) -> list[CellTable]:
        """Return the tables in the file."""
        ...


@dataclass(frozen=True)
class TablesOfFiles:
    """What was read from files and folders.

    Attributes:
        tables: the tables, file by file.
        left_out: why a file of a folder was not read, by its path.
        part_of: the source of the run that a file of a folder belongs to, where another file of the
            run was read before it.
    """

    tables: list[CellTable] = field(default_factory=list)
    left_out: dict[Path, str] = field(default_factory=dict)
    part_of: dict[Path, str] = field(default_factory=dict)


def read_tables(path: str | Path) -> list[CellTable]:
    """Return the tables in a file of any form; an error if it has no form that is known here."""
    path = Path(path)
    head = read_head(path)
    if not head.strip():
        raise DataError(f"{path} is empty; give a file with results.")
    for group in _groups(path):
        forms = {name: form for name, form in group.items() if form.recognises(path, head)}
        if len(forms) > 1:
            raise DataError(
                f"{path} may be {' or '.join(sorted(forms))}; give it the suffix of its form, such "
                "as .csv, .md, .tex or .json."
            )
        for form in forms.values():
            return form.read(path)
    raise DataError(
        f"{path} has no form that is read here: it is no table (CSV, Markdown, LaTeX, Excel), no "
        "JSON, no NumPy array and no log of a known toolbox; save its results as CSV."
    )


def read_files(paths: Iterable[str | Path]) -> TablesOfFiles:
    """Return the tables in files and folders.

    A file that is given itself must be readable. Of a folder, what can be read is read, and the
    rest is listed with its reason.
    """
    result = TablesOfFiles()
    for path in map(Path, paths):
        if not path.is_dir():
            result.tables.extend(read_tables(path))
            continue
        for file in _files_below(path):
            try:
                _add_tables(result, file)
            except EdgecilError as error:
                result.left_out[file] = str(error)
    return result


def _add_tables(result: TablesOfFiles, file: Path) -> None:
    """Add the tables of a file, unless another file of the same run has given them."""
    tables = read_tables(file)
    present = {(table.source, table.place) for table in result.tables}
    added = [table for table in tables if (table.source, table.place) not in present]
    result.tables.extend(added)
    if not added:
        result.part_of[file] = tables[0].source


def _files_below(folder: Path) -> Sequence[Path]:
    """Return the files in a folder and its folders, without hidden ones, in a fixed order."""

    def is_hidden(path: Path) -> bool:
        return any(part.startswith(_HIDDEN) for part in path.relative_to(folder).parts)

    files = [path for path in folder.rglob("*") if path.is_file()]
    return sorted(path for path in files if not is_hidden(path))


def _groups(path: Path) -> Iterable[dict[str, Form]]:
    """Yield the forms by name: first from installed packages, then each group of this one.

    Forms that a file with a certain suffix cannot have are not loaded.
    """
    yield {name: point.load() for name, point in installed(ENTRY_POINTS).items()}
    is_of_tracker = any(part in _TRACKER_FOLDERS for part in path.parts[-_DEEPEST_TRACKER:-1])
    possible = None if is_of_tracker else _FORMS_OF_SUFFIX.get(suffix_of(path))
    for names in FORMS:
        chosen = [name for name in names if possible is None or name in possible]
        yield {name: import_module(_MODULES + name) for name in chosen}
