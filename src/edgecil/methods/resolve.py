"""Methods by name, by `file.py:Class`, by `package.module:Class`, by entry point, or as a class."""

from __future__ import annotations

import copyreg
import inspect
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import field, fields, make_dataclass, replace
from functools import partial
from typing import Any, cast

from edgecil.errors import UsageError, format_value, unknown_name_error
from edgecil.io.code import (
    CodeSource,
    load_code,
    locate_code,
    locate_module,
    locate_object,
)
from edgecil.methods.entry import METHODS, MethodEntry
from edgecil.methods.method import Environment, Method
from edgecil.methods.plain_learner import PlainMethod, check_plain
from edgecil.registry import installed

ENTRY_POINTS = "edgecil.methods"

_entries: dict[tuple[str, str], MethodEntry] = {}  # by source and its content
_interactive: dict[str, MethodEntry] = {}


def method_names(pattern: str = "*") -> tuple[str, ...]:
    """Return names of the available methods that match a shell pattern, such as `*prompt*`.

    Methods of installed packages (entry points of the group `edgecil.methods`) come last.
    """
    return (*sorted(METHODS.names(pattern)), *installed(ENTRY_POINTS).names(pattern))


def get_method(name: str) -> MethodEntry:
    """Return a method by name; case and dashes do not matter (`iCaRL`).

    Args:
        name: a registered name, the name of an entry point of the group `edgecil.methods`,
            `path/to/file.py:MyLearner`, or `package.module:MyLearner`.
    """
    if name in METHODS:
        return METHODS[name]
    if name in _interactive:
        return _interactive[name]
    if ":" in name or name.endswith(".py"):
        return _from_source(locate_code(name))
    if (point := installed(ENTRY_POINTS).get(name)) is not None:
        return _from_source(locate_module(point.module, point.attr))
    raise unknown_name_error("method", name, method_names())


def resolve_method(method: str | MethodEntry | Callable[..., Any]) -> MethodEntry:
    """Return the entry of a method in any form.

    Args:
        method: whatever :func:`get_method` accepts; a :class:`Method` subclass; a plain learner
            class with `fit_task`, `predict`, `state_dict` and `load_state_dict`; or a function that
            returns such a learner.
    """
    if isinstance(method, MethodEntry):
        return method
    if isinstance(method, str):
        return get_method(method)
    if not callable(method):
        raise UsageError(
            "`method` must be a name, a class or a function. Got an object of "
            f"{type(method).__name__}; give the class itself."
        )
    registered = next((entry for entry in METHODS.values() if entry.build is method), None)
    return registered or _from_object(method)


def _from_object(method: Callable[..., Any]) -> MethodEntry:
    """Return the entry of a class or function that is given as an object."""
    name = getattr(method, "__qualname__", "")
    if not name.isidentifier():
        raise UsageError(
            f"A method must be defined at the top level of a module. Got {format_value(name)}."
        )
    source = locate_object(method)
    if source.is_interactive:
        _interactive[name] = _entry(source, method)
        return _interactive[name]
    return _from_source(source, lambda: method)


def _from_source(source: CodeSource, load: Callable[[], Any] | None = None) -> MethodEntry:
    key = source.spec, source.digest
    if key not in _entries:
        _entries[key] = _entry(source, load_code(source) if load is None else load())
    return _entries[key]


def _entry(source: CodeSource, method: Callable[..., Any]) -> MethodEntry:
    """Return the entry of a class or function with its source; its objects can be pickled."""
    registered = next((entry for entry in METHODS.values() if entry.build is method), None)
    if registered is not None:
        return _portable(replace(registered, source=source))
    name = source.attribute
    if name in METHODS:
        raise UsageError(
            f"{name!r} is a name of the built-in method {METHODS.resolve(name)!r}; give your own "
            "class another name."
        )
    config = _config_of(method, name)
    is_method = isinstance(method, type) and issubclass(method, Method)
    if not is_method:
        check_plain(method, name)

    def build(settings: Any, environment: Environment) -> Method:
        if is_method:
            return cast(Method, method(environment, **vars(settings)))
        return PlainMethod(partial(method, **vars(settings)), name, environment)

    build.order_free = getattr(method, "order_free", False)  # type: ignore[attr-defined]
    build.adapts = getattr(method, "adapts", False)  # type: ignore[attr-defined]
    lines = (inspect.getdoc(method) or "your own learner").splitlines()
    return _portable(MethodEntry(name, build, config, lines[0], source=source))


def _config_of(method: Callable[..., Any], name: str) -> type[Any]:
    """Return a frozen dataclass of the constructor's parameters, which are the settings."""
    parameters = list(inspect.signature(method).parameters.values())
    if isinstance(method, type) and issubclass(method, Method):
        if not parameters or parameters[0].default is not parameters[0].empty:
            raise UsageError(f"The first parameter of {name} must be the environment.")
        parameters = parameters[1:]
    settings: list[tuple[str, Any, Any]] = []
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        value = parameter.default
        if value is parameter.empty:
            raise UsageError(
                f"{name} must be created from its settings; give its parameter {parameter.name!r} "
                "a default value, or decorate it with edgecil.register_method."
            )
        if type(value).__hash__ is None:  # a list or dictionary
            value = field(default_factory=partial(copy, value))
        settings.append((parameter.name, Any, value))
    return make_dataclass(f"{name}Settings", settings, frozen=True)


def _portable(entry: MethodEntry) -> MethodEntry:
    """Let the configurations of an entry be pickled wherever its class comes from."""

    def reduce(config: Any) -> tuple[Any, ...]:
        values = {each.name: getattr(config, each.name) for each in fields(config)}
        return _make_config, (entry, values)

    copyreg.pickle(entry.config, reduce)
    return entry


def _make_config(entry: MethodEntry, values: Mapping[str, Any]) -> Any:
    return entry.config(**values)


def _reduce_entry(entry: MethodEntry) -> tuple[Any, ...]:
    return (get_method, (entry.name,)) if entry.source is None else (_from_source, (entry.source,))


copyreg.pickle(MethodEntry, _reduce_entry)
