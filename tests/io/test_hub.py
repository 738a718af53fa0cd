from __future__ import annotations

import sys

import pytest

from edgecil.errors import PrerequisiteError
from edgecil.io.hub import cached_snapshot, hub_folder

NAME = "model.safetensors"


@pytest.mark.parametrize(
    ("given", "installed", "problem"),
    [
        ("a/b/c", True, "it is not a hub id"),
        ("us/tiny", False, "pip install 'edgecil[hf]'"),
        ("us/tiny", True, "OfflineModeIsEnabled"),
    ],
)
def test_what_cannot_be_had_is_one_sentence(monkeypatch, given, installed, problem) -> None:
    if not installed:
        monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(PrerequisiteError) as raised:
        hub_folder(given, ["a.bin"], needed_by="Backbone 'x'", remedy="copy it")
    for words in (given, problem, "copy it."):
        assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_an_earlier_download_is_used_without_asking(hub) -> None:
    repository = hub / "models--us--tiny"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text("abc")
    for commit in ("abc", "def"):
        (repository / "snapshots" / commit).mkdir(parents=True)
        (repository / "snapshots" / commit / NAME).write_bytes(b"weights")
    words = {"needed_by": "Backbone 'x'", "remedy": "copy it"}
    assert hub_folder("us/tiny", [NAME], **words) == repository / "snapshots" / "abc"
    assert hub_folder("us/tiny@def", ["a", NAME], **words) == repository / "snapshots" / "def"
    assert cached_snapshot("us/tiny", ["other"]) is None
    assert cached_snapshot("us/tiny@v1", [NAME]) is None
    assert cached_snapshot("us/../tiny", [NAME]) is None
