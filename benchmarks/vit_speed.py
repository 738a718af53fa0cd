"""ViT-B/16 at 224 pixels: float32 beside bfloat16, torch.compile and channels-last images.

    python benchmarks/vit_speed.py [--depth 12] [--batch 8] [--steps 3]

Processor seconds per image, one thread, random weights: "features" is evaluation without
gradients, "training" a forward and a backward pass. The first table is with the processor's own
kernels, the second with AVX2's, which `run` selects; bfloat16 depends on them. The last column is
the largest difference of a feature from float32, relative to the largest feature.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

OWN = "EDGECIL_OWN_KERNELS"


def measure(depth: int, batch: int, steps: int) -> None:
    """Print one table with the kernels of this process."""
    import torch

    from edgecil.backbones.initialise import build
    from edgecil.backbones.vit import ViT, ViTLayout

    torch.set_num_threads(1)
    network = build(
        lambda: ViT(ViTLayout(depth=depth), (3, 224, 224)), torch.Generator().manual_seed(0)
    )
    images = torch.randn(batch, 3, 224, 224)

    def seconds(step: Callable[[], object]) -> float:
        step()  # compiles, fills caches
        start = time.process_time()
        for _ in range(steps):
            step()
        return (time.process_time() - start) / steps / batch

    def row(
        name: str,
        forward: Callable[[torch.Tensor], torch.Tensor],
        low: bool = False,
        evaluation: Callable[[], Any] = torch.no_grad,
    ) -> None:
        def features() -> torch.Tensor:
            with evaluation(), torch.autocast("cpu", torch.bfloat16, enabled=low):
                return forward(images)

        def train() -> None:
            with torch.autocast("cpu", torch.bfloat16, enabled=low):
                loss = forward(images).float().square().mean()
            loss.backward()

        gap = ((features().float() - exact).abs().max() / exact.abs().max()).item()
        cells = (name, f"{seconds(features):.3f}", f"{seconds(train):.3f}", f"{gap:.1e}")
        print("| " + " | ".join(cells) + " |", flush=True)

    with torch.inference_mode():
        exact = network(images)
    print(f"\nKernels: {torch.backends.cpu.get_cpu_capability()}\n")
    print("| way | features | training | difference |\n|---|---|---|---|")
    row("float32", network)
    row("float32, inference mode", network, evaluation=torch.inference_mode)
    row("bfloat16 (autocast)", network, low=True)
    row("float32, channels-last images", lambda x: network(x.to(memory_format=torch.channels_last)))
    compiled = torch.compile(network)
    row("float32, compiled", compiled)
    row("bfloat16, compiled", compiled, low=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--depth", type=int, default=12)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--steps", type=int, default=3)
    given = parser.parse_args()
    if OWN not in os.environ:
        from edgecil.io.device import use_portable_kernels

        subprocess.run([sys.executable, *sys.argv], env={**os.environ, OWN: "1"}, check=True)
        use_portable_kernels()
    measure(given.depth, given.batch, given.steps)


if __name__ == "__main__":
    main()
