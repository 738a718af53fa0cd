"""Any model, any data: features of a folder of images, three learners on them, who is better.

    python examples/any_model.py FOLDER OUT

`Model` stands for a network of yours; `backbone="timm:vit_base_patch16_224.augreg_in21k"` takes its
place where timm is installed.
"""

import sys

import torch

import edgecil
from edgecil.backbones.extract import features


class Model(torch.nn.Module):
    """Four pooled maps of random filters."""

    def __init__(self) -> None:
        super().__init__()
        self.filters = torch.nn.Conv2d(3, 16, 3, stride=2)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.adaptive_avg_pool2d(self.filters(images), 2).flatten(1)


if __name__ == "__main__":
    folder, out = sys.argv[1:]
    torch.manual_seed(0)
    path = features(dataset=folder, backbone=Model(), out=f"{out}/features.npz")
    methods = ["simplecil", "finetune", "icarl"]
    edgecil.run(dataset=path, method=methods, tasks=3, protocol="random", out=f"{out}/runs")
    print(edgecil.compare(f"{out}/runs"))
