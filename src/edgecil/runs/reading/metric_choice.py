"""Which metric of a source is read: the one that is asked for, or else an accuracy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from edgecil.errors import DataError
from edgecil.runs.cells.marked_numbers import parse_marked_name
from edgecil.runs.metric_names import metric_name, split_words, with_direction
from edgecil.runs.metrics import DEFAULT_METRIC, METRICS, find_metric
from edgecil.runs.reading.column_roles import metric_is, no_metric_error, unknown_numbers
from edgecil.runs.reading.frames import Frame
from edgecil.runs.reading.questions import ReadingQuestion
from edgecil.runs.reading.reading_options import Declarations, describe_columns

_PREFIX = re.compile(r"^(?:metrics|summary|results|final|test|params)[./](?=.)", re.IGNORECASE)
_POINTS = (-100.0, 100.0)  # of differences of shares
_OF_LOSS = " of loss"
_COUNT_BEHIND = re.compile(r"\s*[(\[](?:n\s*=\s*)?\d+(?:\s+\w+)?[)\]]$", re.IGNORECASE)
_PLAIN = (("acc",), ("accuracy",), ("test", "acc"), ("test", "accuracy"))
_FIRST = ("accuracy", "last", "average")
_ACC = {"aa", "aia", "alast", "aavg", "top1", "ā"}
_BESIDE = {"plasticity", "stability", "retention", "intransigence"}
_NO_TEST = {"train", "training", "val", "valid", "validation", "dev", "zero", "initial", "random"}
_TOLD_TASKS = {"til", "taw", "task-il", "taskil", "tilacc"}


_FINAL = {"final", "last", "end", "alast"}
_AVERAGE = {"avg", "average", "mean", "overall", "aavg", "aa", "aia", "ā"}
_COMMON = {
    *_FINAL, *_AVERAGE, *_ACC, "a", "acc", "accuracy", "accuracies", "accs", "acc1", "acc@1",
    "test", "eval", "evaluation", "total", "top", "1", "inc", "incremental", "cil", "class", "il",
    "task", "tasks", "all", "seen", "over", "after", "of", "the", "agnostic", "aware", "result",
    "score", "classification", "average-accuracy", "mean-accuracy", "stream", "exp", "mb", "epoch",
    "train", "training", "val", "valid", "validation", "dev",
}  # fmt: skip
"""Words of the accuracy of a whole run; another word says what a part of it is of."""
_OF_SOMETHING = 3


def offered_metrics(frame: Frame) -> dict[str, str]:
    """Return the columns of metrics in a frame by the names of the metrics."""
    columns: dict[str, str] = {}
    for column in frame.with_role("metric", "mean", "curve"):
        name = frame.metric_names.get(column) or metric_of_column(column)
        columns.setdefault(name, column)
    return columns


def metric_of_column(column: str) -> str:
    """Return the name of the metric in a column: without marks, and `accuracy` for `acc`.

    >>> metric_of_column("Err (%) ↓"), metric_of_column("Acc (5 seeds)")
    ('Err', 'accuracy')
    >>> metric_of_column("avg_accuracy")
    'avg_accuracy'
    """
    name = _COUNT_BEHIND.sub("", _PREFIX.sub("", parse_marked_name(column).name))
    return DEFAULT_METRIC if split_words(name) in _PLAIN[:2] else name


def name_differences_of_losses(frame: Frame) -> None:
    """Call forgetting that stands beside losses, and no accuracy, one of losses."""
    offered = offered_metrics(frame)
    units = {name: find_metric(name).bounds for name in offered}
    has_share = any(bounds[0] == 0.0 for bounds in units.values())
    has_loss = any("loss" in " ".join(split_words(name)) for name in offered)
    if has_share or not has_loss:
        return
    for name, column in offered.items():
        if units[name] == _POINTS and {"forgetting", "bwt"} & {name.lower()}:
            frame.metric_names[column] = f"{name}{_OF_LOSS}"


def choose_metric(frames: Sequence[Frame], wanted: str) -> str:
    """Return the name of the metric to read."""
    clear = [frame for frame in frames if frame.question is None and offered_metrics(frame)]
    offers = [offered_metrics(frame) for frame in clear or frames]
    names = list(dict.fromkeys(name for offer in offers for name in offer))
    if wanted:
        for name in names:
            if metric_is(wanted, name):
                return name
        for offer in offers:
            for name, column in offer.items():
                if metric_is(wanted, column):
                    return name
        alike = [name for name in names if _same_metric(wanted, name)]
        if len(alike) == 1:
            return alike[0]
        raise no_metric_error(frames[0], wanted)
    if names:
        counts = {name: sum(name in offer for offer in offers) for name in names}
        grades = {name: _grade_metric(name) for name in names}
        best = min(names, key=lambda name: (grades[name], -counts[name], names.index(name)))
        equal = [name for name in names if grades[name] == grades[best]]
        if len(equal) > 1 and grades[best][-1] == _OF_SOMETHING:
            raise ReadingQuestion(
                f"{frames[0].origin} has several accuracies; say which to read by `metric`: "
                f"{describe_columns(equal)}.",
                {"metric": equal},
            )
        # Some logs have the accuracy over everything learned, but not on each task.
        return "last" if best == DEFAULT_METRIC and counts.get("last", 0) > counts[best] else best
    return _lone_number(frames)


def _lone_number(frames: Sequence[Frame]) -> str:
    """Return the only column of numbers of unknown meaning, or ask which of several it is."""
    for frame in frames:
        unknown = unknown_numbers(frame)
        promoted = [name for name in frame.columns if _may_be_metric(frame, name)]
        chosen = unknown or promoted
        if len(chosen) == 1:
            frame.roles[chosen[0]] = "metric"
            return metric_of_column(chosen[0])
        if chosen:
            raise ReadingQuestion(
                f"{frame.origin} has no column that is a metric by its name; say which by "
                f"`metric`: {describe_columns(chosen)}.",
                {"metric": chosen},
            )
    frame = frames[0]
    raise DataError(
        f"{frame.origin} has no column of results. It has {describe_columns(list(frame.columns))}; "
        "name one by `metric`."
    )


def _may_be_metric(frame: Frame, name: str) -> bool:
    """Return whether a column of another role has a name that metrics have, too: `memory`."""
    return frame.roles.get(name) == "setting" and metric_name(name) is not None


def _same_metric(wanted: str, name: str) -> bool:
    """Return whether a metric of edgecil is meant by the name of a column: `last`, `Last Acc`."""
    if wanted not in METRICS:
        return False
    words = set(split_words(name)) - {"acc", "accuracy", "test", "top1"}
    synonyms = {
        "accuracy": (set(), {"final", "avg"}, {"final", "average"}, {"aa"}),
        "last": ({"last"}, {"final"}, {"a", "last"}, {"alast"}),
        "average": ({"average", "incremental"}, {"avg", "inc"}, {"a", "avg"}, {"aia"}, {"aavg"}),
        "forgetting": ({"avg", "forgetting"}, {"average", "forgetting"}, {"forget"}, {"fm"}),
        "bwt": ({"backward", "transfer"}, {"backwardtransfer"}, {"avg", "bwt"}),
    }
    return words in synonyms.get(wanted, ())


def _grade_metric(name: str) -> tuple[int, ...]:
    """Return how far a metric stands behind others: accuracies first, seconds last."""
    words = split_words(name)
    meaning = metric_name(name)
    if name == DEFAULT_METRIC:
        kind = 0
    elif name in _FIRST:
        kind = _FIRST.index(name)
    elif meaning is None:
        kind = 40
    elif meaning.unit == "share" and any("acc" in word or word in _ACC for word in words):
        kind = 1 if words in _PLAIN else 2
    elif meaning.unit == "share":
        kind = 25 if _BESIDE & set(words) else 10
    elif meaning.unit == "points" or name.endswith(_OF_LOSS):
        kind = 20
    else:
        kind = 30 if "loss" in " ".join(words) or not _is_resource(words) else 50
    is_accuracy = 0 < kind <= 2 and name not in _FIRST
    place = _place_of_accuracy(words) if is_accuracy else 0
    return (bool(_NO_TEST & set(words)), bool(_TOLD_TASKS & set(words)), kind, place)


def _place_of_accuracy(words: Sequence[str]) -> int:
    """Return where an accuracy stands among others: final, average, plain, of something.

    >>> [_place_of_accuracy(text.split()) for text in ("final acc", "avg acc", "r1 acc")]
    [0, 1, 3]
    """
    if set(words) - _COMMON or ("last", "task") in pairwise(words):
        return _OF_SOMETHING
    if _FINAL & set(words):
        return 0
    return 1 if _AVERAGE & set(words) else 2


def _is_resource(words: Sequence[str]) -> bool:
    resources = {
        "time", "sec", "secs", "seconds", "minutes", "hours", "memory", "mb", "gb", "flops",
        "params", "parameters", "runtime", "duration", "latency", "energy", "ram", "macs",
    }  # fmt: skip
    return bool(resources & set(words))


def _captions_say_accuracy(metric: str, frame: Frame) -> bool:
    """Return whether captions call a metric an accuracy: "AVG: the average top-1 accuracies"."""
    pattern = re.compile(rf"\b{re.escape(metric)}\b[^.;,\n]{{0,40}}\baccurac", re.IGNORECASE)
    return all(pattern.search(table.caption) for table in frame.tables)


def directed_metric(metric: str, frames: Sequence[Frame], declared: Declarations) -> str:
    """Return the name of the metric, with a mark where the name alone does not say its direction.

    An unknown direction is a question.
    """
    if declared.higher_is_better is not None:
        return with_direction(metric, declared.higher_is_better)
    columns = [offered_metrics(frame).get(metric, "") for frame in frames]
    marks = {parse_marked_name(column).higher_is_better for column in columns if column} - {None}
    if len(marks) == 1:
        return with_direction(metric, bool(marks.pop()))
    if metric in METRICS or metric_name(metric) is not None:
        return metric
    if any(_captions_say_accuracy(metric, frame) for frame in frames):
        return with_direction(metric, True)
    sentence = f"{metric!r} may be better high or low; say `higher_is_better` or `lower_is_better`."
    options: dict[str, list[Any]] = {"higher_is_better": [True, False]}
    pending = [frame.question for frame in frames if frame.question is not None]
    for question in pending[:1]:
        sentence = f"{sentence} {question}"
        options |= question.options
    raise ReadingQuestion(sentence, options)
