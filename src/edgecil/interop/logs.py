"""Read log files of PyCIL, of PILOT and of the EDGE authors' forks of both.

A log names the class order and gives accuracies in per cent, rounded to two digits: over all
classes seen, and over groups of classes. PILOT's groups are the tasks; PyCIL's have ten classes. A
log of the forks holds three runs, on the orders of their setting `eval`: random (seeds 0, 42 and
1993) or edge (hard, easy, median).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

import numpy as np

from edgecil.engine.results import Reported
from edgecil.engine.toolbox_configs import toolbox_sizes
from edgecil.errors import DataError
from edgecil.io.files import read_text
from edgecil.sequences.sequence import ClassSequence

PROTOCOL = "logs"
# The forks' setting `eval`: the protocol that it stands for, and the labels of its three orders.
FORK_PROTOCOLS = {
    "random": ("random", ("seed-0", "seed-42", "seed-1993")),
    "edge": ("edge-released", ("hard", "easy", "median")),
}
CLASSIFIERS = {"CNN": "head", "NME": "nme"}
# Every class has as many test images as every other.
BALANCED = ("cifar10", "cifar100", "cifar224", "imagenet100", "imagenet1000")

_MESSAGE = re.compile(r" => (.*)")
_SETTING = re.compile(r"(\w+): (.*)")
_ORDER = re.compile(r"\[\d{1,9}(, \d{1,9})+\]", re.ASCII)
_TESTED = re.compile(r"(CNN|NME): (\{.*\})")
_NUMBER = r"(?:np\.float64\()?(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)\)?(?=[,}])"
_TOTAL = re.compile(rf"'total': {_NUMBER}", re.ASCII)
_GROUP = re.compile(rf"'(\d{{1,9}})-(\d{{1,9}})': {_NUMBER}", re.ASCII)
_GROUP_NAME = re.compile(r"'\d+-\d+':")
_DIGITS = 18  # of a setting


class NoResultError(DataError):
    """A run without a result: it is incomplete, or its groups of classes are not the tasks."""


@dataclass
class LoggedRun:
    """One run in a log.

    `place` counts the runs of the same command before it. By classifier and after each task,
    `totals` are accuracies over all classes seen, and `groups` have the first and last new label
    of a group and its accuracy.
    """

    path: Path
    settings: dict[str, str]
    order: list[int]
    place: int = 0
    totals: dict[str, list[float]] = field(default_factory=dict)
    groups: dict[str, list[list[tuple[int, int, float]]]] = field(default_factory=dict)

    @property
    def sequence(self) -> ClassSequence:
        """The order, cut into tasks as the toolboxes do."""
        first, increment = (self._whole(key, 1) for key in ("init_cls", "increment"))
        sizes = toolbox_sizes(first, increment, len(self.order))
        return ClassSequence.from_order(self.order, sizes)

    @property
    def protocol(self) -> str:
        """The protocol that chose the order, where the log says so; else `logs`."""
        return FORK_PROTOCOLS.get(self.settings.get("eval", ""), (PROTOCOL, ()))[0]

    @property
    def label(self) -> str:
        """The protocol's label of the order, the seed that drew it, or a hash of the order."""
        labels = FORK_PROTOCOLS.get(self.settings.get("eval", ""), (PROTOCOL, ()))[1]
        if labels:
            return labels[self.place % len(labels)]
        if self.settings.get("shuffle") == "True":
            return f"seed-{self._whole('seed')}"
        return f"order-{self.order_hash}"

    @property
    def order_hash(self) -> str:
        """A short hash of the order."""
        return hashlib.sha256(str(self.sequence).encode()).hexdigest()[:8]

    @property
    def content(self) -> str:
        """Everything that the log says of the run: equal for copies of it in other files."""
        return repr((self.settings, self.order, self.totals, self.groups))

    def reported(self) -> dict[str, Reported]:
        """Return the accuracies of each classifier; an error if the run has no complete result."""
        sequence = self.sequence
        for totals in self.totals.values():
            if len(totals) != len(sequence):
                raise NoResultError(
                    f"{self.path}: the run {self.label} is incomplete: it has results after "
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
        given = tuple(tuple(row) for row in rows if row is not None)
        complete = given if len(given) == len(rows) else ()
        if not complete and not (balanced and len(set(sequence.sizes)) == 1):
            raise NoResultError(
                f"{self.path}: its groups of classes are not the tasks of sizes "
                f"{list(sequence.sizes)}, so the mean over tasks is unknown; train with "
                "edgecil.interop.run_toolbox, which counts the right answers of each task."
            )
        # With as many test images in each task, the mean over tasks is that over all images.
        accuracy = float(np.mean(complete[-1])) if complete else totals[-1]
        average = float(np.mean(totals))
        return Reported(len(sequence), accuracy, totals[-1], average, complete, tuple(totals))

    def _whole(self, key: str, least: int = 0) -> int:
        text = self.settings.get(key, "")
        is_whole = text.isascii() and text.isdigit() and len(text) <= _DIGITS
        if not is_whole or int(text) < least:
            raise DataError(
                f"{self.path} must give the setting {key!r}, an integer of at least {least}. "
                f"Got {text[:_DIGITS] or 'nothing'}."
            )
        return int(text)


def read_log(path: str | Path) -> list[LoggedRun]:
    """Return the runs in a log file; several seeds or orders of one command share a file."""
    path = Path(path)
    settings: dict[str, str] = {}
    runs: list[LoggedRun] = []
    for line in read_text(path).splitlines():
        matched = _MESSAGE.search(line)
        message = matched[1].strip() if matched else ""
        tested, setting = _TESTED.fullmatch(message), _SETTING.fullmatch(message)
        if _ORDER.fullmatch(message):
            order = [int(class_) for class_ in message.strip("[]").split(", ")]
            if runs and runs[-1].settings == settings and not runs[-1].totals:
                runs[-1].order = order  # the forks print the dataset's own order first
            else:
                place = sum(run.settings == settings for run in runs)
                runs.append(LoggedRun(path, dict(settings), order, place))
        elif tested and runs:
            _add_results(runs[-1], CLASSIFIERS[tested[1]], tested[2])
        elif setting:
            settings[setting[1]] = setting[2]
    for run in runs:
        asked = run.settings.get("class_order")
        if asked is not None and asked != str(run.order):
            raise DataError(
                f"{path}: its config asks for the class order {asked[:40]}…, and the toolbox "
                f"trained {str(run.order)[:40]}…: it ignores that key. Write files that it follows "
                "by edgecil export."
            )
    if not runs:
        raise DataError(f"{path} names no class order; it is not a log of PyCIL or PILOT.")
    return runs


def _add_results(run: LoggedRun, classifier: str, text: str) -> None:
    """Add the accuracies after one task."""
    total = _TOTAL.search(text)
    if total is None:
        raise DataError(f"{run.path} has a result without a total: {text[:80]}.")
    groups = [
        (int(first), int(last), float(accuracy)) for first, last, accuracy in _GROUP.findall(text)
    ]
    if len(groups) != len(_GROUP_NAME.findall(text)):
        raise DataError(
            f"{run.path} has a result with a group of classes whose accuracy is no number: "
            f"{text[:80]}."
        )
    for accuracy in (float(total[1]), *(group[2] for group in groups)):
        if not 0.0 <= accuracy <= 100.0:
            raise DataError(
                f"{run.path} has the accuracy {accuracy:g}; accuracies are per cent in [0, 100]."
            )
    run.totals.setdefault(classifier, []).append(float(total[1]))
    run.groups.setdefault(classifier, []).append(groups)


def by_task(
    groups: Sequence[tuple[int, int, float]], sizes: Sequence[int], *, balanced: bool
) -> list[float] | None:
    """Return accuracies of tasks from those of groups of classes; None where groups cross tasks.

    The last group may claim classes that have not come yet. Groups can be averaged if classes are
    balanced, with as many test images each.

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
