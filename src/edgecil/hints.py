"""Type hints at run time: which values an option takes, and how they are read, checked and named.

A call in Python, a TOML file, the command line and its help all read the same hint of a parameter
or a field. Numbers carry their limits in it:

    epochs: Count | None = None     # None, or an integer of at least 1
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from inspect import Parameter, signature, unwrap
from math import inf
from numbers import Real
from pathlib import Path
from types import GenericAlias, NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import msgspec
from typing_extensions import Unpack

from edgecil.errors import is_integer


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, both excluded if `open`; part of a type, as in `Count`."""

    low: float
    high: float = inf
    open: bool = False

    def __contains__(self, value: float) -> bool:
        if self.open:
            return self.low < value < self.high
        return self.low <= value <= self.high

    def __str__(self) -> str:
        if self.high == inf:
            return f"more than {self.low:g}" if self.open else f"at least {self.low:g}"
        words = "between {:g} and {:g}" if self.open else "from {:g} to {:g}"
        return words.format(self.low, self.high)


Count = Annotated[int, Range(1)]
Whole = Annotated[int, Range(0)]
Positive = Annotated[float, Range(0.0, open=True)]
NotNegative = Annotated[float, Range(0.0)]
Share = Annotated[float, Range(0.0, 1.0)]
Level = Annotated[float, Range(0.0, 1.0, open=True)]


class MismatchError(ValueError):
    """A value that its hint does not allow.

    Attributes:
        allowed: in words, what the hint allows; it follows "must be".
        choices: the values to choose from; empty unless the hint is a `Literal`.
    """

    def __init__(self, allowed: str, choices: tuple[Any, ...] = ()) -> None:
        super().__init__(allowed)
        self.allowed = allowed
        self.choices = choices


@cache
def function_types(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the hint of every named parameter, and for `**more: Unpack[T]` of every key of T."""
    types: dict[str, Any] = {}
    for parameter, hint in _parameters(function):
        if get_origin(hint) is Unpack:
            types.update(class_types(get_args(hint)[0]))
        elif parameter.kind is not Parameter.VAR_KEYWORD:
            types[parameter.name] = hint
    return types


def shared_classes(function: Callable[..., Any]) -> list[type[Any]]:
    """Return the class T of a parameter `**more: Unpack[T]`, if there is one."""
    return [get_args(hint)[0] for _, hint in _parameters(function) if get_origin(hint) is Unpack]


def parameter_kinds(function: Callable[..., Any]) -> dict[str, Any]:
    """Return how each parameter is given, as `inspect.Parameter.kind`."""
    return {parameter.name: parameter.kind for parameter, _ in _parameters(function)}


def accepts_any_keyword(function: Callable[..., Any]) -> bool:
    """Return whether a function has `**more` whose names are not declared."""
    kinds = {parameter.kind for parameter, _ in _parameters(function)}
    return Parameter.VAR_KEYWORD in kinds and not shared_classes(function)


@cache
def _parameters(function: Callable[..., Any]) -> list[tuple[Parameter, Any]]:
    """Return each parameter of a function or a method with its hint."""
    plain_function = unwrap(getattr(function, "__func__", function))
    types = get_type_hints(plain_function, include_extras=True)
    parameters = signature(plain_function).parameters
    return [
        (parameter, types.get(name, Any)) for name, parameter in parameters.items() if name != "cls"
    ]


def class_types(cls: type[Any]) -> dict[str, Any]:
    """Return the hint of every field of a class, with its limits."""
    return _class_types(cast(Hashable, cls))


@cache
def _class_types(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls, include_extras=True)


def alternatives(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union, or a hint alone, without None and without limits.

    >>> alternatives(Count | str | None)
    (<class 'int'>, <class 'str'>)
    """
    members = get_args(hint) if _is_union(hint) else (hint,)
    return tuple(without_limits(member) for member in members if member is not NoneType)


def without_limits(hint: Any) -> Any:
    """Return the type that carries limits, `int` for `Count`; any other hint unchanged."""
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def allows_none(hint: Any) -> bool:
    """Return whether a hint allows None."""
    return hint is NoneType or (_is_union(hint) and NoneType in get_args(hint))


def choices_of(hint: Any) -> tuple[Any, ...]:
    """Return the values of a `Literal`, which may be optional; empty for any other hint."""
    kinds = alternatives(hint)
    if len(kinds) == 1 and get_origin(kinds[0]) is Literal:
        return get_args(kinds[0])
    return ()


def is_list_of(kind: Any, item: type) -> bool:
    """Return whether a type is a list of such items, perhaps beside others."""
    return get_origin(kind) in (tuple, Sequence) and item in alternatives(get_args(kind)[0])


def convert(value: Any, hint: Any) -> Any:
    """Return a value in the type of its hint: lists as tuples, paths as text.

    A value whose hint names a class that is not checked, such as a function, is not converted.

    Raises:
        MismatchError: if the hint does not allow the value.

    >>> convert([3, 3], tuple[int, ...]), convert(Path("a"), str | None)
    ((3, 3), 'a')
    """
    kinds = [plain_type(kind) for kind in alternatives(hint)]
    if None in kinds or (value is None and allows_none(hint)):
        return value
    plain = to_builtin(value)
    for kind in kinds:
        with suppress(msgspec.ValidationError):
            converted = msgspec.convert(plain, kind)
            check_limits(converted, hint)
            return converted
    raise MismatchError(describe_type(hint), choices_of(hint))


def check_limits(value: Any, hint: Any) -> None:
    """Refuse a number outside the range in its hint, and a value that is none of its choices."""
    choices = choices_of(hint)
    if choices and value not in choices and value is not None:
        raise MismatchError(describe_type(hint), choices)
    if not isinstance(value, (int, float)):
        return
    for member in get_args(hint) if _is_union(hint) else (hint,):
        for limit in getattr(member, "__metadata__", ()):
            if isinstance(limit, Range) and value not in limit:
                raise MismatchError(str(limit))


def plain_type(kind: Any) -> Any:
    """Return the type by which a value is checked; None if its class is not checked."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Path:
        return str
    if kind in _DESCRIPTIONS or origin in (Literal, Mapping, list, dict):
        return kind
    if origin in (tuple, Sequence) and parts[1:] in ((), (...,)):
        item = plain_type(without_limits(parts[0]))
        return None if item is None else GenericAlias(tuple, (item, ...))
    return kind if origin is tuple else None


def to_builtin(value: Any) -> Any:
    """Return a value with paths as text, and with NumPy's numbers and arrays as Python's."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (set, frozenset)):
        return object()  # matches no hint, because the order of a set is arbitrary
    if is_integer(value):
        return int(value)
    if isinstance(value, (list, tuple, range)):
        return [to_builtin(entry) for entry in value]
    if is_array(value):
        return value.tolist()
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else value


def is_array(value: Any) -> bool:
    """Return whether a value is an array of NumPy, or a series, of one dimension."""
    return hasattr(value, "tolist") and getattr(value, "ndim", 0) == 1


_DESCRIPTIONS = {
    int: "an integer",
    float: "a number",
    bool: "true or false",
    str: "a text",
    Path: "a text",
    list: "a list",
    tuple: "a list",
    dict: "a table of settings",
}
_PLURALS = {int: "integers", float: "numbers", str: "texts", Path: "texts"}


def describe_type(hint: Any) -> str:
    """Return a hint in words.

    >>> describe_type(str | tuple[int, ...] | None)
    'a text or a list of integers'
    """
    return " or ".join(dict.fromkeys(_describe_kind(kind) for kind in alternatives(hint)))


def _describe_kind(kind: Any) -> str:
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        return " or ".join(map(repr, parts))
    if origin in (tuple, Sequence, list):
        item = without_limits(parts[0])
        return f"a list of {_PLURALS[item]}" if item in _PLURALS else "a list"
    if origin in (Mapping, dict):
        is_nested = get_origin(parts[1]) is not None
        return "a table of tables" if is_nested else "a table of settings"
    return _DESCRIPTIONS[kind]


def _is_union(hint: Any) -> bool:
    return get_origin(hint) in (Union, UnionType)
