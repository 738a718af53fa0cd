"""The class similarity in an experiment's directory, and where it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from edgecil.classes.lists import ClassList
from edgecil.engine.config import ExperimentConfig
from edgecil.engine.similarity import experiment_similarity
from edgecil.errors import DataError
from edgecil.sequences.protocols import find_protocol
from edgecil.similarity import (
    Similarity,
    read_similarity,
    save_similarity,
    text_similarity,
)
from edgecil.similarity.encoders import DEFAULT_ENCODER

SIMILARITY_FILE = "similarity.npz"


def save_experiment_similarity(directory: str | Path, similarity: Similarity) -> None:
    """Save the similarity from which the sequences of an experiment were chosen."""
    save_similarity(similarity, Path(directory) / SIMILARITY_FILE)


def find_similarity(
    directory: Path,
    dataset: str,
    names: tuple[str, ...] | None,
    configs: Sequence[ExperimentConfig],
) -> Similarity:
    """Return the saved similarity, or compute it from the configuration or from class names."""
    path = directory / SIMILARITY_FILE
    if path.is_file():
        return read_similarity(path)
    if names is None:
        raise DataError(
            f"{directory} contains no {SIMILARITY_FILE} and no class names to compute a "
            "similarity from; give one."
        )
    classes = ClassList(dataset, names)
    config = _source_config(configs)
    if config is None:
        return text_similarity(classes)
    source = config.similarity.file or config.similarity.embeddings
    if source is not None and not Path(source).is_file():
        raise DataError(
            f"The similarity of {directory} is in the file {source}, which is missing; "
            "restore it, or give a similarity."
        )
    return experiment_similarity(config, classes)


def required_encoder(directory: Path, configs: Sequence[ExperimentConfig]) -> str | None:
    """Return the encoder that :func:`find_similarity` loads; None if no model is needed."""
    config = _source_config(configs)
    if config is None or (directory / SIMILARITY_FILE).is_file():
        return None
    asked = config.similarity
    if asked.file or asked.embeddings or asked.encoder == DEFAULT_ENCODER:
        return None
    return asked.encoder


def note_sources(directory: Path, configs: Sequence[ExperimentConfig]) -> list[str]:
    """Return one sentence if calls of `run` used different similarities."""
    config = _source_config(configs)
    if config is None:
        return []
    sources = dict.fromkeys(
        _similarity_text(entry) for entry in [config, *_using_similarity(configs)]
    )
    first, *others = sources
    if not others:
        return []
    return [
        f"The sequences of {directory} were chosen with different similarities: S uses "
        f"{first}, not {' or '.join(others)}."
    ]


def _source_config(configs: Sequence[ExperimentConfig]) -> ExperimentConfig | None:
    """Return the configuration whose similarity the sequences came from.

    The first one with a protocol that uses a similarity, else the first one.
    """
    return next(iter([*_using_similarity(configs), *configs]), None)


def _using_similarity(configs: Sequence[ExperimentConfig]) -> list[ExperimentConfig]:
    return [
        config
        for config in configs
        if any(find_protocol(name).needs_similarity for name in config.protocol_names)
    ]


def _similarity_text(config: ExperimentConfig) -> str:
    asked = config.similarity
    text = asked.captions or repr(asked.template)
    return asked.file or asked.embeddings or f"{asked.encoder} with {text}"
