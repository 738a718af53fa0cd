from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.paper.language_server import Messages, serve


@pytest.fixture
def names() -> Path:
    """Two classes in pets.txt."""
    Path("pets.txt").write_text("tabby cat\nbeagle\n")
    return Path("pets.txt")


def test_captions_are_saved_as_the_similarity_reads_them(cli: Cli, names, monkeypatch) -> None:
    from edgecil.classes import read_classes
    from edgecil.similarity import read_captions

    caption = "a small animal with short fur lying on a sofa, a "

    def describe(messages: Messages) -> str:
        return caption + ("beagle" if '"beagle"' in messages[0]["content"] else "cat")

    with serve(describe) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        asked = ("paper", "captions", "--names", names, "--model", "toy", "--out", "c.json")
        answer = cli(*asked, "--json").json
        assert cli(*asked, "--overwrite").code == 0
    assert answer["captions"] == {"tabby cat": f"{caption}cat", "beagle": f"{caption}beagle"}
    assert json.loads(Path("c.json").read_text(encoding="utf-8")) == answer["captions"]
    assert read_captions("c.json", read_classes(names)) == (f"{caption}cat", f"{caption}beagle")
    assert server.requests[0]["model"] == "toy"
    assert len(server.requests) == 2


def test_what_is_missing_is_said(cli: Cli, names, monkeypatch) -> None:
    for name in ("OPENAI_API_KEY", "EDGECIL_LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)
    asked = ("paper", "captions", "--names", names, "--out", "c.json")
    assert "EDGECIL_LLM_MODEL" in cli(*asked).sentence
    assert "OPENAI_API_KEY" in cli(*asked, "--model", "toy").sentence
    assert "DATASET or --names" in cli("paper", "captions", "--out", "c.json").sentence
    assert ".json" in cli(*asked[:-1], "c.txt").sentence
    assert not Path("c.json").exists()
