"""What the names of files and folders say about the runs in them: seed, dataset, method."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from edgecil.runs.metric_names import metric_name
from edgecil.runs.reading.dataset_names import is_dataset

_SEED = re.compile(
    r"(?:^|[\W_])(?:seed|run|trial|rep|repeat|fold|rng)[\W_]*(\d{1,10})(?=$|[\W_])", re.IGNORECASE
)
_SHORT_SEED = re.compile(r"(?:^|[\W_])s(\d{1,6})(?=$|[\W_])", re.IGNORECASE)
_LAST_NUMBER = re.compile(r"[\W_](\d{1,6})$")
_TIME = re.compile(r"\d{4}[-_]?\d{2}[-_]?\d{2}(?:[-_T ]?\d{2}[-_:]?\d{2}(?:[-_:]?\d{2})?)?")
_DATASET = re.compile(
    r"(?:(?:split|seq|permuted|rotated|tiny|mini)[-_]?)*[a-z]+[-_]?\d*(?:[-_]?[rac])?",
    re.IGNORECASE,
)
_SUFFIXES = re.compile(r"(?:\.[A-Za-z]{1,8}\d?){1,2}$")
_COMMON = (
    "results", "result", "metrics", "metric", "accuracy", "accuracies", "acc", "log", "logs",
    "output", "outputs", "out", "summary", "final", "table", "tables", "eval", "test", "data",
    "matrix", "acc_matrix", "scores", "history", "stats", "runs", "run", "exp", "experiments",
    "train", "stdout", "console", "eval_results", "results_matrix", "r", "csv", "all",
)  # fmt: skip
_EDGES = " _-./="
_METRIC_WORDS = ("avg", "average", "final", "mean", "last", "test", "inc", "incremental", "matrix")
_TENSORBOARD = re.compile(r"(?:(?<=/)|^)run-(.*?)-tag-(.*)$")


@dataclass(frozen=True)
class PathName:
    """What the path of a file says.

    Attributes:
        method: what is left of the path without the other parts; empty if nothing is.
        seed: a number that is called a seed, a run or a trial, or that counts files.
        dataset: the part that is the name of a dataset.
        metric: words that name a metric.
    """

    method: str = ""
    seed: str = ""
    dataset: str = ""
    metric: str = ""


def path_names(sources: Sequence[str]) -> dict[str, PathName]:
    """Return what each path says, given the others: parts that all share say nothing.

    >>> names = path_names(["out/er_seed0.csv", "out/er_seed1.csv"])
    >>> names["out/er_seed1.csv"]
    PathName(method='er', seed='1', dataset='', metric='')
    """
    different = list(dict.fromkeys(sources))
    if not different:
        return {}
    parts = {source: list(PurePath(source.replace("\\", "/")).parts) for source in different}
    for own in parts.values():
        own[-1] = _SUFFIXES.sub("", own[-1])
    shared = 0
    shortest = min(map(len, parts.values()))
    while shared < shortest - 1 and len({tuple(own[: shared + 1]) for own in parts.values()}) == 1:
        shared += 1
    names = {source: parse_name("/".join(own[shared:])) for source, own in parts.items()}
    return _number_files(names)


def parse_name(text: str) -> PathName:
    """Return what a path says by itself."""
    tensorboard = _TENSORBOARD.search(text)
    if tensorboard is not None:
        text = text[: tensorboard.start()] + tensorboard[1] + "/" + tensorboard[2]
    text = _TIME.sub("", text)
    seed = _SEED.search(text) or _SHORT_SEED.search(text)
    if seed is not None:
        text = f"{text[: seed.start()]}/{text[seed.end() :]}"
    dataset = ""
    for match in _DATASET.finditer(text):
        if is_dataset(match[0]):
            dataset = match[0].strip(_EDGES)
            text = f"{text[: match.start()]}/{text[match.end() :]}"
            break
    pieces = [piece.strip(_EDGES) for piece in text.split("/") if piece.strip(_EDGES)]
    metric = ""
    if pieces:
        pieces[-1], metric = _split_metric(pieces[-1])
    left = [piece for piece in pieces if piece and piece.lower() not in _COMMON]
    return PathName(" ".join(left), "" if seed is None else seed[1], dataset, metric)


def _split_metric(piece: str) -> tuple[str, str]:
    """Return the last part of a path without the name of a metric at its end, and that name."""
    words = [word for word in re.split(r"[\s_-]+", piece) if word]
    count = 0
    while count < len(words) and _is_metric_word(words[-1 - count]):
        count += 1
    named = " ".join(words[len(words) - count :])
    if count == 0 or metric_name(named) is None:
        return piece, ""
    start = piece.rfind(words[len(words) - count])
    return piece[:start].strip(_EDGES), named


def _is_metric_word(word: str) -> bool:
    return metric_name(word) is not None or word.lower() in _METRIC_WORDS


def _number_files(names: dict[str, PathName]) -> dict[str, PathName]:
    """Take numbers at the end of names as seeds where they count files of one method."""
    if any(name.seed for name in names.values()) or len(names) < 2:
        return names
    ends = {source: _LAST_NUMBER.search(f"_{name.method}") for source, name in names.items()}
    if not all(ends.values()):
        return names
    numbers: dict[tuple[str, str], list[int]] = {}
    stems: dict[str, tuple[str, str]] = {}
    for source, match in ends.items():
        if match is not None:
            name = names[source]
            stem = f"_{name.method}"[: match.start()].strip(_EDGES)
            stems[source] = (stem, name.dataset)
            numbers.setdefault(stems[source], []).append(int(match[1]))
    for counted in numbers.values():
        first = min(counted)
        if first > 1 or sorted(counted) != list(range(first, first + len(counted))):
            return names
    if all(len(counted) < 2 for counted in numbers.values()):
        return names
    return {
        source: PathName(stems[source][0], match[1], stems[source][1], names[source].metric)
        for source, match in ends.items()
        if match is not None
    }
