"""CSV files: one reader, and one writer of cells that no spreadsheet runs as a formula."""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from edgecil.errors import DataError
from edgecil.io.files import read_text, replace_file
from edgecil.io.numbers import is_number

CsvCell = str | int | float | None

_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def read_rows(path: Path) -> list[list[str]]:
    """Return the rows of a CSV file that are not blank."""
    return list(parse_rows(read_text(path), str(path)))


def parse_rows(text: str, source: str, delimiter: str = ",") -> Iterator[list[str]]:
    """Yield the rows of a CSV text that are not blank; `source` names the text in the error."""
    lines = io.StringIO(text, newline="")  # splitlines would also split at U+2028 and others
    try:
        yield from filter(None, csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
    except csv.Error as error:
        raise DataError(f"{source} is not valid CSV: {error}.") from error


def check_header(header: Sequence[str], source: str) -> None:
    """Raise an error if two columns have the same name, except for columns without a name."""
    repeated = [name for name, count in Counter(header).items() if name and count > 1]
    if repeated:
        raise DataError(f"{source} has more than one column named {repeated[0]!r}; keep one.")


def format_csv(rows: Iterable[Sequence[CsvCell]]) -> str:
    r"""Return rows as CSV: numbers with all digits, empty cells for None.

    >>> format_csv([("name", "value"), ("=cmd()", -0.5), (None, "-0.5")])
    "name,value\n'=cmd(),-0.5\n,-0.5\n"
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(list(map(_escape, row)) for row in rows)
    return text.getvalue()


def write_csv(path: Path, rows: Iterable[Sequence[CsvCell]]) -> None:
    """Write rows to a CSV file; it is compressed if its name ends in `.gz`."""
    content = format_csv(rows).encode()
    with replace_file(path) as file:
        file.write(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)


def unescape(cell: str) -> str:
    """Return a text as it was before :func:`format_csv` made it safe.

    >>> unescape("'=cmd()"), unescape("'quoted'")
    ('=cmd()', "'quoted'")
    """
    return cell[1:] if cell.startswith("'") and _is_formula(cell) else cell


def _escape(cell: CsvCell) -> CsvCell:
    """Return a cell that spreadsheets do not run as a formula."""
    is_dangerous = isinstance(cell, str) and _is_formula(cell) and not is_number(cell)
    return f"'{cell}" if is_dangerous else cell


def _is_formula(text: str) -> bool:
    return text.lstrip("'").startswith(_FORMULAS)
