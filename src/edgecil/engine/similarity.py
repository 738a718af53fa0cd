"""The class similarity from which the sequences of an experiment are chosen, and the saved one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from edgecil.classes import ClassList, get_classes
from edgecil.engine.config import ExperimentConfig
from edgecil.errors import DataError, UsageError
from edgecil.io.arrays import Ints
from edgecil.sequences.protocols import find_protocol
from edgecil.similarity import Similarity, align, read_embeddings, read_similarity, text_similarity
from edgecil.similarity.build import check_same_order, find_captions, find_classes
from edgecil.similarity.matrix import numbered_names
from edgecil.similarity.text import DEFAULT_ENCODER

SIMILARITY_FILE = "similarity.npz"


def experiment_similarity(config: ExperimentConfig, classes: ClassList) -> Similarity:
    """Return the similarity between the N classes of an experiment.

    A file's classes are matched by name; without names it covers these N classes in label order, or
    all classes of the dataset.
    """
    asked = config.similarity
    source = asked.file or asked.embeddings
    if source is not None:
        similarity: Similarity = read_similarity(source) if asked.file else read_embeddings(source)
        whole = similarity.names == numbered_names(len(similarity))
        if whole and len(similarity) > len(classes):  # all classes of the dataset, without names
            ids = _select(config, len(similarity), len(classes), source)
            similarity = replace(similarity.take(ids), names=numbered_names(len(ids)))
        return align(similarity, classes.labels, source)
    if asked.names is not None:
        named = find_classes(names=asked.names)
        labels: Sequence[str] = named.labels
        if len(named) != len(classes):
            ids = _select(config, len(named), len(classes), named.name)
            labels = [named.labels[id_] for id_ in ids]
        check_same_order(labels, classes.labels, named.name)
        classes = ClassList(classes.name, tuple(labels))
    return text_similarity(
        classes,
        encoder=asked.encoder,
        template=asked.template,
        captions=None if asked.captions is None else _captions(asked.captions, classes),
        weights=asked.weights,
        half=asked.encoder_half,
    )


def _select(config: ExperimentConfig, total: int, count: int, source: str) -> Ints:
    """Return ids of the experiment's classes among all classes of the dataset."""
    if total > count and len(ids := config.data.select(total)) == count:
        return ids
    raise UsageError(f"{source} covers {total} classes but the experiment has {count}.")


def _captions(source: str, classes: ClassList) -> list[str]:
    """Return captions of the experiment's classes, from those of the whole dataset or of these."""
    with suppress(UsageError):  # not a bundled class list, or captions of the experiment's classes
        whole = get_classes(classes.name)
        if set(classes.labels) <= set(whole.labels):
            captions = dict(zip(whole.labels, find_captions(whole, source), strict=True))
            return [captions[label] for label in classes.labels]
    return list(find_captions(classes, source))


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
    config = next(iter(_by_source(configs)), None)
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
    if not configs or (directory / SIMILARITY_FILE).is_file():
        return None
    asked = _by_source(configs)[0].similarity
    needed = not (asked.file or asked.embeddings) and asked.encoder != DEFAULT_ENCODER
    return asked.encoder if needed else None


def note_sources(directory: Path, configs: Sequence[ExperimentConfig]) -> list[str]:
    """Return one sentence if calls of `run` used different similarities."""
    used = (config.similarity for config in configs if _uses_similarity(config))
    texts = (
        it.file or it.embeddings or f"{it.encoder} with {it.captions or repr(it.template)}"
        for it in used
    )
    first, *others = dict.fromkeys(texts) or ("",)
    if not others:
        return []
    return [
        f"The sequences of {directory} were chosen with different similarities: S uses "
        f"{first}, not {' or '.join(others)}."
    ]


def _by_source(configs: Sequence[ExperimentConfig]) -> list[ExperimentConfig]:
    """Return the configurations, those with a protocol that uses a similarity first."""
    return sorted(configs, key=_uses_similarity, reverse=True)


def _uses_similarity(config: ExperimentConfig) -> bool:
    return any(find_protocol(name).needs_similarity for name in config.protocol_names)
