"""The class similarity from which the sequences of an experiment are chosen, and the saved one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from edgecil.classes import ClassList, get_classes
from edgecil.errors import DataError, UsageError
from edgecil.experiments.config import ExperimentConfig
from edgecil.io.arrays import Ints
from edgecil.sequences.protocols import find_protocol
from edgecil.similarity import Similarity, align, read_similarity, text_similarity
from edgecil.similarity.build import SimilaritySource, check_same_order, find_captions, find_classes
from edgecil.similarity.matrix import numbered_names

SIMILARITY_FILE = "similarity.npz"


def experiment_similarity(config: ExperimentConfig, classes: ClassList) -> Similarity:
    """Return the similarity between the N classes of an experiment.

    A file's classes are matched by name; without names it covers these N classes in label order, or
    all classes of the dataset.
    """
    options = config.similarity
    similarity = options.read()
    if similarity is not None:
        source = options.file or options.embeddings or ""
        whole = similarity.names == numbered_names(len(similarity))
        if whole and len(similarity) > len(classes):  # all classes of the dataset, without names
            ids = _select(config, len(similarity), len(classes), source)
            similarity = replace(similarity.take(ids), names=numbered_names(len(ids)))
        return align(similarity, classes.labels, source)
    if options.names is not None:
        named = find_classes(names=options.names)
        labels: Sequence[str] = named.labels
        if len(named) != len(classes):
            ids = _select(config, len(named), len(classes), named.name)
            labels = [named.labels[id_] for id_ in ids]
        check_same_order(labels, classes.labels, named.name)
        classes = ClassList(classes.name, tuple(labels))
    return text_similarity(
        classes,
        encoder=options.encoder,
        template=options.template,
        captions=None if options.captions is None else _captions(options.captions, classes),
        weights=options.weights,
        half=options.encoder_half,
    )


def _select(config: ExperimentConfig, total: int, count: int, source: str) -> Ints:
    """Return ids of the experiment's classes among all classes of the dataset."""
    if total > count and len(ids := config.data.select(total)) == count:
        return ids
    raise UsageError(f"{source} covers {total} classes but the experiment has {count}.")


def _captions(source: str, classes: ClassList) -> list[str]:
    """Return captions of the experiment's classes; they may caption the whole dataset."""
    with suppress(UsageError):  # not a bundled class list, or captions of the experiment's classes
        whole = get_classes(classes.name)
        if set(classes.labels) <= set(whole.labels):
            captions = dict(zip(whole.labels, find_captions(whole, source), strict=True))
            return [captions[label] for label in classes.labels]
    return list(find_captions(classes, source))


def stored_similarity(directory: Path, dataset: str, names: tuple[str, ...] | None) -> Similarity:
    """Return the saved similarity, or else the bundled encoder's similarity of the class names."""
    path = directory / SIMILARITY_FILE
    if path.is_file():
        return read_similarity(path)
    if names is None:
        raise DataError(
            f"{directory} contains no {SIMILARITY_FILE} and no class names to compute a "
            "similarity from; give one."
        )
    return text_similarity(ClassList(dataset, names))


def note_sources(directory: Path, configs: Sequence[ExperimentConfig]) -> list[str]:
    """Return one sentence if calls of `run` used different similarities, or S uses another one."""
    used = [
        config.similarity
        for config in configs
        if any(find_protocol(name).needs_similarity for name in config.protocol_names)
    ]
    first, *different = dict.fromkeys(map(_describe, used)) or ("",)
    if different:
        return [
            f"The sequences of {directory} were chosen with different similarities: S uses "
            f"{first}, not {' or '.join(different)}."
        ]
    described = [config.similarity for config in configs if config.similarity.changed()]
    if not described or (directory / SIMILARITY_FILE).is_file():
        return []
    return [
        f"S uses the bundled embeddings of the class names, not {_describe(described[0])}: no "
        f"protocol of {directory} required a similarity, so none was saved. Give 'similarity' to "
        "use another one."
    ]


def _describe(source: SimilaritySource) -> str:
    texts = f"{source.encoder} with {source.captions or repr(source.template)}"
    return source.file or source.embeddings or texts
