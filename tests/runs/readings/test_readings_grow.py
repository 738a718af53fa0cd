"""A new form is one file, a new synonym one line, a new metric one line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import edgecil
from edgecil.registry import installed
from edgecil.runs import metric_names
from edgecil.runs.reading import ReadingQuestion, column_names
from edgecil.runs.reading.column_names import column_name, synonyms

FORM = """
from edgecil.runs.cells.cell_table import CellTable


def recognises(path, head):
    return head.startswith(b"tally")


def read(path):
    pairs = [line.split("=") for line in path.read_text().splitlines()[1:]]
    rows = tuple((name, str(seed), value) for seed, (name, value) in enumerate(pairs))
    return [CellTable("tally", str(path), ("method", "seed", "accuracy"), rows)]
"""


@pytest.fixture
def added_lines(tmp_path, monkeypatch):
    """Return a function that adds a line to the file of names of a module."""
    cached = (column_name, synonyms, metric_names.metric_name, metric_names._lines)

    def add(module, line: str) -> None:
        copy = tmp_path / module._FILE.name
        shutil.copy(module._FILE, copy)
        copy.write_text(f"{copy.read_text('utf-8')}{line}\n", encoding="utf-8")
        monkeypatch.setattr(module, "_FILE", copy)
        clear()

    def clear() -> None:
        for function in cached:
            function.cache_clear()

    yield add
    monkeypatch.undo()
    clear()


def write_table(folder: Path, header: str) -> Path:
    path = folder / "a.csv"
    path.write_text(f"{header}\nx,7,61.5\nx,8,62.5\n", encoding="utf-8")
    return path


def test_a_synonym_is_one_line(tmp_path, added_lines) -> None:
    path = write_table(tmp_path, "method,Zufallszahl,accuracy")
    (table,) = edgecil.read(path).runs
    assert table.seed.tolist() != [7, 8]
    added_lines(column_names, "zufallszahl -> seed")
    (table,) = edgecil.read(path).runs
    assert table.seed.tolist() == [7, 8]


def test_the_direction_of_a_metric_is_one_line(tmp_path, added_lines) -> None:
    path = write_table(tmp_path, "method,seed,Fehlerquote")
    with pytest.raises(ReadingQuestion):
        edgecil.read(path)
    added_lines(metric_names, "fehlerquote -> lower, share")
    reading = edgecil.read(path)
    assert (reading.metric, reading.higher_is_better) == ("Fehlerquote", False)


def test_a_form_is_one_file(tmp_path, monkeypatch) -> None:
    metadata = tmp_path / "tally-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: tally\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[edgecil.forms]\ntally = tally_of_results\n")
    (tmp_path / "tally_of_results.py").write_text(FORM)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("edgecil.runs.cells.forms.installed", installed.__wrapped__)  # no cache
    path = tmp_path / "results.txt"
    path.write_text("tally\ner=80.5\nder=81.25\n")
    (table,) = edgecil.read(path).runs
    assert table.methods == ("er", "der")
    assert table.values.tolist() == [80.5, 81.25]
