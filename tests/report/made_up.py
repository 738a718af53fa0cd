"""Run directories with made-up results, written as the engine writes them, in milliseconds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from edgecil.analysis.analysis import analyze
from edgecil.experiments import ExperimentConfig, Node, NodeResult, Reported, Store, WholeRun
from edgecil.report.page import Origin, Page, compose_page
from edgecil.sequences import ClassSequence, SequenceSpace, protocol
from edgecil.similarity import SimilarityMatrix
from tests.analysis.tables import six_classes
from tests.grouped import grouped

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
    by_class: bool = False,
) -> Path:
    """A directory in which each method ran each protocol; a share of the images is right.

    The configuration that it remembers says what `asked` says. With `by_class` images are counted
    by class, and wrong answers name the next task, or the one before for images of the last task.
    """
    config = {"method": tuple(methods), "dataset": "made-up", "tasks": 3, **(asked or {})}
    with closing(Store(directory)) as store:
        store.check_identity(
            {"dataset": {"name": "made-up", "classes": names}, "edgecil": "0", "torch": "0"}
            | {f"method {name}": {} for name in methods}
        )
        store.add_config(asdict(ExperimentConfig(**grouped(**config))))
        for name in protocols:
            budget = None if name == "enumerate" else runs
            labelled = protocol(name, space, similarity=similarity or six_classes(), budget=budget)
            store.add_sequences(name, labelled)
            for run in labelled:
                for method, share in methods.items():
                    _record(store, method, run.sequence, share, by_class=by_class)
    return directory


def write_reported(directory: Path, accuracies: dict[str, float]) -> Path:
    """A directory of another tool that reports A(O) and nothing else, over EDGE's sequences."""
    with closing(Store(directory)) as store:
        store.check_identity(
            {"dataset": {"name": "made-up", "classes": NAMES}, "method theirs": {}}
        )
        labelled = protocol("edge", SPACE, similarity=six_classes())
        store.add_sequences("edge", labelled)
        for run in labelled:
            cost = NodeResult({}, (), 1.0, 1)
            said = {"cnn": Reported(3, accuracies[run.label])}
            store.record(Node("theirs", 0, run.sequence.tasks), WholeRun((cost,), said))
    return directory


def page_of(directory: Path, similarity: SimilarityMatrix | None = None) -> Page:
    """The page of a directory."""
    (dataset,) = analyze(directory, similarity=similarity).datasets
    return compose_page(dataset, Origin(("runs/x",)))


def _record(
    store: Store, method: str, sequence: ClassSequence, share: Share, *, by_class: bool
) -> None:
    for node in Node(method, 0, sequence.tasks).path:
        reached = len(node.prefix)
        seen = ClassSequence(node.prefix)
        counts = tuple(round(IMAGES * share(seen, task)) for task in range(reached))
        if by_class:
            store.record(node, _counted_by_class(node, counts))
        else:
            store.record(node, NodeResult({"head": counts}, (IMAGES,) * reached, 0.5, 1000))


def _counted_by_class(node: Node, counts: tuple[int, ...]) -> NodeResult:
    """Right answers shared evenly by the classes of a task, the first class getting the rest."""
    correct, totals, wrong = [], [], []
    for place, (task, right) in enumerate(zip(node.prefix, counts, strict=True)):
        share, rest = divmod(right, len(task))
        correct.append(tuple(share + (rest if index == 0 else 0) for index in range(len(task))))
        totals.append((IMAGES // len(task),) * len(task))
        missed = sum(totals[-1]) - right
        if place < len(counts) - 1:
            wrong.append((0, 0, missed))
        else:
            wrong.append((missed, 0, 0) if place else (0, missed, 0))
    return NodeResult.per_class(
        {"head": tuple(correct)}, tuple(totals), 0.5, 1000, {"head": tuple(wrong)}
    )
