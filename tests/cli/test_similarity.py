from __future__ import annotations

import pytest

from edgecil.similarity import read_similarity
from tests.cli.conftest import Cli


def test_a_matrix_is_built_described_and_saved(cli: Cli) -> None:
    answer = cli("similarity", "cifar100", "--out", "new/D.npz", "--json").json
    assert answer["classes"] == 100
    assert answer["out"] == "new/D.npz"
    assert answer["source"]["encoder"] == "minilm-bundled"
    most, least = (answer[key] for key in ("most_similar", "least_similar"))
    assert len(most) == len(least) == 5
    assert most[0]["similarity"] > answer["mean"] > least[0]["similarity"]
    saved = read_similarity("new/D.npz")
    assert len(saved) == 100
    assert saved.names[0] == "apple"


@pytest.mark.parametrize("encoder", ["clip-rn50", "clip-vit-b-16"])
def test_missing_weights_say_how_to_get_them_and_what_serves(cli: Cli, encoder: str) -> None:
    pytest.importorskip("transformers")
    answer = cli("similarity", "cifar100", "--encoder", encoder)
    assert answer.code == 1
    assert "hf download" in answer.sentence
