"""Accuracies that the references and the EDGE paper state, for the pages of the documentation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Stated:
    """An accuracy that a reference states for CIFAR-100, in per cent.

    Attributes:
        text: the accuracy and where it stands.
        tasks: number of tasks.
        pretrained: weights, for learners on a frozen model.
    """

    text: str
    tasks: int = 10
    pretrained: str = "vit-b16-in1k"

    def __str__(self) -> str:
        return self.text


_FIGURE = "read from a figure of PyCIL."
ACCURACIES = {
    "er": Stated(f"Final accuracy in 10 tasks of 10 classes: about 41, {_FIGURE}"),
    "icarl": Stated(f"Final accuracy in 10 tasks of 10 classes: about 50, {_FIGURE}"),
    "wa": Stated(f"Final accuracy in 10 tasks of 10 classes: about 52, {_FIGURE}"),
    "bic": Stated(f"Final accuracy in 10 tasks of 10 classes: about 51, {_FIGURE}"),
    "der": Stated(f"Final accuracy in 10 tasks of 10 classes: about 59, {_FIGURE}"),
    "foster": Stated(
        "Average accuracy in 10 tasks of 10 classes: 72.9; the authors' repository states 73.1 for "
        "its code (boosted network)."
    ),
    "l2p": Stated(
        "Final accuracy in 10 tasks of 10 classes: 83.83; its PyTorch port (JH-LEE-KR/l2p-pytorch) "
        "states 83.77, with the weights of Dosovitskiy et al. (`imagenet21k/ViT-B_16.npz`).",
        pretrained="vit-b16-in21k-google",
    ),
    "ease": Stated(
        "Average accuracy in 20 tasks of 5 classes: 91.51, in the publication, whose weights "
        "are those of ImageNet-21k to our knowledge; the authors' configs for both weights are "
        "equal otherwise.",
        tasks=20,
        pretrained="vit-b16-in21k",
    ),
    "mos": Stated(
        "Average accuracy in 20 tasks of 5 classes: 93.3, from a summary by others; the "
        "weights are those of ImageNet-21k to our knowledge, and the authors' configs for both "
        "weights are equal otherwise.",
        tasks=20,
        pretrained="vit-b16-in21k",
    ),
}

# A(O) in per cent over three random orders, mean and standard deviation, in the EDGE paper's
# tables of its large experiments.
PAPER_ACCURACIES = {
    "ewc": ("14.34 ± 0.45", "10.60 ± 0.24", "7.61 ± 0.17"),
    "der": ("58.48 ± 0.91", "47.50 ± 0.61", "31.57 ± 1.57"),
    "icarl": ("38.85 ± 2.03", "32.36 ± 0.19", "15.83 ± 0.41"),
    "foster": ("49.87 ± 1.25", "43.07 ± 0.49", "19.47 ± 0.77"),
    "memo": ("56.80 ± 1.36", "40.23 ± 0.94", "21.08 ± 0.73"),
    "tagfex": ("62.42 ± 0.19", "46.47 ± 0.46", "34.16 ± 0.09"),
    "l2p": ("83.46 ± 0.72", "67.25 ± 0.99", "71.29 ± 0.14"),
    "coda-prompt": ("85.30 ± 0.18", "70.74 ± 0.59", "73.27 ± 0.21"),
    "hide-prompt": ("85.45 ± 0.53", "82.06 ± 0.50", "72.58 ± 0.60"),
    "ranpac": ("90.68 ± 0.25", "89.49 ± 0.19", "77.30 ± 0.02"),
    "ease": ("87.35 ± 0.13", "82.21 ± 0.82", "76.00 ± 0.09"),
    "mos": ("91.03 ± 0.24", "89.08 ± 0.23", "77.15 ± 0.18"),
}
PAPER_DATASETS = ("cifar100", "cub200", "imagenet-r")
