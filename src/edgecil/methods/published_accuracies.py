"""Accuracies that the references and the EDGE paper state, for the pages of the documentation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Stated:
    """An accuracy that a reference states, in per cent.

    Attributes:
        text: the accuracy and where it stands.
        dataset: its images.
        tasks: number of tasks.
        weights: pre-trained weights; None for a residual network from scratch.
    """

    text: str
    dataset: str = "cifar100"
    tasks: int = 10
    weights: str | None = None

    def __str__(self) -> str:
        return self.text


_IN1K, _IN21K, _GOOGLE = "vit-b16-in1k", "vit-b16-in21k", "vit-b16-in21k-google"


def _figure(final: int, weights: str | None = None, dataset: str = "cifar100") -> Stated:
    """A final accuracy in ten tasks, read from the figures in PyCIL's or PILOT's README."""
    toolbox = "PyCIL" if weights is None else "PILOT"
    return Stated(f"Final about {final}, read from a figure of {toolbox}.", dataset, 10, weights)


def _log(
    folder: str, final: float, average: float, dataset: str, tasks: int, weights: str
) -> Stated:
    """What a log of the authors ends with; its settings are those of the setup."""
    text = f"Final {final:.2f}, average {average:.2f}, in the authors' log ({folder})."
    return Stated(text, dataset, tasks, weights)


ACCURACIES: dict[str, tuple[Stated, ...]] = {
    "finetune": (_figure(61, _IN1K, "imagenet-r"),),
    "er": (_figure(41),),
    "icarl": (_figure(50), _figure(62, _IN1K, "imagenet-r")),
    "wa": (_figure(52),),
    "bic": (_figure(51),),
    "der": (_figure(59), _figure(75, _IN1K, "imagenet-r")),
    "foster": (
        Stated("Average 72.9; the authors' repository states 73.1 for its code (boosted network)."),
        _figure(76, _IN1K, "imagenet-r"),
    ),
    "tagfex": (
        Stated(
            "Average 78.45, from a summary by others, to our knowledge with ResNet-18 and these "
            "tasks."
        ),
    ),
    "l2p": (
        Stated(
            "Final 83.83; its PyTorch port (JH-LEE-KR/l2p-pytorch) states 83.77, with the weights "
            "of Dosovitskiy et al. (`imagenet21k/ViT-B_16.npz`).",
            weights=_GOOGLE,
        ),
        _figure(84, _IN1K),
        _figure(73, _IN1K, "imagenet-r"),
    ),
    "coda-prompt": (_figure(87, _IN1K), _figure(73, _IN1K, "imagenet-r")),
    "simplecil": (
        _log("APER logs/simplecil/cifar224", 81.28, 87.57, "cifar100", 20, _IN21K),
        _log("APER logs/simplecil/cub", 86.77, 92.24, "cub200", 20, _IN21K),
        _log("APER logs/simplecil/imagenetr", 54.55, 62.57, "imagenet-r", 40, _IN21K),
        _log("APER logs/simplecil/imageneta", 48.85, 60.64, "imagenet-a", 20, _IN21K),
    ),
    "aper": (
        _log("APER logs/aper_adapter/cifar224", 85.14, 90.61, "cifar100", 20, _IN21K),
        _log("APER logs/aper_adapter/cub", 86.73, 92.21, "cub200", 20, _IN21K),
        _figure(73, _IN1K, "imagenet-r"),
        _log("APER logs/aper_adapter/imageneta", 48.85, 60.59, "imagenet-a", 20, _IN21K),
    ),
    "ranpac": (
        Stated("A(O) 92.2, in the authors' table (RanPAC paper_tables).", weights=_IN21K),
        Stated("A(O) 90.3, in the authors' table (RanPAC paper_tables).", "cub200", 10, _IN1K),
    ),
    "ease": (
        _log("EASE logs/ease/cifar224/0/5", 85.80, 91.51, "cifar100", 20, _IN21K),
        _log("EASE logs/ease/cub/0/10", 85.67, 91.13, "cub200", 20, _IN1K),
        _log("EASE logs/ease/imagenetr/0/20", 77.33, 82.60, "imagenet-r", 10, _IN1K),
        _log("EASE logs/ease/imageneta/0/20", 58.53, 68.89, "imagenet-a", 10, _IN1K),
    ),
    "mos": (
        _log("MOS logs/mos/cifar224/0/5", 89.25, 93.30, "cifar100", 20, _IN21K),
        _log("MOS logs/mos/cub/0/10", 89.31, 92.88, "cub200", 20, _IN1K),
        _log("MOS logs/mos/imagenetr/0/20", 78.50, 83.20, "imagenet-r", 10, _IN1K),
        _log("MOS logs/mos/imageneta/0/20", 60.04, 69.39, "imagenet-a", 10, _IN1K),
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
