from __future__ import annotations

from pathlib import Path

import pytest

from edgecil.classes import read_classes
from edgecil.errors import DataError, UsageError


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pets.txt", "cat\ndog, hound\n"),
        ("pets.txt", "\ufeffcat\r\ndog, hound\r\n"),
        ("pets.csv", 'label,name\n0,cat\n1,"dog, hound"\n'),
        ("pets.csv", 'cat\n"dog, hound"\n'),
        ("pets.CSV", 'id,Class\n7,cat\n8,"dog, hound"\n'),
        ("pets.json", '["cat", "dog, hound"]'),
        ("pets.json", '{"1": "dog, hound", "0": "cat"}'),
    ],
)
def test_names_are_read_in_label_order(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_bytes(content.encode())
    classes = read_classes(tmp_path / name)
    assert classes.name == "pets"
    assert classes.labels == ("cat", "dog, hound")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("pets.txt", "", "is empty"),
        ("pets.txt", "cat\n\ndog\n", "blank name at label 1"),
        ("pets.txt", "cat\ncat\n", "more than once"),
        ("pets.csv", "", "is empty"),
        ("pets.csv", "0,cat\n1,dog\n", "2.*'name'"),
        ("pets.csv", "id,name\n0,cat\n1\n", "column.*2"),
        ("pets.json", '{"cat": 0, "dog": 1}', "labels.*0.*1"),
        ("pets.json", '"cat"', "class names"),
        ("pets.json", "[1, 2]", "blank name at label 0"),
        ("pets.yaml", "- cat\n", "json files"),
    ],
)
def test_a_bad_file_is_told(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        read_classes(tmp_path / name)


@pytest.mark.parametrize(("name", "content"), [("pets.json", b"["), ("pets.txt", b"\xff\xfe\xff")])
def test_a_damaged_file_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=name):
        read_classes(tmp_path / name)
    with pytest.raises(DataError, match=r"Cannot read .*nowhere"):
        read_classes(tmp_path / "nowhere.txt")
