"""The report's folder: `index.html`, which needs nothing else, and figures and tables as files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from edgecil.io.files import replace_file
from edgecil.report.figures.canvas import SUFFIXES, render
from edgecil.report.page import Report
from edgecil.report.tables import FORMATS


def write_report(report: Report, folder: str | Path) -> Path:
    """Write a report.

    Args:
        report: what to write; the same one always gives the same bytes.
        folder: gets `index.html`, `figures/`, `tables/` and the TOML files that repeat the runs.

    Returns:
        The path of the page.
    """
    folder = Path(folder)
    for name, content in _files(report):
        with replace_file(folder / name) as file:
            file.write(content)
    page = folder / "index.html"
    with replace_file(page) as file:
        file.write(report.html.encode())
    return page


def _files(report: Report) -> Iterator[tuple[str, bytes]]:
    """Everything beside the page, by its path in the folder."""
    for picture in report.pictures:
        for suffix in SUFFIXES:
            content = picture.svg if suffix == ".svg" else render(picture.figure, suffix)
            yield f"figures/{picture.name}{suffix}", content
    for table in report.tables:
        for suffix, write in FORMATS.items():
            yield f"tables/{table.name}{suffix}", write(table).encode()
    for name, text in report.configs.items():
        yield name, text.encode()
