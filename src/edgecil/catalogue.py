"""Lists of the available datasets, encoders, backbones, methods, protocols, recipes and setups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, get_args

from edgecil.classes import dataset_names, get_classes
from edgecil.errors import unknown
from edgecil.io.packages import require_training

Kind = Literal[
    "methods",
    "backbones",
    "datasets",
    "encoders",
    "protocols",
    "objectives",
    "recipes",
    "setups",
]


@dataclass(frozen=True)
class DatasetEntry:
    """A dataset with a name; `classes` is None if they are read from the images' folders."""

    name: str
    classes: int | None
    first: tuple[str, ...]
    images: bool
    note: str


@dataclass(frozen=True)
class AvailableEntry:
    """Something that may require weights or packages, and how to get what is missing."""

    name: str
    available: bool
    note: str


@dataclass(frozen=True)
class Entry:
    """Something with a name, in one line."""

    name: str
    summary: str


@dataclass(frozen=True)
class ConfiguredEntry(Entry):
    """A method or a recipe with its settings."""

    settings: dict[str, Any]


@dataclass(frozen=True)
class SetupEntry(Entry):
    """A setup; what is empty, it leaves open."""

    network: str = ""
    preparation: str = ""
    split: str = ""
    source: str = ""


def list_entries(
    kind: Kind, pattern: str = "*", *, root: str | Path | None = None, setup: str = "fast"
) -> list[Any]:
    """Return what there is of a kind: names with a line about each.

    Args:
        kind: `methods`, `backbones`, `datasets`, `encoders`, `protocols`, `objectives`, `recipes`
            or `setups`.
        pattern: shell pattern of the names, such as `classic-*`.
        root: directory to look for the images of datasets in.
        setup: the setup whose settings of methods are listed, with the default backbone.

    >>> [entry.name for entry in list_entries("recipes", "samples-*")]
    ['samples-cub200', 'samples-quickdraw']
    """
    if kind not in get_args(Kind):
        raise unknown("kind", kind, get_args(Kind))
    listers: dict[str, Callable[[], Sequence[Any]]] = {
        "methods": lambda: _list_methods(setup),
        "backbones": _list_backbones,
        "datasets": lambda: _list_datasets(root),
        "encoders": _list_encoders,
        "protocols": _list_protocols,
        "objectives": _list_objectives,
        "recipes": _list_recipes,
        "setups": _list_setups,
    }
    return [entry for entry in listers[kind]() if fnmatchcase(entry.name, pattern)]


def _list_datasets(root: str | Path | None) -> list[DatasetEntry]:
    from edgecil.data import IMAGE_DATASETS, dataset_status

    entries = []
    for name in dataset_names():
        classes, status = get_classes(name), (False, "Class names only.")
        if name in IMAGE_DATASETS:
            status = dataset_status(name, root=root)
        entries.append(DatasetEntry(name, len(classes), classes.words[:3], *status))
    for name in IMAGE_DATASETS:
        if name not in dataset_names():  # its class names are in the copy
            entries.append(DatasetEntry(name, None, (), *dataset_status(name, root=root)))
    return entries


def _list_encoders() -> list[AvailableEntry]:
    from edgecil.similarity import encoder_names, encoder_status

    return [AvailableEntry(name, *encoder_status(name)) for name in encoder_names()]


def _list_backbones() -> list[AvailableEntry]:
    require_training()
    from edgecil.backbones import backbone_names, backbone_status

    return [AvailableEntry(name, *backbone_status(name)) for name in backbone_names()]


def _list_methods(setup: str) -> list[ConfiguredEntry]:
    """List methods with their settings in a setup; in one of a single method, that method."""
    require_training()
    from edgecil.methods import get_method, method_names
    from edgecil.methods.setups import NAMED, SETUPS

    backbone = "resnet-tiny"
    only = NAMED.get(SETUPS.resolve(setup))
    return [
        ConfiguredEntry(
            it.name,
            it.summary,
            asdict(it.configure(*it.schedule(setup, backbone), it.settings(setup))),
        )
        for it in map(get_method, method_names())
        if only is None or it.name == only.method
    ]


def _list_protocols() -> list[Entry]:
    from edgecil.sequences import PROTOCOLS

    return [Entry(it.name, it.summary) for it in PROTOCOLS.values()]


def _list_objectives() -> list[Entry]:
    from edgecil.sequences import OBJECTIVES

    firsts = {name: (it.__doc__ or "").split("\n")[0] for name, it in OBJECTIVES.items()}
    return [Entry(name, first.removeprefix("Return ")) for name, first in firsts.items()]


def _list_recipes() -> list[ConfiguredEntry]:
    from edgecil.recipes import describe_recipe, read_recipe, recipe_names

    names = recipe_names()
    return [ConfiguredEntry(name, describe_recipe(name), read_recipe(name)) for name in names]


def _list_setups() -> list[SetupEntry]:
    """List the setups for every method, then the published ones by name."""
    require_training()
    from edgecil.methods.setups import NAMED

    return [
        SetupEntry("fast", "made for a CPU and the bundled data"),
        SetupEntry("paper", "as the EDGE paper has it"),
        SetupEntry("published", "each method's own for the dataset, one of the following"),
        *(
            SetupEntry(
                name,
                "; ".join(map(str, it.stated)) or "states no accuracy",
                it.backbone,
                " ".join(it.images.values()),
                it.split,
                it.source,
            )
            for name, it in NAMED.items()
        ),
    ]


def parameter_values() -> dict[str, tuple[str, ...]]:
    """Return the names that parameters take, by parameter, as shells complete them.

    Without torch, those of methods, networks and setups are left out.
    """
    from edgecil.data import IMAGE_DATASETS
    from edgecil.data.store import STORAGES
    from edgecil.engine.config import NORMALISATIONS, PREPARATIONS
    from edgecil.engine.metrics import METRICS
    from edgecil.recipes import recipe_names
    from edgecil.sequences import OBJECTIVES, PROTOCOLS
    from edgecil.similarity import encoder_names

    values = {
        "captions": ("bundled",),
        "config": tuple(f"recipe:{name}" for name in recipe_names()),
        "dataset": tuple(dict.fromkeys((*dataset_names(), *IMAGE_DATASETS))),
        "image dataset": tuple(IMAGE_DATASETS),
        "device": ("auto", "cpu", "cuda", "mps"),
        "encoder": encoder_names(),
        "executor": ("local", "ray"),
        "goal": ("worst", "best"),
        "metric": tuple(METRICS),
        "metrics": tuple(METRICS),
        "normalisation": NORMALISATIONS,
        "objective": tuple(OBJECTIVES),
        "predictor": (*OBJECTIVES, "pilot"),
        "preparation": PREPARATIONS,
        "protocol": tuple(PROTOCOLS),
        "show": recipe_names(),
        "storage": STORAGES,
    }
    try:
        from edgecil.backbones import backbone_names
        from edgecil.methods import method_names
        from edgecil.methods.setups import SETUPS
    except ImportError:
        return values
    networks = backbone_names()
    return values | {
        "backbone": networks,
        "images": ("pixels", *networks),
        "method": method_names(),
        "setup": SETUPS.names(),
    }
