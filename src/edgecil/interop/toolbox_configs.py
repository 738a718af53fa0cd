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

TOOLBOX_KEYS = read_toml(Path(__file__).with_name("toolbox_keys.toml"))
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
        options: the arguments of `edgecil.run` beside it; they may change the number of classes or
            the tasks.
    """
    arguments = {name: value for name, value in (options or {}).items() if value is not None}
    values, remarks = translate_config(path, options=arguments)
    if "method" not in arguments:
        training_options = Training.options_in(arguments.get("training"))
        _check_learner_exists(path, read_flat_config(path), training_options)
    if arguments.keys().isdisjoint(("tasks", "base", "increment", "sizes")):
        dataset = arguments.get("dataset", values["dataset"])
        data_options = Data.options_in(arguments.get("data"))
        values = cut_tasks(values, _class_count(dataset, data_options))
    for remark in remarks:
        warn(f"{path}: {remark}")
    return values


def translate_config(
    path: str | Path, *, options: Mapping[str, Any] | None = None
) -> tuple[dict[str, Any], list[str]]:
    """Return options of `edgecil.run`, a published setup with a config's changes, and remarks."""
    config = read_flat_config(path)
    for key, kind in _KINDS.items():
        if not isinstance(config.get(key, kind()), kind):
            got = format_value(config[key])
            raise UsageError(f"{path}: {key!r} must be of type {kind.__name__}. Got {got}.")
    method = _method(config)
    method_keys, settings = _method_settings(method, config)
    network, is_vit = _network(config)
    dataset = toolbox_dataset(config["dataset"]) or config["dataset"]
    setup, source, trains = _setup(method, dataset, is_vit=is_vit)
    schedule_keys, schedule = _schedule(config, method)
    training: dict[str, Any] = {
        "memory": _memory(config),
        "backbone": network,
        "device": _device(config.get("device")),
        "setup": setup,
        "schedule": schedule if trains else None,
        "set": {method: settings} if settings else None,
    }
    values: dict[str, Any] = {
        "method": [method],
        "dataset": dataset,
        "base": config.get("init_cls"),
        "increment": config.get("increment"),
        "data": _image_options(config, method) if is_vit else None,
        "training": _without_none(training),
    }
    meaningless = [key for key in TOOLBOX_KEYS["meaningless"] if key in config]
    fixed_keys = [
        key for key, value in TOOLBOX_KEYS["fixed_keys"].items() if config.get(key) == value
    ]
    used_keys = {*TOOLBOX_KEYS["shared"], *meaningless, *method_keys, *fixed_keys}
    if trains:
        used_keys |= schedule_keys
    remarks = []
    if meaningless:
        remarks.append(
            f"{', '.join(meaningless)} have no effect; the protocol chooses the class orders "
            "(the toolbox's own are those of 'random-legacy' with its seed as `order_seed`)."
        )
    ignored = [key for key in config if key not in used_keys]
    if ignored:
        remarks.append(
            f"these keys are ignored, as they have no setting in edgecil: {', '.join(ignored)}."
        )
    for name, value in TOOLBOX_KEYS["fixed"].get(method, {}).items():
        remarks.append(f"{method}.{name} = {value}, as in PILOT's code.")
    arguments = options or {}
    has_setup = "setup" in Training.options_in(arguments.get("training"))
    if arguments.get("method") is None and not has_setup:
        remarks.append(f"values that the file lacks are those of the setup {setup!r}{source}.")
    return _without_none(values), remarks


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _schedule(config: Mapping[str, Any], method: str) -> tuple[set[str], dict[str, Any]]:
    """Return the keys of a config's schedule, and its changes to the setup's schedule."""
    keys = _keys_in(config, "training")
    first_task_keys = {
        name: key for name, key in _keys_in(config, "first_task").items() if name in keys
    }
    changes = _training({name: config[key] for name, key in keys.items()}, method)
    first_task = _training({name: config[key] for name, key in first_task_keys.items()}, method)
    first_task = {name: value for name, value in first_task.items() if changes.get(name) != value}
    if first_task:
        changes["first"] = first_task
    return {*keys.values(), *first_task_keys.values()}, changes


def _memory(config: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the memory of exemplars: per class, or shared by all classes seen."""
    if config.get("fixed_memory"):
        return {"total": None, "per_class": config.get("memory_per_class")}
    if "memory_size" in config:
        return {"total": config["memory_size"], "per_class": None}
    return None


def _image_options(config: Mapping[str, Any], method: str) -> dict[str, str]:
    """Return how PILOT prepares images.

    It scales them to 256 pixels and crops 224; images of CIFAR-100 for CODA-Prompt to 224.
    """
    is_plain = method == "coda-prompt" and config["dataset"] == "cifar224"
    return {"preparation": "plain" if is_plain else "centre-crop", "normalisation": "none"}


def _check_learner_exists(
    path: str | Path, config: Mapping[str, Any], training: Mapping[str, Any]
) -> None:
    """Raise an error if edgecil lacks the learner of a config, or its network."""
    from edgecil.methods import METHODS  # it imports torch

    method = _method(config)
    backbone = config.get("convnet_type", config.get("backbone_type"))
    is_vit = _network(config)[1]
    is_unsupported = (
        backbone in TOOLBOX_KEYS["elsewhere"]
        or (method in TOOLBOX_KEYS["residual"] and is_vit)
        or (method in TOOLBOX_KEYS["frozen"] and not is_vit)
    )
    if method not in METHODS:
        reason = f"the learner {config['model_name']!r} does not exist in edgecil"
    elif "backbone" not in training and is_unsupported:
        reason = f"{method!r} does not work on {backbone!r} in edgecil; give another `backbone`"
    else:
        return
    raise UsageError(
        f"{path}: {reason}. To train it in its own toolbox, run: edgecil toolbox CHECKOUT --config "
        f"{path} --out DIR"
    )


def toolbox_sizes(first: int, increment: int, classes: int) -> tuple[int, ...]:
    """Return task sizes as the toolboxes cut them: the last task takes what is left.

    >>> toolbox_sizes(4, 3, 12)
    (4, 3, 3, 2)
    """
    starts = [0, *range(first, classes, increment)]
    ends = [*starts[1:], classes]
    return tuple(end - start for start, end in zip(starts, ends, strict=True))


def cut_tasks(values: Mapping[str, Any], classes: int | None) -> dict[str, Any]:
    """Return the values with `sizes` for `base` and `increment`, if the classes are known."""
    first, increment = values.get("base"), values.get("increment")
    if type(first) is not int or type(increment) is not int or min(first, increment) < 1:
        return dict(values)
    if classes is None:
        return dict(values)
    other_values = {
        name: value for name, value in values.items() if name not in ("base", "increment")
    }
    return {**other_values, "sizes": toolbox_sizes(first, increment, classes)}


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
    return str(TOOLBOX_KEYS["methods"].get(name, name))


def _keys_in(config: Mapping[str, Any], table: str) -> dict[str, str]:
    """Return for each field of a schedule the first of its keys that a config has."""
    key_of_field = {}
    for name, keys in TOOLBOX_KEYS[table].items():
        present = [key for key in keys if key in config]
        if present:
            key_of_field[name] = present[0]
    return key_of_field


def _setup(method: str, dataset: str, *, is_vit: bool) -> tuple[str, str, bool]:
    """Return the setup that a config changes, its source, and whether the method trains."""
    from edgecil.methods import METHODS  # it imports torch
    from edgecil.methods.setups import PUBLISHED

    entry = METHODS.get(method)
    if is_vit and entry is not None and not entry.pretrained:  # PILOT has one for any dataset
        dataset = "imagenet-r"
    setup = PUBLISHED.get(method, {}).get(dataset)
    trains = entry is None or "schedule" in {field.name for field in fields(entry.config)}
    if setup is None:
        return "published", "", trains
    return setup.name, f" ({setup.source})", trains


def _network(config: Mapping[str, Any]) -> tuple[str | None, bool]:
    """Return the network, and whether it is a ViT, which learners freeze or train further."""
    name = config.get("convnet_type", config.get("backbone_type"))
    if name is None or name in TOOLBOX_KEYS["elsewhere"]:
        return None, False
    if name in TOOLBOX_KEYS["backbones"]:
        return TOOLBOX_KEYS["backbones"][name], False
    for prefix, model in TOOLBOX_KEYS["pretrained"].items():
        if name.startswith(prefix):
            return model, True
    names = (*TOOLBOX_KEYS["backbones"], *TOOLBOX_KEYS["pretrained"])
    raise unknown_name_error("backbone in a toolbox's config", name, names)


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
        if schedule not in TOOLBOX_KEYS["schedules"]:
            raise unknown_name_error(
                "scheduler in a toolbox's config", schedule, TOOLBOX_KEYS["schedules"]
            )
        changes["schedule"] = TOOLBOX_KEYS["schedules"][schedule]
        if (method, schedule) == ("coda-prompt", "cosine"):
            changes["schedule"] = "quarter-cosine"
        if schedule == "constant":
            changes["milestones"] = ()
    return changes


def _method_settings(method: str, config: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Return the keys of a method's own settings, and the settings by name."""
    used: list[str] = []
    settings: dict[str, Any] = dict(TOOLBOX_KEYS["fixed"].get(method, {}))
    for key, path in TOOLBOX_KEYS["own"].get(method, {}).items():
        if key in config:
            group, _, name = path.rpartition(".")
            table = settings.setdefault(group, {}) if group else settings
            table[name] = config[key]
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
    if method == "mos" and config.get("ca_storage_efficient_method") in TOOLBOX_KEYS["covariances"]:
        settings["covariance"] = TOOLBOX_KEYS["covariances"][config["ca_storage_efficient_method"]]
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
    """Return FOSTER's epochs of compression as a share of its epochs of boosting."""
    compression, boosting = config.get("compression_epochs"), config.get("boosting_epochs")
    if type(compression) is not int or type(boosting) is not int or min(compression, boosting) < 1:
        raise UsageError(
            "A toolbox's config must give 'compression_epochs' and 'boosting_epochs' as whole "
            f"numbers of at least 1. Got {format_value(compression)} and {format_value(boosting)}."
        )
    return compression / boosting


def _prompt_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return CODA-Prompt's components per task, length and orthogonality.

    Without task sizes the answer is empty.
    """
    numbers = config["prompt_param"]
    kinds = [type(number) for number in numbers] if isinstance(numbers, list) else []
    if len(kinds) != 3 or not set(kinds) <= {int, float}:
        raise UsageError(
            "A toolbox's config must give 'prompt_param' as three numbers: components in all, "
            f"length, orthogonality. Got {format_value(numbers)}."
        )
    tasks = {"base": config.get("init_cls"), "increment": config.get("increment")}
    sizes = cut_tasks(tasks, _class_count(config["dataset"], {})).get("sizes")
    if sizes is None:
        return {}
    components, length, orthogonality = numbers
    return {
        "components": int(components / len(sizes)),
        "length": int(length),
        "orthogonality": float(orthogonality),
    }
