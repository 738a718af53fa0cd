"""Memory of a training step of the learners on a frozen ViT-B/16 at 224 pixels, by batch size.

    python benchmarks/batch_memory.py [--depth 12] [--methods ease,l2p] [--limit 24]

Sums the tensors that torch keeps for the backward pass of the first step with two and with four
random images; the difference per image depends on the network and not on the machine. Prints, for
the largest batch of the setup `published`, what a whole batch keeps, in single precision and with
mixed precision, and into how many parts it must be split (`training.accumulate`) so that a part and
the weights fit into a GPU's memory of `--limit` GB with a tenth to spare. Attention kernels of CUDA
may keep slightly more or less; no GPU was used.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from frozen_224 import FILE, write_timm

from edgecil.data.dataset import Dataset, Examples
from edgecil.methods import Environment, get_method
from edgecil.methods.setups import PUBLISHED
from edgecil.methods.task import Scenario

METHODS = "aper,ranpac,ease,mos,l2p,coda-prompt,hide-prompt"
SIZES = (2, 4)
GIGA = 1e9
SPARE = 0.1


class StepReachedError(Exception):
    """Ends a training before its first backward pass."""


class KeptTensors:
    """Counts the bytes of all tensors that are kept for a backward pass."""

    def __init__(self) -> None:
        self.sizes: dict[int, int] = {}

    def keep(self, tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        self.sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    @property
    def total(self) -> int:
        return sum(self.sizes.values())


def first_step(method: str, weights: str, count: int, *, precision: str) -> int:
    """Bytes that are kept for the backward pass of the first step on `count` images."""
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (count, 3, 224, 224), dtype=np.uint8)
    images = Examples(pixels, np.arange(count) % 2)
    dataset = Dataset("noise", ("first", "second"), images, images)
    environment = Environment(dataset.shape, (0.5,) * 3, (0.5,) * 3, weights, precision=precision)
    entry = get_method(method)
    schedule, memory = entry.schedule("published", "resnet32")
    schedule = replace(schedule, batch_size=count, accumulate=1, epochs=1, augment=())
    learner: Any = entry.build(
        entry.configure(schedule, memory, entry.settings("published")), environment
    )
    # Queries need no gradient, and cost more time than the step.
    learner.frozen_features = lambda rows: torch.randn(len(rows), learner.vit.feature_size)
    kept = KeptTensors()

    def stop(*_: Any, **__: Any) -> None:
        raise StepReachedError

    backward, torch.Tensor.backward = torch.Tensor.backward, stop
    try:
        with (
            Scenario(dataset).task(((0, 1),), 0) as task,
            torch.autograd.graph.saved_tensors_hooks(kept.keep, lambda tensor: tensor),
        ):
            learner.learn(task)
    except StepReachedError:
        return kept.total
    finally:
        torch.Tensor.backward = backward
    raise RuntimeError(f"{method} trained nothing.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--depth", type=int, default=12)
    parser.add_argument("--limit", type=float, default=24.0, help="memory of the GPU in GB")
    args = parser.parse_args()
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    columns = ("method", "batch", "MB per image", "GB per batch", "parts")
    mixed = ("MB per image, mixed precision", "GB per batch", "parts")
    print(f"| {' | '.join((*columns, *mixed))} |\n|{'---|' * (len(columns) + len(mixed))}")
    with tempfile.TemporaryDirectory() as folder:
        write_timm(Path(folder) / "vit", args.depth)
        weights = str(Path(folder) / "vit")
        room = args.limit * (1.0 - SPARE) - (Path(weights) / FILE).stat().st_size / GIGA
        for method in args.methods.split(","):
            per_image = []
            for precision in ("float32", "bfloat16"):
                small, large = (
                    first_step(method, weights, size, precision=precision) for size in SIZES
                )
                per_image.append((large - small) / (SIZES[1] - SIZES[0]))
            batch = max(row.schedule.batch_size for row in PUBLISHED[method].values())
            cells = [method, str(batch)]
            for each in per_image:
                gigabytes = each * batch / GIGA
                parts = int(-(-gigabytes // room))
                cells += [f"{each / 1e6:.0f}", f"{gigabytes:.1f}", str(parts)]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
