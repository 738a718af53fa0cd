"""Settings that programs print: `seed: 3`, `Namespace(method='er', …)`, a dictionary."""

from __future__ import annotations

import re
from collections.abc import Mapping

from edgecil.errors import DataError
from edgecil.runs.cells.cell_table import Cell
from edgecil.runs.cells.run_log import parse_literal, plain_cell_of

_NAMES = {
    "seed": "seed",
    "random seed": "seed",
    "random_seed": "seed",
    "manual seed": "seed",
    "method": "method",
    "approach": "method",
    "strategy": "method",
    "algorithm": "method",
    "dataset": "dataset",
    "benchmark": "dataset",
    "model": "model",
}
"""The fact that a setting is, by its name in lower case."""

_WORDS = "|".join(re.escape(name) for name in sorted(_NAMES, key=len, reverse=True))
_AT_START = re.compile(rf"[\s\-*>#=]*({_WORDS})\s*:\s*['\"]?([\w.+-]{{1,60}})['\"]?,?\s*", re.I)
_SEED = re.compile(r"(?<![\w.])(?:random |manual )?seed\s?[:=]?\s?(\d{1,10})(?![\w.])", re.I)
_PAIR = re.compile(rf"(?<![\w.])({_WORDS})=['\"]?([A-Za-z0-9][\w.+-]{{0,60}})", re.I)
_BESIDE_SEED = re.compile(
    r"([A-Za-z_λ]\w{0,40})\s?[=:]\s?([A-Za-z0-9][\w.+-]{0,40}%?)(?=[\s,;|)\]]|$)"
)
_NAME_IN_QUOTES = re.compile(rf"['\"](?:{_WORDS})['\"]")
_DICTIONARY = re.compile(r"\{['\"].*\}")
_NAMESPACE = re.compile(r"Namespace\((.*)\)")
_NAMESPACE_VALUE = re.compile(r"(\w{1,60})=('[^']{0,300}'|\"[^\"]{0,300}\"|[\w.+-]{1,100})")
_FEWEST_SETTINGS = 5


def settings_in(line: str) -> dict[str, Cell]:
    """Return the settings that a line of a console names.

    >>> settings_in("[2/12] Lambda=100, Seed: 42"), settings_in("method: er")
    ({'Lambda': '100', 'seed': '42'}, {'method': 'er'})
    """
    namespace = _NAMESPACE.search(line)
    if namespace:
        pairs = {name: text.strip("'\"") for name, text in _NAMESPACE_VALUE.findall(namespace[1])}
        return _named(pairs)
    dictionary = _DICTIONARY.search(line)
    if dictionary and _NAME_IN_QUOTES.search(dictionary[0]):
        return _named(_dictionary(dictionary[0]))
    settings: dict[str, Cell] = {}
    at_start = _AT_START.fullmatch(line)
    if at_start:
        settings[_NAMES[at_start[1].lower()]] = at_start[2]
    for name, value in _PAIR.findall(line):
        settings[_NAMES[name.lower()]] = value
    seed = _SEED.search(line)
    if seed:
        # What stands beside a seed are settings of the same run: "Lambda=100, Seed=42".
        for name, value in _BESIDE_SEED.findall(line):
            settings.setdefault(_NAMES.get(name.lower(), name), value)
        settings["seed"] = seed[1]
    return settings


def _dictionary(text: str) -> Mapping[str, object]:
    """Return a printed dictionary of settings; one of few values, or of numbers, is a result."""
    try:
        values = parse_literal(text, "the log")
    except DataError:
        return {}
    if not isinstance(values, dict) or len(values) < _FEWEST_SETTINGS:
        return {}
    if not any(isinstance(value, str) for value in values.values()):
        return {}
    return {str(name): value for name, value in values.items()}


def _named(values: Mapping[str, object]) -> dict[str, Cell]:
    """Return settings under the names of facts, where they are some."""
    settings: dict[str, Cell] = {}
    for name, value in values.items():
        if value is not None and not isinstance(value, dict):
            settings[_NAMES.get(name.lower(), name)] = plain_cell_of(value)
    return settings
