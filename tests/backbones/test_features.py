from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from edgecil.backbones import features, features as image_names
from edgecil.backbones.features import (
    BATCH,
    FEATURES_VERSION,
    FeatureBank,
    content_name,
    feature_bank,
    frozen_features,
    names_of,
    network_name,
    take_named,
)
from edgecil.backbones.initialise import build
from edgecil.backbones.vit import ViT, ViTLayout

PLAIN = ViTLayout(channels=1, patch=4, width=64, depth=2, heads=1, hidden=64)
CONVOLUTIONS = ViTLayout(
    channels=1, patch=4, width=64, depth=1, heads=2, hidden=64, stem="convolutions"
)
# The first and last three features of the first image, by FEATURES_VERSION.
KNOWN = {
    1: {
        "patch": [-0.4767, -0.2322, 0.5167, -0.3484, 2.5677, -0.0807],
        "convolutions": [-1.3334, 0.0046, 1.5243, 0.3687, 1.0484, 1.2902],
    }
}


def pictures(count: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(256, (count, 1, 5, 5), generator=generator, dtype=torch.uint8)


class Counting:
    """A network that counts the images it is shown; blank ones do not count."""

    def __init__(self) -> None:
        self.seen = 0
        self.network = torch.nn.Linear(25, 3, dtype=torch.float64)

    def __call__(self, pixels: torch.Tensor) -> torch.Tensor:
        assert len(pixels) == BATCH
        self.seen += int(pixels.flatten(1).any(dim=1).sum())
        return self.network(pixels.flatten(1).double())


def random_vit(layout: ViTLayout) -> ViT:
    network = build(lambda: ViT(layout, (1, 12, 12)), torch.Generator().manual_seed(0))
    return network.requires_grad_(False).eval()


@pytest.fixture(autouse=True)
def _nothing_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "_banks", {})
    monkeypatch.setattr(features, "_warned", set())


@pytest.fixture(params=[False, True], ids=["in memory", "on disk"])
def bank(request: pytest.FixtureRequest, tmp_path: Path) -> FeatureBank:
    return FeatureBank(tmp_path if request.param else None)


def test_rows_are_what_the_network_gives(bank) -> None:
    network, pixels = Counting(), pictures(70)
    expected = network.network(pixels.flatten(1).double()).detach()
    torch.testing.assert_close(bank.rows(pixels, network), expected)


def test_no_image_is_computed_twice(bank) -> None:
    network, pixels = Counting(), pictures(10)
    first = bank.rows(pixels, network)
    again = bank.rows(pixels.flip(0), network)
    assert torch.equal(again, first.flip(0))
    assert network.seen == 10
    bank.rows(torch.cat([pictures(4, seed=1), pixels, pictures(4, seed=1)]), network)
    assert network.seen == 14


def test_another_process_finds_what_was_computed(tmp_path) -> None:
    network, pixels = Counting(), pictures(10)
    early = FeatureBank(tmp_path)
    first = early.rows(pixels[:6], network)
    late = FeatureBank(tmp_path)
    assert torch.equal(late.rows(pixels, network)[:6], first)
    assert network.seen == 10
    early.rows(pixels, network)
    assert network.seen == 10


def test_only_files_with_wanted_rows_are_read_whole(tmp_path) -> None:
    network, some, others = Counting(), pictures(3), pictures(4, seed=1)
    first = FeatureBank(tmp_path)
    first.rows(some, network)
    first.rows(others, network)
    bank = FeatureBank(tmp_path)
    bank.rows(some, network)
    assert bank.size == 3 * 3 * 8
    bank.rows(others, network)
    assert bank.size == 7 * 3 * 8
    assert network.seen == 7


def test_wherever_a_file_is_damaged_rows_are_right(tmp_path) -> None:
    network, pixels = Counting(), pictures(3)
    expected = FeatureBank(tmp_path).rows(pixels, network)
    (file,) = tmp_path.glob("*.npz")
    whole = file.read_bytes()
    for place in range(0, len(whole), 5):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        assert torch.equal(FeatureBank(tmp_path).rows(pixels, network), expected)
    file.write_bytes(b"")
    network.seen = 0
    for _ in range(2):  # the file is replaced
        assert torch.equal(FeatureBank(tmp_path).rows(pixels, network), expected)
        assert network.seen == 3


def test_a_cache_that_cannot_be_written_costs_one_warning(tmp_path, caplog) -> None:
    network, pixels = Counting(), pictures(6)
    (tmp_path / "file").write_text("no directory")
    with caplog.at_level(logging.WARNING):
        for name in ("one", "other"):
            bank = feature_bank(tmp_path / "file", name)
            expected = network.network(pixels.flatten(1).double()).detach()
            torch.testing.assert_close(bank.rows(pixels[:3], network), expected[:3])
            torch.testing.assert_close(bank.rows(pixels, network), expected)
    (message,) = caplog.messages
    assert "EDGECIL_CACHE" in message


def test_banks_that_hold_too_much_are_forgotten_the_stalest_first(monkeypatch) -> None:
    monkeypatch.setattr(features, "_MEMORY", 25 * 3 * 8)
    network = Counting()
    for name in ("a", "b", "a", "c"):  # ten rows each; the third leaves no room for all
        feature_bank(None, name).rows(pictures(10), network)
    assert network.seen == 30
    feature_bank(None, "a").rows(pictures(10), network)
    assert network.seen == 30
    feature_bank(None, "b").rows(pictures(10), network)
    assert network.seen == 40


@pytest.mark.parametrize("layout", [PLAIN, CONVOLUTIONS], ids=lambda layout: layout.stem)
def test_rows_do_not_depend_on_their_company(layout) -> None:
    generator = torch.Generator().manual_seed(1)
    pixels = torch.randint(256, (BATCH + 9, 1, 12, 12), generator=generator, dtype=torch.uint8)
    network = random_vit(layout)

    def rows(part: torch.Tensor) -> torch.Tensor:
        return FeatureBank(None).rows(part, lambda images: network(images / 255.0))

    together = rows(pixels)
    alone = torch.cat([rows(image[None]) for image in pixels])
    assert torch.equal(together, alone)
    assert torch.equal(rows(pixels.flip(0)).flip(0), together)
    assert not together.requires_grad


@pytest.mark.parametrize("layout", [PLAIN, CONVOLUTIONS], ids=lambda layout: layout.stem)
def test_features_are_those_of_their_version(layout, tmp_path) -> None:
    """If this fails, caches hold other features: raise FEATURES_VERSION and add to KNOWN."""
    path = tmp_path / "vit.safetensors"
    save_file(random_vit(layout).state_dict(), path)
    path.with_suffix(".json").write_text(json.dumps({"layout": asdict(layout)}))
    pixels = (torch.arange(16 * 20, dtype=torch.int64) % 251).to(torch.uint8).reshape(1, 1, 16, 20)
    rows = frozen_features(str(path), pixels, "cpu", keep=False)
    actual = [*rows[0, :3].tolist(), *rows[0, -3:].tolist()]
    assert actual == pytest.approx(KNOWN[FEATURES_VERSION][layout.stem], abs=2e-4)


def test_content_names_tell_values_tensors_and_states_apart() -> None:
    state = torch.nn.Linear(2, 2).state_dict()
    changed = {**state, "bias": state["bias"] + 1}
    assert content_name("a", state) == content_name("a", {**state})
    several = (("a", state), ("b", state), ("a", changed), ("a",), ("a", 1), ("a1",))
    tensors = (torch.zeros(2), torch.zeros(2, 1), torch.zeros(2).double())
    names = [content_name(*parts) for parts in (*several, *zip(tensors, strict=True))]
    assert len(set(names)) == 9


def test_another_version_is_another_network(tmp_path, monkeypatch) -> None:
    path = tmp_path / "vit.safetensors"
    save_file(random_vit(PLAIN).state_dict(), path)
    name = network_name(str(path), (1, 12, 12), "cpu")
    assert name == network_name(str(path), (1, 12, 12), "cpu")
    monkeypatch.setattr(features, "FEATURES_VERSION", FEATURES_VERSION + 1)
    assert name != network_name(str(path), (1, 12, 12), "cpu")


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
