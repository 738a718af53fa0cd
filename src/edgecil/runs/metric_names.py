"""What a name says about a metric: its direction and unit, from the lines of `metric_names.txt`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

Unit = Literal["share", "points", "own"]

LOWER, HIGHER = "↓", "↑"
"""Marks behind the name of a metric whose name alone does not tell its direction."""

_FILE = Path(__file__).with_name("metric_names.txt")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BREAK = re.compile(r"[\s_\-./\\:()\[\]{}<>|,;*%↑↓]+")
_LETTERS_AND_NUMBER = re.compile(r"(?<=[a-z]{3})(?=\d+$)")


@dataclass(frozen=True)
class MetricName:
    """What a name says about a metric.

    Attributes:
        higher_is_better: its direction.
        unit: `share` is a fraction of 1 or per cent, `points` a difference of such values, `own`
            anything else, such as a loss or seconds.
    """

    higher_is_better: bool
    unit: Unit


@cache
def split_words(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case.

    >>> split_words("Final_avgAcc"), split_words("Top1_Acc_Stream/eval"), split_words("acc@1")
    (('final', 'avg', 'acc'), ('top1', 'acc', 'stream', 'eval'), ('acc@1',))
    """
    spaced = _CAMEL.sub(" ", name)
    return tuple(word for word in _BREAK.split(spaced.lower()) if word)


@cache
def metric_name(name: str) -> MetricName | None:
    """Return what is known about a metric by its name; None if nothing is.

    >>> metric_name("test_err"), metric_name("avg_accuracy").higher_is_better
    (MetricName(higher_is_better=False, unit='own'), True)
    >>> metric_name("score2"), metric_name("score2 ↓").higher_is_better
    (None, False)
    """
    words = split_words(name)
    named = _by_words(words)
    if named is None:  # the words may have numbers behind them: acc12
        shorter = tuple(_LETTERS_AND_NUMBER.split(word)[0] for word in words)
        named = _by_words(shorter) if shorter != words else None
    for mark, is_higher in ((LOWER, False), (HIGHER, True)):
        if name.rstrip().endswith(mark):
            return MetricName(is_higher, "own" if named is None else named.unit)
    return named


def with_direction(name: str, higher_is_better: bool) -> str:
    """Return the name of a metric, with a mark if the name alone does not say its direction.

    >>> with_direction("score2", False), with_direction("loss", False)
    ('score2 ↓', 'loss')
    """
    named = metric_name(name)
    if named is not None and named.higher_is_better == higher_is_better:
        return name
    return f"{name} {HIGHER if higher_is_better else LOWER}"


def without_direction(name: str) -> str:
    """Return the name of a metric without its mark.

    >>> without_direction("score2 ↓")
    'score2'
    """
    return name.rstrip(f" {HIGHER}{LOWER}")


def _by_words(words: tuple[str, ...]) -> MetricName | None:
    for pattern, meaning in _lines():
        length = len(pattern)
        for start in range(len(words) - length + 1):
            if all(map(_matches, pattern, words[start : start + length])):
                return meaning
    return None


def _matches(pattern: str, word: str) -> bool:
    return word.startswith(pattern[:-1]) if pattern.endswith("*") else word == pattern


@cache
def _lines() -> tuple[tuple[tuple[str, ...], MetricName], ...]:
    """Return the words and the meaning of every line of the file."""
    lines = []
    for line in read_lines(_FILE):
        name, _, meaning = line.partition("->")
        direction, unit = (part.strip() for part in meaning.split(","))
        if direction not in ("higher", "lower") or unit not in ("share", "points", "own"):
            raise ValueError(f"{_FILE} has the line {line!r}, whose direction or unit is unknown.")
        lines.append((tuple(name.split()), MetricName(direction == "higher", _unit(unit))))
    return tuple(lines)


def _unit(text: str) -> Unit:
    if text == "share":
        return "share"
    return "points" if text == "points" else "own"


def read_lines(path: Path) -> list[str]:
    """Return the lines of a file of names, without comments and blank ones."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line and not line.startswith("#")]
