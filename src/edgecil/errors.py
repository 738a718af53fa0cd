"""Errors that people can act on: what was wrong, what was given and what to do, in one sentence."""

from __future__ import annotations

import difflib
import math
import re
import reprlib
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from types import FrameType
from typing import Any

# A value in an error message, or a name that may be that of a parameter.
_QUOTED = re.compile(
    r"(?:Got|Unknown [\w -]+?) '[^']*'|Did you mean [^?]*\?"
    r"|(?:\b[Tt]he )?'(?P<name>\w+)'(?P<parameter> parameter)?"
)


# Names of verbs and options in earlier versions, and the usual names elsewhere.
_NOW = {
    "agree": "compare-similarities",
    "csv": "export-runs",
    "estimate": "analyze",
    "judge": "analyze",
    "logs": "import-logs",
    "cuda": "device",
    "force": "overwrite",
    "fresh": "overwrite",
    "generators": "protocols",
    "half": "precision",
    "amp": "precision",
    "orders": "budget",
    "output": "out",
    "range": "accuracy-range",
    "runs": "budget",
    "seed": "order-seed",
    "seeds": "repeats",
    "sharing": "share",
    "no-sharing": "no-share",
}


class EdgecilError(Exception):
    """Something could not be done; the message is complete as it stands.

    Attributes:
        exit_code: what the command line exits with.
    """

    exit_code = 1


class UsageError(EdgecilError, ValueError):
    """An argument has an invalid value."""

    exit_code = 2


class DataError(EdgecilError):
    """A file or a matrix that cannot be used as it is."""


class PrerequisiteError(EdgecilError):
    """Weights, a package or a dataset that is not on this machine."""


class EdgecilWarning(UserWarning):
    """A choice that edgecil made and that a user may want to make differently."""


def warn(sentence: str) -> None:
    """Issue an :class:`EdgecilWarning` that points to the user's line, not to one of this package.

    Args:
        sentence: what was chosen, and how to choose differently.
    """
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and _is_ours(frame):
        frame, level = frame.f_back, level + 1
    warnings.warn(sentence, EdgecilWarning, stacklevel=level)


def _is_ours(frame: FrameType) -> bool:
    """Return whether a frame belongs to this package."""
    return str(frame.f_globals.get("__name__")).partition(".")[0] == "edgecil"


def show_warnings(translate: Callable[[str], str]) -> None:
    """Print each :class:`EdgecilWarning` of this process as its sentence, without a place in code.

    Args:
        translate: returns a sentence as it is to be printed.
    """
    usual = warnings.formatwarning

    def formatted(message: Warning | str, category: type[Warning], *args: Any, **more: Any) -> str:
        if issubclass(category, EdgecilWarning):
            return f"edgecil: {translate(str(message))}\n"
        return usual(message, category, *args, **more)

    warnings.formatwarning = formatted


def nearest(given: str, names: Iterable[str]) -> list[str]:
    """Return the name that a word was probably meant to be; two or three if they are as near.

    A name of an earlier version stands for the present one.

    >>> nearest("icrl", ["icarl", "bic", "ewc"])
    ['icarl']
    >>> nearest("--fresh", ["--out", "--overwrite"])
    ['--overwrite']
    """
    names = list(names)
    now = _NOW.get(_bare(given))
    if now is not None and (renamed := [name for name in names if _bare(name) == now]):
        return renamed
    matches = difflib.get_close_matches(given, names, n=3, cutoff=0.6)
    ratios = [difflib.SequenceMatcher(None, name, given).ratio() for name in matches]
    return [name for name, ratio in zip(matches, ratios, strict=True) if ratio > ratios[0] - 0.06]


def _bare(name: str) -> str:
    """Return a name as options are written, without their dashes: `order_seed` as order-seed."""
    return name.removeprefix("--").replace("_", "-")


def unknown(kind: str, given: object, names: Iterable[str]) -> UsageError:
    """Return the error for a name that is not registered, with the nearest names that are.

    Args:
        kind: what it would name.
        given: what was given in place of a name.
        names: the names that are registered.

    >>> print(unknown("dataset", "cifar10", ["cifar100", "cub200"]))
    Unknown dataset 'cifar10'. Did you mean 'cifar100'? Available: cifar100, cub200.
    """
    listed = list(names)
    near = nearest(given, listed) if isinstance(given, str) else []
    hint = f" Did you mean {' or '.join(repr(name) for name in near)}?" if near else ""
    return UsageError(f"Unknown {kind} {shown(given)}.{hint} Available: {', '.join(listed)}.")


def shown(value: object) -> str:
    """Return a value as an error message shows it: on one line, of at most 80 characters.

    >>> shown(6), shown("six"), shown(10**100)
    ('6', "'six'", 'about 10^100.0')
    >>> shown(list(range(1000)))
    '[0, 1, 2, 3, 4, 5, ...]'
    >>> shown(b"x" * 1000), shown(UsageError)
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
    text = _SHORT.repr(value)
    if "\n" in text or len(text) > _LONGEST or text.startswith("<"):
        return f"an object of type {type(value).__name__}"
    return text


_LONGEST = 80
_SHORT = reprlib.Repr()
_SHORT.maxother = _LONGEST + 1
_SHORT.maxstring = _LONGEST - 20


def wrong_value(name: str, allowed: str, value: object) -> UsageError:
    """Return the error for an argument that is not what it has to be.

    >>> print(wrong_value("tasks", "an int >= 2", "two"))
    The 'tasks' parameter must be an int >= 2. Got 'two' instead.
    """
    return UsageError(f"The '{name}' parameter must be {allowed}. Got {shown(value)} instead.")


def is_integer(value: object) -> bool:
    """Return whether a value is an integer of Python or NumPy, and no truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def name_some(names: Sequence[str]) -> str:
    """Return the first three names, and how many more there are.

    >>> name_some(["conv1", "conv2", "conv3", "fc"])
    'conv1, conv2, conv3 and 1 more'
    """
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def rename_parameters(sentence: str, names: Mapping[str, str], given: Sequence[Any]) -> str:
    """Return an error message with the parameters as the caller writes them.

    A quoted word that is a value stays as it is: one that was given, one after "Got" or "Unknown",
    or a suggestion.

    Args:
        sentence: the message.
        names: what each parameter is called.
        given: the values that the user gave.

    >>> rename_parameters("Unknown protocol 'tasks'; set 'tasks'.", {"tasks": "--tasks"}, [])
    "Unknown protocol 'tasks'; set --tasks."
    """
    values = set(_texts(given))

    def rename(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in names or (name in values and not match["parameter"]):
            return match[0]
        return names[name]

    return _QUOTED.sub(rename, sentence)


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a value."""
    if isinstance(value, Mapping):
        yield from _texts([*value, *value.values()])
    elif isinstance(value, (list, tuple)):
        for entry in value:
            yield from _texts(entry)
    else:
        yield str(value)
