"""The registry of methods, and their configuration by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, is_dataclass, replace
from typing import Any, TypeVar

from edgecil.errors import UsageError, format_value, unknown_name_error
from edgecil.hints import MismatchError, alternatives, choices_of, class_types, convert
from edgecil.io.code import CodeSource
from edgecil.methods.memory import MemoryBudget
from edgecil.methods.method import Environment, Method, Need
from edgecil.methods.settings import PAPER, Schedule
from edgecil.methods.setups import FAST, SETUPS, find_setup, get_schedule
from edgecil.registry import Registry

_Method = TypeVar("_Method", bound=type[Method])


@dataclass(frozen=True)
class MethodEntry:
    """A registered method.

    Attributes:
        name: its name in the registry.
        build: `(config, environment) -> Method`.
        config: frozen dataclass of its hyper-parameters, with the published defaults.
        summary: one line for the list of methods.
        fast_settings: other settings of the setup `fast`.
        published_settings: other settings of `paper` and `published`: the behaviour of the
            published code where the default differs.
        source: code of a learner that is not part of edgecil.
    """

    name: str
    build: Callable[[Any, Environment], Method]
    config: type[Any]
    summary: str
    fast_settings: Mapping[str, Any] = field(default_factory=dict)
    published_settings: Mapping[str, Any] = field(default_factory=dict)
    source: CodeSource | None = None

    @property
    def identity(self) -> dict[str, str]:
        """Digests of the learner's source files; empty for methods of edgecil."""
        return {} if self.source is None else self.source.identity

    @property
    def spec(self) -> str:
        """The text by which :func:`get_method` gives this entry."""
        return self.name if self.source is None else self.source.spec

    @property
    def pretrained(self) -> bool:
        """Whether it works on a frozen pre-trained model."""
        return getattr(self.build, "frozen", False)

    @property
    def order_free(self) -> bool:
        """Whether all class orders follow from one matrix of scores."""
        return getattr(self.build, "order_free", False)

    @property
    def adapts(self) -> bool:
        """Whether its answers are meant to depend on the other test inputs."""
        return getattr(self.build, "adapts", False)

    def needs(self, config: Any) -> Need:
        """Return what the learner with these settings needs of its network."""
        need: Need = getattr(self.build, "needs", Method.needs)(config)
        return need

    @property
    def alternative(self) -> str:
        """What to use where a network lacks what the learner needs."""
        return str(getattr(self.build, "alternative", Method.alternative))

    def schedule(
        self, name: str, backbone: str, dataset: str | None = None
    ) -> tuple[Schedule, MemoryBudget]:
        """Return the schedule and the exemplar budget of a setup; see :func:`get_schedule`.

        A learner whose config has another schedule than the paper's keeps it in `paper`.
        """
        schedule, memory = get_schedule(name, backbone)
        published = find_setup(self.name, name, dataset)
        if published is not None:
            return published.schedule, published.memory or memory
        if SETUPS.resolve(name) == "fast":
            return FAST.get(self.name, schedule), memory
        schedule_of_config = getattr(self.config(), "schedule", PAPER)
        return (schedule if schedule_of_config == PAPER else schedule_of_config), memory

    def settings(self, setup: str, dataset: str | None = None) -> Mapping[str, Any]:
        """Return settings that a setup changes besides schedule and memory."""
        if SETUPS.resolve(setup) == "fast":
            return self.fast_settings
        published = find_setup(self.name, setup, dataset)
        return {**self.published_settings, **({} if published is None else published.settings)}

    def configure(
        self, schedule: Schedule, memory: MemoryBudget, settings: Mapping[str, Any] | None = None
    ) -> Any:
        """Build the method's config: published defaults, then schedule and budget, then settings.

        Settings of nested parts are nested mappings: `{"memory": {"per_class": 5}}`.
        """
        defaults = self.config()  # a plain learner may call something else its memory
        shared = {
            name: value
            for name, value in (("schedule", schedule), ("memory", memory))
            if isinstance(getattr(defaults, name, None), type(value))
        }
        return replace_settings(self.config(**shared), settings or {}, self.name)


METHODS: Registry[MethodEntry] = Registry(
    "method", aliases={"replay": "er", "aper-adapter": "aper", "adam-adapter": "aper"}
)


def register_method(
    name: str, config: type[Any], summary: str, **more: Any
) -> Callable[[_Method], _Method]:
    """Register the decorated :class:`Method` under a name.

    Args:
        name: name in the registry.
        config: frozen dataclass of hyper-parameters; the method is built as
            `method(config, environment)`.
        summary: one line for the list of methods.
        more: other attributes of :class:`MethodEntry`.
    """

    def add(method: _Method) -> _Method:
        METHODS.add(name, MethodEntry(name, method, config, summary, **more))
        return method

    return add


def replace_settings(config: Any, settings: Mapping[str, Any], path: str) -> Any:
    """Return a copy of a frozen config with some fields changed; `path` names it in errors."""
    types = class_types(type(config))
    changes = {}
    for name, value in settings.items():
        if name not in types:
            raise unknown_name_error(f"setting of {path}", name, types)
        current, hint = getattr(config, name), types[name]
        if is_dataclass(current) and isinstance(value, Mapping):
            changes[name] = replace_settings(current, value, f"{path}.{name}")
        else:
            if hint is Any and current is not None:  # of a plain learner
                hint = type(current)
            changes[name] = _checked(value, hint, f"{path}.{name}")
    return replace(config, **changes)


def replace_schedule(schedule: Schedule, settings: Mapping[str, Any]) -> Schedule:
    """Return a copy of a schedule with some fields changed, in its first task too.

    The setting `first` holds further changes, for the first task alone. A number of epochs replaces
    a number of steps.
    """
    changes = {name: value for name, value in settings.items() if name != "first"}
    if "epochs" in changes:
        changes = {"steps": None, **changes}
    first = settings.get("first")
    changed: Schedule = replace_settings(replace(schedule, first=None), changes, "training")
    if first is None and schedule.first is None:
        return changed
    alone: Schedule = replace_settings(schedule.first or schedule, changes, "training")
    return replace(changed, first=replace_settings(alone, first or {}, "training.first"))


def _checked(value: Any, hint: Any, path: str) -> Any:
    """Convert the value to the type of the setting, or raise an error if that is not possible."""
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"Setting '{path}' must be a finite number. Got {value}.")
    if choices_of(hint) or is_dataclass(value):  # which check themselves
        return value
    part = alternatives(hint)[0]
    if isinstance(part, type) and is_dataclass(part) and value is not None:
        if not isinstance(value, Mapping):
            raise UsageError(
                f"Setting '{path}' must be a table of settings. Got {format_value(value)}."
            )
        return replace_settings(part(), value, path)
    try:
        return convert(value, hint)
    except MismatchError as error:
        raise UsageError(
            f"Setting '{path}' must be {error.allowed}. Got {format_value(value)} instead."
        ) from error
