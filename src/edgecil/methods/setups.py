"""Setups: everything on the training side of a method, and the accuracy that its source states.

`fast` and `paper` are for all methods; `published` is each method's own for the dataset, such as
`pilot/ease/imagenet-r`. The values, their sources and the sources' commits are in `setups.toml`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from edgecil.backbones.named import BACKBONES
from edgecil.backbones.pretrained import is_pretrained, is_resnet
from edgecil.data.split import SPLITS
from edgecil.errors import UsageError
from edgecil.io.files import read_toml
from edgecil.methods.memory import MemoryBudget
from edgecil.methods.settings import PAPER, Schedule
from edgecil.recipes import recipe_names
from edgecil.registry import Registry

PUBLISHED_DATASETS = ("cifar100", "cub200", "imagenet-r", "imagenet-a")
PAPER_PRETRAINED = replace(PAPER, milestones=(80, 120, 150))
PAPER_MEMORY = MemoryBudget(total=2000, per_class=20)
# 5 of the 60 bundled drawings of a class are twice the share of 20 of CIFAR-100's 500 images.
_FAST_MEMORY = MemoryBudget(total=2000, per_class=5)


@dataclass(frozen=True)
class Stated:
    """An accuracy that a source states, in per cent by metric: `last`, `average`, `accuracy`."""

    values: Mapping[str, float]
    source: str
    tasks: int = 10
    weights: str = "resnet32"
    # points by which another training, on another order, may miss it: two if read from a figure
    tolerance: float = 1.0

    def __str__(self) -> str:
        numbers = ", ".join(f"{name} {value:g}" for name, value in self.values.items())
        return f"{numbers} ± {self.tolerance:g} ({self.tasks} tasks, {self.weights}; {self.source})"


@dataclass(frozen=True)
class Setup:
    """How a source trains one method on one dataset."""

    schedule: Schedule
    source: str  # repository and files
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


def _schedule(*parts: Mapping[str, Any]) -> Schedule:
    """Join parts of a schedule, of which later ones take precedence; in the first task, too."""
    joined: dict[str, Any] = {}
    first: dict[str, Any] = {}
    for part in parts:
        values = {
            name: tuple(value) if isinstance(value, list) else value for name, value in part.items()
        }
        first |= values.pop("first", {})
        joined |= values
    return Schedule(**joined, first=_schedule(joined, first) if first else None)


def _setup(method: str, dataset: str, row: dict[str, Any]) -> Setup:
    base = _TABLES["base"].get(row.pop("like", ""), {})
    schedule = _schedule(base.get("schedule", {}), row.pop("schedule", {}))
    memory: dict[str, int] | None = row.pop("memory", None)
    budget = None if memory is None else MemoryBudget(memory.get("total"), memory.get("per_class"))
    stated = tuple(Stated(**accuracy) for accuracy in row.pop("stated", ()))
    names = {"backbone": base.get("backbone"), "method": method, "dataset": dataset}
    return Setup(schedule, memory=budget, stated=stated, **{**names, **row})


_TABLES = read_toml(Path(__file__).with_suffix(".toml"))
COMMITS: dict[str, str] = _TABLES["commits"]
PUBLISHED = {
    method: {dataset: _setup(method, dataset, row) for dataset, row in rows.items()}
    for method, rows in _TABLES["setup"].items()
}
NAMED = {setup.name: setup for rows in PUBLISHED.values() for setup in rows.values()}
_FAST = {name: _schedule(values) for name, values in _TABLES["fast"]["backbone"].items()}
FAST = {name: _schedule(values) for name, values in _TABLES["fast"]["method"].items()}  # their own
SETUPS: Registry[str] = Registry(
    "setup", {name: name for name in ("paper", "fast", "published", *NAMED)}
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
            f"{name!r} is a bundled recipe and not a setup; give `config` as "
            f"'recipe:{name}' instead."
        )
    if SETUPS[name] != "fast":
        # where its ResNet-18 has ImageNet weights, the paper lowers the rate earlier
        pretrained = is_pretrained(backbone) and is_resnet(backbone)
        return PAPER_PRETRAINED if pretrained else PAPER, PAPER_MEMORY
    network = BACKBONES.resolve(backbone) if backbone in BACKBONES else backbone
    if network not in _FAST and is_pretrained(network):
        network = "pretrained"
    if network not in _FAST:
        possible = ", ".join(name for name in _FAST if name in BACKBONES)
        raise UsageError(
            f"There is no setup 'fast' for the backbone {backbone!r}; use one of {possible}, or "
            "the setup 'paper'."
        )
    return _FAST[network], _FAST_MEMORY


def find_setup(method: str, name: str, dataset: str | None = None) -> Setup | None:
    """Return the published setup of a method; None for `fast`, `paper` and own learners.

    The name is `published` for the one for the dataset (that for CIFAR-100 if the dataset is not
    among the published ones), or the setup's own name.
    """
    name = SETUPS.resolve(name)
    if name in NAMED:
        if NAMED[name].method != method:
            raise UsageError(f"The setup {name!r} is not one of {method!r}; use 'published'.")
        return NAMED[name]
    if name != "published" or method not in PUBLISHED:
        return None
    setup_of_dataset = PUBLISHED[method]
    if dataset in PUBLISHED_DATASETS and dataset not in setup_of_dataset:
        existing = " or ".join(repr(setup.name) for setup in setup_of_dataset.values())
        raise UsageError(
            f"There are no published settings of {method!r} for {dataset}; use the setup "
            f"{existing}."
        )
    return setup_of_dataset.get(dataset or "", setup_of_dataset["cifar100"])
