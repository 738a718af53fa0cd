"""Training settings of the reference implementations, method by method and dataset by dataset.

The setup `published` uses the settings for CIFAR-100, `published-cub200` those for
CUB-200, and so on. The sources are files of public repositories at the commits in `COMMITS`; values
that a source leaves to its code come from that code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from edgecil.errors import UsageError
from edgecil.methods.memory import MemoryBudget
from edgecil.methods.schedule import PAPER, PUBLISHED_DATASETS, Schedule

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


@dataclass(frozen=True)
class Published:
    """The settings of one method on one dataset.

    Attributes:
        schedule: gradient descent on each task.
        source: repository and files.
        memory: exemplar budget; None for methods without exemplars.
        settings: other settings of the method.
    """

    schedule: Schedule
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
    first: Schedule = _FIRST,
    memory: MemoryBudget | None = _TOTAL,
    settings: Mapping[str, Any] | None = None,
) -> Published:
    """PyCIL on CIFAR-100: later tasks have their own epochs, steps and weight decay."""
    later = replace(first, epochs=epochs, milestones=milestones, weight_decay=2e-4)
    source = f"PyCIL models/{name}.py, exps/{name}.json"
    return Published(replace(later, first=first), source, memory, settings or {})


def _tuned(
    name: str,
    epochs: int,
    batch: int,
    *,
    memory: MemoryBudget | None = _PER_CLASS,
    later_decay: float = 2e-4,
    schedule: Literal["steps", "cosine"] = "steps",
    settings: Mapping[str, Any] | None = None,
) -> Published:
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
    source = f"PILOT models/{name}.py, exps/{name}_inr.json (`--backbone vit-b16-in1k`)"
    return Published(used, source, memory, settings or {})


def _frozen(
    source: str, epochs: int, rate: float, batch: int, decay: float, **settings: Any
) -> Published:
    """SGD with a cosine schedule on adapters, as PILOT's learners have it."""
    schedule = Schedule(
        epochs=epochs,
        learning_rate=rate,
        schedule="cosine",
        batch_size=batch,
        weight_decay=decay,
        augment=_RESIZED,
    )
    return Published(schedule, source, settings=settings)


def _mos(
    source: str, epochs: int, rate: float, batch: int, decay: float, **settings: Any
) -> Published:
    """The head's alignment has the same weight decay and batches of five times the size."""
    alignment = {"batch_size": 5 * batch, "weight_decay": decay}
    published = _frozen(source, epochs, rate, batch, decay, alignment=alignment, **settings)
    return replace(published, schedule=replace(published.schedule, head_factor=0.1))


def _prompts(source: str, epochs: int, batch: int, rate: float) -> Published:
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
    return Published(schedule, source)


def _slca(source: str, epochs: int, milestone: int) -> Published:
    schedule = Schedule(
        epochs=epochs,
        learning_rate=0.01,
        milestones=(milestone,),
        batch_size=64,
        augment=_RESIZED,
    )
    return Published(schedule, f"{source} (`--backbone vit-b16-in1k`)")


def _coda(source: str, epochs: int) -> Published:
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
    return Published(schedule, source)


def _hide(script: str, head_factor: float, **changes: Any) -> Published:
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
    return Published(schedule, f"HiDe-Prompt training_scripts/{script}", settings=settings)


PUBLISHED: dict[str, dict[str, Published]] = {
    "finetune": {
        "cifar100": _pycil("finetune", 80, (40, 70), memory=None),
        "imagenet-r": _tuned("finetune", 20, 128, memory=None),
    },
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
    "icarl": {
        "cifar100": _pycil("icarl", 170, (80, 120)),
        "imagenet-r": _tuned("icarl", 20, 32),
    },
    "wa": {"cifar100": _pycil("wa", 170, (60, 100, 140))},
    "bic": {
        "cifar100": Published(
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
        "cifar100": Published(
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
        )
    },
    "lucir": {
        "cifar100": Published(
            replace(PAPER, epochs=160, milestones=(80, 120)),
            "LUCIR cifar100-class-incremental/class_incremental_cosine_cifar100.py",
            _PER_CLASS,
        )
    },
    "fecam": {
        "cifar100": Published(PAPER, "FeCAM FeCAM_vit_cifar100.py: nothing is trained"),
        "imagenet-r": Published(PAPER, "FeCAM FeCAM_vit_imagenet-r.py: nothing is trained"),
    },
    "acil": {
        "cifar100": Published(
            PAPER, "ACIL README.md, analytic/ACIL.py: nothing is trained (there the backbone is)"
        )
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


def published_schedule(method: str) -> Schedule:
    """Return the setup that a method is published with for CIFAR-100."""
    return PUBLISHED[method]["cifar100"].schedule


def find_published(method: str, setup: str) -> Published | None:
    """Return the published settings of a method; None for other setups and own learners.

    Args:
        method: name of the method.
        setup: name of the setup, as it is registered.
    """
    dataset = PUBLISHED_DATASETS.get(setup)
    if dataset is None or method not in PUBLISHED:
        return None
    if dataset not in PUBLISHED[method]:
        others = [name for name, one in PUBLISHED_DATASETS.items() if one in PUBLISHED[method]]
        raise UsageError(
            f"There are no published settings of {method!r} for {dataset}; use the setup "
            f"{' or '.join(map(repr, others))}."
        )
    return PUBLISHED[method][dataset]
