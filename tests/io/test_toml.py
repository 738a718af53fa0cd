from __future__ import annotations

from pathlib import Path

import pytest

from edgecil.errors import DataError, EdgecilError
from edgecil.io.toml import read_toml


def test_a_file_says_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text('tasks = 3\n[similarities.names]\ntemplate = "{name} – ü"\n', encoding="utf-8")
    assert read_toml(path) == {"tasks": 3, "similarities": {"names": {"template": "{name} – ü"}}}


def test_what_is_not_toml_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("tasks =\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"a\.toml.*TOML.*1"):
        read_toml(path)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(EdgecilError, match=r"gone\.toml"):
        read_toml(tmp_path / "gone.toml")


@pytest.mark.parametrize(
    "text",
    ["a" + ".a" * 3000 + " = 1", "1" + ".1" * 3000 + " = 1", "a = { b" + '."c,"' * 3000 + " = 1 }"],
    ids=["letters", "digits", "quoted"],
)
def test_keys_that_would_take_gigabytes_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="dotted"):
        read_toml(path)


def test_an_integer_that_cannot_be_printed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(f"tasks = [{{ a = 0x{'f' * 5000} }}]", encoding="utf-8")
    with pytest.raises(DataError, match="64 bits"):
        read_toml(path)
    path.write_text(f"a = [{', '.join(['0.5'] * 3000)}]\nb = {2**63 - 1}", encoding="utf-8")
    assert len(read_toml(path)["a"]) == 3000
