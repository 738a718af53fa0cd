from __future__ import annotations

import hashlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from edgecil.errors import DataError, PrerequisiteError
from edgecil.io.hub import cached_snapshot, hub_folder
from edgecil.io.hub_pins import pins_path

NAME = "model.safetensors"


@pytest.mark.parametrize(
    ("given", "offline", "installed", "problem"),
    [
        ("a/b/c", "0", True, "it is not a hub id"),
        ("us/tiny", "0", False, "huggingface_hub is not installed to download it"),
        ("us/tiny", "1", True, "HF_HUB_OFFLINE is set"),
    ],
)
def test_what_cannot_be_had_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    given: str,
    offline: str,
    installed: bool,
    problem: str,
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", offline)
    if not installed:
        monkeypatch.setattr("edgecil.io.hub.find_spec", lambda _: None)
    with pytest.raises(PrerequisiteError) as raised:
        hub_folder(given, ["a.bin"], [], needed_by="Backbone 'x'", remedy="copy it")
    for words in (given, problem, "copy it."):
        assert words in str(raised.value)


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The cache of the repository us/tiny, with weights at commit abc, which `main` is at."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    folder = tmp_path / "models--us--tiny"
    (folder / "refs").mkdir(parents=True)
    _store(folder, "abc", b"weights")
    (folder / "refs" / "main").write_text("abc", encoding="utf-8")
    return folder


def _store(repository: Path, commit: str, content: bytes) -> Path:
    snapshot = repository / "snapshots" / commit
    snapshot.mkdir(parents=True, exist_ok=True)
    (snapshot / NAME).write_bytes(content)
    return snapshot / NAME


def test_the_first_use_pins_commit_and_checksum(repository: Path) -> None:
    assert cached_snapshot("us/tiny", [NAME]) == repository / "snapshots" / "abc"
    pins = json.loads(pins_path().read_text(encoding="utf-8"))
    assert pins["revisions"] == {"us/tiny": {"main": "abc"}}
    assert pins["files"] == {
        "us/tiny": {"abc": {NAME: hashlib.sha256(b"weights").hexdigest()}},
    }
    assert pins_path().stat().st_mode & 0o077 == 0
    assert cached_snapshot("us/tiny", [NAME]) == repository / "snapshots" / "abc"


def test_changed_weights_are_refused(repository: Path) -> None:
    cached_snapshot("us/tiny", [NAME])
    _store(repository, "abc", b"weighty")
    for hub_id in ("us/tiny", "us/tiny@abc"):
        with pytest.raises(DataError, match="SHA-256"):
            cached_snapshot(hub_id, [NAME])


def test_a_branch_stays_where_it_was(repository: Path) -> None:
    cached_snapshot("us/tiny", [NAME])
    _store(repository, "def", b"newer")
    (repository / "refs" / "main").write_text("def", encoding="utf-8")
    assert cached_snapshot("us/tiny", [NAME]) == repository / "snapshots" / "abc"
    assert cached_snapshot("us/tiny@def", [NAME]) == repository / "snapshots" / "def"
    (repository / "snapshots" / "abc" / NAME).unlink()
    with pytest.raises(DataError, match="give us/tiny@def"):
        cached_snapshot("us/tiny", [NAME])


def test_a_blob_with_another_sum_than_its_name_is_refused(repository: Path) -> None:
    """The hub's client names files by the sum that the hub states."""
    (repository / "blobs").mkdir()
    blob = repository / "blobs" / hashlib.sha256(b"weights").hexdigest()
    blob.write_bytes(b"weights")
    link = repository / "snapshots" / "abc" / NAME
    link.unlink()
    link.symlink_to(blob)
    assert cached_snapshot("us/tiny", [NAME]) is not None
    pins_path().unlink()
    blob.write_bytes(b"damaged")
    with pytest.raises(DataError, match="when it was downloaded"):
        cached_snapshot("us/tiny", [NAME])


@pytest.mark.parametrize("honest", [True, False])
def test_a_download_is_made_at_the_pinned_commit_and_compared(
    honest: bool, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    huggingface_hub = pytest.importorskip("huggingface_hub")
    cached_snapshot("us/tiny", [NAME])
    (repository / "snapshots" / "abc" / NAME).unlink()
    (repository / "refs" / "main").unlink()
    asked: list[str] = []

    def model_info(_: str, *, revision: str, files_metadata: bool) -> Any:
        asked.append(revision)
        assert files_metadata
        lfs = SimpleNamespace(sha256=hashlib.sha256(b"weights").hexdigest())
        sibling = SimpleNamespace(rfilename=NAME, lfs=lfs)
        return SimpleNamespace(sha=revision, siblings=[sibling])

    def snapshot_download(_: str, *, revision: str, allow_patterns: list[str]) -> str:
        return str(_store(repository, revision, b"weights" if honest else b"other").parent)

    monkeypatch.setattr("edgecil.io.hub._unreachable", lambda: None)
    monkeypatch.setattr(huggingface_hub, "model_info", model_info)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    words = {"needed_by": "Backbone 'x'", "remedy": "copy it"}
    if honest:
        folder = hub_folder("us/tiny", [NAME], [], **words)
        assert folder == repository / "snapshots" / "abc"
    else:
        with pytest.raises(DataError, match="us/tiny publishes"):
            hub_folder("us/tiny", [NAME], [], **words)
    assert asked == ["abc"]


@pytest.mark.parametrize(
    "content",
    [b"{", b"[]", b'{"schema": "edgecil.hub-pins/1"}', b'{"schema": "x"}']
    + [
        json.dumps({"schema": "edgecil.hub-pins/1", **parts}).encode()
        for parts in (
            {"revisions": {"us/tiny": {"main": "../.."}}, "files": {}},
            {"revisions": {}, "files": {"us/tiny": {"abc": {NAME: "12"}}}},
            {"revisions": [1], "files": {}, "more": 1},
            {"revisions": {"us/tiny": 1}, "files": {}},
        )
    ],
)
def test_damaged_pins_are_an_error(repository: Path, content: bytes) -> None:
    pins_path().parent.mkdir(parents=True, exist_ok=True)
    pins_path().write_bytes(content)
    with pytest.raises(DataError, match="pins"):
        cached_snapshot("us/tiny", [NAME])
