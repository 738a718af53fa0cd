"""A run's configuration: what the command line and a TOML file can say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from edgecil.classes import ClassList
from edgecil.errors import UsageError, unknown
from edgecil.io.toml import read_toml
from edgecil.similarity import (
    DEFAULT_ENCODER,
    TEMPLATE,
    SimilarityMatrix,
    read_similarity,
    text_similarity,
)

# What settings are called that go by another name on the command line.
_OPTIONS = {"methods": "method", "protocols": "eval"}


@dataclass(frozen=True)
class ExperimentConfig:
    """Everything a run depends on.

    Attributes:
        methods: names of the learners.
        dataset: a known name, or a path.
        root: directory of the dataset's files.
        classes: how many classes to take; all by default.
        classes_seed: draw them instead of taking the first.
        class_ids: take exactly these, in this order.
        download: fetch the dataset if it is not there and has an official archive.
        tasks: number of equal tasks; or
        base: classes in the first task, and
        increment: classes in each further one; or
        sizes: any task sizes.
        protocols: which sequences to run, by protocol name.
        runs: budget of each protocol.
        seed: of the protocols' own randomness.
        seeds: how often to repeat each sequence, with training seeds 0, 1, ….
        objective: what the protocol `optimal` optimises.
        encoder: text encoder of the similarity.
        template: prompt around class names.
        similarity: a matrix file instead.
        backbone: network of the learners that train one, by name.
        pretrained: frozen model of the learners that build on one: a name, file or hub id.
        recipe: `fast` or `paper`.
        training: changes to the recipe, by name.
        memory: changes to the exemplar budget, by name (`total`, `per_class`).
        settings: changes to methods' own settings, by method.
        image_size: to resize image files to.
        device: `auto`, `cpu`, `cuda`, `mps`.
        half: mixed precision on CUDA.
        compile: torch.compile.
        threads: per worker.
    """

    methods: tuple[str, ...]
    dataset: str
    root: str | None = None
    classes: int | None = None
    classes_seed: int | None = None
    class_ids: tuple[int, ...] | None = None
    download: bool = False
    tasks: int | None = None
    base: int | None = None
    increment: int | None = None
    sizes: tuple[int, ...] | None = None
    protocols: tuple[str, ...] = ("edge",)
    runs: int | None = None
    seed: int | None = None
    seeds: int = 1
    objective: str = "adjacent"
    encoder: str = DEFAULT_ENCODER
    template: str = TEMPLATE
    similarity: str | None = None
    backbone: str = "resnet-tiny"
    pretrained: str = "vit-quickdraw"
    recipe: str = "fast"
    training: Mapping[str, Any] = field(default_factory=dict)
    memory: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    image_size: int | None = None
    device: str = "auto"
    half: bool = False
    compile: bool = False
    threads: int = 1

    def __post_init__(self) -> None:
        if not self.methods or not self.protocols:
            raise UsageError("A run needs at least one method and at least one protocol.")
        for name in ("seeds", "threads"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name!r} must be at least 1. Got {getattr(self, name)} instead.")

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain values."""
        return asdict(self)


def read_config(path: str | Path) -> dict[str, Any]:
    """The settings in a TOML file, by the names of :class:`ExperimentConfig`."""
    data = read_toml(path)
    for name, option in _OPTIONS.items():
        if option in data:
            data[name] = data.pop(option)
    known = [entry.name for entry in fields(ExperimentConfig)]
    for name in data:
        if name not in known:
            raise unknown(f"setting in {path}", name, known)
    return data


def config_text(config: ExperimentConfig) -> str:
    """The configuration as the TOML that :func:`read_config` reads, without what is default.

    >>> print(config_text(ExperimentConfig(("ewc",), "quickdraw", tasks=3, training={"epochs": 2})))
    method = ["ewc"]
    dataset = "quickdraw"
    tasks = 3
    training = { "epochs" = 2 }
    """
    lines = []
    for entry in fields(ExperimentConfig):
        value = getattr(config, entry.name)
        default = {} if entry.default is MISSING else entry.default
        if value is not None and value != default:
            lines.append(f"{_OPTIONS.get(entry.name, entry.name)} = {_toml(value)}")
    return "\n".join(lines)


def _toml(value: Any) -> str:
    """A plain value; JSON writes all of them as TOML does, but tables."""
    if isinstance(value, Mapping):
        inside = ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_toml(item) for item in value)}]"
    return json.dumps(value, ensure_ascii=False)


def build_config(values: Mapping[str, Any]) -> ExperimentConfig:
    """A configuration from plain values; lists become tuples, a single name a list of one."""
    ready: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    for name in ("methods", "protocols"):
        if isinstance(ready.get(name), str):
            ready[name] = tuple(part.strip() for part in ready[name].split(","))
        if isinstance(ready.get(name), tuple):
            ready[name] = tuple(dict.fromkeys(ready[name]))
    for name in ("methods", "dataset"):
        if not ready.get(name):
            raise UsageError(f"Say which {name} to run, on the command line or in the config file.")
    kinds = get_type_hints(ExperimentConfig)
    for name, value in ready.items():
        if name not in kinds:
            raise unknown("setting", name, kinds)
        if not _fits(value, kinds[name]):
            kind = str(getattr(kinds[name], "__name__", kinds[name]))
            raise UsageError(f"Setting {name!r} must be of the kind {kind}. Got {value!r} instead.")
    return ExperimentConfig(**ready)


def run_similarity(config: ExperimentConfig, classes: ClassList) -> SimilarityMatrix:
    """The similarity by which a run's protocols choose sequences of its N classes."""
    if config.similarity is None:
        return text_similarity(classes, encoder=config.encoder, template=config.template)
    matrix = read_similarity(config.similarity)
    if len(matrix) != len(classes):
        raise UsageError(
            f"{config.similarity} covers {len(matrix)} classes but the run has {len(classes)}."
        )
    return matrix


def _fits(value: Any, kind: Any) -> bool:
    """Whether a plain value is of a kind, as type hints write it."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return any(_fits(value, part) for part in parts)
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(item, parts[0]) for item in value)
    if origin is Mapping:
        return isinstance(value, Mapping) and all(_fits(item, parts[1]) for item in value.values())
    return kind is Any or type(value) is kind
