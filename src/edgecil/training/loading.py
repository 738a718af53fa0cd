"""The second half of a run: load the data, draw the sequences, plan the task trainings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, cast

import torch

from edgecil.backbones.features import frozen_features
from edgecil.backbones.model_slot import find_model, is_slot_model, model_name
from edgecil.backbones.named import BACKBONES, build_backbone
from edgecil.backbones.pretrained import fingerprint, is_pretrained, statistics_of
from edgecil.data import Dataset
from edgecil.data.integrity import doubts_about, inspect_dataset
from edgecil.data.load import read_dataset
from edgecil.errors import UsageError, warn
from edgecil.experiments.chosen_similarity import experiment_similarity
from edgecil.experiments.config import ExperimentConfig
from edgecil.experiments.plan import Plan
from edgecil.io.arrays import Inputs
from edgecil.io.device import check_precision, choose_device
from edgecil.methods import Environment
from edgecil.methods.image_size import fit_images, image_statistics, stored_size
from edgecil.methods.task import Scenario
from edgecil.sequences.protocols import LabelledSequence, draw_protocols, note_sequences
from edgecil.sequences.sequence import ClassSequence
from edgecil.similarity import Similarity
from edgecil.similarity.images import class_mean_similarity, image_similarity
from edgecil.training.handshake import machine_identity
from edgecil.training.node_training import WorkerContext
from edgecil.training.planner import (
    ConfiguredMethod,
    Inspection,
    configure_learners,
    inspect,
    settings_identity,
)


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
    """Inspect what a configuration asks for, and load it; see :func:`load`."""
    inspection = inspect(config)
    assert inspection is not None  # an unknown dataset is an error here
    return load(inspection, answered, remote=remote)


def load(
    inspection: Inspection,
    answered: Mapping[str, Mapping[str, ClassSequence]] | None = None,
    *,
    remote: bool = False,
) -> Prepared:
    """Load the data, choose the sequences, and collect what determines the results.

    Args:
        inspection: what is known already.
        answered: earlier answers of language models, by protocol and label.
        remote: whether workers on other machines train, which have devices of their own.
    """
    config = inspection.config
    dataset, context, learners = load_context(inspection, remote=remote)
    doubts = doubts_about(inspect_dataset(dataset), config.data.allow_leak)
    similarity = _load_similarity(inspection, dataset, context)
    means = image_similarity(dataset) if inspection.similarity.uses_means else None
    drawn = draw_protocols(
        inspection.drawn_protocols(),
        inspection.space,
        similarity=similarity,
        class_means=means,
        budget=config.budget,
        order_seed=config.order_seed,
        objective=config.objective,
        answered=answered or {},
    )
    chosen = {**drawn, **inspection.given_sequences()}
    sequences = {name: chosen[name] for name in config.protocol_names}
    notes = note_sequences(sequences)
    if doubts:
        notes["data"] = " ".join(doubts)
    identity = {
        **machine_identity(here=bool(context.interactive)),
        "dataset": {
            "name": dataset.name,
            "classes": list(dataset.names),
            "sha256": dataset.fingerprint,
        },
        **inspection.tasks_identity(),
        **_network_identity(context, learners),
        "threads": config.training.threads,
        **settings_identity(learners),
        **{
            f"code of {name}": learner.entry.identity
            for name, learner in learners.items()
            if learner.entry.identity
        },
    }
    every_sequence = [run.sequence for runs in sequences.values() for run in runs]
    return Prepared(
        config,
        context,
        sequences,
        Plan(tuple(learners), config.seeds, every_sequence),
        identity,
        similarity,
        notes,
        doubts,
    )


def _network_identity(
    context: WorkerContext, learners: Mapping[str, ConfiguredMethod]
) -> dict[str, Any]:
    """Return environment and networks of the learners.

    Each network is an entry of its own, so that methods on others can be added later.
    """
    environment = asdict(context.environment)
    for name in ("shared", "mean", "std", "backbone"):  # the data determine mean and std
        del environment[name]
    identity: dict[str, Any] = {"environment": environment}
    for name, learner in learners.items():
        if learner.entry.source is None:
            network = model_name(learner.network)
            identity[f"backbone of {name}"] = network
            if is_pretrained(learner.network):
                identity[f"weights {network}"] = fingerprint(learner.network)
    return identity


def load_context(
    inspection: Inspection, *, images: Dataset | None = None, remote: bool = False
) -> tuple[Dataset, WorkerContext, dict[str, ConfiguredMethod]]:
    """Load the data, unless they are given, and what a worker needs."""
    config = inspection.config
    data, training = config.data, config.training
    if images is None:
        assert inspection.opened is not None
        size = stored_size(data.image_size, data.preparation)
        images = read_dataset(inspection.opened, inspection.ids, size)
    learners = dict(inspection.learners)
    if images.shape != inspection.shape:  # of files that had to be decoded
        entries = [learner.entry for learner in learners.values()]
        learners = configure_learners(entries, config, images.shape)
    own_networks = [
        learner.network for learner in learners.values() if learner.entry.source is None
    ]
    dataset, shape = fit_images(
        images, own_networks, image_size=data.image_size, preparation=data.preparation
    )
    device = "cuda" if remote and training.device == "cuda" else choose_device(training.device)
    statistics = image_statistics(dataset, own_networks, normalisation=data.normalisation)
    check_precision(training.precision, device)
    networks = {name: learner.network for name, learner in learners.items()}
    environment = Environment(
        shape=shape,
        mean=statistics.mean,
        std=statistics.std,
        normalisation=cast(Any, data.normalisation),
        scale=cast(Any, data.scale),
        backbone=next(iter(networks.values())),
        device=device,
        precision=cast(Any, training.precision),
        compile=training.compile,
    )
    context = WorkerContext(
        Scenario(dataset),
        environment,
        {name: learner.settings for name, learner in learners.items()},
        training.threads,
        {
            name: learner.entry
            for name, learner in learners.items()
            if learner.entry.source is not None
        },
        backbones=networks,
        models={name: find_model(name) for name in networks.values() if is_slot_model(name)},
    )
    for name in sorted(set(own_networks)):
        _try_network(name, shape)
    return dataset, context, learners


def _load_similarity(
    inspection: Inspection, dataset: Dataset, context: WorkerContext
) -> Similarity | None:
    """Return the similarity that protocols use; None if none uses one."""
    choice = inspection.similarity
    if choice.from_texts:
        return experiment_similarity(inspection.config, inspection.classes)
    if not choice.from_inputs:
        return choice.values
    trained_before = (name for name in context.backbones.values() if is_pretrained(name))
    network = next(trained_before, None) if dataset.channels else None
    what = "inputs" if network is None else f"features of {model_name(network)}"
    warn(
        f"The similarity of the classes is that of class means of their {what}: "
        f"{choice.from_inputs}"
    )
    if network is None:
        return image_similarity(dataset)
    return class_mean_similarity(dataset, _network_features(network, context), model_name(network))


def _network_features(network: str, context: WorkerContext) -> Callable[[Inputs], Inputs]:
    """Return a function from images (n, c, h, w) to a network's features (n, d)."""
    environment = context.environment
    prepare = environment.pipeline()

    def compute_features(images: Inputs) -> Inputs:
        features = frozen_features(
            network,
            torch.from_numpy(images),
            environment.device,
            keep=True,
            prepare=prepare,
            precision=environment.precision,
        )
        rows: Inputs = features.cpu().numpy()
        return rows

    return compute_features


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
