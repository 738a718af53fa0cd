"""Translate the flat JSON configs of PyCIL and PILOT to settings of an experiment.

Tables map their keys to settings; keys without a setting are reported to the user.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from edgecil.classes import get_classes
from edgecil.engine.config import Data, Training
from edgecil.engine.toolbox_configs.keys import (
    BACKBONES,
    COVARIANCES,
    ELSEWHERE,
    FIRST_TASK,
    FIXED,
    FROZEN,
    KINDS,
    MEANINGLESS,
    METHODS,
    OWN_SETTINGS,
    PRETRAINED,
    RESIDUAL,
    SCHEDULES,
    SHARED,
    TRAINING,
)
from edgecil.errors import DataError, UsageError, shown, unknown, warn
from edgecil.io.files import read_json


def read_flat_config(path: str | Path) -> dict[str, Any]:
    """Return the content of a toolbox's config file."""
    data = read_json(Path(path))
    if not isinstance(data, dict):
        raise DataError(f"{path} must contain a JSON object, as PyCIL's and PILOT's configs do.")
    for key in ("model_name", "dataset"):
        if not isinstance(data.get(key), str):
            raise UsageError(f"{path} must name the {key!r}. Got {shown(data.get(key))}.")
    return data


def translate_config(
    path: str | Path, *, options: Mapping[str, Any] | None = None
) -> tuple[dict[str, Any], list[str]]:
    """Return a toolbox's config as a configuration of :func:`edgecil.run`.

    The setup is the published one of the method; keys of the file change it.

    Args:
        path: a flat JSON file.
        options: options that take precedence over the file, as `edgecil.run` takes them.

    Returns:
        The values, and sentences: on each group of keys that has no effect, and on the values that
        are not from the file.
    """
    from edgecil.engine.toolbox_configs.setups import (  # they import torch
        choose_setup,
        describe_setup,
        trains_nothing,
    )

    given = options or {}
    own_training = Training.given(given.get("training"))
    other = given.get("method") is not None
    config = read_flat_config(path)
    _check_kinds(path, config)
    method = _method(config)
    training = {
        name: next(key for key in keys if key in config)
        for name, keys in TRAINING.items()
        if any(key in config for key in keys)
    }
    first = {
        name: next(key for key in keys if key in config)
        for name, keys in FIRST_TASK.items()
        if any(key in config for key in keys) and name in training
    }
    own, settings = _own_settings(method, config)
    network, vit = _network(config)
    dataset = toolbox_dataset(config["dataset"]) or config["dataset"]
    untrained = trains_nothing(method)
    changes = _with_first_task(
        _training({name: config[key] for name, key in training.items()}, method),
        _training({name: config[key] for name, key in first.items()}, method),
    )
    values: dict[str, Any] = {
        "method": [method],
        "dataset": dataset,
        "base": config.get("init_cls"),
        "increment": config.get("increment"),
        "data": _preparation(config, method) if vit else None,
    }
    changed: dict[str, Any] = {
        "memory": _memory(config),
        "backbone": network,
        "device": _device(config.get("device")),
        "setup": choose_setup(method, dataset, vit=vit),
        "schedule": None if untrained else changes,
        "set": {method: settings} if settings else None,
    }
    used = {*SHARED, *MEANINGLESS, *training.values(), *first.values(), *own}
    values["training"] = {name: value for name, value in changed.items() if value is not None}
    values = {name: value for name, value in values.items() if value is not None}
    remarks = _remarks(path, config, [key for key in config if key not in used])
    for name, value in FIXED.get(method, {}).items():
        remarks.append(f"{path}: {method}.{name} = {value}, as in PILOT's code.")
    if untrained and (training or first):
        keys = [key for key in config if key in {*training.values(), *first.values()}]
        remarks.append(f"{path}: {method} trains nothing; {', '.join(keys)} have no effect.")
    elif not (other or "setup" in own_training):
        sentence = describe_setup(method, values["training"], changed=own_training)
        remarks += [] if sentence is None else [f"{path}: {sentence}"]
    return values, remarks


def _check_here(path: str | Path, options: Mapping[str, Any]) -> None:
    """Raise an error if edgecil lacks the learner of a config, or its network."""
    from edgecil.methods import METHODS as LEARNERS  # it imports torch

    if options.get("method") is not None:
        return
    config = read_flat_config(path)
    method, given = _method(config), config.get("convnet_type", config.get("backbone_type"))
    vit = _network(config)[1]
    if method not in LEARNERS:
        reason = f"the learner {config['model_name']!r} does not exist in edgecil"
    elif "backbone" in Training.given(options.get("training")):
        return
    elif given in ELSEWHERE or (method in RESIDUAL and vit) or (method in FROZEN and not vit):
        reason = f"{method!r} does not work on {given!r} in edgecil; give another 'backbone'"
    else:
        return
    raise UsageError(
        f"{path}: {reason}. To train it in its own toolbox, run: edgecil toolbox CHECKOUT --config "
        f"{path} --out DIR"
    )


def _method(config: Mapping[str, Any]) -> str:
    """Return the name in edgecil of a config's learner."""
    name = str(config["model_name"]).lower().replace("_", "-")
    return METHODS.get(name, name)


def _remarks(path: str | Path, config: Mapping[str, Any], unused: list[str]) -> list[str]:
    remarks = []
    meaningless = [key for key in MEANINGLESS if key in config]
    if meaningless:
        remarks.append(
            f"{path}: {', '.join(meaningless)} have no effect; the protocol chooses the "
            "class orders (PyCIL's own are those of 'random-legacy' with its seed as 'order_seed')."
        )
    if unused:
        remarks.append(f"{path}: these keys have no setting in edgecil: {', '.join(unused)}.")
    return remarks


def toolbox_sizes(first: int, increment: int, classes: int) -> tuple[int, ...]:
    """Task sizes as the toolboxes cut them: the last task takes what is left.

    >>> toolbox_sizes(4, 3, 12)
    (4, 3, 3, 2)
    """
    starts = [0, *range(first, classes, increment)]
    ends = [*starts[1:], classes]
    return tuple(end - start for start, end in zip(starts, ends, strict=True))


def read_toolbox_config(
    path: str | Path,
    *,
    options: Mapping[str, Any] | None = None,
    on_remark: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Return a config of PyCIL or PILOT as a mapping that `edgecil.run` takes as `config`.

    The tasks are cut as the toolbox does: the last task takes what is left.

    Args:
        path: a flat JSON file.
        options: the options that are given to `edgecil.run` beside it; they may change the number
            of classes or the tasks.
        on_remark: called with a sentence on each group of keys that has no effect, and on the
            values that are not from the file; by default each is an
            :class:`~edgecil.errors.EdgecilWarning`.
    """
    given = {name: value for name, value in (options or {}).items() if value is not None}
    values, remarks = translate_config(path, options=given)
    _check_here(path, given)
    for remark in remarks:
        if on_remark is None:
            warn(remark)
        else:
            on_remark(remark)
    if given.keys().isdisjoint(("tasks", "base", "increment", "sizes")):
        dataset, data = given.get("dataset", values["dataset"]), Data.given(given.get("data"))
        values = cut_tasks(values, _class_count(dataset, data))
    return values


def cut_tasks(values: Mapping[str, Any], classes: int | None) -> dict[str, Any]:
    """Return the values with tasks cut as the toolboxes do, if the number of classes is known.

    Args:
        values: with `base` and `increment`, which become `sizes`.
        classes: the number of classes.
    """
    first, increment = (values.get(name) for name in ("base", "increment"))
    if classes is None or type(first) is not int or type(increment) is not int:
        return dict(values)
    if min(first, increment) < 1:
        return dict(values)
    others = {key: value for key, value in values.items() if key not in ("base", "increment")}
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


def _memory(config: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the exemplar budget: a number per class, or a total shared by all classes seen."""
    if config.get("fixed_memory"):
        return {"total": None, "per_class": config.get("memory_per_class")}
    return {"total": config["memory_size"], "per_class": None} if "memory_size" in config else None


def _network(config: Mapping[str, Any]) -> tuple[str | None, bool]:
    """Return the network, and whether it is a ViT, which learners freeze or train further."""
    name = config.get("convnet_type", config.get("backbone_type"))
    if name is None:
        return None, False
    if name in BACKBONES or name in ELSEWHERE:
        return BACKBONES.get(str(name)), False
    for prefix, model in PRETRAINED.items():
        if str(name).startswith(prefix):
            return model, True
    raise unknown("backbone in a toolbox's config", str(name), (*BACKBONES, *PRETRAINED))


def _preparation(config: Mapping[str, Any], method: str) -> dict[str, str]:
    """Return how PILOT prepares images: scaled to 256 pixels, cropped to 224, not normalised.

    For CODA-Prompt it scales those of CIFAR-100 to 224.
    """
    plain = method == "coda-prompt" and config["dataset"] == "cifar224"
    return {"preparation": "plain" if plain else "centre-crop", "normalisation": "none"}


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
        if schedule not in SCHEDULES:
            raise unknown("scheduler in a toolbox's config", schedule, SCHEDULES)
        changes["schedule"] = SCHEDULES[schedule]
        if (method, schedule) == ("coda-prompt", "cosine"):
            changes["schedule"] = "quarter-cosine"
        if schedule == "constant":
            changes["milestones"] = ()
    return changes


def _with_first_task(later: dict[str, Any], first: Mapping[str, Any]) -> dict[str, Any]:
    """Return changes to a schedule, and to that of the first task where it differs."""
    differing = {name: value for name, value in first.items() if later.get(name) != value}
    return {**later, "first": differing} if differing else later


def _own_settings(method: str, config: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Return the keys of a method's own settings, and the settings by name."""
    used: list[str] = []
    settings: dict[str, Any] = dict(FIXED.get(method, {}))
    for key, path in OWN_SETTINGS.get(method, {}).items():
        if key in config:
            *parts, name = path.split(".")
            inside = settings
            for part in parts:
                inside = inside.setdefault(part, {})
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
    if method == "mos" and config.get("ca_storage_efficient_method") in COVARIANCES:
        settings["covariance"] = COVARIANCES[config["ca_storage_efficient_method"]]
        used.append("ca_storage_efficient_method")
    if method == "mos":  # its alignment has five times the batch and the same weight decay
        batch, decay = config.get("batch_size"), config.get("weight_decay")
        alignment = {} if type(batch) is not int else {"batch_size": 5 * batch}
        alignment |= {} if decay is None else {"weight_decay": decay}
        if alignment:
            settings["alignment"] = {**settings.get("alignment", {}), **alignment}
    if method == "slca":  # its alignment has the head's rate and weight decay
        same = {"learning_rate": config.get("lrate"), "weight_decay": config.get("weight_decay")}
        alignment = {name: value for name, value in same.items() if value is not None}
        if alignment:
            settings["alignment"] = {**settings.get("alignment", {}), **alignment}
        if settings.get("temperature") == 0:
            settings["temperature"] = None
    return used, settings


def _compression(config: Mapping[str, Any]) -> float:
    """FOSTER's epochs of compression as a share of those of boosting."""
    part, whole = (config.get(key) for key in ("compression_epochs", "boosting_epochs"))
    if type(part) is not int or type(whole) is not int or min(part, whole) < 1:
        raise UsageError(
            "A toolbox's config must give 'compression_epochs' and 'boosting_epochs' as whole "
            f"numbers of at least 1. Got {shown(part)} and {shown(whole)}."
        )
    return part / whole


def _prompt_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """CODA-Prompt's components per task, length and orthogonality; empty without task sizes."""
    given = config["prompt_param"]
    if not isinstance(given, list) or [type(n) in (int, float) for n in given] != [True] * 3:
        raise UsageError(
            "A toolbox's config must give 'prompt_param' as three numbers: components in all, "
            f"length, orthogonality. Got {shown(given)}."
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


def _check_kinds(path: str | Path, config: Mapping[str, Any]) -> None:
    for key, kind in KINDS.items():
        if not isinstance(config.get(key, kind()), kind):
            raise UsageError(
                f"{path}: {key!r} must be a {kind.__name__}. Got {shown(config[key])}."
            )
