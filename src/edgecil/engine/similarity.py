"""The class similarity from which the sequences of an experiment are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from edgecil.classes import ClassList, get_classes, select_classes
from edgecil.engine.config import ExperimentConfig
from edgecil.errors import UsageError
from edgecil.io.arrays import Ints
from edgecil.similarity import (
    Similarity,
    align,
    read_embeddings,
    read_similarity,
    text_similarity,
)
from edgecil.similarity.build import check_same_order, find_captions, find_classes
from edgecil.similarity.matrix import numbered_names


def experiment_similarity(config: ExperimentConfig, classes: ClassList) -> Similarity:
    """Return the similarity between the N classes of an experiment.

    A file's classes are matched by name; without names it covers these N classes in label order, or
    all classes of the dataset.
    """
    asked = config.similarity
    source = asked.file or asked.embeddings
    if source is not None:
        similarity: Similarity
        if asked.file is not None:
            similarity = read_similarity(asked.file)
        else:
            similarity = read_embeddings(source)
        whole = similarity.names == numbered_names(len(similarity))
        if whole and len(similarity) > len(classes):  # all classes of the dataset, without names
            ids = _select(config, len(similarity), len(classes), source)
            similarity = similarity.take(ids)
            similarity = replace(similarity, names=numbered_names(len(ids)))
        return align(similarity, classes.labels, str(source))
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
    data = config.data
    chosen = (data.classes, data.classes_seed, data.class_ids)
    if total > count and any(value is not None for value in chosen):
        ids = select_classes(total, count=data.classes, seed=data.classes_seed, ids=data.class_ids)
        if len(ids) == count:
            return ids
    raise UsageError(f"{source} covers {total} classes but the experiment has {count}.")


def _captions(source: str, classes: ClassList) -> list[str]:
    """Return captions of the experiment's classes, from those of the whole dataset or fewer."""
    whole = classes
    try:
        listed = get_classes(classes.name)
        if set(classes.labels) <= set(listed.labels):
            whole = listed
    except UsageError:
        pass  # not a bundled class list
    captions = _read_captions(source, classes, whole)
    return [captions[label] for label in classes.labels]


def _read_captions(source: str, classes: ClassList, whole: ClassList) -> dict[str, str]:
    try:
        texts = find_captions(whole, source)
    except UsageError:
        if whole is classes:
            raise
        whole, texts = classes, find_captions(classes, source)
    return dict(zip(whole.labels, texts, strict=True))
