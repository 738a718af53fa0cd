"""The configuration of an experiment: what :func:`edgecil.run` takes and a TOML file holds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, TypeAlias

from edgecil.classes import ClassChoice
from edgecil.errors import UsageError, format_value
from edgecil.hints import Count, Level, Range, Whole
from edgecil.io.device import Precision
from edgecil.options import Options, option
from edgecil.runs.training_seeds import training_seed
from edgecil.sequences.protocols import RECOMMENDED, find_protocol
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace, TaskSizes
from edgecil.similarity.build import SimilaritySource
from edgecil.statistics.verdicts import LEVEL

Preparation: TypeAlias = Literal["plain", "centre-crop"]
Normalisation: TypeAlias = Literal["model", "dataset", "none"]
Scale: TypeAlias = Literal["first-task", "none"]


@dataclass(frozen=True)
class Data(ClassChoice):
    """Which classes of the dataset take part, and how their inputs are prepared."""

    root: str | None = option("directory of the dataset's files", metavar="DIR")
    image_size: int | None = option("width and height in pixels to which image files are scaled")
    preparation: Preparation = option(
        "`plain`, or `centre-crop` to scale images to 8/7 of the size and crop the centre, as "
        "PILOT does (256 and 224 pixels)",
        "plain",
    )
    normalisation: Normalisation = option(
        "`model` for the image statistics of a pre-trained model (the dataset's for other "
        "networks), `dataset` for those of the training images, or `none`",
        "model",
    )
    allow_leak: str | None = option(
        "reason to train although at least half of the test inputs occur in training; it travels "
        "with the results",
        metavar="REASON",
    )
    scale: Scale = option(
        "of vectors: `first-task` divides them, before a network that is trained on them, by the "
        "root mean square of the first task's training vectors; `none` leaves them as they are",
        "first-task",
    )


@dataclass(frozen=True)
class Training(Options):
    """How learners are trained: network, setup, changes to it, and what else decides results."""

    backbone: str | None = option(
        "network of the methods, trained or frozen as each does: a name, a weight file, a hub id, "
        "`timm:NAME`, `hf:ID` or `FILE.py:make`, in Python also a module, or a function that "
        "returns one; by default it suits learner and data; `set` may give a method its own"
    )
    setup: str = option(
        "training side of each method: `fast`, `paper`, `published` for each method's own on the "
        "dataset, or one of these by name, such as `pilot/ease/imagenet-r`; published setups bring "
        "network and preparation of images",
        "fast",
    )
    epochs: Count | None = option("epochs per task, in place of the setup's budget")
    steps: Count | None = option(
        "optimiser steps per task, in place of the setup's budget; `joint` has as many for each "
        "task seen so far"
    )
    memory_per_class: Whole | None = option("exemplars per class, in place of the setup's")
    schedule: Mapping[str, Any] = option("other changes to the training schedule, by name", {})
    memory: Mapping[str, Any] = option(
        "other changes to the exemplar memory, by name (`total`, `per_class`)", {}
    )
    set: Mapping[str, Mapping[str, Any]] = option(
        "changes to the methods' own settings, by method", {}, metavar="METHOD.NAME=VALUE"
    )
    first_seed: Whole = option(
        "number of the first repeat; another one trains the same orders with new seeds", 0
    )
    one_seed: bool = option(
        "train all sequences with the same seed, so that they share the tasks that they begin "
        "with; results are then about this seed; the protocol `enumerate` always does this",
        False,
    )
    device: str = option("`auto`, `cpu`, `cuda` or `mps`", "auto")
    precision: Precision = option(
        "`float32`; `tf32`, faster products on a GPU; or mixed precision, `bfloat16` or `float16` "
        "(on a GPU)",
        "float32",
    )
    compile: bool = option("use torch.compile", False)
    threads: Count = option("number of threads of each worker process", 1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "backbone", _as_text(self.backbone))
        if isinstance(self.set, Mapping):
            object.__setattr__(
                self, "set", {name: _texts(settings) for name, settings in self.set.items()}
            )
        super().__post_init__()


def _texts(settings: Any) -> Any:
    """Return the settings of a method with its network as text."""
    if not isinstance(settings, Mapping) or "backbone" not in settings:
        return settings
    return {**settings, "backbone": _as_text(settings["backbone"])}


def _as_text(backbone: Any) -> Any:
    """Return a network as text; a module or a function is registered under it."""
    if backbone is None or isinstance(backbone, (str, os.PathLike)):
        return backbone
    from edgecil.backbones.model_slot import backbone_text

    return backbone_text(backbone)


@dataclass(frozen=True)
class Execution(Options):
    """How an experiment is computed and where results go; a run's result does not depend on it.

    `until` and `repeats_on` add runs to the experiment, and `shard` leaves some out.
    """

    workers: Count | None = option(
        "number of trainings at the same time, each in its own process; by default as many as "
        "processor and memory, the GPU or the Ray cluster have room for",
    )
    devices: tuple[str, ...] | None = option(
        "GPUs to train on, such as `cuda:0,cuda:1`, or `all`; each training goes to the GPU that "
        "has the fewest"
    )
    workers_per_device: Count | None = option("number of trainings at the same time on each GPU")
    executor: Literal["local", "ray"] = option("`local` or `ray`", "local")
    address: str | None = option(
        "address of a Ray cluster; by default a private cluster on this machine", metavar="ADDRESS"
    )
    keep_states: bool = option(
        "keep the states of learners after every task but the last, so that sequences added later "
        "continue from the tasks that they share",
        False,
    )
    shard: str | None = option(
        "train one part of the plan only: `3/8` is the third of eight", metavar="I/N"
    )
    timeout: Annotated[float, Range(1.0)] | None = option(
        "seconds that the training of one task may take; no limit by default"
    )
    retries: Whole = option(
        "number of further attempts if a task training fails, after all other tasks", 1
    )
    allow_mismatch: bool = option(
        "also train on workers whose versions or kernels differ from those of this process or of "
        "earlier results, and record them with each result; refused by default",
        False,
    )
    until: str | None = option(
        "add random class orders until this is decided: `icarl - ewc > 0`, "
        "`icarl > 60`, `icarl ± 0.5`, or `mean ± 0.5` for every method; at most `budget` orders, "
        "30 by default",
        metavar="GOAL",
    )
    level: Level = option(
        "probability with which the intervals of `until`, and of the new trainings of a search, "
        "contain the mean",
        LEVEL,
    )
    repeats_on: Count | None = option(
        "number of orders of the experiment's first protocol to train once more with another "
        "training seed, to separate the effect of the order from training noise",
    )
    jsonl: str | None = option("also write one JSON object per run to this file", metavar="FILE")
    tensorboard: str | None = option(
        "also write TensorBoard event files to this directory", metavar="DIR"
    )
    wandb: str | None = option("also write every run to this project of Weights & Biases")
    mlflow: str | None = option("also write every run to this experiment of MLflow")
    progress: bool = option(
        "show progress on stderr: a bar on a terminal; elsewhere one line per minute", True
    )

    @property
    def part(self) -> tuple[int, int] | None:
        """The shard as two numbers; None for the whole plan."""
        if self.shard is None:
            return None
        number, slash, count = self.shard.partition("/")
        if not (slash and number.strip().isdecimal() and count.strip().isdecimal()):
            raise UsageError(
                f"`shard` must be a number and a count, such as '3/8'. Got "
                f"{format_value(self.shard)}."
            )
        return int(number), int(count)


@dataclass(frozen=True)
class ExperimentConfig(TaskSizes):
    """Everything that determines the results of an experiment; :func:`edgecil.run` documents it."""

    method: tuple[str, ...]
    dataset: str
    protocol: tuple[str, ...] = RECOMMENDED
    sequences: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    budget: int | None = None
    order_seed: int | None = None
    objective: str = "adjacent"
    repeats: Count = option(default=1)
    metric: str = "accuracy"
    data: Data = field(default_factory=Data)
    similarity: SimilaritySource = field(default_factory=SimilaritySource)
    training: Training = field(default_factory=Training)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.method or not self.protocol:
            raise UsageError("An experiment requires at least one `method` and one `protocol`.")

    @property
    def protocol_names(self) -> tuple[str, ...]:
        """The protocols without the budgets of their own."""
        return tuple(
            text if text in self.sequences else text.strip().partition(":")[0]
            for text in self.protocol
        )

    def suited_to(self, space: SequenceSpace) -> ExperimentConfig:
        """Return the configuration without the recommended probes where all tasks hold the same.

        Probes group similar classes or spread them, which requires classes that may move between
        tasks.
        """
        if self.protocol == RECOMMENDED and not space.arranges_classes:
            return replace(self, protocol=RECOMMENDED[:1])
        return self

    @property
    def shares_seed(self) -> bool:
        """Whether all sequences are trained with the same seed."""
        return self.training.one_seed or any(
            find_protocol(name).exhaustive
            for name in self.protocol_names
            if name not in self.sequences
        )

    @property
    def repeat_numbers(self) -> range:
        """The numbers of the repeats."""
        return range(self.training.first_seed, self.training.first_seed + self.repeats)

    def seeds(self, sequence: ClassSequence) -> tuple[int, ...]:
        """Return the training seeds of a sequence, one for each repeat."""
        shared = self.shares_seed
        return tuple(
            training_seed(sequence.tasks, repeat, shared=shared) for repeat in self.repeat_numbers
        )

    @property
    def method_names(self) -> tuple[str, ...]:
        """The methods' names in the results: `Mine` for a class given as `path/to/file.py:Mine`."""
        return tuple(spec.rpartition(":")[2] for spec in self.method)


GROUPS: dict[str, type[Options]] = {
    "data": Data,
    "similarity": SimilaritySource,
    "training": Training,
    "execution": Execution,
}
