"""What the names of files and folders say about the runs in them: seed, dataset, method, metric."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from edgecil.runs.metric_names import metric_name
from edgecil.runs.reading.dataset_names import is_dataset

METHOD_OF_FILE = "method of file"
"""The column of methods that the names of files give."""

_SEED = re.compile(r"(?:seed|run|trial|repeat|repetition|rep|fold|rng)(\d{1,10})", re.IGNORECASE)
_SEED_WORD = re.compile(r"(?:seed|run|trial|repeat|repetition|rep|fold|rng)", re.IGNORECASE)
_SHORT_SEED = re.compile(r"s(\d{1,6})", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,10}")
_TIME = re.compile(r"\d{4}[-_]?\d{2}[-_]?\d{2}(?:[-_T ]?\d{2}[-_:]?\d{2}(?:[-_:]?\d{2})?)?")
_SEPARATORS = re.compile(r"([\W_]+)")
_SUFFIXES = re.compile(r"(?:\.[A-Za-z]{1,8}\d?){1,2}$")
_COMMON = (
    "results", "result", "metrics", "metric", "log", "logs", "output", "outputs", "out",
    "summary", "summaries", "final", "table", "tables", "eval", "evaluation", "test", "data",
    "matrix", "mat", "scores", "score", "history", "stats", "runs", "run", "exp", "exps",
    "experiment", "experiments", "train", "training", "stdout", "console", "r", "csv", "csvs",
    "json", "all", "per", "task", "tasks", "values", "value", "curve", "curves", "readme",
    "file", "files",
    "graphs", "graph", "plots", "plot", "figures", "avg", "average", "mean", "overall", "class",
    "classes",
)  # fmt: skip
_KEYS = {
    "method": "method",
    "strategy": "method",
    "approach": "method",
    "algorithm": "method",
    "algo": "method",
    "learner": "method",
    "dataset": "dataset",
    "benchmark": "dataset",
}
"""Words of file names before the name of a method or a dataset."""

METRIC_WORDS = (
    "acc", "accuracy", "accuracies", "loss", "losses", "forgetting", "forget", "error", "errors",
    "err", "bwt", "fwt", "auc", "f1", "perplexity", "ppl", "nll", "time", "times", "timing",
    "runtime",
)  # fmt: skip
"""Words of file names that name the metric of what is inside."""

_METRIC_WORDS_BEFORE = ("avg", "average", "final", "mean", "last", "test", "inc", "incremental")
_TENSORBOARD = re.compile(r"run-(.*?)-tag-(.*)")
_EDGES = " _-./=,+()[]"
_MOST_WORDS = 3  # of the name of a dataset
_MOST_FOLDERS = 4  # above a file that are asked for what its name does not say


@dataclass(frozen=True)
class PathName:
    """What the path of a file says.

    Attributes:
        method: what is left of the path without the other parts; empty if nothing is.
        seed: a number that is called a seed, a run or a trial, or that counts files.
        dataset: the part that is the name of a dataset.
        metric: the word for a metric in the name of the file.
    """

    method: str = ""
    seed: str = ""
    dataset: str = ""
    metric: str = ""


def path_names(sources: Sequence[str]) -> dict[str, PathName]:
    """Return what each path says, given the others.

    What the name of a file does not say, the folders above it do, the nearest first.

    >>> names = path_names(["out/er_seed0.csv", "out/er_seed1.csv"])
    >>> names["out/er_seed1.csv"]
    PathName(method='er', seed='1', dataset='', metric='')
    >>> path_names(["runs/0/naive/csv/eval_results.csv"]).popitem()[1].method
    'naive'
    """
    pieces = {source: _pieces(source) for source in dict.fromkeys(sources)}
    names = {source: _parse_path(pieces[source]) for source in pieces}
    return _number_files(_tell_apart(names, pieces))


def metric_of_file(source: str) -> str:
    """Return the metric that the name of a file names; an empty text if it names none.

    >>> metric_of_file("a/SCR_Loss.csv"), metric_of_file("er_seed0_acc_matrix.npy")
    ('Loss', 'acc')
    """
    return parse_name(_pieces(source)[0]).metric


def _pieces(source: str) -> list[str]:
    """Return a file's name without suffix, then the names of its folders, the nearest first."""
    pieces = list(reversed(PurePath(source.replace("\\", "/")).parts))
    pieces[0] = _SUFFIXES.sub("", pieces[0])
    return pieces[: 1 + _MOST_FOLDERS]


def _parse_path(pieces: Sequence[str]) -> PathName:
    """Return what a path says: of each part the nearest piece that has it."""
    name = parse_name(pieces[0])
    for piece in pieces[1:]:
        more = parse_name(piece, is_folder=True)
        is_method = not name.method and re.search("[A-Za-z]", more.method) is not None
        name = PathName(
            more.method if is_method else name.method,
            name.seed or more.seed,
            name.dataset or more.dataset,
            name.metric,
        )
    return name


def parse_name(piece: str, *, is_folder: bool = False) -> PathName:
    """Return what the name of one file or folder says."""
    tensorboard = _TENSORBOARD.fullmatch(piece)
    if tensorboard is not None:  # its export of one curve
        tag = tensorboard[2].replace("_", " ").split()
        return replace(parse_name(tensorboard[1]), metric=tag[-1] if tag else "")
    parts = _SEPARATORS.split(_TIME.sub("", piece))
    words = [word for word in parts[::2] if word]
    roles = _roles_of(words)
    if is_folder and "method" in roles:  # as in `joint_training`
        roles = ["method" if role == "other" else role for role in roles]
    chosen: dict[str, str] = {}
    for role in ("method", "dataset", "seed"):
        places = [place for place, role_of_word in enumerate(roles) if role_of_word == role]
        chosen[role] = _join_words(places, words, piece)
    numbers = _NUMBER.findall(chosen["seed"])
    return PathName(
        chosen["method"],
        numbers[-1] if numbers else "",
        chosen["dataset"],
        _metric_in(words, roles),
    )


def _metric_in(words: Sequence[str], roles: Sequence[str]) -> str:
    """Return the last word for a metric with the words before it that belong to it: `avg acc`."""
    places = [place for place, role in enumerate(roles) if role == "metric"]
    if not places:
        return ""
    start = places[-1]
    while start and words[start - 1].lower() in _METRIC_WORDS_BEFORE:
        start -= 1
    return " ".join(words[start : places[-1] + 1])


def _roles_of(words: Sequence[str]) -> list[str]:
    """Return the role of each word of a name; what is left is the method."""
    roles = [""] * len(words)
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else ""
        if _SEED.fullmatch(word) or _SHORT_SEED.fullmatch(word):
            roles[place] = "seed"
        elif _SEED_WORD.fullmatch(word) and _NUMBER.fullmatch(following):
            roles[place : place + 2] = ["common", "seed"]
    place = 0
    while place < len(words):
        length = _dataset_length(words, roles, place)
        roles[place : place + length] = ["dataset"] * length
        place += max(1, length)
    for place, word in enumerate(words):
        if roles[place]:
            continue
        lower = word.lower()
        key = _KEYS.get(lower, "") if place + 1 < len(words) else ""
        is_key = key != "" and roles[place + 1] in ("", "dataset")
        if lower in METRIC_WORDS and metric_name(lower) is not None:
            roles[place] = "metric"
        elif is_key:
            roles[place] = "common"
            if key == "dataset" and "dataset" not in roles:
                roles[place + 1] = "dataset"
        elif lower in _COMMON:
            roles[place] = "other"
        else:
            roles[place] = "method"
    _extend_dataset(words, roles)
    return roles


def _extend_dataset(words: Sequence[str], roles: list[str]) -> None:
    """Give a dataset the words behind it where both method and dataset have their keys before."""
    keys = [_KEYS.get(word.lower(), "") for word in words[:-1]]
    if "method" not in keys or "dataset" not in keys:
        return
    place = keys.index("dataset") + 1
    while place < len(words) and roles[place] in ("dataset", "method"):
        roles[place] = "dataset"
        place += 1


def _dataset_length(words: Sequence[str], roles: Sequence[str], place: int) -> int:
    """Return how many words from a place on are the name of a dataset; 0 if none."""
    if "dataset" in roles:
        return 0
    for length in range(min(_MOST_WORDS, len(words) - place), 0, -1):
        if any(roles[place : place + length]):
            continue
        dataset_words = words[place : place + length]
        first, last = dataset_words[0], dataset_words[-1]
        is_end = is_dataset(last) or len(last) == 1 or _NUMBER.fullmatch(last) is not None
        if not first[:1].isalpha() or not is_end or _is_common(first):
            continue
        if is_dataset(" ".join(dataset_words)):
            return length
    return 0


def _is_common(word: str) -> bool:
    return word.lower() in _COMMON


def _join_words(places: Sequence[int], words: Sequence[str], piece: str) -> str:
    """Return words as they stand in the piece, with its separators where they are neighbours."""
    text = ""
    for before, place in zip([None, *places], places, strict=False):
        if before is not None and place == before + 1:
            pattern = re.escape(words[before]) + r"([\W_]+)" + re.escape(words[place])
            match = re.search(pattern, piece)
            text += match[1] if match else "_"
        elif text:
            text += "_"
        text += words[place]
    return text.strip(_EDGES)


def without_words(method: str, values: Collection[str]) -> str:
    """Return the name of a method without words that stand in columns of the file, too.

    >>> without_words("phase1_cola_r16", {"cola", "16"}), without_words("cola", {"cola"})
    ('phase1', 'cola')
    """
    lower = {value.lower() for value in values if value}
    words = _SEPARATORS.split(method)[::2]
    kept = []
    for place, word in enumerate(words):
        number = re.fullmatch(r"[A-Za-z]{1,4}(\d{1,6})", word)
        is_value = word.lower() in lower and not word.isdigit()
        if word and not is_value and not (number and number[1] in lower):
            kept.append(place)
    return _join_words(kept, words, method) if kept else method


def _tell_apart(names: dict[str, PathName], pieces: dict[str, list[str]]) -> dict[str, PathName]:
    """Name files that say the same by the nearest folder in which they differ.

    A folder that is a number counts runs.
    """
    alike: dict[PathName, list[str]] = {}
    for source, name in names.items():
        alike.setdefault(name, []).append(source)
    apart = dict(names)
    for name, sources in alike.items():
        for level in range(1, min(len(pieces[source]) for source in sources)):
            folders = [pieces[source][level] for source in sources]
            if len(sources) < 2 or len(set(folders)) < len(sources):
                continue
            for source, folder in zip(sources, folders, strict=True):
                if name.seed == "" and all(map(_NUMBER.fullmatch, folders)):
                    apart[source] = replace(name, seed=folder)
                else:
                    method = f"{name.method} {parse_name(folder, is_folder=True).method}".strip()
                    apart[source] = replace(name, method=method)
            break
    return apart


def _number_files(names: dict[str, PathName]) -> dict[str, PathName]:
    """Take numbers at the end of names as seeds where they count files of one method."""
    if any(name.seed for name in names.values()) or len(names) < 2:
        return names
    ends = {
        source: re.search(r"[\W_](\d{1,6})$", f"_{name.method}") for source, name in names.items()
    }
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
        source: replace(names[source], method=stems[source][0], seed=match[1])
        for source, match in ends.items()
        if match is not None
    }
