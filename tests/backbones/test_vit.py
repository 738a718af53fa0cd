from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from edgecil.backbones.initialise import build
from edgecil.backbones.vit import PLAIN, Sockets, ViT, ViTBlock, ViTLayout
from edgecil.errors import UsageError
from tests.toys import seeded

SMALL = ViTLayout(channels=2, patch=4, width=12, depth=3, heads=3, hidden=20)
LAYOUTS = {
    "plain": SMALL,
    "clip": replace(SMALL, patch_bias=False, first_norm=True, activation="quick_gelu"),
    "stem": replace(SMALL, stem="convolutions"),
}
SHAPE = (2, 8, 12)
PROMPTS = torch.randn(5, 12, generator=torch.Generator().manual_seed(1))
Kinds = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)


def randomised(layout: ViTLayout = SMALL) -> ViT:
    """A network in which every weight matters: no norm is the identity, no bias zero."""
    vit = build(lambda: ViT(layout, SHAPE), seeded())
    with torch.no_grad():
        for parameter in vit.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=seeded(7)), alpha=0.3)
    return vit.eval()


@pytest.fixture
def vit() -> ViT:
    return randomised()


@pytest.fixture
def images() -> torch.Tensor:
    return torch.randn(4, *SHAPE, generator=seeded(2))


def adapters(last: nn.Module) -> list[nn.Module]:
    """Nothing in parallel to the first two blocks, `last` to the third."""

    class Zeros(nn.Module):
        def forward(self, tokens: torch.Tensor) -> torch.Tensor:
            return torch.zeros_like(tokens)

    return [Zeros(), Zeros(), last]


def block_by_hand(
    block: ViTBlock,
    tokens: torch.Tensor,
    more_keys: Sequence[torch.Tensor] = (),
    more_values: Sequence[torch.Tensor] = (),
) -> torch.Tensor:
    """One image's tokens (t, d) through a block, one query and one head at a time."""
    normed = block.norm1(tokens)
    width, heads = tokens.shape[1], block.attn.heads
    weight, bias = block.attn.qkv.weight, block.attn.qkv.bias
    queries, keys, values = (
        [weight[part * width : (part + 1) * width] @ token + bias[part * width : (part + 1) * width]
         for token in normed]
        for part in range(3)
    )  # fmt: skip
    keys, values = [*more_keys, *keys], [*more_values, *values]
    mixed = torch.zeros_like(tokens)
    size = width // heads
    for place, query in enumerate(queries):
        for head in range(heads):
            own = slice(head * size, (head + 1) * size)
            scores = torch.stack([query[own] @ key[own] / size**0.5 for key in keys])
            shares = scores.exp() / scores.exp().sum()
            mixed[place, own] = sum(
                share * value[own] for share, value in zip(shares, values, strict=True)
            )
    tokens = tokens + mixed @ block.attn.proj.weight.T + block.attn.proj.bias
    hidden = block.norm2(tokens) @ block.mlp.fc1.weight.T + block.mlp.fc1.bias
    hidden = hidden * 0.5 * (1 + torch.erf(hidden / 2**0.5))
    return tokens + hidden @ block.mlp.fc2.weight.T + block.mlp.fc2.bias


@Kinds
def test_features_are_the_final_class_token(layout, images) -> None:
    vit = randomised(layout)
    tokens = vit.encode(vit.embed(images))
    assert tokens.shape == (4, 1 + 2 * 3, 12)
    assert torch.equal(vit(images), tokens[:, 0])
    assert vit(images).shape == (4, vit.feature_size)


def test_vit_b16_has_the_published_number_of_weights() -> None:
    with torch.device("meta"):
        vit = ViT(ViTLayout(), (3, 224, 224))
    # Dosovitskiy et al. 2021: 86 M; exactly, with a classifier of 1000 classes.
    classifier = 1000 * 769
    assert sum(weight.numel() for weight in vit.parameters()) == 86_567_656 - classifier


def test_a_patch_is_a_token_row_by_row(vit, images) -> None:
    with torch.no_grad():
        vit.pos_embed.zero_()
    whole = vit.embed(images)
    for row in range(2):
        for column in range(3):
            patch = images[:, :, 4 * row : 4 * row + 4, 4 * column : 4 * column + 4]
            by_hand = patch.flatten(1) @ vit.patch_embed.proj.weight.flatten(1).T
            token = whole[:, 1 + 3 * row + column]
            torch.testing.assert_close(token, by_hand + vit.patch_embed.proj.bias)


def encoded_by_hand(vit: ViT, tokens: torch.Tensor, **more_at: Any) -> torch.Tensor:
    """One image's final tokens (t, d); keys and values by the number of a block: `block1=…`."""
    for index, block in enumerate(vit.blocks):
        tokens = block_by_hand(block, tokens, *more_at.get(f"block{index}", ()))
    return vit.norm(tokens)


def test_tokens_prompts_and_prefixes_against_hand_computed_ones(vit, images) -> None:
    """Prompts are tokens before all others; a prefix adds keys and values to its block alone."""
    vit.double()
    tokens, prompts = vit.embed(images.double()), PROMPTS.double()
    for one in range(2):
        torch.testing.assert_close(vit.encode(tokens)[one], encoded_by_hand(vit, tokens[one]))
    expected = encoded_by_hand(vit, torch.cat([prompts, tokens[0]]))
    torch.testing.assert_close(vit.encode(tokens, Sockets(prompts=prompts))[0], expected)
    torch.testing.assert_close(vit(images.double(), Sockets(prompts=prompts))[0], expected[5])
    keys, values = torch.randn(2, 3, 12, generator=seeded(3), dtype=torch.float64)
    actual = vit.encode(tokens, Sockets(prefixes={1: (keys, values)}))
    expected = encoded_by_hand(vit, tokens[0], block1=(list(keys), list(values)))
    torch.testing.assert_close(actual[0], expected)
    assert actual.shape == tokens.shape


def test_empty_sockets_change_nothing(vit, images) -> None:
    none = torch.zeros(0, 12)
    zeros = Sockets(adapters=adapters(adapters(nn.Identity())[0]))
    for sockets in (Sockets(), Sockets(prompts=none), Sockets(prefixes={2: (none, none)}), zeros):
        assert torch.equal(vit(images, sockets), vit(images))


def test_prompts_and_prefixes_of_each_image_are_its_own(vit, images) -> None:
    prompts, keys, values = torch.randn(3, 4, 2, 12, generator=seeded(3))
    together = vit(images, Sockets(prompts, {1: (keys, values)}))
    for one in range(4):
        alone = Sockets(prompts[one], {1: (keys[one], values[one])})
        torch.testing.assert_close(vit(images[one : one + 1], alone)[0], together[one])


def test_an_adapter_is_in_parallel_with_the_mlp(vit, images) -> None:
    vit.double()
    adapter = nn.Linear(12, 12).double()
    tokens = vit.embed(images.double())[:1]
    expected = tokens[0]
    for block in vit.blocks[:2]:
        expected = block_by_hand(block, expected)
    last = vit.blocks[2]
    after_attention = expected + last.attn(last.norm1(expected[None]), None)[0]
    expected = block_by_hand(last, expected) + adapter(after_attention)
    actual = vit.encode(tokens, Sockets(adapters=adapters(adapter)))
    torch.testing.assert_close(actual[0], vit.norm(expected))


@Kinds
def test_what_is_plugged_in_leaves_no_trace(layout, images) -> None:
    vit = randomised(layout)
    before, weights = vit(images), copy.deepcopy(vit.state_dict())
    keys, values = torch.randn(2, 3, 12, generator=seeded(3))
    sockets = Sockets(PROMPTS, {0: (keys, values)}, adapters(nn.Linear(12, 12)))
    assert not torch.allclose(vit(images, sockets), before)
    assert torch.equal(vit(images), before)
    assert vit.state_dict().keys() == weights.keys()
    assert all(torch.equal(value, weights[name]) for name, value in vit.state_dict().items())


def test_what_is_plugged_into_a_frozen_network_learns(vit, images) -> None:
    vit.requires_grad_(False)
    prompts, keys, values = (torch.randn(2, 12, requires_grad=True) for _ in range(3))
    adapter = nn.Linear(12, 12)
    sockets = Sockets(prompts, {1: (keys, values)}, adapters(adapter))
    vit(images, sockets).pow(2).sum().backward()
    assert all(part.grad.abs().sum() > 0 for part in (prompts, keys, values, adapter.weight))
    assert all(weight.grad is None for weight in vit.parameters())


@pytest.mark.parametrize(
    ("layout", "shape", "message"),
    [
        (SMALL, (3, 8, 8), r"2 channel\(s\). Got 3"),
        (SMALL, (2, 9, 8), r"patches of 4×4 pixels.*Got 9×8"),
        (replace(SMALL, patch=6, stem="convolutions"), (2, 12, 12), "power.*6"),
    ],
)
def test_images_that_do_not_fit_are_told(layout, shape, message) -> None:
    with pytest.raises(UsageError, match=message):
        ViT(layout, shape)


def test_a_convolutional_stem_takes_any_size() -> None:
    vit = build(lambda: ViT(LAYOUTS["stem"], (2, 9, 14)), seeded())
    assert vit.grid == (3, 4)
    assert vit(torch.zeros(1, 2, 9, 14), PLAIN).shape == (1, 12)
