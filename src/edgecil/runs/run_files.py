"""Files of runs: read whatever form they have, and written as CSV."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from edgecil.io.csv_files import CsvCell, write_csv
from edgecil.runs.run_table import Runs

KEYS = ("method", "dataset", "protocol", "label", "sequence", "seed")
"""The columns of a file of runs that say which run a row is."""


def read_runs(source: Any, *, metric: str | None = None, **options: Any) -> list[Runs]:
    """Return the runs in a file or a DataFrame, one table for each dataset.

    Args:
        source: what :func:`edgecil.read` takes.
        metric: the metric to read; by default an accuracy, if there is one.
        options: see :class:`~edgecil.runs.reading.reading_options.ReadingOptions`.
    """
    from edgecil.runs.reading.reading import read

    return read(source, metric=metric, **options).runs


def write_runs(tables: Iterable[Runs], path: str | Path) -> None:
    """Write tables of one metric as a CSV or .csv.gz file that :func:`read_runs` reads."""
    parts = list(tables)
    first = parts[0]
    kind = first.stand_in
    left_out = {
        "": ["class_order"],
        "order": ["sequence"],
        "seed": ["sequence", "class_order", "protocol"],
        "run": ["sequence", "class_order", "protocol", "seed"],
    }[kind]
    header = [name for name in (*KEYS, "class_order") if name not in left_out] + [first.metric]
    header += ["identity"] if any(any(table.identities) for table in parts) else []
    rows: list[list[CsvCell]] = []
    for table in parts:
        frame = table.to_pandas()
        if kind:  # the label has the seed, or the order, as it was read
            named = [label.partition(" ")[2] for label in frame["label"]]
            frame["class_order" if kind == "order" else "seed"] = named
        cells = frame[header].astype(object)
        rows += cells.where(cells.notna(), None).to_numpy().tolist()
    write_csv(Path(path), [header, *rows])
