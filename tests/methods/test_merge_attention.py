from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.functional import layer_norm

from edgecil.errors import UsageError
from edgecil.methods.tagfex import MergeAttention


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_merging_against_loops() -> None:
    """Every position of the newest asks all positions of both, head by head."""
    attention = MergeAttention(size=4, heads=2)
    attention.reset(seeded())
    agnostic, newest = torch.randn(2, 3, 4, 2, 1, generator=seeded(1)).unbind()
    merged = attention(agnostic, newest).detach().numpy()

    def tokens(maps: torch.Tensor) -> np.ndarray:
        """(4, 2, 1) to two normalised tokens of length 4."""
        return layer_norm(maps.flatten(1).T, (4,)).numpy()

    query, agnostic_key, newest_key, agnostic_value, newest_value = (
        attention.weights.detach().numpy()
    )
    for image in range(3):
        a, n = tokens(agnostic[image]), tokens(newest[image])
        keys = np.concatenate([a @ agnostic_key, n @ newest_key])
        values = np.concatenate([a @ agnostic_value, n @ newest_value])
        answers = np.zeros((2, 4))
        for position, question in enumerate(n @ query):
            for head in (slice(0, 2), slice(2, 4)):
                scores = np.exp(keys[:, head] @ question[head] / np.sqrt(2))
                answers[position, head] = scores @ values[:, head] / scores.sum()
        assert merged[image] == pytest.approx(answers.mean(axis=0), abs=1e-5)


def test_starting_over_forgets_everything_but_the_generator() -> None:
    used, fresh = MergeAttention(4, 2), MergeAttention(4, 2)
    with torch.no_grad():
        for parameter in used.parameters():
            parameter.fill_(7.0)
    used.reset(seeded(1))
    fresh.reset(seeded(1))
    pairs = zip(used.parameters(), fresh.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)


def test_heads_must_divide_the_features() -> None:
    with pytest.raises(UsageError, match=r"feature.*64.*7"):
        MergeAttention(64, 7)
