"""Training settings of the reference implementations, method by method and dataset by dataset.

The training recipe `published` uses the settings for CIFAR-100, `published-cub200` those for
CUB-200, and so on. The sources are files of public repositories at the commits in `COMMITS`; values
that a source leaves to its code come from that code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from edgecil.errors import UsageError
from edgecil.methods.memory import MemoryBudget
from edgecil.methods.recipe import PAPER, PUBLISHED_DATASETS, Recipe

# Repositories that the settings were read from, and the commits.
COMMITS = {
    "PyCIL": "LAMDA-CL/PyCIL f3509b8",
    "PILOT": "LAMDA-CL/LAMDA-PILOT 5240714",
    "EASE": "sun-hailong/CVPR24-Ease 6d67508",
    "MOS": "sun-hailong/AAAI25-MOS 8d5e07c",
    "HiDe-Prompt": "thu-ml/HiDe-Prompt 0ed4333",
    "RanPAC": "RanPAC/RanPAC 012927f",
    "CODA-Prompt": "GT-RIPL/CODA-Prompt 6417d4f",
    "APER": "zhoudw-zdw/RevisitingCIL a2e6b71",
}


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
        "Average accuracy in 20 tasks of 5 classes: 91.51, with ImageNet-21k weights (the authors' "
        "configs for both weights are equal otherwise).",
        tasks=20,
        pretrained="vit-b16-in21k",
    ),
    "mos": Stated(
        "Average accuracy in 20 tasks of 5 classes: 93.3, from a summary by others, with "
        "ImageNet-21k weights (the authors' configs for both weights are equal otherwise).",
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


@dataclass(frozen=True)
class Published:
    """The settings of one method on one dataset.

    Attributes:
        recipe: training.
        source: repository and files.
        memory: exemplar budget; None for methods without exemplars.
        settings: other settings of the method.
    """

    recipe: Recipe
    source: str
    memory: MemoryBudget | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


_BRIGHTNESS = ("crop", "flip", "colour")
_AUTOAUGMENT = (*_BRIGHTNESS, "autoaugment", "cutout:16")
_RESIZED = ("resized-crop:0.05", "flip")
_TOTAL = MemoryBudget(total=2000, per_class=None)
_PER_CLASS = MemoryBudget(total=None, per_class=20)
_FIRST = replace(PAPER, epochs=200, augment=_BRIGHTNESS)


def _pycil(
    name: str,
    epochs: int,
    milestones: tuple[int, ...],
    *,
    first: Recipe = _FIRST,
    memory: MemoryBudget | None = _TOTAL,
    settings: Mapping[str, Any] | None = None,
) -> Published:
    """PyCIL on CIFAR-100: later tasks have their own epochs, steps and weight decay."""
    later = replace(first, epochs=epochs, milestones=milestones, weight_decay=2e-4)
    source = f"PyCIL models/{name}.py, exps/{name}.json"
    return Published(replace(later, first=first), source, memory, settings or {})


def _frozen(
    source: str, epochs: int, rate: float, batch: int, decay: float, **settings: Any
) -> Published:
    """SGD with a cosine schedule on adapters, as PILOT's learners have it."""
    recipe = Recipe(
        epochs=epochs,
        learning_rate=rate,
        schedule="cosine",
        batch_size=batch,
        weight_decay=decay,
        augment=_RESIZED,
    )
    return Published(recipe, source, settings=settings)


def _mos(source: str, *values: Any, **settings: Any) -> Published:
    published = _frozen(source, *values, **settings)
    return replace(published, recipe=replace(published.recipe, head_factor=0.1))


def _l2p(source: str, epochs: int, batch: int) -> Published:
    recipe = Recipe(
        epochs=epochs,
        learning_rate=0.001875,
        milestones=(),
        optimizer="adam",
        weight_decay=0.0,
        batch_size=batch,
        augment=_RESIZED,
    )
    return Published(recipe, source)


def _coda(source: str, epochs: int) -> Published:
    recipe = Recipe(
        epochs=epochs,
        learning_rate=0.001,
        schedule="quarter-cosine",
        optimizer="adam",
        weight_decay=0.0,
        batch_size=128,
        augment=("resized-crop:0.08", "flip"),
        drop_last=True,
    )
    return Published(recipe, source)


def _hide(script: str, head_factor: float, **changes: Any) -> Published:
    length, contrast = changes.pop("length"), changes.pop("contrast")
    base: dict[str, Any] = {
        "epochs": 50,
        "learning_rate": 0.0028125,
        "milestones": (30,),
        "optimizer": "adam",
        "weight_decay": 0.0,
        "batch_size": 192,
        "augment": _RESIZED,
        "clip": 1.0,
    }
    recipe = Recipe(**{**base, **changes}, head_factor=head_factor)
    settings = {"length": length, "contrast": contrast}
    return Published(recipe, f"HiDe-Prompt training_scripts/{script}", settings=settings)


PUBLISHED: dict[str, dict[str, Published]] = {
    "finetune": {"cifar100": _pycil("finetune", 80, (40, 70), memory=None)},
    "joint": {
        "cifar100": Published(_FIRST, "PyCIL: the first task of its learners, models/finetune.py")
    },
    "ewc": {"cifar100": _pycil("ewc", 180, (70, 120, 150), memory=None)},
    "lwf": {
        "cifar100": _pycil(
            "lwf",
            250,
            (60, 120, 180, 220),
            first=replace(_FIRST, milestones=(60, 120, 160)),
            memory=None,
        )
    },
    "er": {"cifar100": _pycil("replay", 70, (30, 50))},
    "icarl": {"cifar100": _pycil("icarl", 170, (80, 120))},
    "wa": {"cifar100": _pycil("wa", 170, (60, 100, 140))},
    "bic": {
        "cifar100": Published(
            replace(PAPER, milestones=(60, 100, 140), weight_decay=2e-4, augment=_BRIGHTNESS),
            "PyCIL models/bic.py, exps/bic.json",
            _TOTAL,
        )
    },
    "der": {"cifar100": _pycil("der", 170, (80, 120, 150))},
    "memo": {"cifar100": _pycil("memo", 170, (80, 120, 150))},
    "tagfex": {
        "cifar100": _pycil(
            "tagfex", 170, (80, 120, 150), first=replace(_FIRST, augment=_AUTOAUGMENT)
        )
    },
    "foster": {
        "cifar100": Published(
            replace(
                PAPER,
                schedule="cosine",
                augment=_BRIGHTNESS,
                first=replace(_FIRST, schedule="cosine"),
            ),
            "PyCIL models/foster.py, exps/foster.json",
            _PER_CLASS,
        )
    },
    "l2p": {
        "cifar100": _l2p("PILOT exps/l2p.json", 5, 16),
        "imagenet-r": _l2p("PILOT exps/l2p_inr.json", 10, 32),
    },
    "coda-prompt": {
        "cifar100": _coda("PILOT exps/coda_prompt.json; CODA-Prompt configs", 20),
        "imagenet-r": _coda("PILOT exps/coda_prompt_inr.json", 50),
    },
    "hide-prompt": {
        "cifar100": _hide(
            "train_cifar100_vit.sh",
            0.1,
            length=5,
            contrast=0.1,
            augment=("resized-crop:0.08", "flip", "colour"),
        ),
        "imagenet-r": _hide(
            "train_imr_vit.sh", 0.1, length=20, contrast=0.5, epochs=150, schedule="cosine"
        ),
        "cub200": _hide("train_cub_vit.sh", 1.0, length=20, contrast=0.01),
    },
    "simplecil": {
        dataset: Published(PAPER, "PILOT models/simplecil.py: nothing is trained")
        for dataset in PUBLISHED_DATASETS.values()
    },
    "aper": {
        "cifar100": _frozen(
            "PILOT exps/aper_aperpter.json; APER exps/aper_adapter", 20, 0.01, 48, 5e-4
        ),
        "imagenet-r": _frozen(
            "PILOT exps/aper_aperpter_inr.json (APER: 20 epochs, batches of 24)",
            10,
            0.05,
            16,
            5e-3,
        ),
        "cub200": _frozen("APER exps/aper_adapter", 20, 0.01, 48, 5e-4),
        "imagenet-a": _frozen("APER exps/aper_adapter", 20, 0.01, 48, 5e-4),
    },
    "ranpac": {
        "cifar100": _frozen(
            "PILOT exps/ranpac.json; RanPAC args/cifar224_publish.csv", 20, 0.01, 48, 5e-4
        ),
        "imagenet-r": _frozen(
            "PILOT exps/ranpac_inr.json (RanPAC args/imagenetr_publish.csv: SSF, 20 epochs, 0.01, "
            "weight decay 5e-4, batches of 48)",
            10,
            0.05,
            16,
            5e-3,
        ),
        "cub200": _frozen("RanPAC args/cub_publish.csv", 20, 0.01, 48, 5e-4),
        "imagenet-a": _frozen(
            "RanPAC args/imageneta_publish.csv (SSF there, adapters here)", 20, 0.01, 48, 5e-4
        ),
    },
    "ease": {
        "cifar100": _frozen("PILOT exps/ease.json; EASE exps/ease_cifar.json", 20, 0.025, 48, 5e-4),
        "imagenet-r": _frozen(
            "PILOT exps/ease_inr.json; EASE exps/ease_inr.json", 20, 0.05, 16, 5e-3
        ),
        "cub200": _frozen(
            "EASE exps/ease_cub.json (ImageNet-21k weights: 0.008, batches of 32, others = 0.05, "
            "unmodified = 0)",
            20,
            0.005,
            16,
            5e-4,
            others=0.005,
            unmodified=1.0,
        ),
        "imagenet-a": _frozen("EASE exps/ease_ina.json", 20, 0.05, 32, 5e-3),
    },
    "mos": {
        "cifar100": _mos("PILOT exps/mos.json; MOS exps/mos_cifar.json", 20, 0.03, 48, 5e-4),
        "imagenet-r": _mos("PILOT exps/mos_inr.json; MOS exps/mos_inr.json", 10, 0.05, 16, 5e-3),
        "cub200": _mos("MOS exps/mos_cub.json", 10, 0.01, 32, 5e-4),
        "imagenet-a": _mos("MOS exps/mos_ina.json", 10, 0.05, 32, 5e-3, covariance="diagonal"),
    },
}


def find_published(method: str, recipe: str) -> Published | None:
    """Return the published settings of a method; None for other recipes and own learners.

    Args:
        method: name of the method.
        recipe: name of the recipe, as it is registered.
    """
    dataset = PUBLISHED_DATASETS.get(recipe)
    if dataset is None or method not in PUBLISHED:
        return None
    if dataset not in PUBLISHED[method]:
        others = [name for name, one in PUBLISHED_DATASETS.items() if one in PUBLISHED[method]]
        raise UsageError(
            f"There are no published settings of {method!r} for {dataset}; use the training recipe "
            f"{' or '.join(map(repr, others))}."
        )
    return PUBLISHED[method][dataset]
