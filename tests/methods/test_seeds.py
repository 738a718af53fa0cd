from __future__ import annotations

import torch

from edgecil.methods.seeds import derive_generator, derive_seed


def test_seeds_are_the_same_on_every_machine_and_for_ever() -> None:
    """A changed number here changes every result that anyone has stored."""
    assert derive_seed(0, ((0, 1), (2, 3))) == 4529643334893885915
    assert derive_seed(0, "weights") == 5147875554478041081


def test_every_part_counts_and_so_does_where_it_stands() -> None:
    parts = [(0,), (1,), ("0",), (0, 1), (1, 0), ((0, 1),), (0, 1, 2), ((0, 1), 2), (0, (1, 2))]
    assert len({derive_seed(*each) for each in parts}) == len(parts)


def test_a_generator_is_as_its_seed() -> None:
    draws = [torch.rand(3, generator=derive_generator("cpu", *key)) for key in ((0, "a"), (0, "b"))]
    expected = torch.Generator().manual_seed(derive_seed(0, "a"))
    assert torch.equal(draws[0], torch.rand(3, generator=expected))
    assert not torch.equal(draws[0], draws[1])
