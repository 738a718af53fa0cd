from __future__ import annotations

from pathlib import Path

import pytest

from edgecil.errors import PrerequisiteError
from edgecil.io.hub import hub_folder


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
