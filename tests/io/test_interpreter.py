"""Processes that take no modules from the working directory of somebody else."""

from __future__ import annotations

import multiprocessing
import os
import sys
from pathlib import Path

import pytest

from edgecil.io.interpreter import forget_safe_path, outside_working_directory, safe_path


def hostile_directory(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a directory with modules named as those that a new process imports first."""
    text = f"open({str(path / 'imported')!r}, 'a').write(__name__); raise ImportError"
    for name in ("pickle", "multiprocessing", "threading", "torch", "edgecil"):
        (path / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(path)


def test_worker_processes_import_nothing_from_the_working_directory(tmp_path, monkeypatch) -> None:
    hostile_directory(tmp_path, monkeypatch)
    process = multiprocessing.get_context("spawn").Process(target=os.getcwd)
    with safe_path():
        process.start()
    process.join()
    assert process.exitcode == 0
    assert not (tmp_path / "imported").exists()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="a variable of Python 3.11")
def test_the_programs_of_workers_start_as_usual(monkeypatch) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    with safe_path():
        assert os.environ["PYTHONSAFEPATH"]
        forget_safe_path()  # in a worker
        assert "PYTHONSAFEPATH" not in os.environ
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    with safe_path():
        forget_safe_path()
    assert os.environ["PYTHONSAFEPATH"] == "1", "as the user has set it"


def test_ray_is_given_the_working_directory_only_if_python_searches_it(
    tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "other")])
    with outside_working_directory():
        assert Path.cwd() == Path(sys.prefix).resolve()
    assert Path.cwd() == tmp_path.resolve()
    for entry in ("", str(tmp_path)):
        monkeypatch.setattr(sys, "path", [entry])
        with outside_working_directory():
            assert Path.cwd() == tmp_path.resolve()
