"""The cache of a user who has no home, or one that cannot be written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from edgecil.errors import EdgecilError, EdgecilWarning
from edgecil.io import cache
from edgecil.io.files import replace_file


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    cache._writable_cache.cache_clear()
    monkeypatch.delenv("EDGECIL_TEMPORARY_CACHE", raising=False)
    monkeypatch.setattr(cache, "_temporary", [])


@pytest.fixture
def unwritable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache whose folder cannot be made, because a file has its name."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EDGECIL_CACHE", str(tmp_path / "file" / "cache"))
    return tmp_path / "file" / "cache"


def test_a_cache_is_where_the_user_wants_it(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("EDGECIL_CACHE", str(tmp_path / "a"))
    assert cache.cache_directory() == cache.writable_cache() == tmp_path / "a"
    monkeypatch.delenv("EDGECIL_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "b"))
    assert cache.cache_directory() == tmp_path / "b" / "edgecil"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.cache_directory() == tmp_path / ".cache" / "edgecil"


def test_a_user_without_a_home_has_the_root(monkeypatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    assert cache.home_directory() == Path(os.sep)


def test_where_it_cannot_be_written_all_processes_share_a_temporary_one(
    unwritable,
) -> None:
    with pytest.warns(EdgecilWarning, match="Set the environment variable EDGECIL_CACHE") as caught:
        place = cache.writable_cache()
    assert str(unwritable) in str(caught[0].message)
    assert place.is_dir()
    assert place != unwritable
    assert cache.writable_cache() == place, "without another warning"
    cache._writable_cache.cache_clear()  # as in a process that this one starts
    assert cache.writable_cache() == place
    cache._temporary.pop().cleanup()


def test_nowhere_to_write_is_one_sentence(unwritable, monkeypatch) -> None:
    def no_folder(**_: object) -> None:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(cache.tempfile, "TemporaryDirectory", no_folder)
    with pytest.raises(EdgecilError, match=r"nor any folder .* files; set .* EDGECIL_CACHE"):
        cache.writable_cache()


def test_an_error_of_a_file_in_the_cache_says_what_to_set(unwritable, tmp_path) -> None:
    with (
        pytest.raises(EdgecilError, match=r"; set the environment variable EDGECIL_CACHE to"),
        replace_file(unwritable / "x"),
    ):
        pass
    with pytest.raises(EdgecilError) as caught, replace_file(tmp_path / "file" / "x"):
        pass
    assert "EDGECIL" not in str(caught.value)
