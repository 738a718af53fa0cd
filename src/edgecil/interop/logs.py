"""Results in log files that PyCIL and PILOT wrote, where they name the class order.

A log gives accuracies in per cent, rounded to two digits: the curve over all classes seen, and
groups of classes. PILOT's groups are the tasks; PyCIL's are tens, whatever the tasks are.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path

import numpy as np

import edgecil
from edgecil.classes import get_classes
from edgecil.engine.plan import Node, Prefix
from edgecil.engine.results import NodeResult, Reported, WholeRun
from edgecil.engine.store import Store, clear
from edgecil.errors import DataError, UsageError, unknown
from edgecil.estimation.predictors import ignores_similarity
from edgecil.interop.configs import known_dataset, toolbox_sizes
from edgecil.io.files import read_text
from edgecil.io.locks import locked
from edgecil.sequences.protocols import PROTOCOLS, LabelledSequence
from edgecil.sequences.sequence import ClassSequence, format_tasks

PROTOCOL = "logs"
CLASSIFIERS = {"CNN": "head", "NME": "nme"}
# Every class has as many test images as every other.
BALANCED = ("cifar10", "cifar100", "cifar224", "imagenet100", "imagenet1000")

_MESSAGE = re.compile(r" => (.*)")
_SETTING = re.compile(r"(\w+): (.*)")
_ORDER = re.compile(r"\[\d+(, \d+)+\]")
_TESTED = re.compile(r"(CNN|NME): (\{.*\})")
_NUMBER = r"(?:np\.float64\()?([\d.]+)"
_TOTAL = re.compile(rf"'total': {_NUMBER}")
_GROUP = re.compile(rf"'(\d+)-(\d+)': {_NUMBER}")


class NoResultError(DataError):
    """A run in a log that gives no result: it did not end, or its groups are not the tasks."""


@dataclass
class LoggedRun:
    """One run in a log.

    Attributes:
        path: of the log.
        settings: as the toolbox printed them before it began.
        order: the class order.
        totals: by classifier, the accuracy over all classes seen, after each task.
        groups: by classifier, after each task: first and last new label of a group, and accuracy.
    """

    path: Path
    settings: dict[str, str]
    order: list[int]
    totals: dict[str, list[float]] = field(default_factory=dict)
    groups: dict[str, list[list[tuple[int, int, float]]]] = field(default_factory=dict)

    @property
    def sequence(self) -> ClassSequence:
        """The order, cut into tasks as the toolboxes do."""
        first, increment = (self._whole(key) for key in ("init_cls", "increment"))
        sizes = toolbox_sizes(first, increment, len(self.order))
        return ClassSequence.from_order(self.order, sizes)

    @property
    def label(self) -> str:
        """What people call the order: the seed that it was drawn from, where it was."""
        if self.settings.get("shuffle") == "True":
            return f"seed-{self._whole('seed')}"
        return f"order-{self.order_hash}"

    @property
    def order_hash(self) -> str:
        """Tells the order from others."""
        return hashlib.sha256(str(self.sequence).encode()).hexdigest()[:8]

    def same_as(self, other: LoggedRun) -> bool:
        """Whether both are one run, in whatever files they stand."""
        return replace(self, path=other.path) == other

    def reported(self) -> dict[str, Reported]:
        """What the log says of each classifier; an error if that is no result."""
        sequence = self.sequence
        for totals in self.totals.values():
            if len(totals) != len(sequence):
                raise NoResultError(
                    f"{self.path}: the run {self.label} did not end: it has results after "
                    f"{len(totals)} of {len(sequence)} tasks."
                )
        if not self.totals:
            raise NoResultError(f"{self.path}: the run {self.label} has no results.")
        return {name: self._reported(name, sequence) for name in self.totals}

    def _reported(self, classifier: str, sequence: ClassSequence) -> Reported:
        totals = self.totals[classifier]
        balanced = self.settings.get("dataset", "").lower().removesuffix("_aa") in BALANCED
        rows = [
            by_task(groups, sequence.sizes[: task + 1], balanced=balanced)
            for task, groups in enumerate(self.groups[classifier])
        ]
        known = tuple(tuple(row) for row in rows if row is not None)
        complete = known if len(known) == len(rows) else ()
        if not complete and not (balanced and len(set(sequence.sizes)) == 1):
            raise NoResultError(
                f"{self.path}: its groups of classes are not the tasks of sizes "
                f"{list(sequence.sizes)}, so the mean over tasks cannot be told; train again by "
                "'edgecil toolbox', which counts."
            )
        # With as many test images in each task, the mean over tasks is that over all images.
        accuracy = float(np.mean(complete[-1])) if complete else totals[-1]
        average = float(np.mean(totals))
        return Reported(len(sequence), accuracy, totals[-1], average, complete)

    def _whole(self, key: str) -> int:
        text = self.settings.get(key, "")
        if not text.isdigit():
            raise DataError(f"{self.path} must say the run's {key!r}. Got {text or 'nothing'}.")
        return int(text)


def read_log(path: str | Path) -> list[LoggedRun]:
    """The runs in a log file; several seeds of one command share a file."""
    path = Path(path)
    settings: dict[str, str] = {}
    runs: list[LoggedRun] = []
    for line in read_text(path).splitlines():
        found = _MESSAGE.search(line)
        message = found[1].strip() if found else ""
        tested, setting = _TESTED.fullmatch(message), _SETTING.fullmatch(message)
        if _ORDER.fullmatch(message):
            order = [int(class_) for class_ in message.strip("[]").split(", ")]
            runs.append(LoggedRun(path, dict(settings), order))
        elif tested and runs:
            classifier, total = CLASSIFIERS[tested[1]], _TOTAL.search(tested[2])
            groups = [
                (int(first), int(last), float(accuracy))
                for first, last, accuracy in _GROUP.findall(tested[2])
            ]
            if total is None:
                raise DataError(f"{path} has a result without a total: {message[:80]}.")
            runs[-1].totals.setdefault(classifier, []).append(float(total[1]))
            runs[-1].groups.setdefault(classifier, []).append(groups)
        elif setting:
            settings[setting[1]] = setting[2]
    if not runs:
        raise DataError(f"{path} names no class order; it is no log of PyCIL or PILOT.")
    return runs


def by_task(
    groups: Sequence[tuple[int, int, float]], sizes: Sequence[int], *, balanced: bool
) -> list[float] | None:
    """Accuracies of tasks from those of groups of classes; None where groups cross tasks.

    Args:
        groups: first and last new label, and accuracy; the last group may claim classes that have
            not come yet.
        sizes: of the tasks so far.
        balanced: whether every class has as many test images, so that groups can be averaged.

    >>> by_task([(0, 9, 80.0), (10, 19, 60.0), (20, 29, 50.0)], (20, 10), balanced=True)
    [70.0, 50.0]
    """
    ends = list(accumulate(sizes))
    row = []
    for size, end in zip(sizes, ends, strict=True):
        start = end - size
        inside = [group for group in groups if start <= group[0] < end]
        counts = [min(last + 1, ends[-1]) - first for first, last, _ in inside]
        if sum(counts) != size or (len(inside) > 1 and not balanced):
            return None
        row.append(float(np.average([accuracy for *_, accuracy in inside], weights=counts)))
    return row


def import_logs(
    paths: Iterable[str | Path], out: str | Path, *, protocol: str = PROTOCOL, fresh: bool = False
) -> tuple[Store, list[str]]:
    """Keep the runs of log files as results, in a directory of their own or among other logs.

    All must be on the same classes in tasks of the same sizes. A method's further runs on one order
    count as further training seeds. Runs without a result, and the same run again, are left out.

    Args:
        paths: of the log files.
        out: the run directory.
        protocol: under which the orders are kept: `logs`, or the blind protocol that drew them.
        fresh: forget what the directory holds.

    Returns:
        The open store, and a sentence on each run that was left out.
    """
    if protocol != PROTOCOL and not ignores_similarity(protocol):
        raise unknown(
            "protocol of logs", protocol, [PROTOCOL, *filter(ignores_similarity, PROTOCOLS)]
        )
    found: list[tuple[LoggedRun, dict[str, Reported]]] = []
    left_out = []
    for run in (run for path in paths for run in read_log(path)):
        again = next((other for other, _ in found if run.same_as(other)), None)
        if again is not None:
            left_out.append(f"{run.path}: the run {run.label} is the one in {again.path}.")
            continue
        try:
            found.append((run, run.reported()))
        except NoResultError as error:
            left_out.append(str(error))
    if not found:
        raise DataError(f"No run in these logs has a result; the first: {left_out[0]}")
    with locked(Path(out)):
        if fresh:
            clear(out)
        store = Store(out)
        try:
            for run, _ in found:
                store.check_identity(_identity(run))
            known = store.sequences().get(protocol, [])
            store.add_sequences(protocol, _label_orders(known, [run for run, _ in found]))
            seeds: dict[tuple[str, Prefix], int] = {}
            for run, reported in found:
                key = run.settings["model_name"], run.sequence.tasks
                seeds[key] = seeds.get(key, -1) + 1
                node = Node(key[0], seeds[key], key[1])
                _keep(store, node, WholeRun((NodeResult({}, (), 0.0, 0),), reported))
        except BaseException:
            store.close()
            raise
    return store, left_out


def _label_orders(
    known: Iterable[LabelledSequence], runs: Iterable[LoggedRun]
) -> list[LabelledSequence]:
    """Every order once: those known, then those of the runs, no two under one label.

    Other versions of the toolboxes, or of NumPy, may draw another order from the same seed.
    """
    labels = {run.sequence: run.label for run in known}
    for run in runs:
        if run.sequence not in labels:
            taken = run.label in labels.values()
            labels[run.sequence] = f"{run.label}-{run.order_hash}" if taken else run.label
    return [LabelledSequence(label, sequence) for sequence, label in labels.items()]


def _keep(store: Store, node: Node, run: WholeRun) -> None:
    """Record a run, unless another one has its place."""
    if store.whole_runs().get(node, run) != run:
        raise UsageError(
            f"{store.directory} holds another run of {node.method!r} on the order "
            f"{format_tasks(node.prefix)}; import all logs at once, with --fresh."
        )
    store.record(node, run)


def _identity(run: LoggedRun) -> dict[str, object]:
    """What the runs of one directory have in common, as the store keeps it."""
    for key in ("model_name", "dataset"):
        if key not in run.settings:
            raise DataError(f"{run.path} must say the run's {key!r}. Got nothing.")
    name = known_dataset(run.settings["dataset"])
    labels = get_classes(name).labels if name is not None else ()
    same = len(labels) == len(run.order)
    return {
        "edgecil": edgecil.__version__,
        "dataset": {
            "name": run.settings["dataset"],
            "classes": list(labels) if same else [str(id_) for id_ in sorted(run.order)],
        },
        "sizes": list(run.sequence.sizes),
        f"method {run.settings['model_name']}": {
            key: value
            for key, value in run.settings.items()
            if key not in ("config", "prefix", "seed", "device", "nb_classes", "nb_tasks")
        },
    }
