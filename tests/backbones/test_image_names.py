from __future__ import annotations

import hashlib

import pytest
import torch

from edgecil.backbones import features as image_names
from edgecil.backbones.features import names_of, take_named

PIXELS = torch.arange(48, dtype=torch.uint8).reshape(6, 2, 2, 2)


def expected(pixels: torch.Tensor) -> list[bytes]:
    return [hashlib.blake2b(one.numpy().tobytes(), digest_size=16).digest() for one in pixels]


def test_selections_of_selections_have_the_names_of_their_images() -> None:
    some = take_named(PIXELS.clone(), torch.tensor([5, 1, 3]))
    fewer = take_named(some, torch.tensor([2, 0]))
    assert names_of(fewer) == expected(PIXELS[[3, 5]])
    assert names_of(some) == expected(PIXELS[[5, 1, 3]])


def test_every_image_is_hashed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed, blake2b = [], hashlib.blake2b

    def count(content: bytes, digest_size: int) -> object:
        hashed.append(content)
        return blake2b(content, digest_size=digest_size)

    monkeypatch.setattr(image_names.hashlib, "blake2b", count)
    whole = PIXELS.clone()
    for chosen in ([0, 1], [1, 2], [0, 1, 2]):
        names_of(take_named(whole, torch.tensor(chosen)))
    assert len(hashed) == 3
