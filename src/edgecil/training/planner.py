"""Preparation of a run: load the data, choose the sequences, plan the task trainings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, cast

import torch

from edgecil.backbones.model_slot import find_model, is_slot_model, model_name
from edgecil.backbones.named import (
    BACKBONES,
    build_backbone,
    canonical_backbone,
    check_backbone,
    check_inputs,
    default_backbone,
    offered_by,
)
from edgecil.backbones.pretrained import fingerprint, is_pretrained, statistics_of
from edgecil.classes import ClassList
from edgecil.data import Dataset
from edgecil.data.integrity import doubts_about, inspect_dataset
from edgecil.data.load import load_dataset
from edgecil.errors import PrerequisiteError, UsageError, warn
from edgecil.experiments.chosen_similarity import experiment_similarity
from edgecil.experiments.config import ExperimentConfig
from edgecil.experiments.plan import Plan
from edgecil.io.device import check_precision, choose_device
from edgecil.methods import Environment, MethodEntry, get_method
from edgecil.methods.entry import replace_schedule, replace_settings
from edgecil.methods.image_size import fit_images, image_statistics, stored_size
from edgecil.methods.task import Scenario
from edgecil.runs.training_seeds import PER_ORDER, SEEDS, SHARED
from edgecil.sequences.given import parse_given
from edgecil.sequences.protocols import (
    PROTOCOLS,
    LabelledSequence,
    draw_protocols,
    format_protocols,
    note_sequences,
    parse_protocols,
)
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.task_orders import given_tasks_identity
from edgecil.similarity import Similarity
from edgecil.similarity.images import image_similarity
from edgecil.training.handshake import machine_identity
from edgecil.training.node_training import WorkerContext


@dataclass(frozen=True)
class Prepared:
    """A run that is ready to start.

    Names in `config` are as they are registered; all runs in a directory agree in `identity`;
    `notes` are sentences about the choice of sequences and the data, by what they are about;
    `doubts` are those about the data, which travel with the results.
    """

    config: ExperimentConfig
    context: WorkerContext
    sequences: dict[str, list[LabelledSequence]]
    plan: Plan
    identity: dict[str, Any]
    similarity: Similarity | None
    notes: Mapping[str, str] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()


def prepare(
    config: ExperimentConfig,
    answered: Mapping[str, Mapping[str, ClassSequence]] | None = None,
    *,
    remote: bool = False,
) -> Prepared:
    """Load the data, choose the sequences, and collect what determines the results."""
    config, entries, dataset, context = load_context(config, remote=remote)
    doubts = doubts_about(inspect_dataset(dataset), config.data.allow_leak)
    space = config.space(dataset.names)
    config = config.suited_to(space)
    config, similarity, means, missing = _choose_similarity(config, dataset)
    protocols = parse_protocols(config.protocol, own=config.sequences)
    drawn = draw_protocols(
        {name: own for name, own in protocols.items() if name not in config.sequences},
        space,
        similarity=similarity,
        class_means=means,
        budget=config.budget,
        order_seed=config.order_seed,
        objective=config.objective,
        answered=answered or {},
    )
    given = {
        name: parse_given(texts, space, dataset.names) for name, texts in config.sequences.items()
    }
    sequences = {name: (drawn | given)[name] for name in protocols}
    notes = note_sequences(sequences)
    if missing:
        notes["similarity"] = missing
    if doubts:
        notes["data"] = " ".join(doubts)
    environment = asdict(context.environment)
    for name in ("shared", "mean", "std", "backbone"):  # the data determine mean and std
        del environment[name]
    networks: dict[str, str] = {}  # by themselves, so that methods on others can be added later
    for entry in entries:
        if entry.source is None:
            network = context.backbones[entry.name]
            networks[f"backbone of {entry.name}"] = model_name(network)
            if is_pretrained(network):
                networks[f"weights {model_name(network)}"] = fingerprint(network)
    identity = {
        **machine_identity(here=bool(context.interactive)),
        "dataset": {
            "name": dataset.name,
            "classes": list(dataset.names),
            "sha256": dataset.fingerprint,
        },
        "sizes": list(space.sizes),
        **given_tasks_identity(space),
        SEEDS: SHARED if config.shares_seed else PER_ORDER,
        "environment": environment,
        **networks,
        "threads": config.training.threads,
        **{f"method {name}": asdict(method) for name, method in context.configs.items()},
        **{f"code of {entry.name}": entry.identity for entry in entries if entry.identity},
    }
    every_sequence = [run.sequence for runs in sequences.values() for run in runs]
    return Prepared(
        config,
        context,
        sequences,
        Plan(tuple(context.configs), config.seeds, every_sequence),
        identity,
        similarity,
        notes,
        doubts,
    )


def load_context(
    config: ExperimentConfig, *, images: Dataset | None = None, remote: bool = False
) -> tuple[ExperimentConfig, list[MethodEntry], Dataset, WorkerContext]:
    """Load the data, unless they are given, and the methods' settings."""
    entries = [get_method(name) for name in config.method]
    own = config.training.set
    names = {key: entry.name for entry in entries for key in (entry.spec, entry.name)}
    config = replace(
        config,
        method=tuple(dict.fromkeys(entry.spec for entry in entries)),
        protocol=format_protocols(parse_protocols(config.protocol, own=config.sequences)),
        training=replace(
            config.training,
            set={names.get(name) or get_method(name).name: it for name, it in own.items()},
        ),
    )
    data, training = config.data, config.training
    unused = [name for name in training.set if name not in names.values()]
    if unused:
        raise UsageError(f"`set` has settings of {unused[0]!r}, which is not among the methods.")
    for name in (training.backbone, *(own.get("backbone") for own in training.set.values())):
        if name is not None:
            check_backbone(name)
    images = images or load_images(config)
    backbones = {entry.name: choose_backbone(entry, config, images.shape) for entry in entries}
    configs = {entry.name: configure(entry, config, backbones[entry.name]) for entry in entries}
    networks = [backbones[entry.name] for entry in entries if entry.source is None]
    for entry in entries:
        if entry.source is None:
            _check_need(entry, entry.needs(configs[entry.name]), backbones[entry.name], images)
    dataset, shape = fit_images(
        images, networks, image_size=data.image_size, preparation=data.preparation
    )
    device = "cuda" if remote and training.device == "cuda" else choose_device(training.device)
    statistics = image_statistics(dataset, networks, normalisation=data.normalisation)
    check_precision(training.precision, device)
    environment = Environment(
        shape=shape,
        mean=statistics.mean,
        std=statistics.std,
        normalisation=cast(Any, data.normalisation),
        scale=cast(Any, data.scale),
        backbone=next(iter(backbones.values())),
        device=device,
        precision=cast(Any, training.precision),
        compile=training.compile,
    )
    context = WorkerContext(
        Scenario(dataset),
        environment,
        configs,
        training.threads,
        {entry.name: entry for entry in entries if entry.source is not None},
        backbones=backbones,
        models={name: find_model(name) for name in backbones.values() if is_slot_model(name)},
    )
    for name in sorted(set(networks)):
        _try_network(name, shape)
    return config, entries, dataset, context


def load_images(config: ExperimentConfig) -> Dataset:
    """Load the images of the experiment's classes."""
    data = config.data
    return load_dataset(
        config.dataset,
        root=data.root,
        count=data.classes,
        seed=data.classes_seed,
        ids=data.class_ids,
        size=stored_size(data.image_size, data.preparation),
    )


def _choose_similarity(
    config: ExperimentConfig, dataset: Dataset
) -> tuple[ExperimentConfig, Similarity | None, Similarity | None, str]:
    """Return the similarity that is configured, or else of images, and that of vectors' means.

    Each is None if no protocol uses it. Of the recommended protocols, random orders remain where
    there is no similarity, and a sentence says so.
    """
    drawn = [PROTOCOLS[name] for name in config.protocol_names if name not in config.sequences]
    from_file = config.similarity.file or config.similarity.embeddings
    means = None
    if not dataset.channels and not from_file and any(it.by_inputs for it in drawn):
        means = image_similarity(dataset)
    if not any(it.needs_similarity and not (it.by_inputs and means) for it in drawn):
        return config, None, means, ""
    try:
        similarity = experiment_similarity(config, ClassList(dataset.name, dataset.names))
        return config, similarity, means, ""
    except PrerequisiteError as error:
        if (fewer := config.without_probes()) is not None:
            only = "Only random orders are run, without probes, for lack of a similarity:"
            return fewer, None, None, f"{only} {error}"
        if config.similarity.changed().keys() - {"template"}:
            raise
        warn(f"{error} The similarity of the classes is computed from the pixels of their images.")
        return config, image_similarity(dataset), means, ""


def choose_backbone(entry: MethodEntry, config: ExperimentConfig, shape: tuple[int, ...]) -> str:
    """Return the network of a method: its own, that of all, or the default for the data."""
    own = config.training.set.get(entry.name, {}).get("backbone")
    chosen = own or config.training.backbone
    default = default_backbone(shape, frozen=entry.pretrained)
    return canonical_backbone(chosen or default)


def _check_need(entry: MethodEntry, need: str, network: str, dataset: Dataset) -> None:
    """Raise an error if a learner's network cannot take the inputs, or lacks what it needs."""
    if need != "features" and not dataset.channels:
        problem = "but the dataset has vectors"
    elif need not in ("features", offered_by(network)):
        problem = f"which {network!r} does not show"
    else:
        check_inputs(network, dataset.shape)
        return
    inside = "stages of a residual network" if need == "residual" else "sockets of a ViT"
    other = "another learner, such as 'simplecil' or 'er'"
    if entry.name == "ranpac":
        other = "the setting 'bottleneck' 0, which leaves the adapters out"
    raise UsageError(f"{entry.name} requires the {inside}, {problem}; use {other}.")


def _try_network(name: str, shape: tuple[int, ...]) -> None:
    """Raise an error if a network cannot be built for the inputs; weights are not downloaded."""
    if is_slot_model(name) or (len(shape) == 3 and name in BACKBONES):
        build_backbone(name, shape, torch.Generator().manual_seed(0))
    elif len(shape) == 3 and (stated := statistics_of(name)) is not None:
        channels = len(stated.mean)
        if channels != shape[0]:
            raise UsageError(
                f"The backbone {name!r} requires images with {channels} channel(s), but the "
                f"dataset's have {shape[0]}; use another backbone."
            )


def configure(entry: MethodEntry, config: ExperimentConfig, backbone: str) -> Any:
    """Return a method's hyper-parameters: its setup's, with the changes of the configuration."""
    training = config.training
    published, memory = entry.schedule(training.setup, backbone, config.dataset)
    schedule, exemplars = dict(training.schedule), dict(training.memory)
    if training.epochs is not None and training.steps is not None:
        raise UsageError("The budget of a task is `epochs` or `steps`, not both; leave one out.")
    if training.epochs is not None:
        schedule["epochs"] = training.epochs
    if training.steps is not None:
        schedule["steps"] = training.steps
    if training.memory_per_class is not None:
        exemplars["per_class"] = training.memory_per_class
    configured = entry.configure(
        replace_schedule(published, schedule),
        replace_settings(memory, exemplars, "memory"),
        entry.settings(training.setup, config.dataset),
    )
    names = {field.name for field in fields(configured)}
    settings = {
        name: value
        for name, value in training.set.get(entry.name, {}).items()
        if name != "backbone" or name in names  # the network is not the method's own setting
    }
    return replace_settings(configured, settings, entry.name)
