"""The files that a program reads from its own folder."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import time
from pathlib import Path

import numpy as np

from edgecil.io.file_reads import MISSING, MOST_FILES, FileUse, digest_files, recording

LATER = time.time() + 1e6


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:32]


def test_files_that_python_numpy_and_imports_read_are_seen(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.json").write_text("{}")
    np.save(tmp_path / "b.npy", np.arange(3))
    (tmp_path / "c.py").write_text("VALUE = 1\n")
    (tmp_path / "unread.txt").write_text("x")
    use = FileUse(tmp_path)
    with recording(use):
        (tmp_path / "inner" / "a.json").read_text()
        np.load(tmp_path / "b.npy")
        os.close(os.open(tmp_path / "known.txt", os.O_RDONLY | os.O_CREAT))
        for _ in range(2):  # the second time from bytecode
            spec = importlib.util.spec_from_file_location("c", tmp_path / "c.py")
            assert spec is not None
            assert spec.loader is not None
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
    (tmp_path / "unread.txt").read_text()
    found = use.files(besides=[tmp_path / "known.txt"], since=LATER)
    names = ["b.npy", "c.py", "inner/a.json"]
    assert dict(found.digests) == {name: digest(tmp_path / name) for name in names}
    assert found.unrecorded == ()
    (tmp_path / "b.npy").unlink()
    assert digest_files(tmp_path, names) == {**found.digests, "b.npy": MISSING}


def test_what_a_program_writes_or_changes_is_named_and_not_recorded(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("a")
    (tmp_path / "young.txt").write_text("a")
    os.utime(tmp_path / "young.txt", (LATER + 1, LATER + 1))
    (tmp_path / "only written.txt").write_text("a")
    use = FileUse(tmp_path)
    with recording(use):
        (tmp_path / "log.txt").read_text()
        (tmp_path / "log.txt").write_text("b")
        (tmp_path / "young.txt").read_text()
        (tmp_path / "only written.txt").write_text("b")
    found = use.files(since=LATER)
    assert found.digests == {}
    assert found.unrecorded == ("log.txt", "young.txt")


def test_libraries_other_folders_and_too_many_files_do_not_count(tmp_path: Path) -> None:
    names = [f"{number:03}" for number in range(MOST_FILES + 2)]
    (tmp_path / "out").mkdir()
    for name in (*names, "out/state"):
        (tmp_path / name).touch()
    use = FileUse(tmp_path)
    with recording(use):
        for name in (*names, "out/state"):
            (tmp_path / name).read_text()
    own_folder = Path(os.__file__).parent
    library = FileUse(own_folder)
    with recording(use), recording(library):
        Path(os.__file__).read_text(encoding="utf-8")
    found = use.files(outside=[tmp_path / "out"], since=LATER)
    assert list(found.digests) == names[:MOST_FILES]
    assert list(found.unrecorded) == names[MOST_FILES:]
    assert list(library.files(since=LATER).digests) == [Path(os.__file__).name], (
        "a library may be the user's code"
    )
