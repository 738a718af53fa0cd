"""Methods by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from types import NoneType
from typing import Any, TypeVar, get_args, get_type_hints

from edgecil.errors import UsageError, unknown
from edgecil.methods.memory import MemoryBudget
from edgecil.methods.method import Environment, Method
from edgecil.methods.recipe import Recipe, get_recipe

_Method = TypeVar("_Method", bound=type[Method])


@dataclass(frozen=True)
class MethodEntry:
    """A registered method.

    Attributes:
        name: how it is asked for.
        build: `(config, environment) -> Method`.
        config: the frozen dataclass of its hyper-parameters, with published defaults.
        summary: one line for the list of methods.
        fast: its own recipe for a CPU and the bundled data, if it works on a pre-trained model;
            None for a learner that trains whichever backbone it is given.
        fast_settings: other settings that go with `fast`.
    """

    name: str
    build: Callable[[Any, Environment], Method]
    config: type[Any]
    summary: str
    fast: Recipe | None = None
    fast_settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def pretrained(self) -> bool:
        """Whether it works on a frozen pre-trained model."""
        return self.fast is not None

    def recipe(self, name: str, backbone: str) -> tuple[Recipe, MemoryBudget]:
        """How to train and how much to remember, by :func:`get_recipe`'s names.

        Learners on a pre-trained model each have a recipe of their own: `paper` is the published
        one, and they keep no images.
        """
        recipe, memory = get_recipe(name, backbone)
        if self.fast is None:
            return recipe, memory
        return (self.fast if name == "fast" else self.config().recipe), memory

    def settings(self, recipe: str) -> Mapping[str, Any]:
        """What else a recipe of that name changes."""
        return self.fast_settings if recipe == "fast" else {}

    def configure(
        self,
        recipe: Recipe,
        memory: MemoryBudget,
        settings: Mapping[str, Any] | None = None,
    ) -> Any:
        """The method's config: published defaults, this recipe and budget, then settings by name.

        A setting of a nested part is an inner mapping: `{"memory": {"per_class": 5}}`.
        """
        own = {entry.name for entry in fields(self.config)}
        offered = {"recipe": recipe, "memory": memory}
        shared = {name: value for name, value in offered.items() if name in own}
        return replace_settings(self.config(**shared), settings or {}, self.name)


_methods: dict[str, MethodEntry] = {}


def register_method(
    name: str,
    config: type[Any],
    summary: str,
    *,
    fast: Recipe | None = None,
    fast_settings: Mapping[str, Any] | None = None,
) -> Callable[[_Method], _Method]:
    """Decorate a :class:`Method` to make it known by name."""

    def add(method: _Method) -> _Method:
        _methods[name] = MethodEntry(name, method, config, summary, fast, fast_settings or {})
        return method

    return add


def method_names() -> tuple[str, ...]:
    """Names of every registered method."""
    return tuple(_methods)


def get_method(name: str) -> MethodEntry:
    """The method of that name."""
    if name not in _methods:
        raise unknown("method", name, _methods)
    return _methods[name]


def replace_settings(config: Any, settings: Mapping[str, Any], path: str) -> Any:
    """A copy of a frozen config with some fields changed, by name; errors call it `path`."""
    known = {field.name: field for field in fields(config)}
    kinds = get_type_hints(type(config))
    changes = {}
    for name, value in settings.items():
        if name not in known:
            raise unknown(f"setting of {path}", name, known)
        current = getattr(config, name)
        if value is None and NoneType not in get_args(kinds[name]):
            raise UsageError(f"Setting {path}.{name} must have a value. Got None.")
        if is_dataclass(current) and isinstance(value, Mapping):
            changes[name] = replace_settings(current, value, f"{path}.{name}")
        else:
            changes[name] = _checked(value, current, known[name].default, f"{path}.{name}")
    return replace(config, **changes)


def _checked(value: Any, current: Any, default: Any, path: str) -> Any:
    """A value of the kind that the setting has, or a sentence on why it is not."""
    model = current if current is not None or default is MISSING else default
    if isinstance(model, tuple) and isinstance(value, (list, tuple)):
        element = model[0] if model else None
        return tuple(_checked(item, element, MISSING, f"{path}[]") for item in value)
    if isinstance(model, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if model is None or value is None or type(value) is type(model):
        return value
    raise UsageError(
        f"Setting {path} takes a {type(model).__name__}. Got {value!r} ({type(value).__name__})."
    )
