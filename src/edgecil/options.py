"""Groups of options: frozen dataclasses, from which flags, TOML keys, checks and help derive.

To add an option, add one field to a group, such as :class:`edgecil.experiments.config.Training`:

    epochs: Count | None = option("epochs per task, in place of the setup's")

Its name is the key in the group's section of a TOML file, the keyword of the dataclass and, with
dashes, the flag of every verb that has the group. Its type (:mod:`edgecil.hints`) says what values
it takes and converts what any of the three gives, and the text is what --help prints.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar, cast

from typing_extensions import Self

from edgecil import hints
from edgecil.errors import (
    EdgecilError,
    UsageError,
    format_value,
    unknown_name_error,
    wrong_value_error,
)
from edgecil.hints import MismatchError, accepts_any_keyword, class_types, function_types


def option(help: str = "", default: Any = None, *, metavar: str = "", flag: str = "") -> Any:
    """Declare a field of a group.

    `metavar` stands for the value on the command line, by default chosen by type; `flag` is the
    name of the flag without dashes, where it differs from the field's name.
    """
    settings = {"help": help, "metavar": metavar, "flag": flag}
    if isinstance(default, dict):
        return field(default_factory=dict, metadata=settings)
    return field(default=default, metadata=settings)


@dataclass(frozen=True)
class Options:
    """A group; values are converted to the types of their fields and checked."""

    def __post_init__(self) -> None:
        types = class_types(type(self))
        for entry in fields(self):
            value = convert_option(entry.name, getattr(self, entry.name), types[entry.name])
            object.__setattr__(self, entry.name, value)

    @classmethod
    def from_value(cls, value: Any) -> Self:
        """Return an object of the group from an object, a mapping of its options, or None."""
        return value if isinstance(value, cls) else cls(**cls.options_in(value))

    @classmethod
    def options_in(cls, value: Any) -> dict[str, Any]:
        """Return the options in a mapping, or the options of an object that are not the default."""
        if value is None:
            return {}
        if isinstance(value, cls):
            return value.changed()
        if not isinstance(value, Mapping):
            raise UsageError(
                f"Options of {cls.__name__} must be an object of it or a mapping. Got "
                f"{format_value(value)} instead."
            )
        option_names = list(class_types(cls))
        for name in value:
            if name not in option_names:
                raise unknown_name_error(f"option of {cls.__name__}", name, option_names)
        return {name: setting for name, setting in value.items() if setting is not None}

    def changed(self) -> dict[str, Any]:
        """Return the options that are not the default."""
        changed = {}
        for entry in fields(self):
            value = getattr(self, entry.name)
            if value != default_of(entry):
                changed[entry.name] = value
        return changed


DEBUG = "EDGECIL_DEBUG"
"""The environment variable with which tracebacks are whole."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


def checked(function: _Function) -> _Function:
    """Have a public function refuse an unknown or wrong argument in one sentence.

    A traceback of an :class:`EdgecilError` ends at this function, because edgecil's own frames do
    not help the caller to correct the call. The environment variable EDGECIL_DEBUG keeps them.
    """
    parameters = signature(function).parameters
    positional = [
        name
        for name, parameter in parameters.items()
        if parameter.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    ]
    takes_any_number = Parameter.VAR_POSITIONAL in {
        parameter.kind for parameter in parameters.values()
    }

    @wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        try:
            if len(arguments) > len(positional) and not takes_any_number:
                raise _too_many_error(function.__name__, positional, len(arguments))
            types = function_types(function)
            for name, value in zip(positional, arguments, strict=False):
                check_value(name, value, types.get(name, Any))
            for name, value in keywords.items():
                if name in types:
                    converted = convert_option(name, value, types[name])
                    if hints.is_array(value):
                        keywords[name] = converted
                elif not accepts_any_keyword(function):
                    raise _unknown_parameter_error(name, types)
            return function(*arguments, **keywords)
        except EdgecilError as error:
            if os.environ.get(DEBUG):
                raise
            raise without_internals(error) from error.__cause__

    return cast(_Function, call)


def without_internals(error: EdgecilError) -> EdgecilError:
    """Return an error without its traceback, and without causes that were raised inside."""
    if error.__cause__ is not None and error.__cause__.__traceback__ is not None:
        error.__cause__ = None
    return error.with_traceback(None)


def _too_many_error(function: str, positional: list[str], count: int) -> UsageError:
    accepted = f"only {' and '.join(map(repr, positional))}" if positional else "no argument"
    advice = "name the others, such as method='icarl'"
    if "source" in positional:
        advice = (
            "give several sources as a list, [a, b], or DataFrames as a dict, "
            "{'ours': a, 'baseline': b}"
        )
    return UsageError(f"{function}() takes {accepted} without a name. Got {count}; {advice}.")


def _unknown_parameter_error(name: str, types: Mapping[str, Any]) -> UsageError:
    for parameter, hint in types.items():
        group = group_of(hint)
        if group is not None and name in class_types(group):
            return misplaced(name, parameter)
    return unknown_name_error("parameter", name, types)


def group_of(hint: Any) -> type[Options] | None:
    """Return the group of options that a hint begins with, as in `Data | None`; else None."""
    first = hints.alternatives(hint)[0]
    return first if isinstance(first, type) and issubclass(first, Options) else None


def misplaced(name: str, group: str) -> UsageError:
    """Return the error for an option that was passed beside its group, not in it."""
    return UsageError(f"{name!r} is an option of {group!r}: give {group}={{{name!r}: ...}}.")


def place_in_groups(
    values: Mapping[str, Any], groups: Mapping[str, type[Options]]
) -> dict[str, Any]:
    """Return values in which each option of a group has moved into its group.

    >>> @dataclass(frozen=True)
    ... class Page(Options):
    ...     width: int = option("columns", 80)
    >>> place_in_groups({"width": 60, "title": "A"}, {"page": Page})
    {'title': 'A', 'page': {'width': 60}}
    """
    group_of_name: dict[str, str] = {}
    for group, options_class in groups.items():
        for name in class_types(options_class):
            if name not in values:
                continue
            if name in group_of_name:
                raise UsageError(
                    f"{name!r} is an option of {group_of_name[name]!r} and of {group!r}: give "
                    f"{group}={{{name!r}: ...}}, or the same of {group_of_name[name]!r}."
                )
            group_of_name[name] = group
    placed = {name: value for name, value in values.items() if name not in group_of_name}
    for name, group in group_of_name.items():
        placed[group] = {**groups[group].options_in(placed.get(group)), name: values[name]}
    return placed


def check_value(name: str, value: Any, hint: Any) -> None:
    """Refuse a value that its hint does not allow.

    >>> check_value("metric", 3, str | None)
    Traceback (most recent call last):
    edgecil.errors.UsageError: 'metric' must be a text. Got 3 instead.
    """
    convert_option(name, value, hint)


def default_of(entry: Field[Any]) -> Any:
    """Return the default of a field; `MISSING` if it is required."""
    return entry.default if entry.default_factory is MISSING else entry.default_factory()


def convert_option(name: str, value: Any, hint: Any) -> Any:
    """Return the value of an option in the type of its hint; a list of names may be one text.

    >>> convert_option("sizes", [3, 3], tuple[int, ...])
    (3, 3)
    >>> convert_option("devices", "a, b", tuple[str, ...])
    ('a', 'b')
    """
    if isinstance(hint, type) and issubclass(hint, Options):
        return hint.from_value(value)
    kinds = hints.alternatives(hint)
    if isinstance(value, str) and str not in kinds and tuple[str, ...] in kinds:
        value = [part.strip() for part in value.split(",")]
    try:
        return hints.convert(value, hint)
    except MismatchError as error:
        if error.choices:
            raise unknown_name_error(name, value, error.choices) from error
        raise wrong_value_error(name, error.allowed, value) from error
