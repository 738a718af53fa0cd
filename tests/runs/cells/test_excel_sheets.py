"""Sheets of Excel files."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from edgecil.errors import DataError
from edgecil.runs.cells.forms import read_tables

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
LINKS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def cell(reference: str, value: str | float) -> str:
    if isinstance(value, str):
        return f'<c r="{reference}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{reference}"><v>{value}</v></c>'


def write_book(path: Path, sheets: Mapping[str, str], texts: str = "", head: str = "") -> Path:
    """Write a workbook from the XML of the rows of its sheets."""
    names = [
        f'<sheet name="{name}" sheetId="{number}" r:id="rId{number}"/>'
        for number, name in enumerate(sheets, start=1)
    ]
    links = [
        f'<Relationship Id="rId{number}" Target="worksheets/sheet{number}.xml"/>'
        for number in range(1, len(sheets) + 1)
    ]
    with zipfile.ZipFile(path, "w") as archive:
        book = f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{"".join(names)}</sheets>'
        archive.writestr("xl/workbook.xml", f"{book}</workbook>")
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{LINKS}">{"".join(links)}</Relationships>',
        )
        archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{MAIN}">{texts}</sst>')
        for number, rows in enumerate(sheets.values(), start=1):
            content = f'{head}<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'
            archive.writestr(f"xl/worksheets/sheet{number}.xml", content)
    return path


ROWS = (
    f"<row>{cell('A1', 'method')}{cell('B1', 'seed')}{cell('C1', 'acc')}</row>"
    f"<row>{cell('A2', 'er')}{cell('B2', 0)}{cell('C2', 61.5)}</row>"
    f"<row>{cell('A3', 'er')}{cell('C3', 60.25)}</row>"
)


def test_a_sheet_is_a_table(tmp_path) -> None:
    (table,) = read_tables(write_book(tmp_path / "runs.xlsx", {"Sheet1": ROWS}))
    assert (table.form, table.place) == ("Excel sheet", "")
    assert table.header == ("method", "seed", "acc")
    assert table.rows == (("er", "0", "61.5"), ("er", None, "60.25"))


def test_texts_are_shared_between_sheets(tmp_path) -> None:
    texts = "<si><t>method</t></si><si><r><t>e</t></r><r><t>r</t></r></si>"
    rows = (
        f'<row><c r="A1" t="s"><v>0</v></c>{cell("B1", "acc")}</row>'
        f'<row><c r="A2" t="s"><v>1</v></c>{cell("B2", 61.5)}</row>'
        f'<row><c r="A3" t="s"><v>9</v></c>{cell("B3", 62.5)}</row>'
    )
    first, second = read_tables(write_book(tmp_path / "a.xlsx", {"a": rows, "b": rows}, texts))
    assert (first.place, second.place) == ("a", "b")
    assert first.header == ("method", "acc")
    assert first.rows == (("er", "61.5"), (None, "62.5"))


def test_tables_side_by_side_are_two(tmp_path) -> None:
    rows = (
        f"<row>{cell('A1', 'task')}{cell('B1', 'acc')}"
        f"{cell('D1', 'epoch')}{cell('E1', 'loss')}</row>"
        f"<row>{cell('A2', 1)}{cell('B2', 61.5)}{cell('D2', 1)}{cell('E2', 0.5)}</row>"
        f"<row>{cell('D3', 2)}{cell('E3', 0.25)}</row>"
    )
    left, right = read_tables(write_book(tmp_path / "a.xlsx", {"a": rows}))
    assert (left.place, left.rows) == ("table 1", (("1", "61.5"),))
    assert (right.header, right.rows) == (("epoch", "loss"), (("1", "0.5"), ("2", "0.25")))


BOMB = '<!DOCTYPE a [<!ENTITY b "bbbbbbbb"><!ENTITY c "&b;&b;&b;&b;">]>'


def test_entities_are_refused(tmp_path) -> None:
    rows = ROWS.replace("er", "&c;")
    with pytest.raises(DataError, match="defines entities"):
        read_tables(write_book(tmp_path / "a.xlsx", {"a": rows}, head=BOMB))


def test_a_packed_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("EDGECIL_MAX_TEXT_BYTES", "5000")
    path = write_book(tmp_path / "a.xlsx", {"a": ROWS + " " * 5000})
    with pytest.raises(DataError, match="more than the limit of 5,000"):
        read_tables(path)


@pytest.mark.parametrize("content", [b"PK\x03\x04", b"PK\x03\x04 nothing"])
def test_a_damaged_workbook_is_one_sentence(tmp_path, content) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(content)
    with pytest.raises(DataError, match="cut short, damaged, or not an Excel file"):
        read_tables(path)


def test_a_text_under_the_name_of_a_workbook_is_read_as_text(tmp_path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_text("method,acc\ner,61\n")
    (table,) = read_tables(path)
    assert (table.form, table.rows) == ("CSV", (("er", "61"),))
