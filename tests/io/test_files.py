"""Files that are whole or absent, and directories that one process works in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from edgecil.errors import EdgecilError
from edgecil.io.files import replace_file
from edgecil.io.locks import locked

TRY_THE_LOCK = """
import sys
from pathlib import Path
from edgecil.io.locks import locked
with locked(Path(sys.argv[1])):
    print("in")
"""


def test_a_second_process_is_told_that_the_directory_is_taken(tmp_path: Path) -> None:
    command = [sys.executable, "-c", TRY_THE_LOCK, str(tmp_path)]
    with locked(tmp_path):
        refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "is in use by another process" in refused.stderr
    allowed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert allowed.stdout == "in\n"


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("old")
    with pytest.raises(EdgecilError, match="No space left"):
        _run_out_of_space(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def _run_out_of_space(path: Path) -> None:
    with replace_file(path) as file:
        file.write(b"half")
        raise OSError(28, "No space left on device")


def test_a_whole_file_takes_the_old_ones_place(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "x.txt"
    with replace_file(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"
