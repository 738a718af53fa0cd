"""Lists of the available datasets, encoders, backbones, methods, protocols, recipes and setups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, get_args

from edgecil.classes import dataset_names, get_classes
from edgecil.errors import unknown_name_error
from edgecil.io.packages import require_training
from edgecil.options import checked

EntryKind = Literal[
    "methods", "backbones", "datasets", "encoders", "protocols", "objectives", "recipes", "setups"
]  # fmt: skip
Rows = Iterator[dict[str, Any]]


@checked
def list_entries(
    kind: EntryKind, pattern: str = "*", *, root: str | Path | None = None, setup: str = "fast"
) -> list[dict[str, Any]]:
    """Return what is available of a kind: names with a line about each.

    Args:
        kind: `methods`, `backbones`, `datasets`, `encoders`, `protocols`, `objectives`, `recipes`
            or `setups`.
        pattern: shell pattern of the names, such as `classic-*`.
        root: directory to look for the images of datasets in.
        setup: the setup whose settings of methods are listed, with the default backbone.

    >>> [entry["name"] for entry in list_entries("recipes", "samples-*")]
    ['samples-cub200', 'samples-quickdraw']
    """
    if kind not in get_args(EntryKind):
        raise unknown_name_error("kind", kind, get_args(EntryKind))
    if kind in ("methods", "backbones", "setups"):
        require_training()
    listers: dict[str, Callable[[], Rows]] = {
        "methods": lambda: _methods(setup),
        "backbones": _backbones,
        "datasets": lambda: _datasets(root),
        "encoders": _encoders,
        "protocols": _protocols,
        "objectives": _objectives,
        "recipes": _recipes,
        "setups": _setups,
    }
    return [entry for entry in listers[kind]() if fnmatchcase(entry["name"], pattern)]


def _datasets(root: str | Path | None) -> Rows:
    """`classes` is None if they are read from the images' folders."""
    from edgecil.data import IMAGE_DATASETS, dataset_status

    for name in dict.fromkeys((*dataset_names(), *IMAGE_DATASETS)):
        words = get_classes(name).words if name in dataset_names() else ()
        images, note = False, "Class names only."
        if name in IMAGE_DATASETS:
            images, note = dataset_status(name, root=root)
        classes = len(words) or None
        yield {"name": name, "classes": classes, "first": words[:3], "images": images, "note": note}


def _encoders() -> Rows:
    from edgecil.similarity import encoder_names, encoder_status

    return _with_status(encoder_names(), encoder_status)


def _backbones() -> Rows:
    from edgecil.backbones import backbone_names, backbone_status

    return _with_status(backbone_names(), backbone_status)


def _with_status(names: Iterable[str], status: Callable[[str], tuple[bool, str]]) -> Rows:
    for name in names:
        available, note = status(name)
        yield {"name": name, "available": available, "note": note}


def _methods(setup: str) -> Rows:
    """Methods with their settings in a setup; a setup of a single method lists that one."""
    from edgecil.methods import get_method, method_names
    from edgecil.methods.setups import NAMED, SETUPS

    named_setup = NAMED.get(SETUPS.resolve(setup))
    for method in map(get_method, method_names()):
        if named_setup is None or method.name == named_setup.method:
            schedule, memory = method.schedule(setup, "resnet-tiny")
            settings = method.configure(schedule, memory, method.settings(setup))
            yield {"name": method.name, "summary": method.summary, "settings": asdict(settings)}


def _protocols() -> Rows:
    from edgecil.sequences import PROTOCOLS

    for protocol in PROTOCOLS.values():
        yield {"name": protocol.name, "summary": protocol.summary}


def _objectives() -> Rows:
    from edgecil.sequences import OBJECTIVES

    for name, function in OBJECTIVES.items():
        first_line = (function.__doc__ or "").split("\n")[0]
        yield {"name": name, "summary": first_line.removeprefix("Return ")}


def _recipes() -> Rows:
    from edgecil.recipes import describe_recipe, read_recipe, recipe_facts, recipe_names

    for name in recipe_names():
        yield {
            "name": name,
            "summary": describe_recipe(name),
            **asdict(recipe_facts(name)),
            "settings": read_recipe(name),
        }


def _setups() -> Rows:
    """The setups for every method, then the published ones by name; "" is left to the user."""
    from edgecil.methods.setups import NAMED

    empty = dict.fromkeys(("network", "preparation", "split", "source"), "")
    for name, summary in {
        "fast": "made for a CPU and the bundled data",
        "paper": "as the EDGE paper has it",
        "published": "each method's own for the dataset: one of these",
    }.items():
        yield {"name": name, "summary": summary, **empty}
    for name, setup in NAMED.items():
        yield {
            "name": name,
            "summary": "; ".join(map(str, setup.stated)) or "states no accuracy",
            "network": setup.backbone,
            "preparation": " ".join(setup.images.values()),
            "split": setup.split,
            "source": setup.source,
        }
