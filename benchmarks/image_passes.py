"""What a pass over the training images costs before any training: statistics and names.

    python benchmarks/image_passes.py [--images 1000] [--side 224]

Prints a Markdown table of CPU seconds, one thread. The statistics of the channels normalise images
for networks from scratch; the names (hashes) of images are those under which features are kept.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch

from edgecil.backbones.features import names_of
from edgecil.data.augment import channel_statistics

CIFAR100 = 50_000  # training images


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--images", type=int, default=1000)
    parser.add_argument("--side", type=int, default=224)
    args = parser.parse_args()
    torch.set_num_threads(1)
    shape = (args.images, 3, args.side, args.side)
    pixels = torch.from_numpy(np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8))
    print(f"| pass | {args.images} images | {CIFAR100} images |\n|---|---|---|")
    for name, once in (
        ("statistics of the channels", lambda: channel_statistics(pixels)),
        ("names of the images", lambda: names_of(pixels)),
    ):
        start = time.process_time()
        once()
        seconds = time.process_time() - start
        print(f"| {name} | {seconds:.2f} | {seconds * CIFAR100 / args.images:.0f} |")


if __name__ == "__main__":
    main()
