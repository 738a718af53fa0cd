from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from edgecil.backbones.features import BATCH, FeatureBank, content_name, in_full_batches


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


@pytest.fixture(params=[False, True], ids=["in memory", "on disk"])
def bank(request: pytest.FixtureRequest, tmp_path: Path) -> FeatureBank:
    return FeatureBank(tmp_path if request.param else None)


def test_rows_are_what_the_network_gives(bank: FeatureBank) -> None:
    network, pixels = Counting(), pictures(70)
    expected = network.network(pixels.flatten(1).double()).detach()
    torch.testing.assert_close(bank.rows(pixels, network), expected)


def test_no_image_is_computed_twice(bank: FeatureBank) -> None:
    network, pixels = Counting(), pictures(10)
    first = bank.rows(pixels, network)
    again = bank.rows(pixels.flip(0), network)
    assert torch.equal(again, first.flip(0))
    assert network.seen == 10
    bank.rows(torch.cat([pictures(4, seed=1), pixels, pictures(4, seed=1)]), network)
    assert network.seen == 14


def test_another_process_finds_what_was_computed(tmp_path: Path) -> None:
    network, pixels = Counting(), pictures(10)
    early = FeatureBank(tmp_path)
    first = early.rows(pixels[:6], network)
    late = FeatureBank(tmp_path)
    assert torch.equal(late.rows(pixels, network)[:6], first)
    assert network.seen == 10
    early.rows(pixels, network)
    assert network.seen == 10


def test_a_damaged_file_is_computed_anew(tmp_path: Path) -> None:
    network, pixels = Counting(), pictures(3)
    expected = FeatureBank(tmp_path).rows(pixels, network)
    (file,) = tmp_path.glob("*.npz")
    file.write_bytes(file.read_bytes()[:20])
    assert torch.equal(FeatureBank(tmp_path).rows(pixels, network), expected)
    with np.load(next(tmp_path.glob("*.npz"))) as mended:
        assert len(mended["names"]) == 3


def test_rows_do_not_depend_on_their_company() -> None:
    pixels, network = pictures(BATCH + 9), torch.nn.Linear(25, 4)

    def compute(part: torch.Tensor) -> torch.Tensor:
        return network(part.flatten(1).float())

    together = in_full_batches(pixels, compute)
    alone = torch.cat([in_full_batches(image[None], compute) for image in pixels])
    assert torch.equal(together, alone)
    assert not together.requires_grad


def test_no_images_have_no_rows(bank: FeatureBank) -> None:
    network = Counting()
    bank.rows(pictures(2), network)
    with pytest.raises(ValueError, match="at least one image"):
        bank.rows(pictures(0), network)


def test_content_names_tell_values_tensors_and_states_apart() -> None:
    one = torch.nn.Linear(2, 2)
    state = one.state_dict()
    assert content_name("a", state) == content_name("a", one.state_dict())
    changed = {**state, "bias": state["bias"] + 1}
    names = {
        content_name(*parts)
        for parts in (
            ("a", state),
            ("b", state),
            ("a", changed),
            ("a",),
            ("a", 1),
            ("a1",),
            (torch.zeros(2),),
            (torch.zeros(2, 1),),
            (torch.zeros(2).double(),),
        )
    }
    assert len(names) == 9
