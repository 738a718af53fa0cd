from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.similarity.tiny_models import PlainClip, write_clip_tokenizer


@pytest.fixture(autouse=True)
def _empty_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """An empty cache of our own."""
    monkeypatch.setenv("EDGECIL_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def tower(tmp_path: Path) -> tuple[Path, PlainClip]:
    """An empty model folder with a tokenizer, and a random tower of its vocabulary."""
    folder = tmp_path / "clip"
    folder.mkdir()
    torch.manual_seed(0)
    return folder, PlainClip(write_clip_tokenizer(folder)).eval()
