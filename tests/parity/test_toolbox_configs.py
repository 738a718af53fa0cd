"""The published settings are those of the configs in a checkout of PyCIL or PILOT.

Runs with `make parity TOOLBOX=PATH`. Every config of a method that edgecil has is translated; what
its keys say must be what the schedule `published` (or that of the dataset) has already.
PyCIL has most values as constants in its code, which are compared too.
"""

from __future__ import annotations

import ast
from dataclasses import asdict
from typing import Any

import pytest

from edgecil.errors import UsageError
from edgecil.interop.toolbox_configs import read_toolbox_config
from edgecil.methods import get_method
from tests.parity.toolbox import TOOLBOX, is_given, requires

IS_PILOT = is_given("PILOT")
pytestmark = [
    requires("PyCIL", "PILOT"),
    pytest.mark.filterwarnings("ignore::edgecil.errors.EdgecilWarning"),
]

# Networks that edgecil does not have, and MEMO on a ViT.
REFUSED = {False: {"simplecil"}, True: {"memo", "memo_inr"}}
# PILOT's configs of a whole ViT: their steps lie beyond the last epoch, and those for CIFAR-100
# have batches, exemplars and epochs of their own; the published settings are those for ImageNet-R.
STEPS = {"milestones", "first.milestones"}
DIFFERENT = {
    "finetune": STEPS,
    "finetune_inr": STEPS,
    "der": STEPS | {"batch_size", "memory"},
    "der_inr": STEPS,
    "icarl": STEPS | {"batch_size", "memory"},
    "icarl_inr": STEPS,
    "slca": {"milestones", "epochs"},
    "ranpac": {"cosine"},  # in PILOT only, not in its authors' code
    "ranpac_inr": {"cosine"},
}
COMPARED = {False: 12, True: 28}


def differences(values: dict[str, Any]) -> set[str]:
    """Names of the values that a config changes in the published schedule and settings."""
    [method] = values["method"]
    entry, training = get_method(method), values["training"]
    schedule, memory = entry.schedule(training["setup"], training.get("backbone", "resnet32"))
    changes = dict(training.get("schedule", {}))
    first = changes.pop("first", {})
    changed = {key for key, value in changes.items() if getattr(schedule, key) != value}
    changed |= {
        f"first.{key}" for key, value in first.items() if getattr(schedule.at(0), key) != value
    }
    config = asdict(entry.configure(schedule, memory, entry.settings(training["setup"])))
    for key, value in training.get("set", {}).get(method, {}).items():
        own = config[key]
        changed |= (
            {f"{key}.{inner}" for inner in value if own[inner] != value[inner]}
            if isinstance(value, dict)
            else ({key} if own != value else set())
        )
    if "memory" in config and config["memory"] != training["memory"]:
        changed.add("memory")
    return changed


def test_the_configs_say_what_is_published_here() -> None:
    refused, compared = set(), 0
    for file in sorted((TOOLBOX / "exps").glob("*.json")):
        try:
            values = read_toolbox_config(file)
        except UsageError as error:
            refused |= set() if "does not exist" in str(error) else {file.stem}
            continue
        compared += 1
        assert differences(values) == (DIFFERENT.get(file.stem, set()) if IS_PILOT else set())
    assert refused == REFUSED[IS_PILOT]
    assert compared == COMPARED[IS_PILOT]


# Learners of PyCIL whose values are constants of their modules, and the names of these.
MODULES = {"er": "replay"} | {
    name: name for name in ("finetune", "ewc", "lwf", "icarl", "wa", "bic", "der", "tagfex")
}
LATER = {
    "epochs": "epochs",
    "lrate": "learning_rate",
    "milestones": "milestones",
    "lrate_decay": "decay",
    "batch_size": "batch_size",
    "weight_decay": "weight_decay",
    "momentum": "momentum",
}
FIRST = {
    "init_epoch": "epochs",
    "init_lr": "learning_rate",
    "init_milestones": "milestones",
    "init_lr_decay": "decay",
    "init_weight_decay": "weight_decay",
}
OWN = {
    "T": "temperature",
    "lamda": "strength",
    "fishermax": "fisher_cap",
    "split_ratio": "held_out",
}
WITHOUT_EFFECT = {"EPSILON", "num_workers"}
UNUSED = {"er": {"T"}, "der": {"T"}, "tagfex": {"T"}, "ewc": {"T"}}


@requires("PyCIL")
@pytest.mark.parametrize("method", MODULES)
def test_the_constants_in_pycil_are_what_is_published_here(method: str) -> None:
    text = (TOOLBOX / "models" / f"{MODULES[method]}.py").read_text(encoding="utf-8")
    constants = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    entry = get_method(method)
    schedule, memory = entry.schedule("published", "resnet32")
    config = entry.configure(schedule, memory, entry.settings("published"))
    left = constants.keys() - WITHOUT_EFFECT - UNUSED.get(method, set())
    for names, values in ((LATER, schedule.at(1)), (FIRST, schedule.at(0)), (OWN, config)):
        for theirs in left & names.keys():
            value = constants[theirs]
            expected = tuple(value) if isinstance(value, list) else value
            assert getattr(values, names[theirs]) == expected, theirs
        left -= names.keys()
    assert not left
