from __future__ import annotations

import pytest
import torch

from edgecil.methods.adam import Adam


@pytest.mark.parametrize("weight_decay", [0.0, 0.01])
def test_steps_equal_those_of_torch_to_the_last_bit(weight_decay: float) -> None:
    generator = torch.Generator().manual_seed(0)
    start = [torch.randn(*shape, generator=generator) for shape in ((50, 256), (50,), (3, 4, 5))]
    own, torchs = ([torch.nn.Parameter(tensor.clone()) for tensor in start] for _ in range(2))
    rates = {"lr": 0.003, "weight_decay": weight_decay}
    groups = [{"params": own[:2], "factor": 1.0}, {"params": own[2:], "factor": 0.1}]
    ours = Adam(groups, **rates)
    theirs = torch.optim.Adam(
        [{"params": torchs[:2]}, {"params": torchs[2:]}], foreach=True, **rates
    )
    for step in range(12):
        for optimizer in (ours, theirs):
            optimizer.param_groups[1]["lr"] = 0.003 / (step + 1)
        for number, (mine, other) in enumerate(zip(own, torchs, strict=True)):
            gradient = torch.randn(mine.shape, generator=generator) * 10.0 ** (number - 2)
            is_unused = number == 1 and step % 3 == 0  # such as a prompt that no image chose
            mine.grad = None if is_unused else gradient
            other.grad = None if is_unused else gradient.clone()
        ours.step()
        theirs.step()
        assert all(torch.equal(mine, other) for mine, other in zip(own, torchs, strict=True)), step
    assert not torch.equal(own[0], start[0])
