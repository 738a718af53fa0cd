from __future__ import annotations

import pytest
import torch
from hypothesis import given, strategies as st

from edgecil.backbones import CosineHead, GrowingLinear, ZeroLinear
from tests.toys import seeded

HEADS = [GrowingLinear, CosineHead]
heads = pytest.mark.parametrize("head_type", HEADS)


@given(
    head_type=st.sampled_from(HEADS),
    counts=st.lists(st.integers(0, 4), min_size=1, max_size=4),
    size=st.integers(1, 5),
)
def test_growing_keeps_old_rows_bit_for_bit(head_type, counts, size) -> None:
    head, generator = head_type(size), seeded()
    for count in counts:
        with torch.no_grad():
            for parameter in head.parameters():
                parameter.normal_(generator=generator)
        old = {name: value.detach().clone() for name, value in head.named_parameters()}
        head.grow(count, generator)
        for name, value in head.named_parameters():
            assert torch.equal(value[: len(old[name])], old[name])
            assert value.requires_grad
    assert head.classes == sum(counts)
    assert head(torch.rand(3, size)).shape == (3, sum(counts))


@heads
def test_new_rows_come_from_the_generator_alone(head_type) -> None:
    before = torch.get_rng_state()
    first, second, other = head_type(6), head_type(6), head_type(6)
    first.grow(3, seeded(1))
    second.grow(3, seeded(1))
    other.grow(3, seeded(2))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(first.weight, second.weight)
    assert not torch.equal(first.weight, other.weight)


@heads
def test_widening_keeps_old_columns_bit_for_bit(head_type) -> None:
    head, generator = head_type(3), seeded()
    head.grow(2, generator)
    if isinstance(head, GrowingLinear):
        with torch.no_grad():
            head.bias[:] = torch.tensor([1.0, -2.0])
    old = {name: value.detach().clone() for name, value in head.named_parameters()}
    head.widen(4, generator)
    assert torch.equal(head.weight[:, :3], old.pop("weight"))
    assert all(torch.equal(head.get_parameter(name), value) for name, value in old.items())
    assert (head.feature_size, head.weight.shape) == (7, (2, 7))
    assert (head.weight[:, 3:] != 0).all()
    head.grow(1, generator)
    assert head(torch.rand(5, 7)).shape == (5, 3)


def test_new_columns_have_variance_one_over_all_features() -> None:
    head = GrowingLinear.of(60, 200, seeded())
    assert (head.weight**2).mean().item() * 60 == pytest.approx(1, abs=0.05)
    head.widen(40, seeded(1))
    assert (head.weight[:, 60:] ** 2).mean().item() * 100 == pytest.approx(1, abs=0.05)
    again = GrowingLinear.of(60, 200, seeded())
    again.widen(40, seeded(1))
    assert torch.equal(again.weight, head.weight)


def test_aligned_weights_by_hand() -> None:
    """Old rows of lengths 5 and 1 (mean 3), new ones of 10 and 2 (mean 6): new ones are halved."""
    head = GrowingLinear.of(2, 4, seeded())
    with torch.no_grad():
        head.weight[:] = torch.tensor([[3.0, 4.0], [0.0, 1.0], [6.0, 8.0], [2.0, 0.0]])
        head.bias[:] = torch.tensor([1.0, 2.0, 3.0, 4.0])
    head.align(old_count=2)
    assert head.weight.tolist() == [[3.0, 4.0], [0.0, 1.0], [3.0, 4.0], [1.0, 0.0]]
    assert head.bias.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert head.weight.requires_grad
    assert head(torch.tensor([[1.0, 2.0]])).tolist() == [[12.0, 4.0, 14.0, 5.0]]
    head.requires_grad_(False).grow(2, seeded())
    assert not any(parameter.requires_grad for parameter in head.parameters())
    assert head.bias.tolist() == [1.0, 2.0, 3.0, 4.0, 0.0, 0.0]


def test_smaller_weights_of_new_classes_are_enlarged_only_if_so_set() -> None:
    """Old rows of length 4, new ones of 2."""
    rows = torch.tensor([[4.0, 0.0], [0.0, 2.0]])
    for enlarge, expected in ((True, [0.0, 4.0]), (False, [0.0, 2.0])):
        head = GrowingLinear.of(2, 2, seeded())
        with torch.no_grad():
            head.weight[:] = rows
        head.align(old_count=1, enlarge=enlarge)
        assert head.weight.tolist() == [[4.0, 0.0], expected]


def test_rows_of_a_zero_head_start_at_zero() -> None:
    head = ZeroLinear.of(3, 2, seeded())
    assert head.weight.tolist() == [[0.0] * 3] * 2
    head.widen(2, seeded())
    assert head.weight.shape == (2, 5)
    assert not head.weight.any()


@heads
@pytest.mark.parametrize("size_before", [0, 2, 9])
def test_a_state_loads_into_a_head_of_any_size(head_type, size_before) -> None:
    grown = head_type(4)
    grown.grow(5, seeded())
    with torch.no_grad():
        for parameter in grown.parameters():
            parameter.normal_(generator=seeded(3))
    fresh = head_type(4)
    fresh.grow(size_before, seeded(1))
    outer = torch.nn.ModuleDict({"head": fresh})
    outer.load_state_dict({f"head.{key}": value for key, value in grown.state_dict().items()})
    features = torch.rand(2, 4)
    assert fresh.classes == 5
    assert torch.equal(fresh(features), grown(features))


@heads
def test_a_state_of_other_features_is_refused(head_type) -> None:
    grown = head_type(4)
    grown.grow(2, seeded())
    with pytest.raises(RuntimeError, match="size mismatch"):
        head_type(3).load_state_dict(grown.state_dict())


def test_cosine_logits_against_hand_computed_values() -> None:
    head = CosineHead(2)
    head.grow(2, seeded())
    with torch.no_grad():
        head.weight[:] = torch.tensor([[10.0, 0.0], [3.0, 4.0]])
        head.scale[:] = 5.0
    assert head(torch.tensor([[0.0, 2.0]])).tolist()[0] == pytest.approx([0.0, 4.0])


@given(st.floats(0.1, 100.0))
def test_cosine_logits_ignore_lengths(length) -> None:
    head = CosineHead(3)
    head.grow(2, seeded())
    features = torch.rand(2, 3, generator=seeded())
    logits = head(features)
    with torch.no_grad():
        head.weight *= length
    assert torch.allclose(head(features * length), logits, atol=1e-5)
