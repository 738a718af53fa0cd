"""What the name of a column says about its role, from the lines of `column_names.txt`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from edgecil.runs.cells.marked_numbers import parse_marked_name
from edgecil.runs.metric_names import metric_name, read_lines, split_words

_FILE = Path(__file__).with_name("column_names.txt")
_PARTS = re.compile(r"[./]")

ROLES = (
    "method",
    "dataset",
    "scenario",  # part of the dataset's name, such as the number of tasks
    "seed",
    "order",
    "run",
    "task",
    "step",
    "epoch",
    "split",
    "setting",
    "metric",
    "curve",
    "mean",
    "std",
    "stderr",
    "n",
    "label",
    "aggregate",
    "index",
    "metric name",
    "value",
    "status",
    "protocol",
    "sequence",
    "identity",
    "ignore",
)
"""Everything that a column can be."""

STATISTICS = {
    "mean": "mean",
    "avg": "mean",
    "average": "mean",
    "std": "std",
    "stdev": "std",
    "stddev": "std",
    "sd": "std",
    "pstd": "std",
    "stderr": "stderr",
    "sem": "stderr",
    "se": "stderr",
    "ci95": "ci",
    "ci": "ci",
    "var": "other",
    "variance": "other",
    "min": "other",
    "max": "other",
    "median": "other",
    "q1": "other",
    "q3": "other",
    "rank": "other",
    "means": "mean",
    "stds": "std",
    "stdevs": "std",
    "count": "n",
    "n": "n",
}
"""What the first or last word of a name says about the numbers of a metric over runs."""


@dataclass(frozen=True)
class ColumnName:
    """What the name of a column says.

    Attributes:
        role: one of `ROLES`; empty if the name says nothing.
        rank: which of several columns with one role has it: the one with the lowest rank.
    """

    role: str
    rank: int = 0


@cache
def column_name(name: str) -> ColumnName:
    """Return what the name of a column says about its role.

    >>> column_name("Random_Seed").role, column_name("config.algorithm").role
    ('seed', 'method')
    >>> column_name("Test Err (%) ↓").role, column_name("foo").role
    ('metric', '')
    """
    plain = parse_marked_name(name).name
    for text in (plain, _PARTS.split(plain)[-1]):
        words = " ".join(split_words(text))
        if words in synonyms():
            return synonyms()[words]
    if metric_name(name) is not None or "↑" in name or "↓" in name:
        return ColumnName("metric")
    return ColumnName("")


@cache
def synonyms() -> dict[str, ColumnName]:
    """Return the role of every name in the file, by its words."""
    roles: dict[str, ColumnName] = {}
    for rank, line in enumerate(read_lines(_FILE)):
        name, _, role = (part.strip() for part in line.partition("->"))
        if role not in ROLES:
            raise ValueError(f"{_FILE} has the line {line!r}, whose role is unknown.")
        roles.setdefault(name, ColumnName(role, rank))
    return roles


@dataclass(frozen=True)
class StatisticName:
    """The name of a column with a statistic over runs: of what, and which."""

    base: str
    statistic: str


@cache
def statistic_name(name: str) -> StatisticName | None:
    """Return what a statistic is of; None if the name has no word for a statistic.

    >>> statistic_name("avg_accuracy_std"), statistic_name("mean acc").base
    (StatisticName(base='avg accuracy', statistic='std'), 'acc')
    """
    words = split_words(parse_marked_name(name).name)
    if len(words) < 2:
        return None
    joined = " ".join(words)
    for ending, statistic in (("std err", "stderr"), ("std dev", "std"), ("95 ci", "ci")):
        if joined.endswith(f" {ending}"):
            return StatisticName(joined.removesuffix(f" {ending}"), statistic)
    if words[-1] in STATISTICS:
        return StatisticName(" ".join(words[:-1]), STATISTICS[words[-1]])
    if words[0] in STATISTICS:
        return StatisticName(" ".join(words[1:]), STATISTICS[words[0]])
    return None
