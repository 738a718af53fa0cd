"""Config files of PyCIL and PILOT, flat JSON, as options of an experiment.

The tables in `toolbox_keys.toml` map their keys to settings; keys without a setting are reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from edgecil.classes import get_classes
from edgecil.errors import DataError, UsageError, format_value, unknown_name_error, warn
from edgecil.experiments.config import Data, Training
from edgecil.io.files import read_json, read_toml

KEYS = read_toml(Path(__file__).with_name("toolbox_keys.toml"))
# Keys whose values are checked here; the configuration checks all others.
_KINDS: dict[str, type] = {
    "init_cls": int,
    "increment": int,
    "fixed_memory": bool,
    "convnet_type": str,
    "backbone_type": str,
    "scheduler": str,
    "milestones": list,
    "ca_storage_efficient_method": str,
}


def read_flat_config(path: str | Path) -> dict[str, Any]:
    """Return the content of a toolbox's config file."""
    data = read_json(Path(path))
    if not isinstance(data, dict):
        raise DataError(f"{path} must contain a JSON object, as PyCIL's and PILOT's configs do.")
    for key in ("model_name", "dataset"):
        if not isinstance(data.get(key), str):
            raise UsageError(f"{path} must name the {key!r}. Got {format_value(data.get(key))}.")
    return data


def read_toolbox_config(
    path: str | Path, *, options: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return a config of PyCIL or PILOT as a mapping that `edgecil.run` takes as `config`.

    The tasks are cut as the toolbox does: the last task takes what is left. Keys without an effect
    are an :class:`~edgecil.errors.EdgecilWarning`, as are values that are not from the file.

    Args:
        path: a flat JSON file.
        options: the options that are given to `edgecil.run` beside it; they may change the number
            of classes or the tasks.
    """
    given = {name: value for name, value in (options or {}).items() if value is not None}
    values, remarks = translate_config(path, options=given)
    if "method" not in given:
        _check_here(path, read_flat_config(path), Training.options_in(given.get("training")))
    if given.keys().isdisjoint(("tasks", "base", "increment", "sizes")):
        dataset, data = given.get("dataset", values["dataset"]), Data.options_in(given.get("data"))
        values = cut_tasks(values, _class_count(dataset, data))
    for remark in remarks:
        warn(f"{path}: {remark}")
    return values


def translate_config(
    path: str | Path, *, options: Mapping[str, Any] | None = None
) -> tuple[dict[str, Any], list[str]]:
    """Return options of `edgecil.run`, a published setup with a config's changes, and remarks."""
    given = options or {}
    config = read_flat_config(path)
    for key, kind in _KINDS.items():
        if not isinstance(config.get(key, kind()), kind):
            got = format_value(config[key])
            raise UsageError(f"{path}: {key!r} must be of type {kind.__name__}. Got {got}.")
    method = _method(config)
    training, first = _keys_in(config, "training"), _keys_in(config, "first_task")
    first = {name: key for name, key in first.items() if name in training}
    own, settings = _own_settings(method, config)
    network, vit = _network(config)
    dataset = toolbox_dataset(config["dataset"]) or config["dataset"]
    setup, source, untrained = _setup(method, dataset, vit=vit)
    changes, at_first = (
        _training({name: config[key] for name, key in keys.items()}, method)
        for keys in (training, first)
    )
    at_first = {name: value for name, value in at_first.items() if changes.get(name) != value}
    changes |= {"first": at_first} if at_first else {}
    memory = None
    if config.get("fixed_memory"):
        memory = {"total": None, "per_class": config.get("memory_per_class")}
    elif "memory_size" in config:  # shared by all classes seen
        memory = {"total": config["memory_size"], "per_class": None}
    changed: dict[str, Any] = {
        "memory": memory,
        "backbone": network,
        "device": _device(config.get("device")),
        "setup": setup,
        "schedule": None if untrained else changes,
        "set": {method: settings} if settings else None,
    }
    # PILOT scales images to 256 pixels and crops 224; those of CIFAR-100 to 224 for CODA-Prompt.
    plain = method == "coda-prompt" and config["dataset"] == "cifar224"
    images = {"preparation": "plain" if plain else "centre-crop", "normalisation": "none"}
    values: dict[str, Any] = {
        "method": [method],
        "dataset": dataset,
        "base": config.get("init_cls"),
        "increment": config.get("increment"),
        "data": images if vit else None,
        "training": {name: value for name, value in changed.items() if value is not None},
    }
    remarks = []
    meaningless = [key for key in KEYS["meaningless"] if key in config]
    if meaningless:
        remarks.append(
            f"{', '.join(meaningless)} have no effect; the protocol chooses the class orders "
            "(the toolbox's own are those of 'random-legacy' with its seed as `order_seed`)."
        )
    scheduled = () if untrained else (*training.values(), *first.values())
    same = (key for key, value in KEYS["fixed_keys"].items() if config.get(key) == value)
    used = {*KEYS["shared"], *meaningless, *scheduled, *own, *same}
    if ignored := [key for key in config if key not in used]:
        remarks.append(
            f"these keys are ignored, as they have no setting in edgecil: {', '.join(ignored)}."
        )
    for name, value in KEYS["fixed"].get(method, {}).items():
        remarks.append(f"{method}.{name} = {value}, as in PILOT's code.")
    if given.get("method") is None and "setup" not in Training.options_in(given.get("training")):
        remarks.append(f"values that the file lacks are those of the setup {setup!r}{source}.")
    return {name: value for name, value in values.items() if value is not None}, remarks


def _check_here(path: str | Path, config: Mapping[str, Any], training: Mapping[str, Any]) -> None:
    """Raise an error if edgecil lacks the learner of a config, or its network."""
    from edgecil.methods import METHODS  # it imports torch

    method, given = _method(config), config.get("convnet_type", config.get("backbone_type"))
    vit = _network(config)[1]
    divides, frozen = method in KEYS["residual"], method in KEYS["frozen"]
    if method not in METHODS:
        reason = f"the learner {config['model_name']!r} does not exist in edgecil"
    elif "backbone" not in training and (
        given in KEYS["elsewhere"] or (divides and vit) or (frozen and not vit)
    ):
        reason = f"{method!r} does not work on {given!r} in edgecil; give another `backbone`"
    else:
        return
    raise UsageError(
        f"{path}: {reason}. To train it in its own toolbox, run: edgecil toolbox CHECKOUT --config "
        f"{path} --out DIR"
    )


def toolbox_sizes(first: int, increment: int, classes: int) -> tuple[int, ...]:
    """Task sizes as the toolboxes cut them: the last task takes what is left.

    >>> toolbox_sizes(4, 3, 12)
    (4, 3, 3, 2)
    """
    starts = [0, *range(first, classes, increment)]
    ends = [*starts[1:], classes]
    return tuple(end - start for start, end in zip(starts, ends, strict=True))


def cut_tasks(values: Mapping[str, Any], classes: int | None) -> dict[str, Any]:
    """Return the values with `sizes` for `base` and `increment`, if the classes are known."""
    others = dict(values)
    first, increment = (others.pop(name, None) for name in ("base", "increment"))
    if classes is None or any(type(it) is not int or it < 1 for it in (first, increment)):
        return dict(values)
    return {**others, "sizes": toolbox_sizes(first, increment, classes)}


def _class_count(dataset: Any, data: Mapping[str, Any]) -> int | None:
    if "class_ids" in data:
        return len(data["class_ids"])
    if "classes" in data:
        return int(data["classes"])
    name = toolbox_dataset(str(dataset))
    return None if name is None else len(get_classes(name))


def toolbox_dataset(name: str) -> str | None:
    """Return the name in edgecil of a toolbox's dataset; None if its classes are not known.

    The ending `_aa` stands for another augmentation.

    >>> toolbox_dataset("cifar224"), toolbox_dataset("imagenetr"), toolbox_dataset("vtab")
    ('cifar100', 'imagenet-r', None)
    """
    try:
        return get_classes(name.removesuffix("_aa")).name
    except UsageError:
        return None


def _method(config: Mapping[str, Any]) -> str:
    name = str(config["model_name"]).lower().replace("_", "-")
    return str(KEYS["methods"].get(name, name))


def _keys_in(config: Mapping[str, Any], table: str) -> dict[str, str]:
    """Return for each field of a schedule the first of its keys that a config has."""
    listed = {name: [key for key in keys if key in config] for name, keys in KEYS[table].items()}
    return {name: keys[0] for name, keys in listed.items() if keys}


def _setup(method: str, dataset: str, *, vit: bool) -> tuple[str, str, bool]:
    """Return the setup that a config changes, its source, and whether the method trains nothing."""
    from edgecil.methods import METHODS  # it imports torch
    from edgecil.methods.setups import PUBLISHED

    entry = METHODS.get(method)
    if vit and entry is not None and not entry.pretrained:  # there are PILOT's, on any dataset
        dataset = "imagenet-r"
    setup = PUBLISHED.get(method, {}).get(dataset)
    untrained = entry is not None and "schedule" not in {it.name for it in fields(entry.config)}
    name, source = ("published", "") if setup is None else (setup.name, f" ({setup.source})")
    return name, source, untrained


def _network(config: Mapping[str, Any]) -> tuple[str | None, bool]:
    """Return the network, and whether it is a ViT, which learners freeze or train further."""
    name = config.get("convnet_type", config.get("backbone_type"))
    if name is None or name in KEYS["elsewhere"]:
        return None, False
    if name in KEYS["backbones"]:
        return KEYS["backbones"][name], False
    for prefix, model in KEYS["pretrained"].items():
        if name.startswith(prefix):
            return model, True
    known = (*KEYS["backbones"], *KEYS["pretrained"])
    raise unknown_name_error("backbone in a toolbox's config", name, known)


def _device(device: Any) -> str | None:
    """Return the first device of the config: a GPU's number as integer or text, -1 for the CPU."""
    first = device[0] if isinstance(device, list) and device else device
    if first is None:
        return None
    if str(first) in ("-1", "cpu"):
        return "cpu"
    return f"cuda:{first}" if str(first).isdigit() else str(first)


def _training(values: Mapping[str, Any], method: str) -> dict[str, Any]:
    """Return changes to a schedule; a constant rate has no milestones."""
    changes = dict(values)
    if "milestones" in changes:
        changes["milestones"] = tuple(changes["milestones"])
    if "schedule" in changes:
        schedule = changes["schedule"]
        if schedule not in KEYS["schedules"]:
            raise unknown_name_error("scheduler in a toolbox's config", schedule, KEYS["schedules"])
        changes["schedule"] = KEYS["schedules"][schedule]
        if (method, schedule) == ("coda-prompt", "cosine"):
            changes["schedule"] = "quarter-cosine"
        if schedule == "constant":
            changes["milestones"] = ()
    return changes


def _own_settings(method: str, config: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Return the keys of a method's own settings, and the settings by name."""
    used: list[str] = []
    settings: dict[str, Any] = dict(KEYS["fixed"].get(method, {}))
    for key, path in KEYS["own"].get(method, {}).items():
        if key in config:
            group, _, name = path.rpartition(".")
            inside = settings.setdefault(group, {}) if group else settings
            inside[name] = config[key]
            used.append(key)
    if "compression" in settings:
        settings["compression"] = _compression(config)
    if method == "coda-prompt" and "prompt_param" in config:
        prompts = _prompt_settings(config)
        used += ["prompt_param"] if prompts else []
        settings |= prompts
    if method == "ease" and "use_init_ptm" in config:
        settings["unmodified"] = config.get("beta", 0) if config["use_init_ptm"] else 0
        used += ["use_init_ptm", "beta"]
    if method == "mos" and config.get("ca_storage_efficient_method") in KEYS["covariances"]:
        settings["covariance"] = KEYS["covariances"][config["ca_storage_efficient_method"]]
        used.append("ca_storage_efficient_method")
    alignment: dict[str, Any] = {}
    if method == "mos":  # its alignment has five times the batch and the same weight decay
        batch = config.get("batch_size")
        alignment["batch_size"] = 5 * batch if type(batch) is int else None
    if method == "slca":  # its alignment has the head's rate and weight decay
        alignment["learning_rate"] = config.get("lrate")
        if settings.get("temperature") == 0:
            settings["temperature"] = None
    if method in ("mos", "slca"):
        alignment["weight_decay"] = config.get("weight_decay")
    alignment = {name: value for name, value in alignment.items() if value is not None}
    if alignment:
        settings["alignment"] = {**settings.get("alignment", {}), **alignment}
    return used, settings


def _compression(config: Mapping[str, Any]) -> float:
    """FOSTER's epochs of compression as a share of those of boosting."""
    part, whole = (config.get(key) for key in ("compression_epochs", "boosting_epochs"))
    if type(part) is not int or type(whole) is not int or min(part, whole) < 1:
        raise UsageError(
            "A toolbox's config must give 'compression_epochs' and 'boosting_epochs' as whole "
            f"numbers of at least 1. Got {format_value(part)} and {format_value(whole)}."
        )
    return part / whole


def _prompt_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """CODA-Prompt's components per task, length and orthogonality; empty without task sizes."""
    given = config["prompt_param"]
    if not isinstance(given, list) or [type(n) in (int, float) for n in given] != [True] * 3:
        raise UsageError(
            "A toolbox's config must give 'prompt_param' as three numbers: components in all, "
            f"length, orthogonality. Got {format_value(given)}."
        )
    tasks = {"base": config.get("init_cls"), "increment": config.get("increment")}
    sizes = cut_tasks(tasks, _class_count(config["dataset"], {})).get("sizes")
    if sizes is None:
        return {}
    components, length, orthogonality = given
    return {
        "components": int(components / len(sizes)),
        "length": int(length),
        "orthogonality": float(orthogonality),
    }
