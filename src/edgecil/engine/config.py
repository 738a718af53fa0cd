"""The configuration of an experiment: the options of `run`, as a TOML file holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from edgecil.engine.seeds import training_seed
from edgecil.errors import UsageError, unknown
from edgecil.io.device import PRECISIONS
from edgecil.sequences.protocols import DEFAULT_PROTOCOL, find_protocol, split_budget
from edgecil.sequences.sequence import ClassSequence
from edgecil.similarity import DEFAULT_ENCODER, TEMPLATE

PREPARATIONS = ("plain", "centre-crop")
NORMALISATIONS = ("model", "dataset", "none")
_SIMILARITY_FILES = ("similarity", "embeddings")


@dataclass(frozen=True)
class ExperimentConfig:
    """Everything that determines the results of an experiment.

    Attributes:
        method: names of the methods, or `FILE.py:Class` for your own learner.
        dataset: name of a dataset, path of a folder of images or shards or of an .npz file, `hf:ID`
            for a dataset of the Hugging Face hub, or `FILE.py:function`. In Python also arrays, a
            dataset of torch or Hugging Face, or a pair of them for training and testing.
        root: directory of the dataset's files.
        classes: number of classes to use, the first ones in label order; all by default.
        classes_seed: draw the classes with this seed instead of taking the first ones.
        class_ids: use exactly these classes, in this order.
        names: file with class names for the similarity (.txt, .csv or .json).
        download: download the dataset if it is missing and has an official archive.
        tasks: number of tasks of equal size.
        base: number of classes in the first task; use with `increment`.
        increment: number of classes in each further task.
        sizes: number of classes in each task.
        protocol: protocols that choose the class sequences.
        sequences: file with your own class sequences, in place of protocols or beside them. In
            Python also a list, or lists by the name under which results are stored.
        budget: number of sequences of each protocol; 3 by default for most protocols.
        order_seed: seed for choosing class orders.
        repeats: number of trainings of each sequence, numbered 0, 1, …; each sequence and repeat
            has its own training seed.
        first_seed: number of the first repeat, 0 by default. With 1, the repeats complement
            another directory in which repeat 0 was trained.
        one_seed: train all sequences with the same seed, the number of the repeat, so that
            sequences share the training of the tasks that they begin with. What is learnt is then
            about this seed. The protocol `enumerate` always does this.
        objective: what the protocol `optimal` optimises.
        encoder: text encoder of the class similarity.
        template: text around class names; the paper uses the name alone, `{name}`.
        captions: file with captions to encode in place of names (.json, .csv or .txt), or
            `bundled`.
        weights: weights of the encoder: a folder, a file or a hub id.
        similarity: file with a similarity matrix, in place of an encoder (.npz, .npy or .csv).
        embeddings: file with class vectors, in place of an encoder (.npy or .npz).
        backbone: network of the methods, trained or frozen as each does: a name, a weight file, a
            hub id, `timm:NAME`, `hf:ID` or `FILE.py:make`. In Python also a module, or a function
            that returns one. By default it suits learner and data; `set` may give a method its own.
        recipe: training recipe: `fast`, `paper`, or `published` for each method's own (with
            `-imagenet-r`, `-imagenet-a` or `-cub200` for its settings on these datasets).
        epochs: epochs per task, in place of those of the training recipe.
        memory_per_class: exemplars per class, in place of those of the training recipe.
        training: other changes to the training recipe, by name.
        memory: other changes to the exemplar memory, by name (`total`, `per_class`).
        set: changes to the methods' own settings, by method.
        image_size: width and height in pixels to which image files are scaled.
        preparation: `plain`, or `centre-crop` to scale images to 8/7 of the size and crop the
            centre, as PILOT does (256 and 224 pixels).
        normalisation: `model` for the image statistics of a pre-trained model (the dataset's for
            other networks), `dataset` for those of the training images, or `none`.
        device: `auto`, `cpu`, `cuda` or `mps`.
        precision: `float32`; `tf32`, faster products on a GPU; or mixed precision, `bfloat16` or
            `float16` (on a GPU).
        compile: use torch.compile.
        threads: number of threads of each worker process.
        metric: metric that analyses of the experiment use by default; results do not depend on it.
    """

    method: tuple[str, ...]
    dataset: str
    root: str | None = None
    classes: int | None = None
    classes_seed: int | None = None
    class_ids: tuple[int, ...] | None = None
    names: str | None = None
    download: bool = False
    tasks: int | None = None
    base: int | None = None
    increment: int | None = None
    sizes: tuple[int, ...] | None = None
    protocol: tuple[str, ...] = (DEFAULT_PROTOCOL,)
    sequences: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    budget: int | None = None
    order_seed: int | None = None
    repeats: int = 1
    first_seed: int = 0
    one_seed: bool = False
    objective: str = "adjacent"
    encoder: str = DEFAULT_ENCODER
    template: str = TEMPLATE
    captions: str | None = None
    weights: str | None = None
    similarity: str | None = None
    embeddings: str | None = None
    backbone: str | None = None
    recipe: str = "fast"
    epochs: int | None = None
    memory_per_class: int | None = None
    training: Mapping[str, Any] = field(default_factory=dict)
    memory: Mapping[str, Any] = field(default_factory=dict)
    set: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    image_size: int | None = None
    preparation: str = "plain"
    normalisation: str = "model"
    device: str = "auto"
    precision: str = "float32"
    compile: bool = False
    threads: int = 1
    metric: str = "accuracy"

    def __post_init__(self) -> None:
        if not self.method or not self.protocol:
            raise UsageError("An experiment requires at least one 'method' and one 'protocol'.")
        for name, allowed in (
            ("preparation", PREPARATIONS),
            ("normalisation", NORMALISATIONS),
            ("precision", PRECISIONS),
        ):
            if getattr(self, name) not in allowed:
                raise unknown(name, getattr(self, name), allowed)
        for name in ("repeats", "threads"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name!r} must be at least 1. Got {getattr(self, name)} instead.")
        if self.first_seed < 0:
            raise UsageError(f"'first_seed' must be at least 0. Got {self.first_seed} instead.")
        texts = {
            "names": self.names,
            "captions": self.captions,
            "weights": self.weights,
            "encoder": None if self.encoder == DEFAULT_ENCODER else self.encoder,
            "template": None if self.template == TEMPLATE else self.template,
        }
        sources = [name for name in _SIMILARITY_FILES if getattr(self, name) is not None]
        if len(sources) > 1:
            raise UsageError("Give either 'similarity' or 'embeddings', not both.")
        for name, value in texts.items():
            if sources and value is not None:
                raise UsageError(
                    f"{name!r} cannot be combined with {sources[0]!r}, which is read from a file; "
                    "leave one of them out."
                )

    @property
    def protocol_names(self) -> tuple[str, ...]:
        """The protocols without the budgets of their own."""
        return tuple(
            text if text in self.sequences else split_budget(text)[0] for text in self.protocol
        )

    @property
    def shares_seed(self) -> bool:
        """Whether all sequences are trained with the same seed."""
        return self.one_seed or any(
            find_protocol(name).exhaustive
            for name in self.protocol_names
            if name not in self.sequences
        )

    @property
    def repeat_numbers(self) -> range:
        """The numbers of the repeats."""
        return range(self.first_seed, self.first_seed + self.repeats)

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


@dataclass(frozen=True)
class Execution:
    """How an experiment is computed and where results go; a run's result does not depend on it.

    `until` and `repeats_on` add runs to the experiment, and `shard` leaves some out.

    Attributes:
        workers: number of worker processes, each of which trains one task at a time. By default as
            many as fit into memory, at most one per `threads` cores; on a GPU one, until the first
            training has shown how many fit; on a Ray cluster as many as its nodes have room for.
        devices: GPUs to train on, such as `cuda:0,cuda:1`, or `all`; each training goes to the GPU
            that has the fewest.
        workers_per_device: number of trainings at the same time on each GPU.
        executor: `local` or `ray`.
        address: address of a Ray cluster; by default a private cluster on this machine.
        share: share frozen features and parts of learners between sequences.
        keep_states: keep the states of learners after every task but the last, so that sequences
            added later continue from the tasks that they share.
        keep_model: store every learner after its last task, for `Experiment.model`; finished runs
            without a stored model are trained again.
        shard: train one part of the plan only: `3/8` is the third of eight.
        storage: where to keep decoded or resized images: `memory`, `disk`, or `auto`, which uses
            the disk if they would take more than half of the free memory.
        timeout: seconds that the training of one task may take; no limit by default.
        retries: number of further attempts if a task training fails, after 1, 2, 4, … seconds.
        allow_mismatch: also train on workers whose versions or processor differ from those of this
            process or of earlier results, and record them with each result; refused by default.
        until: add random class orders one at a time until this is decided: `icarl - ewc > 0`,
            `icarl > 60`, `icarl ± 0.5`, or `mean ± 0.5` for every method. The intervals hold at all
            times, so that checking after every order is allowed; `budget` (30 by default) limits
            the number of orders.
        repeats_on: number of orders of the first protocol to train once more with another training
            seed, to separate the effect of the order from training noise.
        jsonl: also write one JSON object per run to this file.
        tensorboard: also write TensorBoard event files to this directory.
        wandb: also write every run to this project of Weights & Biases.
        mlflow: also write every run to this experiment of MLflow.
    """

    workers: int | None = None
    devices: tuple[str, ...] | None = None
    workers_per_device: int | None = None
    executor: str = "local"
    address: str | None = None
    share: bool = True
    keep_states: bool = False
    keep_model: bool = False
    shard: str | None = None
    storage: str = "auto"
    timeout: float | None = None
    retries: int = 1
    allow_mismatch: bool = False
    until: str | None = None
    repeats_on: int | None = None
    jsonl: str | None = None
    tensorboard: str | None = None
    wandb: str | None = None
    mlflow: str | None = None

    def __post_init__(self) -> None:
        if self.timeout is not None and not 0.0 < self.timeout < 1e9:
            raise UsageError(
                f"'timeout' must be a number of seconds above 0. Got {self.timeout} instead."
            )
        if self.retries < 0:
            raise UsageError(f"'retries' must be at least 0. Got {self.retries} instead.")
        if self.repeats_on is not None and self.repeats_on < 1:
            raise UsageError(f"'repeats_on' must be at least 1. Got {self.repeats_on} instead.")

    @property
    def part(self) -> tuple[int, int] | None:
        """The shard as two numbers; None for the whole plan."""
        if self.shard is None:
            return None
        number, slash, count = self.shard.partition("/")
        if not (slash and number.strip().isdecimal() and count.strip().isdecimal()):
            raise UsageError(
                f"'shard' must be a number and a count, such as '3/8'. Got {self.shard!r} instead."
            )
        return int(number), int(count)
