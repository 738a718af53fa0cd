"""Groups of options: frozen dataclasses, from which flags, TOML keys, checks and help derive.

To add an option, add one field to a group, such as :class:`edgecil.experiments.config.Training`:

    epochs: int | None = option("epochs per task, in place of the setup's", least=1)

Its name is the key in the group's section of a TOML file, the keyword of the dataclass and, with
dashes, the flag of every verb that has the group. Its type converts what any of the three gives,
`choices` and `least` limit the value, and the text is what --help prints.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from functools import cache, wraps
from inspect import signature
from numbers import Real
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

import msgspec
from typing_extensions import Self

from edgecil.errors import UsageError, is_integer, shown, unknown, wrong_value


def option(
    help: str = "",
    default: Any = None,
    *,
    choices: tuple[str, ...] = (),
    least: int | None = None,
    metavar: str = "",
    flag: str = "",
) -> Any:
    """Declare a field of a group.

    `metavar` stands for the value on the command line, by default chosen by type; `flag` is the
    name of the flag without dashes, if it is not that of the field.
    """
    settings = {"help": help, "choices": choices, "least": least, "metavar": metavar, "flag": flag}
    if isinstance(default, dict):
        return field(default_factory=dict, metadata=settings)
    return field(default=default, metadata=settings)


@dataclass(frozen=True)
class Options:
    """A group; values are converted to the types of their fields and checked."""

    def __post_init__(self) -> None:
        kind: Any = type(self)
        types = option_types(kind)
        for entry in fields(self):
            value = convert(entry.name, getattr(self, entry.name), types[entry.name])
            object.__setattr__(self, entry.name, value)
            choices, least = entry.metadata.get("choices"), entry.metadata.get("least")
            if choices and value not in choices:
                raise unknown(entry.name, value, choices)
            if least is not None and value is not None and value < least:
                raise UsageError(f"`{entry.name}` must be at least {least}. Got {value} instead.")

    @classmethod
    def of(cls, given: Any) -> Self:
        """Return an object of what is given: an object, a mapping or nothing."""
        return given if isinstance(given, cls) else cls(**cls.given(given))

    @classmethod
    def given(cls, given: Any) -> dict[str, Any]:
        """Return the options that are given; an object's are those that are not the default."""
        if given is None:
            return {}
        if isinstance(given, cls):
            return given.changed()
        if not isinstance(given, Mapping):
            raise UsageError(
                f"Options of {cls.__name__} must be an object of it or a mapping. Got "
                f"{shown(given)} instead."
            )
        names = [entry.name for entry in fields(cls)]
        for name in given:
            if name not in names:
                raise unknown(f"option of {cls.__name__}", name, names)
        return {name: value for name, value in given.items() if value is not None}

    def changed(self) -> dict[str, Any]:
        """Return the options that are not the default."""
        return {
            entry.name: getattr(self, entry.name)
            for entry in fields(self)
            if getattr(self, entry.name) != default_of(entry)
        }


_Function = TypeVar("_Function", bound=Callable[..., Any])


def checked(function: _Function) -> _Function:
    """Have a public function refuse an unknown or wrong argument in one sentence."""
    parameters, names = signature(function).parameters, function.__globals__
    annotations = {name: str(it.annotation) for name, it in parameters.items()}
    for name, annotation in list(annotations.items()):
        if annotation.startswith("Unpack["):
            further = names[annotation[7:-1]].__annotations__  # of a TypedDict
            del annotations[name]
            annotations |= {name: it.__forward_arg__ for name, it in further.items()}
    rest = [it for it in parameters.values() if it.kind == it.VAR_KEYWORD]
    takes_any = any(it.name in annotations for it in rest)
    places = [name for name, it in parameters.items() if it.kind <= it.POSITIONAL_OR_KEYWORD]
    groups = {name: names.get(it.split(" | ")[0]) for name, it in annotations.items()}

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        if len(given) > len(places):
            taken, advice = "no argument", "name each, such as dataset='quickdraw'"
            if places:
                taken = f"only {' and '.join(map(repr, places))}"
                advice = "give several sources as a list, [a, b], or DataFrames as a dict, "
                advice += "{'ours': a, 'baseline': b}"
            raise UsageError(
                f"{function.__name__}() takes {taken} without a name. Got {len(given)}; {advice}."
            )
        for name, value in {**dict(zip(parameters, given, strict=False)), **named}.items():
            if name in annotations:
                check_type(name, value, annotations[name])
                continue
            for parameter, group in groups.items():
                if is_dataclass(group) and name in group.__dataclass_fields__:
                    raise misplaced(name, parameter)
            if not takes_any:
                raise unknown("parameter", name, annotations)
        return function(*given, **named)

    return cast(_Function, call)


def misplaced(name: str, group: str) -> UsageError:
    """Return the error for an option that is given beside its group."""
    return UsageError(f"{name!r} is an option of {group!r}: give {group}={{{name!r}: ...}}.")


def check_type(name: str, value: Any, annotation: str) -> None:
    """Refuse a value that is of none of the plain types of an annotation; others are not checked.

    >>> check_type("metric", 3, "str | None")
    Traceback (most recent call last):
    edgecil.errors.UsageError: 'metric' must be a text. Got 3 instead.
    """
    kinds = [kind for kind in annotation.split(" | ") if kind != "None"]
    if not all(kind in _PLAIN for kind in kinds) or (value is None and "None" in annotation):
        return
    for kind in kinds:
        with suppress(msgspec.ValidationError):
            if not isinstance(value, (set, frozenset)):  # msgspec would take one for a list
                msgspec.convert(_builtin(value), _PLAIN[kind])
                return
    allowed = dict.fromkeys(describe_type(_PLAIN[kind]) for kind in kinds)
    raise wrong_value(name, " or ".join(allowed), value)


_PLAIN: dict[str, Any] = {
    "str": str,
    "Path": str,
    "int": int,
    "float": float,
    "bool": bool,
    "Sequence[str]": tuple[str, ...],
    "Sequence[int]": tuple[int, ...],
}


def _builtin(value: Any) -> Any:
    """Return paths as text, and numbers of NumPy as those of Python."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if is_integer(value):
        return int(value)
    if isinstance(value, (list, tuple)):
        return [_builtin(entry) for entry in value]
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else value


def default_of(entry: Field[Any]) -> Any:
    """Return the default of a field; `MISSING` if it is required."""
    return entry.default if entry.default_factory is MISSING else entry.default_factory()


@cache
def option_types(kind: Any) -> dict[str, Any]:
    """Return the type of every field of a group."""
    return get_type_hints(kind)


def convert(name: str, value: Any, kind: Any) -> Any:
    """Return a value in the type of its option: lists as tuples, paths and names of lists as text.

    >>> convert("sizes", [3, 3], tuple[int, ...]), convert("devices", "a, b", tuple[str, ...])
    ((3, 3), ('a', 'b'))
    """
    if isinstance(kind, type) and issubclass(kind, Options):
        return kind.of(value)
    plain = _builtin(value)
    kinds = (kind,) if get_origin(kind) is tuple else get_args(kind)
    if isinstance(plain, str) and str not in kinds and tuple[str, ...] in kinds:
        plain = [part.strip() for part in plain.split(",")]
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        raise wrong_value(name, describe_type(kind), value) from error


_DESCRIPTIONS = {int: "an integer", float: "a number", bool: "true or false", str: "a text"}
_PLURALS = {int: "integers", str: "texts"}


def describe_type(kind: Any) -> str:
    """Return a type in words."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        return " or ".join(map(repr, parts))
    if origin is UnionType:
        return describe_type(next(part for part in parts if part is not NoneType))
    if origin is tuple:
        return f"a list of {_PLURALS[parts[0]]}"
    if origin is not None:
        nested = get_origin(parts[1]) is not None
        return "a table of tables" if nested else "a table of settings"
    return _DESCRIPTIONS[kind]
