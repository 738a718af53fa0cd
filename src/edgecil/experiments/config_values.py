"""Configurations from TOML files, toolboxes' JSON files, mappings and keywords.

Values are nested as in a TOML file: keywords of :func:`edgecil.run`, and a mapping for each group.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from edgecil.classes import ClassChoice
from edgecil.errors import UsageError, nearest, unknown_name_error, wrong_value_error
from edgecil.experiments.config import GROUPS, ExperimentConfig
from edgecil.hints import class_types
from edgecil.options import convert_option, misplaced
from edgecil.recipes import RECIPE_PREFIX, RUN, read_experiment_file, require_verb
from edgecil.registry import installed
from edgecil.sequences.space import TaskSizes
from edgecil.sequences.task_orders import task_text
from edgecil.sequences.user_sequences import sequence_texts
from edgecil.similarity.build import FILE_OPTIONS, TEXT_OPTIONS

Config: TypeAlias = str | Path | Mapping[str, Any] | ExperimentConfig | None

READERS = "edgecil.configs"
"""Entry points that read config files of other programs, by suffix."""

CALL_OPTIONS = ("out", "overwrite", "as")
"""Parameters of `run` itself that a TOML file may also have."""

_TASK_SIZES = tuple(TaskSizes.__dataclass_fields__)
_FULL_SIZES = ("tasks", "increment", "sizes", "given_tasks")
_CLASS_CHOICE = tuple(ClassChoice.__dataclass_fields__)
_TEXTS_OR_LISTS = ("method", "protocol", "sequences", "given_tasks")


def read_config(
    config: Config, *, further: Iterable[str] = (), options: Mapping[str, Any] | None = None
) -> Mapping[str, Any]:
    """Return the values in a TOML file, a bundled recipe, a toolbox's JSON file or an object."""
    if config is None or isinstance(config, Mapping):
        return config or {}
    if isinstance(config, ExperimentConfig):
        return config.changed()
    if not isinstance(config, (str, Path)):
        raise wrong_value_error("config", "a path, a mapping or an ExperimentConfig", config)
    name = str(config)
    if Path(name).is_dir():
        from edgecil.experiments.experiment import Experiment

        recorded = Experiment.open(name).config
        if recorded is None:
            raise UsageError(f"{name} was trained by another program; give its options.")
        return recorded.changed()
    suffix = Path(name).suffix.lower().removeprefix(".")
    if suffix in installed(READERS):
        read_foreign_config = installed(READERS)[suffix].load()
        values: Mapping[str, Any] = read_foreign_config(name, options=options)
        return values
    facts, values = read_experiment_file(name)
    require_verb(name, facts, RUN)
    _check_names(values, f"option in {name}", (*CALL_OPTIONS, *further))
    types = class_types(ExperimentConfig)
    try:
        for key, value in values.items():
            if key in GROUPS:
                GROUPS[key].from_value(value)
            elif key in types and key not in (*_TEXTS_OR_LISTS, *further):
                convert_option(key, value, types[key])
    except UsageError as error:
        raise UsageError(f"In {name}, {error}") from error
    return values


def is_config(dataset: object) -> bool:
    """Return whether what stands in the place of a dataset is a file or a recipe with options."""
    if not isinstance(dataset, (str, Path)):
        return False
    text = str(dataset).lower()
    return text.startswith(RECIPE_PREFIX) or text.endswith((".toml", ".json"))


def merge_options(values: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a configuration, replaced by those given beside it; None is not given.

    Task sizes, chosen classes and the source of the similarity are replaced as a whole.

    >>> merge_options({"base": 50, "increment": 10}, {"tasks": 5, "data": {"classes": None}})
    {'tasks': 5}
    """
    changes = {name: value for name, value in options.items() if value is not None}
    replaced = set() if changes.keys().isdisjoint(_FULL_SIZES) else {*_TASK_SIZES}
    merged = {name: value for name, value in values.items() if name not in replaced} | changes
    for group, kind in GROUPS.items():
        beside = kind.options_in(changes.get(group))
        lost = _replaced(group, beside)
        kept = {
            name: value
            for name, value in kind.options_in(values.get(group)).items()
            if name not in lost
        }
        together = kept | beside
        merged.pop(group, None)
        if together:
            merged[group] = together
    return merged


def _replaced(group: str, changes: Mapping[str, Any]) -> set[str]:
    """Return the options of a group that lose their meaning beside those that are given."""
    if group == "data" and not changes.keys().isdisjoint(("classes", "class_ids")):
        return {*_CLASS_CHOICE}
    if group == "similarity" and not changes.keys().isdisjoint(FILE_OPTIONS):
        return {*FILE_OPTIONS, *TEXT_OPTIONS}
    if group == "similarity" and not changes.keys().isdisjoint(TEXT_OPTIONS):
        return {*FILE_OPTIONS}
    return set()


def build_config(values: Mapping[str, Any]) -> ExperimentConfig:
    """Return a checked configuration from values; options of `execution` are left out."""
    _check_names(values, "option")
    options = {
        name: value for name, value in values.items() if name != "execution" and value is not None
    }
    for name in ("method", "dataset"):
        value = options.get(name)
        if value is None or (isinstance(value, (str, list, tuple)) and not value):
            raise UsageError(f"`{name}` is required.")
    for name in ("method", "protocol"):
        value = options.get(name)
        if isinstance(value, str):
            options[name] = value.split(",")
        if isinstance(options.get(name), (list, tuple)):
            parts = (part.strip() if isinstance(part, str) else part for part in options[name])
            options[name] = tuple(dict.fromkeys(parts))
    if options.get("given_tasks") is not None:
        options["given_tasks"] = task_text(options["given_tasks"])
    if options.get("sequences", {}) != {}:
        sequences = sequence_texts(options["sequences"])
        options["sequences"] = sequences
        options["protocol"] = tuple(dict.fromkeys([*options.get("protocol", ()), *sequences]))
    return ExperimentConfig(**options)


def config_text(config: ExperimentConfig) -> str:
    """Return the configuration as the TOML that :func:`read_config` reads, without default values.

    >>> training = {"schedule": {"decay": 2}}
    >>> print(config_text(ExperimentConfig("ewc", "quickdraw", training=training)))
    method = ["ewc"]
    dataset = "quickdraw"
    <BLANKLINE>
    [training]
    schedule = { "decay" = 2 }
    """
    changed = config.changed()
    groups = {name: changed.pop(name).changed() for name in GROUPS if name in changed}
    names = dict.fromkeys(["method", "dataset", *changed])
    lines = [f"{name} = {_toml(changed[name])}" for name in names]
    for group, values in groups.items():
        lines += ["", f"[{group}]", *(f"{name} = {_toml(value)}" for name, value in values.items())]
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
    names = list(dict.fromkeys([*class_types(ExperimentConfig), *GROUPS, *further]))
    for name in values:
        if name not in names:
            for group, members in GROUPS.items():
                if name in members.__dataclass_fields__ and not further:
                    raise misplaced(name, group)
                if name in members.__dataclass_fields__:
                    raise UsageError(f"The {kind} {name!r} must be under [{group}].")
            raise _unknown_option(kind, name, names)


# Other words for options, as somebody may guess them.
_MEANT = {
    "orders": "budget",
    "runs": "budget",
    "n": "budget",
    "n_orders": "budget",
    "n_tasks": "tasks",
    "seeds": "repeats",
    "seed": "order_seed",
    "methods": "method",
    "learner": "method",
    "order": "protocol",
}


def _unknown_option(kind: str, name: str, names: list[str]) -> UsageError:
    """Return the error for an option that neither the experiment nor a group of it has."""
    if name in _MEANT:
        return UsageError(f"Unknown {kind} {name!r}. Did you mean {_MEANT[name]!r}?")
    group_options = [option for members in GROUPS.values() for option in class_types(members)]
    near = nearest(name, [*names, *group_options])
    if near and near[0] in group_options:
        return UsageError(f"Unknown {kind} {name!r}. Did you mean {near[0]!r}?")
    return unknown_name_error(kind, name, names)
