"""Files that ask for more than they hold, or are no files: one sentence, little memory."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from edgecil.errors import DataError, EdgecilError, UsageError
from edgecil.io.arrays import read_npy, read_npz
from edgecil.io.csv_files import read_rows
from edgecil.io.directory import locked, waiting_lock
from edgecil.io.files import read_json, read_text, read_toml, replace_file
from edgecil.io.limits import ARRAYS
from edgecil.io.numbers import parse_int
from edgecil.io.terminal import without_control_characters

READERS: list[Callable[[Path], object]] = [
    read_text,
    read_json,
    read_rows,
    read_toml,
    read_npy,
    lambda path: read_npz(path, ["x"]),
]


@pytest.mark.parametrize("read", READERS)
def test_fifos_devices_and_folders_are_refused(tmp_path, read) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path, words in ((fifo, "pipe"), (Path("/dev/zero"), "device"), (tmp_path, "folder")):
        with pytest.raises(DataError, match=words):
            read(path)


@pytest.mark.parametrize("read", READERS[:4])
def test_long_texts_are_refused_unless_the_limit_is_raised(tmp_path, read, monkeypatch) -> None:
    path = tmp_path / "long"
    path.write_text("1" * 100)
    monkeypatch.setenv("EDGECIL_MAX_TEXT_BYTES", "99")
    with pytest.raises(DataError, match="EDGECIL_MAX_TEXT_BYTES"):
        read(path)
    monkeypatch.setenv("EDGECIL_MAX_TEXT_BYTES", "100")
    assert len(read_text(path)) == 100
    monkeypatch.setenv("EDGECIL_MAX_TEXT_BYTES", "1_000")
    with pytest.raises(UsageError, match="EDGECIL_MAX_TEXT_BYTES"):
        read_text(path)


def test_arrays_that_nobody_asked_for_are_not_unpacked(tmp_path, monkeypatch) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, x=np.arange(3), other=np.zeros(2**24, dtype=np.uint8))
    monkeypatch.setenv(ARRAYS.variable, str(2**20))
    arrays, names = read_npz(path, ["x", "missing"])
    assert arrays["x"].tolist() == [0, 1, 2]
    assert set(names) == {"x", "other"}
    with pytest.raises(DataError, match=ARRAYS.variable):
        read_npz(path, ["other"])
    monkeypatch.delenv(ARRAYS.variable)
    assert read_npz(path, ["other"])[0]["other"].shape == (2**24,)


def test_a_header_that_announces_more_than_there_is_is_refused(tmp_path) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**3)}
    )
    (tmp_path / "a.npy").write_bytes(header.getvalue() + bytes(8))
    with pytest.raises(DataError, match="announces"):
        read_npy(tmp_path / "a.npy")
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("x.npy", header.getvalue() + bytes(8))
    with pytest.raises(DataError, match="announces"):
        read_npz(tmp_path / "a.npz", ["x"])


@pytest.mark.parametrize("text", ["1_0", "１０", "", "ten", "1e2"])
def test_numbers_are_read_as_people_write_them(text) -> None:
    with pytest.raises(ValueError, match="integer"):
        parse_int(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("caf\u00e9 \u732b \U0001f408", "caf\u00e9 \u732b \U0001f408"),
        ("\x1b]0;title\x07cat", "]0;titlecat"),
        ("cat\r\nOK", "cat  OK"),
        ("a\u202eb\x9b31m", "ab31m"),
        ("\ud800x", "x"),
    ],
)
def test_control_characters_do_not_reach_the_terminal(text, shown) -> None:
    assert without_control_characters(text) == shown


@pytest.mark.parametrize("hold", [locked, lambda path: waiting_lock(path / "lock")])
def test_a_lock_that_is_a_link_is_not_followed(tmp_path, hold) -> None:
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    home = tmp_path / "home"
    home.mkdir()
    (home / "lock").symlink_to(victim)
    with pytest.raises(EdgecilError, match="link"), hold(home):
        pass
    assert victim.read_text(encoding="utf-8") == "untouched"


def test_private_files_are_for_the_user_alone(tmp_path) -> None:
    path = tmp_path / "new" / "secret"
    with replace_file(path, private=True) as file:
        file.write(b"x")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
