"""What a config of PyCIL or PILOT leaves to code: the published setup of its method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from edgecil.methods import METHODS, MethodEntry, Schedule
from edgecil.methods.registry import replace_schedule
from edgecil.methods.setups import NAMED, PUBLISHED


def choose_setup(method: str, dataset: str, *, vit: bool) -> str:
    """Return the setup that a toolbox's config is based on.

    Args:
        method: name of the method.
        dataset: name of the dataset in edgecil.
        vit: whether the network is a ViT. Learners that train all of it have PILOT's settings in
            the setup for ImageNet-R, whatever the dataset.
    """
    entry = _entry(method)
    if vit and entry is not None and not entry.pretrained:
        dataset = "imagenet-r"
    own = PUBLISHED.get(method, {}).get(dataset)
    return "published" if own is None else own.name


def trains_nothing(method: str) -> bool:
    """Whether a method has no schedule."""
    entry = _entry(method)
    return entry is not None and "schedule" not in {field.name for field in fields(entry.config)}


def describe_setup(
    method: str, values: Mapping[str, Any], *, changed: Mapping[str, Any]
) -> str | None:
    """Return a sentence on the values that come from the setup; None if there are none.

    Args:
        method: name of the method.
        values: options of :class:`~edgecil.engine.config.Training` from the config.
        changed: options that take precedence over it.
    """
    entry = _entry(method)
    if entry is None or trains_nothing(method):
        return None
    changes = values.get("schedule", {})
    schedule, _ = entry.schedule(values["setup"], values.get("backbone", ""))
    schedule = replace_schedule(schedule, changes)
    given = {*changes, *changed, *changed.get("schedule", {})}
    parts = [
        part for name in _in_effect(schedule) if name not in given for part in _say(schedule, name)
    ]
    own = values.get("set", {}).get(method, {})
    parts += [
        f"{method}.{name} = {value}"
        for name, value in entry.settings(values["setup"]).items()
        if name not in own
    ]
    if not parts:
        return None
    setup = NAMED.get(values["setup"])
    source = "" if setup is None else f" ({setup.source})"
    return (
        f"these values are not from the file but from the setup {values['setup']!r}"
        f"{source}: {', '.join(parts)}."
    )


def _entry(method: str) -> MethodEntry | None:
    if method not in METHODS:
        return None
    return METHODS[method]


def _in_effect(schedule: Schedule) -> list[str]:
    """Names of the fields that matter: those without effect and rare ones unused are left out."""
    both = (schedule, schedule.first or schedule)
    steps = any(one.schedule == "steps" and one.milestones for one in both)
    always = ["epochs", "learning_rate", "schedule", *(["milestones", "decay"] if steps else [])]
    always += ["optimizer", "weight_decay", "batch_size", "augment"]
    rare = ("head_factor", "clip", "drop_last", "accumulate")
    usual = Schedule()
    return always + [name for name in rare if getattr(schedule, name) != getattr(usual, name)]


def _say(schedule: Schedule, name: str) -> list[str]:
    later, first = (_text(getattr(one, name)) for one in (schedule, schedule.first or schedule))
    return [f"{name} = {later}" + (f" (first task: {first})" if first != later else "")]


def _text(value: Any) -> str:
    return "[" + " ".join(map(str, value)) + "]" if isinstance(value, tuple) else str(value)
