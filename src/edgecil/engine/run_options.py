"""The keyword arguments of `run` and `search`, for type checkers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from edgecil.sequences.given import Given


class TrainingOptions(TypedDict, total=False):
    """The options of `run` that do not choose class sequences; `search` has them as well."""

    method: str | Callable[..., Any] | Sequence[str | Callable[..., Any]] | None
    dataset: Any
    root: str | os.PathLike[str] | None
    classes: int | None
    classes_seed: int | None
    class_ids: Sequence[int] | None
    names: str | os.PathLike[str] | None
    download: bool | None
    tasks: int | None
    base: int | None
    increment: int | None
    sizes: Sequence[int] | None
    order_seed: int | None
    objective: str | None
    encoder: str | None
    template: str | None
    captions: str | os.PathLike[str] | None
    weights: str | os.PathLike[str] | None
    similarity: str | os.PathLike[str] | None
    embeddings: str | os.PathLike[str] | None
    backbone: Any
    recipe: str | None
    epochs: int | None
    memory_per_class: int | None
    training: Mapping[str, Any] | None
    memory: Mapping[str, Any] | None
    set: Mapping[str, Mapping[str, Any]] | None
    image_size: int | None
    preparation: str | None
    normalisation: str | None
    device: str | None
    precision: str | None
    compile: bool | None
    threads: int | None
    workers: int | None
    devices: str | Sequence[str] | None
    workers_per_device: int | None
    executor: str | None
    address: str | None
    share: bool | None
    keep_model: bool | None
    storage: str | None
    timeout: float | None
    retries: int | None
    allow_mismatch: bool | None
    jsonl: str | os.PathLike[str] | None
    tensorboard: str | os.PathLike[str] | None
    wandb: str | None
    mlflow: str | None


class RunOptions(TrainingOptions, total=False):
    """The options of `run`, which are fields of `ExperimentConfig` and `Execution`."""

    protocol: str | Sequence[str] | None
    sequences: str | os.PathLike[str] | Sequence[Given] | Mapping[str, Sequence[Given]] | None
    budget: int | None
    repeats: int | None
    first_seed: int | None
    one_seed: bool | None
    metric: str | None
    keep_states: bool | None
    shard: str | None
    until: str | None
    repeats_on: int | None
