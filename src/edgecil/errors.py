"""Errors that people can act on: what was wrong, what was given and what to do, in one sentence."""

from __future__ import annotations

import difflib
import hashlib
import math
import re
import reprlib
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Any


class Sentence:
    """A message with parameters in backticks, so that each interface names them in its own way.

    >>> error = UsageError("`tasks` must be at least 2. Got 'tasks' instead.")
    >>> print(error)
    'tasks' must be at least 2. Got 'tasks' instead.
    >>> with naming("--{}".format):
    ...     print(error)
    --tasks must be at least 2. Got 'tasks' instead.
    """

    args: tuple[Any, ...]

    def __str__(self) -> str:
        text = str(self.args[0]) if self.args else ""
        return _LONG_VALUE.sub(_shorten_match, name_parameters(text))


def name_parameters(text: str, name: Callable[[str], str] | None = None) -> str:
    """Return a text whose parameters, in backticks, are named as in the interface in use.

    Args:
        text: a sentence.
        name: returns how a parameter is named, in place of the interface in use.

    >>> print(name_parameters("Give `order_seed`."))
    Give 'order_seed'.
    """
    named = _NAMING[-1] if name is None else name
    return _PARAMETER.sub(lambda match: named(match[1]), text)


def _shorten_match(match: re.Match[str]) -> str:
    return shortened(match[0])


_NAMING: list[Callable[[str], str]] = [repr]
_LONGEST = 80  # characters of a value in a message
_MOST_NAMES = 100  # in a list of what is available
_PARAMETER = re.compile("`([a-z_]+)`")
_LONG_VALUE = re.compile(
    rf"""(?<!\w)'[^'\n]{{{_LONGEST - 1},}}'(?!\w)  # a text in quotes
    | (?<!\w)"[^"\n]{{{_LONGEST - 1},}}"(?!\w)
    | \[[^\[\]\n]{{{_LONGEST - 1},}}\]            # a list
    | [^\s/\\]{{{_LONGEST + 1},}}                # a word without separators of paths
    """,
    re.VERBOSE,
)


def shortened(text: str) -> str:
    """Return a text of at most 80 characters: a longer one is cut in the middle.

    >>> shortened("a" * 50 + "b" * 50)
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...bbbbbbbbbbbbbbbbbbbbbbbbbbb'
    >>> shortened("short")
    'short'
    """
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST - 30]}...{text[-27:]}"


class EdgecilError(Sentence, Exception):
    """Something could not be done; the message is complete as it stands.

    Attributes:
        exit_code: what the command line exits with.
    """

    exit_code = 1


class UsageError(EdgecilError, ValueError):
    """An argument has an invalid value."""

    exit_code = 2


class UnknownNameError(UsageError, KeyError):
    """A name that an object does not hold."""


class DataError(EdgecilError):
    """A file or a matrix that cannot be used as it is."""


class PrerequisiteError(EdgecilError):
    """Weights, a package or a dataset that is not on this machine."""


class EdgecilWarning(Sentence, UserWarning):
    """A choice that edgecil made and that a user may want to make differently."""


def warn(sentence: str) -> None:
    """Issue an :class:`EdgecilWarning` that points to the user's line."""
    frame, level = sys._getframe(), 1
    while frame.f_back and str(frame.f_globals.get("__name__")).split(".")[0] == "edgecil":
        frame, level = frame.f_back, level + 1
    warnings.warn(sentence, EdgecilWarning, stacklevel=level)


@contextmanager
def naming(name: Callable[[str], str]) -> Iterator[None]:
    """Name parameters in this way, and print an :class:`EdgecilWarning` as its sentence alone."""
    usual_format = warnings.formatwarning

    def format_warning(
        message: Warning | str, category: type[Warning], *args: Any, **more: Any
    ) -> str:
        if isinstance(message, EdgecilWarning):
            return f"edgecil: {message}\n"
        return usual_format(message, category, *args, **more)

    _NAMING.append(name)
    warnings.formatwarning = format_warning
    try:
        yield
    finally:
        warnings.formatwarning = usual_format
        _NAMING.pop()


def nearest(word: str, names: Iterable[str], likeness: float = 0.6) -> list[str]:
    """Return the name that a word was probably meant to be; up to three if they are as similar.

    >>> nearest("icrl", ["icarl", "bic", "ewc"])
    ['icarl']
    """
    names = list(names)
    matches = difflib.get_close_matches(word, names, n=3, cutoff=likeness)
    ratios = [difflib.SequenceMatcher(None, name, word).ratio() for name in matches]
    return [name for name, ratio in zip(matches, ratios, strict=True) if ratio > ratios[0] - 0.06]


def unknown_name_error(kind: str, name: object, names: Iterable[str]) -> UsageError:
    """Return the error for a name that does not exist, with the most similar names that do.

    >>> print(unknown_name_error("dataset", "cifar10", ["cifar100", "cub200"]))
    Unknown dataset 'cifar10'. Did you mean 'cifar100'? Available: cifar100, cub200.
    """
    existing_names = list(names)
    suggestions = nearest(name, existing_names) if isinstance(name, str) else []
    hint = f" Did you mean {' or '.join(map(repr, suggestions))}?" if suggestions else ""
    available = name_some(existing_names, _MOST_NAMES)
    return UsageError(f"Unknown {kind} {format_value(name)}.{hint} Available: {available}.")


def short_name(name: str) -> str:
    """Return a name of at most 80 characters; different names stay different.

    >>> short_name("icarl")
    'icarl'
    >>> len(short_name("lr=0.1, " * 100)), short_name("a" * 99) == short_name("a" * 98)
    (80, False)
    """
    if len(name) <= _LONGEST:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[: _LONGEST - 12]}... {digest}"


def format_value(value: object) -> str:
    """Return a value as text for an error message: on one line, of at most 80 characters.

    >>> format_value(6), format_value("six"), format_value(10**100)
    ('6', "'six'", 'about 10^100.0')
    >>> format_value(list(range(1000)))
    '[0, 1, 2, 3, 4, 5, ...]'
    >>> format_value(b"x" * 1000), format_value(UsageError)
    ('an object of type bytes', 'UsageError')
    """
    shape = getattr(value, "shape", None)
    if isinstance(value, type):
        return value.__name__
    if isinstance(shape, Sequence) and len(shape):
        return f"a {type(value).__name__} of shape {tuple(shape)}"
    if isinstance(value, int) and value.bit_length() > 64:
        return f"about {'-' if value < 0 else ''}10^{math.log10(abs(value)):.1f}"
    if isinstance(value, Integral):
        return str(value)  # also of NumPy, whose repr is np.int64(6)
    text = _SHORT.repr(value).replace("`", "'")  # see Sentence
    if "\n" in text or len(text) > _LONGEST or text.startswith("<"):
        return f"an object of type {type(value).__name__}"
    return text


_SHORT = reprlib.Repr()
_SHORT.maxother = _LONGEST + 1
_SHORT.maxstring = _LONGEST - 20


def wrong_value_error(name: str, allowed: str, value: object) -> UsageError:
    """Return the error for an argument that has a wrong value.

    >>> print(wrong_value_error("tasks", "an int >= 2", "two"))
    'tasks' must be an int >= 2. Got 'two' instead.
    """
    return UsageError(f"`{name}` must be {allowed}. Got {format_value(value)} instead.")


def first_line(error: BaseException) -> str:
    """Return what an error of another library says, on one line of at most 200 characters."""
    return (str(error).splitlines() or [""])[0][:200] or type(error).__name__


def is_integer(value: object) -> bool:
    """Return whether a value is an integer of Python or NumPy, not a truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def name_some(names: Sequence[str], most: int = 3) -> str:
    """Return the first names, and how many more there are.

    >>> name_some(["conv1", "conv2", "conv3", "fc"])
    'conv1, conv2, conv3 and 1 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(shortened, names[:most])) + more
