"""`read`: how results of any form are understood, and the tables of their runs."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from typing_extensions import Unpack

from edgecil.errors import DataError, UsageError, wrong_value_error
from edgecil.io.data_frames import DataFrameLike
from edgecil.io.directory import check_path
from edgecil.io.notebook import show_printed
from edgecil.options import checked
from edgecil.runs.cells.cell_table import CellTable
from edgecil.runs.cells.forms import read_files
from edgecil.runs.metric_names import without_direction
from edgecil.runs.metrics import find_metric
from edgecil.runs.published import PublishedResult
from edgecil.runs.reading.joined_runs import join_runs
from edgecil.runs.reading.memory_tables import (
    DATA_FRAME,
    NAME,
    Numbers,
    is_data_frame,
    is_numbers,
    is_records,
    named_tables,
    table_in_memory,
)
from edgecil.runs.reading.reading_options import ReadingOptions, declarations
from edgecil.runs.run_table import Runs

_SUMMARIES = (
    "CSV",
    "TSV",
    "CSV with semicolons",
    "Markdown table",
    "HTML table",
    "LaTeX table",
    "printed table",
    "Excel sheet",
)
TableSource: TypeAlias = (
    str | Path | DataFrameLike | Numbers | Mapping[str, DataFrameLike | Numbers]
)


@dataclass(frozen=True, eq=False, repr=False)
class Reading:
    """How results were understood, and what was read.

    Attributes:
        runs: a table for each dataset.
        published: results of which only the mean, and perhaps its spread, is known.
        metric: the name of the metric.
        higher_is_better: its direction.
        metrics: the metrics that could have been read.
        parts: further parts of the reading line, such as `last of 10 tasks`.
        notes: what was chosen, in sentences.
        undecided: what may also be otherwise, in sentences.
        left_out: why files of a folder were not read, by their paths.
        options: the options with which it was read.
    """

    runs: list[Runs]
    published: list[PublishedResult]
    metric: str
    higher_is_better: bool
    metrics: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods, in order of appearance."""
        names = [name for table in self.runs for name in table.methods]
        return tuple(dict.fromkeys([*names, *(result.method for result in self.published)]))

    @property
    def datasets(self) -> tuple[str, ...]:
        """The datasets, in order of appearance."""
        names = [table.dataset for table in self.runs]
        return tuple(dict.fromkeys([*names, *(result.dataset for result in self.published)]))

    @property
    def line(self) -> str:
        """The reading in one line."""
        from edgecil.runs.reading.reading_line import reading_line

        return reading_line(self)

    def summary(self) -> dict[str, Any]:
        """Return the reading as plain values, without the runs."""
        return {
            "line": self.line,
            "methods": list(self.methods),
            "datasets": list(self.datasets),
            "metric": self.metric,
            "higher_is_better": self.higher_is_better,
            "metrics": list(self.metrics),
            "runs": sum(len(table) for table in self.runs),
            "published": [asdict(result) for result in self.published],
            "notes": list(self.notes),
            "undecided": list(self.undecided),
            "left_out": self.left_out,
        }

    def __str__(self) -> str:
        """Return the reading line, what was chosen, what is undecided, and what was left out."""
        lines = [self.line, *self.notes]
        lines += [f"Undecided: {sentence}" for sentence in self.undecided]
        lines += [f"Not read: {path}: {reason}" for path, reason in self.left_out.items()]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<{self.line}>"

    _repr_pretty_ = show_printed

    def _repr_html_(self) -> str:
        return "".join(f"<p>{html.escape(line)}</p>" for line in str(self).splitlines())

    def save(self, path: str | Path) -> None:
        """Write the options of the reading as a TOML file, which `reading` takes for other files.

        Args:
            path: the file to write.
        """
        from edgecil.runs.reading.saved_reading import save_reading

        save_reading(self.options, Path(path))


@checked
def read(
    source: TableSource | Sequence[TableSource],
    *,
    metric: str | None = None,
    **reading: Unpack[ReadingOptions],
) -> Reading:
    """Read results, whatever form they have, and say how they were understood.

    Args:
        source: files and folders of results. In Python also DataFrames, lists of accuracies, or a
            dict of these by the name of the method.
        metric: the metric to read: a column, or `accuracy`, `last`, `average`, `forgetting` or
            `bwt` of a log or a matrix. By default an accuracy, if there is one.
        reading: see :class:`~edgecil.runs.reading.reading_options.ReadingOptions`.
    """
    return read_sources([source], metric=metric, **reading)


def read_sources(
    sources: Sequence[Any], *, metric: str | None = None, **reading: Unpack[ReadingOptions]
) -> Reading:
    """Return the reading of one source or several together."""
    options: dict[str, Any] = {name: value for name, value in reading.items() if value is not None}
    saved = options.pop("reading", None)
    if saved is not None:
        from edgecil.runs.reading.saved_reading import load_reading

        stored = load_reading(Path(saved))
        metric = metric or stored.pop("metric", None)
        options = {**stored, **options}
    tables, left_out = _tables_of(sources)
    return read_cells(tables, metric=metric, left_out=left_out, **options)


def read_cells(
    tables: Sequence[CellTable],
    *,
    metric: str | None = None,
    left_out: Mapping[str, str] | None = None,
    **options: Any,
) -> Reading:
    """Return the reading of tables of cells."""
    declared = declarations(metric, options)
    if not tables:
        reasons = "; ".join((left_out or {}).values()) or "it has no files with results."
        raise DataError(f"Nothing was read: {reasons}")
    joined = join_runs(tables, declared, options.get("pool"))
    name = joined.metric
    return Reading(
        joined.tables,
        joined.published,
        without_direction(name),
        find_metric(name).higher_is_better,
        joined.metrics,
        tuple(joined.parts),
        tuple(dict.fromkeys(joined.notes)),
        tuple(dict.fromkeys(joined.undecided)),
        dict(left_out or {}),
        {**options, **({} if metric is None else {"metric": metric})},
    )


def combine_readings(reading: Reading | None, tables: list[Runs], metric: str) -> Reading:
    """Return the reading of tables of runs, some of which were read before."""
    if reading is not None:
        return replace(reading, runs=tables)
    name = without_direction(metric)
    return Reading(tables, [], name, find_metric(metric).higher_is_better, (name,))


def _tables_of(sources: Sequence[Any]) -> tuple[list[CellTable], dict[str, str]]:
    """Return the tables in sources, and why files of folders were not read."""
    if not sources:
        raise UsageError("`source` must have at least one entry. Got none.")
    tables: list[CellTable] = []
    left_out: dict[str, str] = {}
    flat = _without_copies(_flatten(sources))
    for number, source in enumerate(flat, start=1):
        if isinstance(source, (str, Path)):
            more, reasons = _tables_of_path(source)
            tables += more
            left_out |= reasons
        elif isinstance(source, Mapping) and source:
            tables += named_tables(source)
        elif is_numbers(source) or is_records(source) or is_data_frame(source):
            own_name = getattr(source, "attrs", {}).get(NAME)
            name = own_name or (DATA_FRAME if len(flat) == 1 else f"table {number}")
            tables.append(table_in_memory(source, name))
        else:
            raise wrong_value_error(
                "source",
                "the path of a file or a folder, a DataFrame, a list of accuracies, a list of "
                "these, or a dict of DataFrames or accuracies by the name of the method",
                source,
            )
    return tables, left_out


def table_of_source(source: Any) -> CellTable:
    """Return the cells of a source that has one table."""
    tables, _ = _tables_of([source])
    if len(tables) != 1:
        raise DataError(f"{tables[0].source} has {len(tables)} tables; give a file with one.")
    return tables[0]


def _flatten(sources: Sequence[Any]) -> Iterator[Any]:
    for source in sources:
        is_list = isinstance(source, (list, tuple))
        if is_list and not is_numbers(source) and not is_records(source):
            yield from _flatten(source)
        else:
            yield source


def _without_copies(sources: Iterator[Any]) -> list[Any]:
    """Return sources, a path that is given twice once."""
    kept: list[Any] = []
    paths: set[str] = set()
    for source in sources:
        is_path = isinstance(source, (str, Path))
        if not is_path or str(source) not in paths:
            kept.append(source)
        paths |= {str(source)} if is_path else set()
    return kept


def _tables_of_path(path: str | Path) -> tuple[list[CellTable], dict[str, str]]:
    check_path(path)
    if not Path(path).exists():
        raise DataError(f"There is no file {path}; give a file or a folder of results.")
    result = read_files([path])
    left_out = {str(file): reason for file, reason in result.left_out.items()}
    tables, derived = _logs_first(result.tables)
    return tables, left_out | derived


def _logs_first(tables: list[CellTable]) -> tuple[list[CellTable], dict[str, str]]:
    """Return the tables of a folder; where it has logs of toolboxes, without tables in other files.

    Such tables summarise the runs in the logs, which would count twice.
    """
    logs = [table for table in tables if "step" in table.roles.values() and table.facts]
    summaries = [table for table in tables if table.form in _SUMMARIES]
    if not logs or not summaries:
        return tables, {}
    reason = "it may summarise the logs beside it; give the file itself to read it"
    kept = [table for table in tables if table.form not in _SUMMARIES]
    return kept, {table.source: reason for table in summaries}
