"""PyCIL's and PILOT's flat configs, as edgecil understands them."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from edgecil.backbones import backbone_names
from edgecil.backbones.pretrained import PRETRAINED as OUR_PRETRAINED
from edgecil.engine import RunConfig, build_config
from edgecil.errors import DataError, UsageError
from edgecil.interop import configs
from edgecil.interop.configs import read_toolbox_config, toolbox_sizes
from edgecil.methods import Recipe, get_method, method_names
from edgecil.methods.recipe import SCHEDULES

ICARL = {
    "prefix": "reproduce",
    "dataset": "cifar100",
    "memory_size": 2000,
    "memory_per_class": 20,
    "fixed_memory": False,
    "shuffle": True,
    "init_cls": 10,
    "increment": 10,
    "model_name": "icarl",
    "convnet_type": "resnet32",
    "device": ["0", "1"],
    "seed": [1993],
}


def read(tmp_path: Path, **changes: Any) -> tuple[RunConfig, list[str]]:
    path = tmp_path / "icarl.json"
    config = {key: value for key, value in {**ICARL, **changes}.items() if value is not None}
    path.write_text(json.dumps(config))
    values, remarks = read_toolbox_config(path)
    return build_config(values), remarks


def test_a_config_of_pycil_becomes_a_run(tmp_path) -> None:
    config, remarks = read(tmp_path)
    assert config.methods == ("icarl",)
    assert (config.dataset, config.base, config.increment) == ("cifar100", 10, 10)
    assert config.memory == {"total": 2000, "per_class": None}
    assert (config.backbone, config.device, config.recipe) == ("resnet32", "cuda:0", "paper")
    assert config.protocols == ("edge",)
    [remark] = remarks
    assert "prefix, shuffle, seed do nothing here" in remark


def test_a_config_of_pilot_becomes_a_run(tmp_path) -> None:
    pilot = {
        "dataset": "imagenetr",
        "model_name": "l2p",
        "convnet_type": None,
        "backbone_type": "vit_base_patch16_224_l2p",
        "tuned_epoch": 5,
        "init_lr": 0.001875,
        "batch_size": 16,
        "weight_decay": 0.0,
        "optimizer": "adam",
        "scheduler": "cosine",
        "size": 10,
        "length": 5,
        "top_k": 4,
        "pull_constraint_coeff": 0.2,
        "prompt_pool": True,
        "drop": 0.0,
    }
    config, remarks = read(tmp_path, **pilot)
    assert (config.methods, config.dataset) == (("l2p",), "imagenet-r")
    assert config.pretrained == config.backbone == "vit-b16-in1k"
    assert config.training == {
        "epochs": 5,
        "learning_rate": 0.001875,
        "schedule": "cosine",
        "optimizer": "adam",
        "weight_decay": 0.0,
        "batch_size": 16,
    }
    assert config.settings == {"l2p": {"pool": 10, "length": 5, "chosen": 4, "pull": 0.2}}
    assert remarks[1].endswith("no setting for: prompt_pool, drop.")


def test_unknown_keys_are_listed_not_swallowed(tmp_path) -> None:
    _, remarks = read(tmp_path, lamda=0.5, T=3.0)
    assert remarks[1].endswith("icarl.json: keys that edgecil has no setting for: lamda.")


def test_later_tasks_decide_where_the_first_has_keys_of_its_own(tmp_path) -> None:
    later = {"epochs": 170, "lrate": 0.1, "milestones": [80, 120], "lrate_decay": 0.1}
    first = {"init_epoch": 200, "init_lr": 0.2, "init_milestones": [60]}
    config, remarks = read(tmp_path, **later, **first)
    assert config.training == {
        "epochs": 170,
        "learning_rate": 0.1,
        "milestones": (80, 120),
        "decay": 0.1,
    }
    assert "init_epoch, init_lr, init_milestones." in remarks[1]


def test_a_fixed_memory_is_per_class(tmp_path) -> None:
    config, _ = read(tmp_path, fixed_memory=True)
    assert config.memory == {"total": None, "per_class": 20}


@pytest.mark.parametrize(
    ("given", "device"),
    [
        (0, "cuda:0"),
        ("1", "cuda:1"),
        ([-1], "cpu"),
        (["-1"], "cpu"),
        ("cpu", "cpu"),
        ("mps", "mps"),
    ],
)
def test_devices_are_numbers_or_texts(tmp_path, given, device) -> None:
    assert read(tmp_path, device=given)[0].device == device


@pytest.mark.parametrize(
    ("given", "ours"),
    [("cifar224", "cifar100"), ("cub", "cub200"), ("cifar100_aa", "cifar100"), ("vtab", "vtab")],
)
def test_datasets_go_by_our_names_where_we_know_them(tmp_path, given, ours) -> None:
    assert read(tmp_path, dataset=given)[0].dataset == ours


def test_settings_are_taken_by_the_methods_they_are_for(tmp_path) -> None:
    config, _ = read(tmp_path, T=3.0)
    method = get_method("icarl")
    built = method.config(**config.settings["icarl"])
    assert built.temperature == 3.0


def test_the_tables_name_settings_that_exist() -> None:
    assert set(configs.TRAINING) <= {field.name for field in fields(Recipe)}
    assert set(configs.SCHEDULES.values()) <= set(SCHEDULES)
    assert set(configs.BACKBONES.values()) <= set(backbone_names())
    assert set(configs.PRETRAINED.values()) <= set(OUR_PRETRAINED)
    assert set(configs.OWN_SETTINGS) <= set(method_names())
    for name, table in configs.OWN_SETTINGS.items():
        known = {field.name for field in fields(get_method(name).config)}
        assert set(table.values()) <= known, name


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"model_name": None}, "must name the 'model_name'. Got None"),
        ({"dataset": 3}, "must name the 'dataset'. Got 3"),
        ({"convnet_type": "resnet33"}, "Unknown backbone in a toolbox's config 'resnet33'"),
        ({"scheduler": "exp"}, "Unknown scheduler in a toolbox's config 'exp'"),
        ({"increment": "ten"}, "Setting 'increment' must be of the kind"),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(tmp_path, changes, sentence) -> None:
    with pytest.raises(UsageError, match=sentence):
        read(tmp_path, **changes)


def test_a_file_that_is_no_object(tmp_path) -> None:
    (tmp_path / "a.json").write_text("[1]")
    with pytest.raises(DataError, match="must hold a JSON object"):
        read_toolbox_config(tmp_path / "a.json")


@pytest.mark.parametrize("first", [1, 2, 5, 10])
@pytest.mark.parametrize("increment", [1, 3, 4, 10])
@pytest.mark.parametrize("classes", [10, 11])
def test_tasks_are_cut_as_the_toolboxes_cut_them(first, increment, classes) -> None:
    """The documented rule: whole increments while they fit, then what is left."""
    expected = [first]
    while sum(expected) + increment < classes:
        expected.append(increment)
    if sum(expected) < classes:
        expected.append(classes - sum(expected))
    assert list(toolbox_sizes(first, increment, classes)) == expected
