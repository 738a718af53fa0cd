"""Setups: everything on the training side of a method, and the accuracy that its source states.

`fast` and `paper` are for all methods; `published` is each method's own for the dataset, such as
`pilot/ease/imagenet-r`. Published values were read from files of public
repositories at the commits in `COMMITS`; what a source leaves to its code comes from that code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from edgecil.backbones.pretrained import is_pretrained, is_resnet
from edgecil.backbones.registry import BACKBONES
from edgecil.data.split import SPLITS
from edgecil.errors import UsageError
from edgecil.methods.memory import MemoryBudget
from edgecil.methods.schedule import PAPER, Schedule
from edgecil.recipes import recipe_names
from edgecil.registry import Registry

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
    "FeCAM": "dipamgoswami/FeCAM d2479b7",
    "LUCIR": "hshustc/CVPR19_Incremental_Learning e5a90ae",
    "ACIL": "ZHUANGHP/Analytic-continual-learning 0afd6bf",
    "Mammoth": "aimagelab/mammoth e75a491",
}


PUBLISHED_DATASETS = ("cifar100", "cub200", "imagenet-r", "imagenet-a")


@dataclass(frozen=True)
class Stated:
    """An accuracy that a source states.

    Attributes:
        values: per cent by metric: `last`, `average` or `accuracy`.
        source: where it stands.
        tasks: number of tasks.
        weights: the network.
        tolerance: points by which another training, on another order, may miss it: two for a value
            read from a figure, else one.
    """

    values: Mapping[str, float]
    source: str
    tasks: int = 10
    weights: str = "resnet32"
    tolerance: float = 1.0

    def __str__(self) -> str:
        numbers = ", ".join(f"{name} {value:g}" for name, value in self.values.items())
        return f"{numbers} ± {self.tolerance:g} ({self.tasks} tasks, {self.weights}; {self.source})"


@dataclass(frozen=True)
class Setup:
    """How a source trains one method on one dataset.

    Attributes:
        schedule: gradient descent on each task.
        source: repository and files.
        memory: exemplar budget; None for methods without exemplars.
        settings: other settings of the method.
        backbone: network and weights.
        method: name of the method.
        dataset: name of the dataset.
        stated: the accuracies that sources state.
    """

    schedule: Schedule
    source: str
    memory: MemoryBudget | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    backbone: str = "resnet32"
    method: str = ""
    dataset: str = ""
    stated: tuple[Stated, ...] = ()

    @property
    def name(self) -> str:
        """Source, method and dataset: `pilot/ease/imagenet-r`."""
        return f"{self.source.split()[0].rstrip(':').lower()}/{self.method}/{self.dataset}"

    @property
    def images(self) -> dict[str, str]:
        """How images are prepared, as options of a run.

        For a ViT as PILOT does: scaled to 256 pixels, cropped to 224, not normalised. CODA-Prompt's
        CIFAR-100 is scaled to 224, and HiDe-Prompt's normalised. Other networks get the dataset's
        own images, normalised by their statistics.
        """
        if not self.backbone.startswith("vit"):
            return {"preparation": "plain", "normalisation": "dataset"}
        special = self.method if self.dataset == "cifar100" else ""
        return {
            "preparation": "plain" if special == "coda-prompt" else "centre-crop",
            "normalisation": "dataset" if special == "hide-prompt" else "none",
        }

    @property
    def split(self) -> str:
        """Which images train and test."""
        splits = SPLITS[self.dataset]
        whose = "PILOT's" if "PILOT's" in splits else "official"
        return "{}, {:,} and {:,} images".format(whose, *splits[whose])

    def __str__(self) -> str:
        words = [self.backbone, *self.images.values(), f"split {self.split}", self.source]
        return "; ".join([", ".join(words), *map(str, self.stated)])


_IN1K, _IN21K = "vit-b16-in1k", "vit-b16-in21k"
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
    first: Schedule = _FIRST,
    memory: MemoryBudget | None = _TOTAL,
    backbone: str = "resnet32",
) -> Setup:
    """PyCIL on CIFAR-100: later tasks have their own epochs, steps and weight decay."""
    later = replace(first, epochs=epochs, milestones=milestones, weight_decay=2e-4)
    source = f"PyCIL models/{name}.py, exps/{name}.json"
    return Setup(replace(later, first=first), source, memory, backbone=backbone)


def _tuned(
    name: str,
    epochs: int,
    batch: int,
    *,
    memory: MemoryBudget | None = _PER_CLASS,
    later_decay: float = 2e-4,
    schedule: Literal["steps", "cosine"] = "steps",
    settings: Mapping[str, Any] | None = None,
) -> Setup:
    """PILOT's training of a whole ViT-B/16; with steps, the rate is constant in so few epochs."""
    first = Schedule(
        epochs=epochs,
        learning_rate=0.001,
        schedule=schedule,
        milestones=(),
        batch_size=batch,
        augment=_RESIZED,
    )
    later = replace(first, weight_decay=later_decay, first=first)
    used = first if later_decay == first.weight_decay else later
    source = f"PILOT models/{name}.py, exps/{name}_inr.json"
    return Setup(used, source, memory, settings or {}, _IN1K)


def _frozen(
    source: str, epochs: int, rate: float, batch: int, decay: float, **settings: Any
) -> Setup:
    """SGD with a cosine schedule on adapters, as PILOT's learners have it."""
    schedule = Schedule(
        epochs=epochs,
        learning_rate=rate,
        schedule="cosine",
        batch_size=batch,
        weight_decay=decay,
        augment=_RESIZED,
    )
    return Setup(schedule, source, settings=settings, backbone=_IN1K)


def _mos(source: str, epochs: int, rate: float, batch: int, decay: float, **settings: Any) -> Setup:
    """The head's alignment has the same weight decay and batches of five times the size."""
    alignment = {"batch_size": 5 * batch, "weight_decay": decay}
    setup = _frozen(source, epochs, rate, batch, decay, alignment=alignment, **settings)
    return replace(setup, schedule=replace(setup.schedule, head_factor=0.1))


def _prompts(source: str, epochs: int, batch: int, rate: float) -> Setup:
    """Adam at a constant rate on prompts, as PILOT's L2P and DualPrompt have it."""
    schedule = Schedule(
        epochs=epochs,
        learning_rate=rate,
        milestones=(),
        optimizer="adam",
        weight_decay=0.0,
        batch_size=batch,
        augment=_RESIZED,
    )
    return Setup(schedule, source, backbone=_IN1K)


def _slca(source: str, epochs: int, milestone: int) -> Setup:
    schedule = Schedule(
        epochs=epochs,
        learning_rate=0.01,
        milestones=(milestone,),
        batch_size=64,
        augment=_RESIZED,
    )
    return Setup(schedule, source, backbone=_IN1K)


def _coda(source: str, epochs: int) -> Setup:
    schedule = Schedule(
        epochs=epochs,
        learning_rate=0.001,
        schedule="quarter-cosine",
        optimizer="adam",
        weight_decay=0.0,
        batch_size=128,
        augment=("resized-crop:0.08", "flip"),
        drop_last=True,
    )
    return Setup(schedule, source, backbone=_IN1K)


def _hide(script: str, head_factor: float, **changes: Any) -> Setup:
    length, contrast = changes.pop("length"), changes.pop("contrast")
    base: dict[str, Any] = {
        "epochs": 50,
        "learning_rate": 0.0028125,
        "milestones": (31,),  # the scheduler is one epoch late
        "optimizer": "adam",
        "weight_decay": 0.0,
        "batch_size": 192,
        "augment": _RESIZED,
        "clip": 1.0,
        "accumulate": 8,  # the GPUs: features are contrasted with those of 24 images
    }
    schedule = Schedule(**{**base, **changes}, head_factor=head_factor)
    settings = {"length": length, "contrast": contrast}
    source = f"HiDe-Prompt training_scripts/{script}"
    return Setup(schedule, source, settings=settings, backbone=_IN1K)


_TABLE: dict[str, dict[str, Setup]] = {
    "finetune": {
        "cifar100": _pycil("finetune", 80, (40, 70), memory=None),
        "imagenet-r": _tuned("finetune", 20, 128, memory=None),
    },
    "joint": {
        "cifar100": Setup(_FIRST, "PyCIL: the first task of its learners, models/finetune.py")
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
    "icarl": {
        "cifar100": _pycil("icarl", 170, (80, 120)),
        "imagenet-r": _tuned("icarl", 20, 32),
    },
    "wa": {"cifar100": _pycil("wa", 170, (60, 100, 140))},
    "bic": {
        "cifar100": Setup(
            replace(PAPER, milestones=(60, 100, 140), weight_decay=2e-4, augment=_BRIGHTNESS),
            "PyCIL models/bic.py, exps/bic.json",
            _TOTAL,
        )
    },
    "der": {
        "cifar100": _pycil("der", 170, (80, 120, 150)),
        "imagenet-r": _tuned("der", 10, 64),
    },
    "memo": {"cifar100": _pycil("memo", 170, (80, 120, 150))},
    "tagfex": {
        "cifar100": _pycil(
            "tagfex",
            170,
            (80, 120, 150),
            first=replace(_FIRST, augment=_AUTOAUGMENT),
            backbone="resnet18",
        )
    },
    "foster": {
        "cifar100": Setup(
            replace(
                PAPER,
                schedule="cosine",
                augment=_BRIGHTNESS,
                first=replace(_FIRST, schedule="cosine"),
            ),
            "PyCIL models/foster.py, exps/foster.json",
            _PER_CLASS,
        ),
        "imagenet-r": _tuned(
            "foster", 20, 32, later_decay=5e-4, schedule="cosine", settings={"compression": 1.0}
        ),
    },
    "l2p": {
        "cifar100": _prompts("PILOT exps/l2p.json", 5, 16, 0.001875),
        "imagenet-r": _prompts("PILOT exps/l2p_inr.json", 10, 32, 0.001875),
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
            "train_imr_vit.sh (its cosine ends at 1e-5, one epoch late)",
            0.1,
            length=20,
            contrast=0.5,
            epochs=150,
            schedule="cosine",
        ),
        "cub200": _hide("train_cub_vit.sh", 1.0, length=20, contrast=0.01),
    },
    "dualprompt": {
        "cifar100": _prompts("PILOT exps/dualprompt.json", 5, 24, 0.001),
        "imagenet-r": _prompts("PILOT exps/dualprompt_inr.json", 10, 24, 0.001),
    },
    "slca": {
        "cifar100": _slca("PILOT exps/slca.json", 20, 18),
        "imagenet-r": _slca("PILOT exps/slca_inr.json", 5, 40),
    },
    "derpp": {
        "cifar100": Setup(
            Schedule(
                epochs=50,
                learning_rate=0.03,
                milestones=(35, 45),
                decay=0.2,
                momentum=0.0,
                weight_decay=0.0,
                batch_size=32,
            ),
            "Mammoth models/config/derpp.yaml, datasets/configs/seq-cifar100/xder.yaml",
            _TOTAL,
            backbone="resnet18",
        )
    },
    "lucir": {
        "cifar100": Setup(
            replace(PAPER, epochs=160, milestones=(80, 120)),
            "LUCIR cifar100-class-incremental/class_incremental_cosine_cifar100.py",
            _PER_CLASS,
        )
    },
    "fecam": {
        "cifar100": Setup(PAPER, "FeCAM FeCAM_vit_cifar100.py: nothing is trained", backbone=_IN1K),
        "imagenet-r": Setup(
            PAPER, "FeCAM FeCAM_vit_imagenet-r.py: nothing is trained", backbone=_IN1K
        ),
    },
    "acil": {
        "cifar100": Setup(
            PAPER, "ACIL README.md, analytic/ACIL.py: nothing is trained (there the backbone is)"
        )
    },
    "simplecil": {
        dataset: Setup(PAPER, "PILOT models/simplecil.py: nothing is trained", backbone=_IN1K)
        for dataset in PUBLISHED_DATASETS
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


def _figure(final: int, weights: str = "resnet32") -> Stated:
    """A final accuracy in ten tasks, read from the figures in PyCIL's or PILOT's README."""
    toolbox = "PyCIL" if weights == "resnet32" else "PILOT"
    return Stated({"last": final}, f"a figure of {toolbox}'s README", 10, weights, 2.0)


def _log(folder: str, final: float, average: float, tasks: int, weights: str) -> Stated:
    """What a log of the authors ends with; its settings are those of the setup."""
    return Stated({"last": final, "average": average}, f"the log {folder}", tasks, weights)


_STATED: dict[tuple[str, str], tuple[Stated, ...]] = {
    ("finetune", "imagenet-r"): (_figure(61, _IN1K),),
    ("er", "cifar100"): (_figure(41),),
    ("icarl", "cifar100"): (_figure(50),),
    ("icarl", "imagenet-r"): (_figure(62, _IN1K),),
    ("wa", "cifar100"): (_figure(52),),
    ("bic", "cifar100"): (_figure(51),),
    ("der", "cifar100"): (_figure(59),),
    ("der", "imagenet-r"): (_figure(75, _IN1K),),
    ("foster", "cifar100"): (
        Stated({"average": 72.9}, "its paper; 73.1 by its code, for the boosted network"),
    ),
    ("foster", "imagenet-r"): (_figure(76, _IN1K),),
    ("tagfex", "cifar100"): (
        Stated({"average": 78.45}, "a summary by others", 10, "resnet18", 2.0),
    ),
    ("l2p", "cifar100"): (
        Stated({"last": 83.83}, "its paper; 83.77 by its PyTorch port", 10, "vit-b16-in21k-google"),
        _figure(84, _IN1K),
    ),
    ("l2p", "imagenet-r"): (_figure(73, _IN1K),),
    ("coda-prompt", "cifar100"): (_figure(87, _IN1K),),
    ("coda-prompt", "imagenet-r"): (_figure(73, _IN1K),),
    ("simplecil", "cifar100"): (_log("APER logs/simplecil/cifar224", 81.28, 87.57, 20, _IN21K),),
    ("simplecil", "cub200"): (_log("APER logs/simplecil/cub", 86.77, 92.24, 20, _IN21K),),
    ("simplecil", "imagenet-r"): (_log("APER logs/simplecil/imagenetr", 54.55, 62.57, 40, _IN21K),),
    ("simplecil", "imagenet-a"): (_log("APER logs/simplecil/imageneta", 48.85, 60.64, 20, _IN21K),),
    ("aper", "cifar100"): (_log("APER logs/aper_adapter/cifar224", 85.14, 90.61, 20, _IN21K),),
    ("aper", "cub200"): (_log("APER logs/aper_adapter/cub", 86.73, 92.21, 20, _IN21K),),
    ("aper", "imagenet-r"): (_figure(73, _IN1K),),
    ("aper", "imagenet-a"): (_log("APER logs/aper_adapter/imageneta", 48.85, 60.59, 20, _IN21K),),
    ("ranpac", "cifar100"): (Stated({"accuracy": 92.2}, "RanPAC paper_tables", 10, _IN21K),),
    ("ranpac", "cub200"): (Stated({"accuracy": 90.3}, "RanPAC paper_tables", 10, _IN1K),),
    ("ease", "cifar100"): (_log("EASE logs/ease/cifar224/0/5", 85.80, 91.51, 20, _IN21K),),
    ("ease", "cub200"): (_log("EASE logs/ease/cub/0/10", 85.67, 91.13, 20, _IN1K),),
    ("ease", "imagenet-r"): (_log("EASE logs/ease/imagenetr/0/20", 77.33, 82.60, 10, _IN1K),),
    ("ease", "imagenet-a"): (_log("EASE logs/ease/imageneta/0/20", 58.53, 68.89, 10, _IN1K),),
    ("mos", "cifar100"): (_log("MOS logs/mos/cifar224/0/5", 89.25, 93.30, 20, _IN21K),),
    ("mos", "cub200"): (_log("MOS logs/mos/cub/0/10", 89.31, 92.88, 20, _IN1K),),
    ("mos", "imagenet-r"): (_log("MOS logs/mos/imagenetr/0/20", 78.50, 83.20, 10, _IN1K),),
    ("mos", "imagenet-a"): (_log("MOS logs/mos/imageneta/0/20", 60.04, 69.39, 10, _IN1K),),
}

PUBLISHED = {
    method: {
        dataset: replace(
            setup, method=method, dataset=dataset, stated=_STATED.get((method, dataset), ())
        )
        for dataset, setup in rows.items()
    }
    for method, rows in _TABLE.items()
}
NAMED = {setup.name: setup for rows in PUBLISHED.values() for setup in rows.values()}
PAPER_PRETRAINED = replace(PAPER, milestones=(80, 120, 150))
PAPER_MEMORY = MemoryBudget(total=2000, per_class=20)

# 5 of the 60 bundled drawings of a class are twice the share of 20 of CIFAR-100's 500 images.
_FAST_MEMORY = MemoryBudget(total=2000, per_class=5)

# Adam, because the scale of vectors differs from one source to another.
_ON_VECTORS = Schedule(
    epochs=10,
    learning_rate=2e-3,
    schedule="cosine",
    optimizer="adam",
    weight_decay=0.0,
    batch_size=128,
    augment=(),
)

_FAST = {
    "resnet-tiny": Schedule(
        epochs=12, learning_rate=0.05, schedule="cosine", batch_size=32, augment=("crop:2", "flip")
    ),
    "resnet32": Schedule(epochs=30, learning_rate=0.1, schedule="cosine", batch_size=64),
    "resnet18": Schedule(epochs=20, learning_rate=0.05, schedule="cosine", batch_size=64),
    "linear": _ON_VECTORS,
    "mlp": _ON_VECTORS,
}

_FAST_PRETRAINED = Schedule(
    epochs=10,
    learning_rate=5e-4,
    schedule="cosine",
    optimizer="adamw",
    weight_decay=0.05,
    batch_size=32,
    augment=("crop:2", "flip"),
)


def _paper(backbone: str) -> tuple[Schedule, MemoryBudget]:
    """Lower the rate earlier, as the paper does, where its ResNet-18 has ImageNet weights."""
    pretrained = is_pretrained(backbone) and is_resnet(backbone)
    return PAPER_PRETRAINED if pretrained else PAPER, PAPER_MEMORY


def _fast(backbone: str) -> tuple[Schedule, MemoryBudget]:
    name = BACKBONES.resolve(backbone) if backbone in BACKBONES else backbone
    if name in _FAST:
        return _FAST[name], _FAST_MEMORY
    if is_pretrained(name):
        return _FAST_PRETRAINED, _FAST_MEMORY
    raise UsageError(
        f"There is no setup 'fast' for the backbone {backbone!r}; use one of "
        f"{', '.join(_FAST)}, or the setup 'paper'."
    )


SETUPS: Registry[Callable[[str], tuple[Schedule, MemoryBudget]]] = Registry(
    "setup", {"paper": _paper, "fast": _fast, "published": _paper, **dict.fromkeys(NAMED, _paper)}
)


def get_schedule(name: str, backbone: str) -> tuple[Schedule, MemoryBudget]:
    """Return the schedule and the exemplar budget of a setup for methods without a published one.

    Args:
        name: `paper`, as the EDGE paper words it; `fast`, made for a CPU and the bundled data; or
            another of :data:`SETUPS`, which for such methods is `paper`.
        backbone: the network to train.
    """
    if name not in SETUPS and name in recipe_names():
        raise UsageError(
            f"{name!r} is a bundled recipe and not a setup; give 'config' as "
            f"'recipe:{name}' instead."
        )
    return SETUPS[name](backbone)


def published_schedule(method: str) -> Schedule:
    """Return the schedule that a method is published with for CIFAR-100."""
    return PUBLISHED[method]["cifar100"].schedule


def find_setup(method: str, name: str, dataset: str | None = None) -> Setup | None:
    """Return the published setup of a method; None for `fast`, `paper` and own learners.

    Args:
        method: name of the method.
        name: `published` for the one for the dataset (that for CIFAR-100 if the dataset is not
            among the published ones), or the setup's own name.
        dataset: name of the dataset.
    """
    name = SETUPS.resolve(name)
    if name in NAMED:
        if NAMED[name].method != method:
            raise UsageError(f"The setup {name!r} is not one of {method!r}; use 'published'.")
        return NAMED[name]
    if name != "published" or method not in PUBLISHED:
        return None
    own = PUBLISHED[method]
    if dataset in PUBLISHED_DATASETS and dataset not in own:
        others = " or ".join(repr(setup.name) for setup in own.values())
        raise UsageError(
            f"There are no published settings of {method!r} for {dataset}; use the setup {others}."
        )
    return own.get(dataset or "", own["cifar100"])
