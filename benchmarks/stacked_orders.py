"""Several orders in one process: stacked parameters (torch.func) beside one network after another.

    python benchmarks/stacked_orders.py [--models 4] [--steps 20]

Both ways do the same forward and backward passes of ResNet-tiny on 28 x 28 drawings, batch 32. What
counts is processor seconds per step and network: two workers already keep both cores busy.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch
from torch.func import functional_call, grad, stack_module_state, vmap

from edgecil.backbones import build_backbone
from edgecil.backbones.resnet import ChannelsLast

CLASSES, BATCH = 6, 32


def networks(count: int) -> list[torch.nn.Module]:
    """Networks with different initial weights, each with a head."""
    made = []
    for seed in range(count):
        generator = torch.Generator().manual_seed(seed)
        backbone = build_backbone("resnet-tiny", (1, 28, 28), generator)
        head = torch.nn.Linear(backbone.feature_size, CLASSES)
        made.append(torch.nn.Sequential(backbone, head).train())
    return made


def seconds(step: Callable[[], object], steps: int) -> float:
    """Processor seconds of one step."""
    step()
    start = time.process_time()
    for _ in range(steps):
        step()
    return (time.process_time() - start) / steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", type=int, default=4)
    parser.add_argument("--steps", type=int, default=20)
    given = parser.parse_args()
    torch.set_num_threads(1)
    images = torch.randn(given.models, BATCH, 1, 28, 28)
    labels = torch.randint(CLASSES, (given.models, BATCH))
    models = networks(given.models)

    def one_by_one() -> None:
        for model, batch, targets in zip(models, images, labels, strict=True):
            model.zero_grad()
            torch.nn.functional.cross_entropy(model(batch), targets).backward()

    parameters, buffers = stack_module_state(models)
    parameters = {name: value.detach() for name, value in parameters.items()}

    def loss(
        own: dict[str, torch.Tensor],
        statistics: dict[str, torch.Tensor],
        batch: torch.Tensor,
        targets: torch.Tensor,
    ) -> torch.Tensor:
        logits = functional_call(models[0], (own, statistics), (batch,))
        return torch.nn.functional.cross_entropy(logits, targets)

    stacked = vmap(grad(loss), randomness="error")
    alone = seconds(one_by_one, given.steps)
    ChannelsLast.forward = lambda self, maps: maps  # vmap has no memory formats
    together = seconds(lambda: stacked(parameters, buffers, images, labels), given.steps)
    print(f"{given.models} networks, one thread, processor seconds per step of all of them:")
    print(f"one by one {alone:.3f}, stacked {together:.3f}: {alone / together:.2f} times as fast")


if __name__ == "__main__":
    main()
