"""Files that are whole or absent, and directories that one process works in."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from edgecil.errors import DataError, EdgecilError
from edgecil.io.csv_files import parse_rows
from edgecil.io.directory import locked
from edgecil.io.files import parse_json, read_text, replace_file

KILLED = """
import os, signal, sys
from pathlib import Path
from edgecil.io.files import replace_file
with replace_file(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""

TRY_THE_LOCK = """
import sys
from pathlib import Path
from edgecil.io.directory import locked
with locked(Path(sys.argv[1])):
    print("in")
"""


def test_a_second_process_is_told_that_the_directory_is_taken(tmp_path) -> None:
    command = [sys.executable, "-c", TRY_THE_LOCK, str(tmp_path)]
    with locked(tmp_path):
        refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "another process" in refused.stderr
    allowed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert allowed.stdout == "in\n"


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("old")
    with pytest.raises(EdgecilError, match="No space left"), replace_file(path) as file:  # noqa: PT012
        file.write(b"half")
        raise OSError(28, "No space left on device")
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="no locks that end with a process")
def test_what_a_killed_writer_left_goes_when_the_file_is_written_again(tmp_path) -> None:
    path = tmp_path / "x.txt"
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    (left,) = tmp_path.iterdir()
    assert left.read_bytes() == b"half"
    (tmp_path / ".x.txt.notes").touch()  # of somebody else
    (tmp_path / ".y.txt.abcd_123").touch()
    with replace_file(path) as file:
        file.write(b"new")
        with replace_file(path) as other:  # a second writer, which leaves the first alone
            other.write(b"newer")
        file.write(b"est")
    assert path.read_bytes() == b"newest"
    names = {entry.name for entry in tmp_path.iterdir()}
    assert names == {"x.txt", ".x.txt.notes", ".y.txt.abcd_123"}


def test_only_line_ends_end_a_row() -> None:
    """A name with another separator was split into two rows."""
    name = "a\u2028b\x0bc\x85d"
    rows = list(parse_rows(f'{name},1\r\n"e\nf",2\n', "x.csv"))
    assert rows == [[name, "1"], ["e\nf", "2"]]


@pytest.mark.parametrize(
    ("text", "named"),
    [('{"a": ["\\ud800"]}', "ud800"), ('[{"b": {"a": 1, "a": 2}}]', "'a' twice")],
)
def test_half_a_character_and_a_name_twice_in_json_are_named(text, named) -> None:
    """The database refused the former later, with an error that nobody foresaw."""
    assert parse_json('["\\ud83d\\ude00"]', "x.json") == ["\U0001f600"]
    with pytest.raises(DataError, match=named):
        parse_json(text, "x.json")


@pytest.mark.parametrize(("name", "form"), [("a.xlsx", "CSV"), ("a.csv", "UTF-8")])
def test_a_file_that_is_no_text_is_saved_in_another_form(tmp_path, name, form) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04\xff")
    with pytest.raises(DataError, match=f"save it as {form}"):
        read_text(tmp_path / name)


def test_a_device_does_not_become_a_file(tmp_path) -> None:
    device = tmp_path / "device"
    os.mkfifo(device)
    with pytest.raises(EdgecilError, match="device"), replace_file(device) as file:
        file.write(b"x")
    assert [path.is_fifo() for path in tmp_path.iterdir()] == [True]
