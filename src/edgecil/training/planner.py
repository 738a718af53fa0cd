"""The first half of a run: what it will do, without torch's work and before inputs are decoded.

:func:`edgecil.check` needs only this half; a run continues with :mod:`edgecil.training.loading`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from edgecil.classes import ClassList
from edgecil.data.dataset import Dataset
from edgecil.data.integrity import doubts_about, inspect_dataset, inspect_files
from edgecil.data.items import Items, first_vector
from edgecil.data.load import dataset_classes
from edgecil.errors import EdgecilError, PrerequisiteError, UsageError
from edgecil.experiments.chosen_similarity import experiment_similarity
from edgecil.experiments.config import Data, ExperimentConfig
from edgecil.io.arrays import Ints
from edgecil.io.packages import TRAINING, missing_packages
from edgecil.runs.training_seeds import PER_ORDER, SEEDS, SHARED
from edgecil.sequences.protocols import (
    PROTOCOLS,
    LabelledSequence,
    format_protocols,
    parse_protocols,
    protocol_budgets,
)
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.sequences.task_orders import given_tasks_identity
from edgecil.sequences.user_sequences import parse_sequences
from edgecil.similarity import Similarity
from edgecil.training.requirements import Requirements

if TYPE_CHECKING:
    from edgecil.methods import MethodEntry

_LARGE, _SMALL = 224, 32  # usual sizes of photographs and of CIFAR's images


@dataclass(frozen=True)
class ConfiguredMethod:
    """A method with its settings and the name of its network."""

    entry: MethodEntry
    settings: Any
    network: str


@dataclass(frozen=True)
class SimilarityChoice:
    """Which similarity protocols use to choose orders.

    Attributes:
        values: the similarity, if it is known already.
        from_texts: whether an encoder must still encode class names or captions.
        from_inputs: why it must be computed from class means of the inputs; else empty.
        uses_means: whether some protocols use the class means of vectors.
    """

    values: Similarity | None = None
    from_texts: bool = False
    from_inputs: str = ""
    uses_means: bool = False


@dataclass(frozen=True)
class Inspection:
    """What is known of a run before inputs are decoded.

    Attributes:
        config: the configuration with registered names.
        learners: the methods that were found, by name; empty without torch.
        opened: the dataset; None if it is missing.
        ids: of the experiment's classes among all of the dataset.
        classes: their names.
        shape: expected shape of an input.
        similarity: where the similarity of the classes comes from.
    """

    config: ExperimentConfig
    learners: Mapping[str, ConfiguredMethod]
    opened: Dataset | Items | None
    ids: Ints
    classes: ClassList
    shape: tuple[int, ...]
    similarity: SimilarityChoice

    @property
    def space(self) -> SequenceSpace:
        """Every sequence of these classes in tasks of these sizes."""
        return self.config.space(self.classes.labels)

    @property
    def networks(self) -> dict[str, str]:
        """The network of each method."""
        return {name: learner.network for name, learner in self.learners.items()}

    def drawn_protocols(self) -> dict[str, int | None]:
        """Return the protocols that draw sequences, with their own budgets."""
        protocols = parse_protocols(self.config.protocol, user_sequences=self.config.sequences)
        return {
            name: budget for name, budget in protocols.items() if name not in self.config.sequences
        }

    def given_sequences(self) -> dict[str, list[LabelledSequence]]:
        """Return the sequences that the user gave."""
        return {
            name: parse_sequences(texts, self.space, self.classes.labels)
            for name, texts in self.config.sequences.items()
        }

    def expected_orders(self) -> dict[str, list[ClassSequence]]:
        """Return as many orders of every protocol as a run will draw.

        Random orders stand for those that are chosen by a similarity or a language model.
        """
        space = self.space
        orders = {
            name: [run.sequence for run in runs] for name, runs in self.given_sequences().items()
        }
        budgets = protocol_budgets(self.drawn_protocols(), self.config.budget)
        for number, (name, budget) in enumerate(budgets.items()):
            protocol = PROTOCOLS[name]
            if protocol.needs_similarity or protocol.asks_model:
                count = protocol.check_budget(budget, space)
                orders[name] = list(space.sample(count, np.random.default_rng([1, number])))
            else:
                runs = protocol.draw(space, budget=budget, order_seed=self.config.order_seed)
                orders[name] = [run.sequence for run in runs]
        return {name: orders[name] for name in self.config.protocol_names}

    def identity(self) -> dict[str, Any]:
        """Return what determines the results, as far as it is known."""
        return {**self.tasks_identity(), **settings_identity(self.learners)}

    def tasks_identity(self) -> dict[str, Any]:
        """Return what of the tasks and seeds determines the results."""
        return {
            "sizes": list(self.space.sizes),
            **given_tasks_identity(self.space),
            SEEDS: SHARED if self.config.shares_seed else PER_ORDER,
        }


def settings_identity(learners: Mapping[str, ConfiguredMethod]) -> dict[str, Any]:
    """Return the settings of methods, by the names that an identity has for them."""
    return {f"method {name}": asdict(learner.settings) for name, learner in learners.items()}


def inspect(
    config: ExperimentConfig, requirements: Requirements | None = None
) -> Inspection | None:
    """Return what is known of a run before inputs are decoded; None if its classes are unknown.

    Args:
        config: what to run.
        requirements: a list for what is found and what is missing; without it, the first problem is
            an error.
    """
    if requirements is None:
        requirements = Requirements(strict=True)
    config, entries = _find_methods(config, requirements)
    opened = requirements.add_dataset(config.dataset, config.data.root)
    try:
        every = dataset_classes(config.dataset).labels if opened is None else opened.names
    except EdgecilError:
        _note_encoder(config, requirements)
        return None
    ids = config.data.select(len(every))
    if opened is not None and not requirements.is_strict:  # a run inspects decoded inputs
        _note_doubts(opened, ids, config.data, requirements)
    name = config.dataset if opened is None else opened.name
    classes = ClassList(name, tuple(every[index] for index in ids))
    config = config.suited_to(config.space(classes.labels))
    shape = _expected_shape(opened, config)
    similarity = _choose_similarity(
        config, classes, has_vectors=len(shape) == 1, requirements=requirements
    )
    learners: dict[str, ConfiguredMethod] = {}
    for entry in entries:
        with requirements.trying("methods"):
            learners |= configure_learners([entry], config, shape)
    return Inspection(config, learners, opened, ids, classes, shape, similarity)


def _find_methods(
    config: ExperimentConfig, requirements: Requirements
) -> tuple[ExperimentConfig, list[MethodEntry]]:
    """Return the configuration with registered names, and the methods; none without torch."""
    protocols = parse_protocols(config.protocol, user_sequences=config.sequences)
    config = replace(config, protocol=format_protocols(protocols))
    if missing_packages(TRAINING):
        return config, []
    from edgecil.methods import get_method

    entries: list[MethodEntry] = []
    for spec in config.method:
        with requirements.trying(f"method {spec}"):
            entries.append(get_method(spec))
    if len(entries) < len(config.method):
        return config, entries
    names = {text: entry.name for entry in entries for text in (entry.spec, entry.name)}
    with requirements.trying("methods"):
        settings = {
            names.get(text) or get_method(text).name: changes
            for text, changes in config.training.set.items()
        }
        unused = [name for name in settings if name not in names.values()]
        if unused:
            raise UsageError(
                f"`set` has settings of {unused[0]!r}, which is not among the methods."
            )
        specs = tuple(dict.fromkeys(entry.spec for entry in entries))
        training = replace(config.training, set=settings)
        config = replace(config, method=specs, training=training)
    return config, entries


def _note_doubts(
    opened: Dataset | Items, ids: Ints, data: Data, requirements: Requirements
) -> None:
    """Note what is doubtful about the data, of image files without decoding them."""
    integrity = (
        inspect_dataset(opened.take(ids))
        if isinstance(opened, Dataset)
        else inspect_files(opened, ids)
    )
    if integrity is not None:
        with requirements.trying("data"):
            for sentence in doubts_about(integrity, data.allow_leak):
                requirements.add("data", sentence)


def _expected_shape(opened: Dataset | Items | None, config: ExperimentConfig) -> tuple[int, ...]:
    """Return the shape of inputs; without them, the usual shape of colour images."""
    from_options = config.data.image_size
    if isinstance(opened, Dataset):
        if not opened.channels or from_options is None:
            return opened.shape
        return opened.channels, from_options, from_options
    if opened is None:
        usual = _SMALL if config.dataset.startswith("cifar") else _LARGE
        return 3, from_options or usual, from_options or usual
    if (vector := first_vector(opened.items)) is not None:
        return vector.shape
    size = from_options or opened.size or _LARGE
    return opened.channels or 3, size, size


def _choose_similarity(
    config: ExperimentConfig, classes: ClassList, *, has_vectors: bool, requirements: Requirements
) -> SimilarityChoice:
    """Return which similarity protocols use.

    It compares the classes' names; where they are not known, class means of the inputs.
    """
    options = config.similarity
    drawn = [PROTOCOLS[name] for name in config.protocol_names if name not in config.sequences]
    file = options.file or options.embeddings
    uses_means = has_vectors and not file and any(protocol.by_inputs for protocol in drawn)
    if not any(
        protocol.needs_similarity and not (protocol.by_inputs and uses_means) for protocol in drawn
    ):
        return SimilarityChoice(uses_means=uses_means)
    if file is not None:
        values = None
        with requirements.trying(f"similarity {file}"):
            values = experiment_similarity(config, classes)
            requirements.add(
                f"similarity {file}", f"{len(values)} classes, matched to the dataset's"
            )
        return SimilarityChoice(values)
    if options.changed().keys() - {"template"}:  # it was asked for, and encoding may take long
        _note_encoder(config, requirements)
        return SimilarityChoice(from_texts=True, uses_means=uses_means)
    try:
        values = experiment_similarity(config, classes)
    except PrerequisiteError as error:
        requirements.add("similarity", f"that of class means of the inputs: {error}")
        return SimilarityChoice(from_inputs=str(error), uses_means=uses_means)
    _note_encoder(config, requirements)
    return SimilarityChoice(values, uses_means=uses_means)


def _note_encoder(config: ExperimentConfig, requirements: Requirements) -> None:
    """Note the text encoder that a protocol needs."""
    if requirements.is_strict:
        return
    drawn = [PROTOCOLS[name] for name in config.protocol_names if name not in config.sequences]
    options = config.similarity
    if (
        options.file
        or options.embeddings
        or not any(protocol.needs_similarity for protocol in drawn)
    ):
        return
    requirements.add_encoder(options.encoder, options.weights)


def configure_learners(
    entries: Iterable[MethodEntry], config: ExperimentConfig, shape: Sequence[int]
) -> dict[str, ConfiguredMethod]:
    """Return methods with their settings and networks for inputs of a shape, by name."""
    learners = {}
    for entry in entries:
        network = choose_network(entry, config, tuple(shape))
        settings = configure(entry, config, network)
        if entry.source is None:
            _check_need(entry, settings, network, tuple(shape))
        learners[entry.name] = ConfiguredMethod(entry, settings, network)
    return learners


def choose_network(entry: MethodEntry, config: ExperimentConfig, shape: tuple[int, ...]) -> str:
    """Return the network of a method: its own, the common one, or the default for the data."""
    from edgecil.backbones.named import canonical_backbone, check_backbone, default_backbone

    of_method = config.training.set.get(entry.name, {}).get("backbone")
    chosen = of_method or config.training.backbone
    if chosen is not None:
        check_backbone(chosen)
    return canonical_backbone(chosen or default_backbone(shape, frozen=entry.pretrained))


def configure(entry: MethodEntry, config: ExperimentConfig, network: str) -> Any:
    """Return a method's hyper-parameters: its setup's, with the changes of the configuration."""
    from edgecil.methods.entry import replace_schedule, replace_settings

    training = config.training
    published, memory = entry.schedule(training.setup, network, config.dataset)
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


def _check_need(entry: MethodEntry, settings: Any, network: str, shape: tuple[int, ...]) -> None:
    """Raise an error if a learner's network cannot take the inputs, or lacks what it needs."""
    from edgecil.backbones.named import check_inputs, offered_by

    need = entry.needs(settings)
    if need != "features" and len(shape) == 1:
        problem = "but the dataset has vectors"
    elif need not in ("features", offered_by(network)):
        problem = f"which {network!r} does not show"
    else:
        check_inputs(network, shape)
        return
    inside = "stages of a residual network" if need == "residual" else "sockets of a ViT"
    raise UsageError(f"{entry.name} requires the {inside}, {problem}; use {entry.alternative}.")
