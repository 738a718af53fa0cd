"""A whole run: from a configuration to results in a directory."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

import edgecil
from edgecil.backbones.pretrained import fingerprint, is_pretrained
from edgecil.backbones.registry import check_backbone
from edgecil.classes.lists import ClassList
from edgecil.data.augment import channel_statistics
from edgecil.data.dataset import ImageDataset
from edgecil.data.registry import load_dataset
from edgecil.engine.config import ExperimentConfig, run_similarity
from edgecil.engine.executors import Finished, get_executor
from edgecil.engine.experiment import SIMILARITY_FILE, save_experiment_similarity, stored_answers
from edgecil.engine.node_training import WorkerContext
from edgecil.engine.plan import Plan
from edgecil.engine.results import Summary
from edgecil.engine.scheduler import execute
from edgecil.engine.store import Store, clear
from edgecil.errors import UsageError
from edgecil.io.device import choose_device, cores
from edgecil.io.locks import locked
from edgecil.methods import Environment, MethodEntry, get_method
from edgecil.methods.registry import replace_settings
from edgecil.methods.task import Scenario
from edgecil.sequences.protocols import PROTOCOLS, LabelledSequence, protocol
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity import Similarity


@dataclass(frozen=True)
class Prepared:
    """A run that is ready to start.

    Attributes:
        workplace: data and settings for the workers.
        sequences: by protocol.
        plan: what to train.
        identity: what decides the results; a directory holds one of each.
        similarity: from which the sequences were chosen; None if no protocol required one.
    """

    workplace: WorkerContext
    sequences: dict[str, list[LabelledSequence]]
    plan: Plan
    identity: dict[str, Any]
    similarity: Similarity | None = None

    def sharing(self, directory: Path) -> Prepared:
        """The same run, whose sequences share what need not be computed twice."""
        environment = replace(self.workplace.environment, shared=str(directory.absolute()))
        return replace(self, workplace=replace(self.workplace, environment=environment))


def run(
    config: ExperimentConfig,
    out: str | Path,
    *,
    workers: int | None = None,
    executor: str = "local",
    address: str | None = None,
    fresh: bool = False,
    share: bool = True,
    on_start: Callable[[Prepared, Store], None] = lambda prepared, store: None,
    on_finished: Callable[[Finished], None] = lambda finished: None,
) -> tuple[Store, Summary]:
    """Train every method on every sequence, or go on where an earlier call stopped.

    Args:
        config: what to run.
        out: the run directory.
        workers: nodes at a time; by default one per `threads` cores, or one on a GPU.
        executor: `local` or `ray`.
        address: of a Ray cluster.
        fresh: forget what the directory holds.
        share: let sequences share frozen features and pieces that need not be computed twice;
            the results are the same without.
        on_start: told once what is about to happen.
        on_finished: told of every node that ends.

    Returns:
        The open store, and what was done.
    """
    prepared = prepare(config, {} if fresh else stored_answers(out))
    if share:
        prepared = prepared.sharing(Path(out) / "shared")
    if workers is None:
        on_cpu = prepared.workplace.environment.device == "cpu"
        workers = max(1, cores() // config.threads) if on_cpu else 1
    place = get_executor(executor, prepared.workplace, workers=workers, address=address)
    with closing(place), locked(Path(out)):
        if fresh:
            clear(out)
        store = Store(out)
        try:
            store.check_identity(prepared.identity)
            for name, runs in prepared.sequences.items():
                store.add_sequences(name, runs)
            _save_similarity(store, prepared, config.protocols)
            store.add_config(_portable(config).as_dict())
            on_start(prepared, store)
            summary = execute(prepared.plan, store, place, on_finished)
            if not summary.failed:
                store.remove_features()
            return store, summary
        except BaseException:
            store.close()
            raise


def prepare(
    config: ExperimentConfig, answered: Mapping[str, Mapping[str, ClassSequence]] | None = None
) -> Prepared:
    """Load the data, choose the sequences, and settle what decides the results.

    Args:
        config: what to run.
        answered: what language models have answered before, by protocol and label.
    """
    entries = [get_method(name) for name in config.methods]
    strangers = set(config.settings) - set(config.methods)
    if strangers:
        raise UsageError(f"Settings are given for {min(strangers)!r}, which is not being run.")
    configs = {entry.name: _configure(entry, config) for entry in entries}
    dataset = load_dataset(
        config.dataset,
        root=config.root,
        count=config.classes,
        seed=config.classes_seed,
        ids=config.class_ids,
        size=config.image_size,
        download=config.download,
    )
    device = choose_device(config.device)
    statistics = channel_statistics(torch.from_numpy(dataset.train.pixels))
    environment = Environment(
        shape=dataset.shape,
        mean=statistics.mean,
        std=statistics.std,
        backbone=config.backbone,
        device=device,
        amp=config.half,
        compile=config.compile,
        pretrained=config.pretrained,
    )
    space = SequenceSpace.choose(
        len(dataset),
        tasks=config.tasks,
        base=config.base,
        increment=config.increment,
        sizes=config.sizes,
    )
    similarity = choose_similarity(config, dataset)
    sequences = choose_sequences(config, space, similarity, answered or {})
    everything = [run.sequence for runs in sequences.values() for run in runs]
    identity = {
        "edgecil": edgecil.__version__,
        "dataset": {
            "name": dataset.name,
            "classes": list(dataset.names),
            "sha256": dataset.fingerprint,
        },
        "sizes": list(space.sizes),
        "setting": _decisive(environment, entries),
        "threads": config.threads,
        "torch": torch.__version__,
        "machine": platform.machine(),
        **{f"method {name}": asdict(method) for name, method in configs.items()},
    }
    return Prepared(
        WorkerContext(Scenario(dataset, device), environment, configs, config.threads),
        sequences,
        Plan(config.methods, range(config.seeds), everything),
        identity,
        similarity,
    )


def _save_similarity(store: Store, prepared: Prepared, protocols: Sequence[str]) -> None:
    """Save the similarity of the sequences: EDGE's if EDGE is run, else the first one."""
    if prepared.similarity is None:
        return
    earlier = [name for config in store.configs() for name in config["protocols"]]
    first = not (store.directory / SIMILARITY_FILE).exists()
    if first or ("edge" in protocols and "edge" not in earlier):
        save_experiment_similarity(store.directory, prepared.similarity)


def _portable(config: ExperimentConfig) -> ExperimentConfig:
    """The configuration as it is understood from any working directory."""
    if config.similarity is None:
        return config
    return replace(config, similarity=str(Path(config.similarity).absolute()))


def _configure(entry: MethodEntry, config: ExperimentConfig) -> Any:
    """A method's hyper-parameters: its recipe's, with the run's changes."""
    recipe, memory = entry.recipe(config.recipe, config.backbone)
    configured = entry.configure(
        replace_settings(recipe, config.training, "training"),
        replace_settings(memory, config.memory, "memory"),
        entry.settings(config.recipe),
    )
    return replace_settings(configured, config.settings.get(entry.name, {}), entry.name)


def _decisive(environment: Environment, entries: list[MethodEntry]) -> dict[str, Any]:
    """What of the environment decides the results, with the content of pre-trained weights."""
    values = asdict(environment)
    del values["shared"]
    used = {
        environment.pretrained if entry.pretrained else environment.backbone for entry in entries
    }
    for name in used:
        check_backbone(name)
    for name in ("backbone", "pretrained"):
        if values[name] not in used:
            del values[name]
    weights = {name: fingerprint(name) for name in sorted(used) if is_pretrained(name)}
    return {**values, "weights": weights} if weights else values


def choose_similarity(config: ExperimentConfig, dataset: ImageDataset) -> Similarity | None:
    """The similarity between the N classes, if a protocol requires one."""
    needed = any(PROTOCOLS[name].needs_similarity for name in config.protocols if name in PROTOCOLS)
    return run_similarity(config, ClassList(dataset.name, dataset.names)) if needed else None


def choose_sequences(
    config: ExperimentConfig,
    space: SequenceSpace,
    similarity: Similarity | None,
    answered: Mapping[str, Mapping[str, ClassSequence]],
) -> dict[str, list[LabelledSequence]]:
    """The labelled sequences of every protocol."""
    return {
        name: protocol(
            name,
            space,
            similarity=similarity,
            budget=None if name == "enumerate" and len(config.protocols) > 1 else config.runs,
            order_seed=config.seed,
            objective=config.objective,
            answered=answered.get(name),
        )
        for name in config.protocols
    }
