"""Options of `run`: their meaning, their values in TOML files, and the configurations they make."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from edgecil.engine.config import Execution, ExperimentConfig
from edgecil.engine.toolbox_configs import read_toolbox_config
from edgecil.errors import UsageError, is_integer, shown, unknown
from edgecil.io.docstrings import read_section
from edgecil.io.toml import read_toml
from edgecil.recipes import read_recipe
from edgecil.sequences.given import given_texts

RECIPE_PREFIX = "recipe:"

_TASK_SIZES = ("tasks", "base", "increment", "sizes")
_CLASS_CHOICE = ("classes", "classes_seed", "class_ids")
_SIMILARITY_FILES = ("similarity", "embeddings")
_SIMILARITY_TEXTS = ("names", "encoder", "template", "captions", "weights")

_TEXTS_OR_LISTS = ("method", "protocol", "sequences", "devices")

EXECUTION_OPTIONS = tuple(entry.name for entry in fields(Execution))
OPTIONS = (*(entry.name for entry in fields(ExperimentConfig)), *EXECUTION_OPTIONS)
CALL_OPTIONS = ("out", "overwrite", "dry_run")
"""Parameters of `run` itself, and the choice of `plan_run`, that a TOML file may also have."""


def describe_options() -> dict[str, tuple[Any, str]]:
    """Return the type and the meaning of every option, from annotations, defaults and docstrings.

    >>> describe_options()["objective"]
    (<class 'str'>, 'what the protocol `optimal` optimises (default: adjacent)')
    """
    options = {}
    for kind in (ExperimentConfig, Execution):
        types, meanings = get_type_hints(kind), read_section(kind.__doc__)
        for entry in fields(kind):
            meaning, default = meanings[entry.name].rstrip("."), entry.default
            if isinstance(default, tuple):
                default = ",".join(default)
            if default not in (None, False, MISSING):
                meaning += " (default)" if default is True else f" (default: {default})"
            types_given = [part for part in get_args(types[entry.name]) if part is not NoneType]
            is_union = get_origin(types[entry.name]) is UnionType
            options[entry.name] = (types_given[0] if is_union else types[entry.name], meaning)
    return options


def read_config(
    path: str | Path,
    *,
    further: Iterable[str] = (),
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the options in a TOML file, a bundled recipe (`recipe:demo`) or a toolbox's JSON file.

    Args:
        path: the file.
        further: names of options that the file may have beside those of `run`.
        options: those that are given beside the file; see :func:`edgecil.read_toolbox_config`.
    """
    name = str(path)
    if Path(name).suffix.lower() == ".json":
        given = {key: value for key, value in (options or {}).items() if value is not None}
        return read_toolbox_config(path, options=given)
    recipe = name.startswith(RECIPE_PREFIX)
    values = read_recipe(name.removeprefix(RECIPE_PREFIX)) if recipe else read_toml(path)
    _check_names(values, f"option in {name}", (*CALL_OPTIONS, *further))
    for kind in (ExperimentConfig, Execution):
        own = {entry.name for entry in fields(kind)}.difference(_TEXTS_OR_LISTS, further)
        try:
            convert_options(kind, {key: values[key] for key in values if key in own})
        except UsageError as error:
            raise UsageError(f"In {name}, {error}") from error
    return values


def merge_options(values: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options from a configuration, replaced by those given beside it; None means not given.

    Task sizes, chosen classes and the source of the similarity are replaced as a whole.

    >>> merge_options({"base": 50, "increment": 10}, {"tasks": 5, "classes": None})
    {'tasks': 5}
    """
    given = {name: value for name, value in options.items() if value is not None}
    replaced: set[str] = set()
    if not given.keys().isdisjoint(("tasks", "increment", "sizes")):
        replaced.update(_TASK_SIZES)
    if not given.keys().isdisjoint(("classes", "class_ids")):
        replaced.update(_CLASS_CHOICE)
    if not given.keys().isdisjoint(_SIMILARITY_FILES):
        replaced.update(_SIMILARITY_FILES, _SIMILARITY_TEXTS)
    elif not given.keys().isdisjoint(_SIMILARITY_TEXTS):
        replaced.update(_SIMILARITY_FILES)
    return {**{name: value for name, value in values.items() if name not in replaced}, **given}


def build_config(values: Mapping[str, Any]) -> ExperimentConfig:
    """Return a checked configuration from options; the options of :class:`Execution` are left out.

    Lists become tuples, a text of comma-separated names a tuple of names, and None the default.
    """
    _check_names(values, "option")
    given = {name: value for name, value in values.items() if name not in EXECUTION_OPTIONS}
    for name in ("method", "dataset"):
        if not isinstance(given.get(name), (str, os.PathLike, list, tuple, type(None))):
            continue  # whatever it is, its type is checked below
        if not given.get(name):
            raise UsageError(f"The {name!r} parameter is required.")
    for name in ("method", "protocol"):
        value = given.get(name)
        if isinstance(value, str):
            given[name] = value.split(",")
        if isinstance(given.get(name), (list, tuple)):
            parts = (part.strip() if isinstance(part, str) else part for part in given[name])
            given[name] = tuple(dict.fromkeys(parts))
    if given.get("sequences") is not None and given["sequences"] != {}:
        own = given_texts(given["sequences"])
        given["sequences"] = own
        given["protocol"] = tuple(dict.fromkeys([*(given.get("protocol") or ()), *own]))
    return ExperimentConfig(**convert_options(ExperimentConfig, given))


def build_execution(values: Mapping[str, Any]) -> Execution:
    """Return the checked options of :class:`Execution` among options."""
    _check_names(values, "option")
    given = {name: value for name, value in values.items() if name in EXECUTION_OPTIONS}
    if isinstance(given.get("devices"), str):
        given["devices"] = [name.strip() for name in given["devices"].split(",")]
    return Execution(**convert_options(Execution, given))


def config_text(config: ExperimentConfig) -> str:
    """Return the configuration as the TOML that :func:`read_config` reads, without default values.

    >>> print(config_text(ExperimentConfig(("ewc",), "quickdraw", tasks=3, training={"decay": 2})))
    method = ["ewc"]
    dataset = "quickdraw"
    tasks = 3
    training = { "decay" = 2 }
    """
    lines = []
    for entry in fields(ExperimentConfig):
        value = getattr(config, entry.name)
        default = {} if entry.default is MISSING else entry.default
        if value is not None and value != default:
            lines.append(f"{entry.name} = {_toml(value)}")
    return "\n".join(lines)


def _toml(value: Any) -> str:
    """Return a plain value as TOML; JSON writes everything but tables in the same way."""
    if isinstance(value, Mapping):
        inside = ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_toml(item) for item in value)}]"
    return json.dumps(value, ensure_ascii=False)


def _check_names(values: Mapping[str, Any], kind: str, further: Iterable[str] = ()) -> None:
    names = (*OPTIONS, *further)
    for name in values:
        if name not in names:
            raise unknown(kind, name, names)


def convert_options(config: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are not None, each converted to the type of its field."""
    converted, types = {}, get_type_hints(config)
    for name, value in values.items():
        if value is None:
            continue
        plain = os.fspath(value) if isinstance(value, os.PathLike) else value
        plain = int(plain) if is_integer(plain) else plain  # of NumPy, too
        try:
            converted[name] = msgspec.convert(plain, types[name])
        except msgspec.ValidationError as error:
            raise UsageError(
                f"{name!r} must be {_describe(types[name])}. Got {shown(value)} instead."
            ) from error
    return converted


_DESCRIPTIONS = {int: "an integer", float: "a number", bool: "true or false", str: "a text"}
_PLURALS = {int: "integers", str: "texts"}


def _describe(kind: Any) -> str:
    """Return a type in words."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        return " or ".join(map(repr, parts))
    if origin is UnionType:
        return _describe(next(part for part in parts if part is not NoneType))
    if origin is tuple:
        return f"a list of {_PLURALS[parts[0]]}"
    if origin is not None:
        nested = get_origin(parts[1]) is not None
        return "a table of tables" if nested else "a table of settings"
    return _DESCRIPTIONS[kind]
