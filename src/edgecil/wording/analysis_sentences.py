"""An analysis in sentences: who is better, what may be claimed, and what limits it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from edgecil.errors import name_parameters
from edgecil.runs.identity import POOLED
from edgecil.wording.comparison_sentences import describe_comparisons
from edgecil.wording.phrases import list_methods
from edgecil.wording.sentences import describe_claims

if TYPE_CHECKING:
    from edgecil.analysis.answers import Analysis, DatasetAnalysis


def describe_analysis(analysis: Analysis) -> Iterator[str]:
    """Yield who is better over all datasets, then each dataset, then each warning once."""
    several = len(analysis.datasets) > 1
    yield from describe_comparisons(analysis.compared_groups)
    warnings: list[str] = []
    for dataset in analysis.datasets:
        if several:
            yield f"{dataset.dataset or 'your data'}:"
        yield from describe_methods(dataset)
        warnings += [f"Warning: {warning}" for warning in method_warnings(dataset)]
        warnings += [f"Note: {name_parameters(note)}" for note in dataset.notes]
    yield from dict.fromkeys(warnings)


def describe_dataset(dataset: DatasetAnalysis) -> Iterator[str]:
    """Yield who is better, and what may be claimed about each method."""
    yield from describe_comparisons(dataset.compared_groups)
    yield from describe_methods(dataset)


def describe_methods(dataset: DatasetAnalysis) -> Iterator[str]:
    """Yield what may be claimed about each method."""
    for name, method in dataset.methods.items():
        yield describe_claims(method.claims, name, dataset.metric)
    yield from pooled_notes(dataset)


def pooled_notes(dataset: DatasetAnalysis) -> list[str]:
    """Return why runs are averaged whose settings differ, a sentence for each method."""
    return [note for note in dataset.notes if POOLED in note]


def method_warnings(dataset: DatasetAnalysis) -> list[str]:
    """Return the warnings about methods, each once, after the methods that it is about."""
    methods: dict[str, list[str]] = {}
    for name, method in dataset.methods.items():
        for warning in method.warnings:
            methods.setdefault(warning, []).append(name)
    if len(dataset.methods) == 1:
        return list(methods)
    return [f"{list_methods(names)}: {warning}" for warning, names in methods.items()]
