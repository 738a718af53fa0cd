"""Run directories with made-up results, written as the engine writes them, in milliseconds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from edgecil.engine import ExperimentConfig, Node, NodeResult, Reported, Store, WholeRun
from edgecil.estimation.analysis import Analysis
from edgecil.estimation.analyze import analyze
from edgecil.report.page import Origin, Page, compose_page
from edgecil.sequences import ClassSequence, SequenceSpace, protocol
from edgecil.similarity import SimilarityMatrix
from tests.estimation.tables import six_classes

NAMES = ("apple", "bear", "bed", "bee & bug", "bench", "bicycle")
SPACE = SequenceSpace.equal(6, 3)
IMAGES = 40

Share = Callable[[ClassSequence, int], float]


def varied(sequence: ClassSequence, task: int) -> float:
    """A learner for which only the place of class 0 counts: 40, 60 or 80 per cent are right."""
    place = next((place for place, classes in enumerate(sequence.tasks) if 0 in classes), 0)
    return min(0.4 + 0.2 * place, 1.0)


def steady(sequence: ClassSequence, task: int) -> float:
    return 0.8


def write_run(
    directory: Path,
    methods: dict[str, Share],
    protocols: Iterable[str] = ("random", "edge", "latin", "enumerate"),
    *,
    space: SequenceSpace = SPACE,
    names: tuple[str, ...] = NAMES,
    similarity: SimilarityMatrix | None = None,
    runs: int | None = None,
    asked: Mapping[str, Any] | None = None,
) -> Path:
    """A directory in which each method ran each protocol; a share of the images is right.

    The configuration that it remembers says what `asked` says.
    """
    config = {"method": tuple(methods), "dataset": "made-up", "tasks": 3, **(asked or {})}
    with closing(Store(directory)) as store:
        store.check_identity(
            {"dataset": {"name": "made-up", "classes": names}, "edgecil": "0", "torch": "0"}
        )
        store.add_config(ExperimentConfig(**config).as_dict())
        for name in protocols:
            budget = None if name == "enumerate" else runs
            labelled = protocol(name, space, similarity=similarity or six_classes(), budget=budget)
            store.add_sequences(name, labelled)
            for run in labelled:
                for method, share in methods.items():
                    _record(store, method, run.sequence, share)
    return directory


def write_reported(directory: Path, accuracies: dict[str, float]) -> Path:
    """A directory of another tool that reports A(O) and nothing else, over EDGE's sequences."""
    with closing(Store(directory)) as store:
        store.check_identity({"dataset": {"name": "made-up", "classes": NAMES}})
        labelled = protocol("edge", SPACE, similarity=six_classes())
        store.add_sequences("edge", labelled)
        for run in labelled:
            cost = NodeResult({}, (), 1.0, 1)
            said = {"cnn": Reported(3, accuracies[run.label])}
            store.record(Node("theirs", 0, run.sequence.tasks), WholeRun((cost,), said))
    return directory


def analysis_of(directory: Path, similarity: SimilarityMatrix | None = None) -> Analysis:
    """The analysis of a directory, with few draws."""
    return analyze(directory, similarity=similarity or {}, draws=4)


def page_of(directory: Path, similarity: SimilarityMatrix | None = None) -> Page:
    """The page of a directory."""
    (dataset,) = analysis_of(directory, similarity).datasets
    return compose_page(dataset, Origin("runs/x"))


def _record(store: Store, method: str, sequence: ClassSequence, share: Share) -> None:
    for node in Node(method, 0, sequence.tasks).path:
        reached = len(node.prefix)
        seen = ClassSequence(node.prefix)
        counts = tuple(round(IMAGES * share(seen, task)) for task in range(reached))
        store.record(node, NodeResult({"head": counts}, (IMAGES,) * reached, 0.5, 1000))
