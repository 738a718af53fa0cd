"""PyCIL's and PILOT's flat configs, as edgecil understands them."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import edgecil
from edgecil.backbones import backbone_names
from edgecil.backbones.pretrained import PRETRAINED as OUR_PRETRAINED
from edgecil.engine import ExperimentConfig, build_config
from edgecil.engine.run import config_values, resolve_options
from edgecil.engine.toolbox_configs import keys, read_toolbox_config
from edgecil.engine.toolbox_configs.translate import cut_tasks, toolbox_sizes, translate_config
from edgecil.errors import DataError, EdgecilWarning, UsageError
from edgecil.methods import Schedule, get_method, method_names
from edgecil.methods.registry import replace_schedule, replace_settings
from edgecil.methods.schedule import SCHEDULES
from edgecil.methods.setups import PUBLISHED

ICARL = {
    "prefix": "reproduce", "dataset": "cifar100", "memory_size": 2000, "memory_per_class": 20,
    "fixed_memory": False, "shuffle": True, "init_cls": 10, "increment": 10,
    "model_name": "icarl", "convnet_type": "resnet32", "device": ["0", "1"], "seed": [1993],
}  # fmt: skip


def read(tmp_path: Path, **changes: Any) -> tuple[ExperimentConfig, list[str]]:
    path = tmp_path / "icarl.json"
    config = {key: value for key, value in {**ICARL, **changes}.items() if value is not None}
    path.write_text(json.dumps(config))
    values, remarks = translate_config(path)
    return build_config(values), remarks


def test_a_config_is_read_without_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "icarl.json"
    path.write_text(json.dumps({**ICARL, "dataset": "quickdraw", "prefix": "x"}))
    with pytest.warns(EdgecilWarning) as caught:
        config = edgecil.engine.toolbox_configs.read_toolbox_config(
            path, options={"data": {"classes": 8}}
        )
    assert ["have no effect" in str(one.message) for one in caught] == [True, False]
    assert config["sizes"] == (8,)
    remarks: list[str] = []
    options = {"data": {"classes": 8}, "base": 4, "increment": 2}
    config = edgecil.engine.toolbox_configs.read_toolbox_config(
        path, options=options, on_remark=remarks.append
    )
    assert "sizes" not in config
    assert "prefix" in remarks[0]
    settings, _ = resolve_options(config, options)
    assert (settings.method, settings.base, settings.increment) == (("icarl",), 4, 2)


def test_the_path_of_a_json_file_is_a_configuration(tmp_path: Path) -> None:
    path = tmp_path / "icarl.json"
    path.write_text(json.dumps({**ICARL, "dataset": "quickdraw"}))
    options: dict[str, Any] = {"data": {"classes": 8}, "tasks": None}
    with pytest.warns(EdgecilWarning):
        values = config_values(path, options=options)
    assert resolve_options(values, options)[0].sizes == (8,)


def implemented() -> set[str]:
    """Our methods, without those that tests register."""
    ours = (name for name in method_names() if "edgecil" in get_method(name).config.__module__)
    return set(ours)


def test_a_config_of_pycil_becomes_a_run(tmp_path) -> None:
    config, remarks = read(tmp_path)
    assert config.method == ("icarl",)
    assert (config.dataset, config.base, config.increment) == ("cifar100", 10, 10)
    assert config.training.memory == {"total": 2000, "per_class": None}
    training = config.training
    assert (training.backbone, training.device, training.setup) == (
        "resnet32",
        "cuda:0",
        "pycil/icarl/cifar100",
    )
    assert config.protocol == ("random", "probes")
    ignored, schedule = remarks
    assert "prefix, shuffle, seed" in ignored
    assert "epochs = 170 (first task: 200)" in schedule
    assert "milestones = [80 120] (first task: [60 120 170])" in schedule
    assert "augment = [crop flip colour]" in schedule


def test_a_config_of_pilot_becomes_a_run(tmp_path) -> None:
    pilot = {
        "dataset": "imagenetr", "model_name": "l2p", "convnet_type": None,
        "backbone_type": "vit_base_patch16_224_l2p", "tuned_epoch": 5, "init_lr": 0.001875,
        "batch_size": 16, "weight_decay": 0.0, "optimizer": "adam", "scheduler": "cosine",
        "size": 10, "length": 5, "top_k": 4, "pull_constraint_coeff": 0.2, "prompt_pool": True,
        "drop": 0.0,
    }  # fmt: skip
    config, remarks = read(tmp_path, **pilot)
    assert (config.method, config.dataset) == (("l2p",), "imagenet-r")
    assert config.training.backbone == "vit-b16-in1k"
    assert config.training.schedule == {
        "epochs": 5,
        "learning_rate": 0.001875,
        "schedule": "cosine",
        "optimizer": "adam",
        "weight_decay": 0.0,
        "batch_size": 16,
    }
    assert config.training.set == {"l2p": {"pool": 10, "length": 5, "chosen": 4, "pull": 0.2}}
    assert remarks[1].endswith(": prompt_pool, drop.")


def test_unknown_keys_are_listed_not_swallowed(tmp_path) -> None:
    _, remarks = read(tmp_path, lamda=0.5, T=3.0)
    assert "icarl.json" in remarks[1]
    assert remarks[1].endswith(": lamda.")


def test_the_first_task_keeps_its_own_values(tmp_path) -> None:
    later = {"epochs": 170, "lrate": 0.1, "milestones": [80, 120], "lrate_decay": 0.1}
    first = {"init_epoch": 200, "init_lr": 0.2, "init_milestones": [60]}
    config, remarks = read(tmp_path, **later, **first)
    assert config.training.schedule == {
        "epochs": 170,
        "learning_rate": 0.1,
        "milestones": (80, 120),
        "decay": 0.1,
        "first": {"epochs": 200, "learning_rate": 0.2, "milestones": (60,)},
    }
    assert not any("init_" in remark for remark in remarks)


def test_a_fixed_memory_is_per_class(tmp_path) -> None:
    config, _ = read(tmp_path, fixed_memory=True)
    assert config.training.memory == {"total": None, "per_class": 20}


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
    assert read(tmp_path, device=given)[0].training.device == device


@pytest.mark.parametrize(
    ("given", "ours"),
    [("cifar224", "cifar100"), ("cub", "cub200"), ("cifar100_aa", "cifar100"), ("vtab", "vtab")],
)
def test_datasets_go_by_our_names_where_we_know_them(tmp_path, given, ours) -> None:
    assert read(tmp_path, dataset=given)[0].dataset == ours


def test_settings_are_taken_by_the_methods_they_are_for(tmp_path) -> None:
    config, _ = read(tmp_path, T=3.0)
    method = get_method("icarl")
    built = method.config(**config.training.set["icarl"])
    assert built.temperature == 3.0


def test_the_tables_name_settings_that_exist() -> None:
    assert set(keys.TRAINING) <= {field.name for field in fields(Schedule)}
    assert set(keys.SCHEDULES.values()) <= set(SCHEDULES)
    assert set(keys.BACKBONES.values()) <= set(backbone_names())
    assert set(keys.PRETRAINED.values()) <= set(OUR_PRETRAINED)
    without_keys = {*WITHOUT_KEYS, "der"}
    assert set(keys.OWN_SETTINGS) | {"coda-prompt"} == implemented() - without_keys
    for name, table in keys.OWN_SETTINGS.items():
        for path in table.values():
            value = get_method(name).config()
            for part in path.split("."):
                value = getattr(value, part)
            assert isinstance(value, int | float), (name, path)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"model_name": None}, "'model_name'"),
        ({"dataset": 3}, "'dataset'.*3"),
        ({"convnet_type": "resnet33"}, "'resnet33'"),
        ({"scheduler": "exp"}, "'exp'"),
        ({"increment": "ten"}, "'increment'"),
        ({"milestones": 80}, "'milestones'.*80"),
        ({"scheduler": ["cosine"]}, r"'scheduler'.*\['cosine'\]"),
        ({"convnet_type": ["resnet32"]}, r"'convnet_type'.*\['resnet32'\]"),
        ({"fixed_memory": "false"}, "'fixed_memory'.*'false'"),
        (
            {"model_name": "foster", "compression_epochs": 10},
            "'compression_epochs'.*'boosting_epochs'",
        ),
        ({"model_name": "coda_prompt", "prompt_param": [100, "8", 0]}, "'prompt_param' as three"),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(tmp_path, changes, sentence) -> None:
    with pytest.raises(UsageError, match=sentence):
        read(tmp_path, **changes)


def test_a_file_that_is_no_object(tmp_path) -> None:
    (tmp_path / "a.json").write_text("[1]")
    with pytest.raises(DataError, match="must contain a JSON object"):
        translate_config(tmp_path / "a.json")


# FeCAM's keys are those of adapters, which are not trained here; ACIL's are nested by dataset; no
# keys of DER++ and LUCIR are known.
NEW_WITHOUT_KEYS = {"acil", "derpp", "fecam", "lucir"}
WITHOUT_KEYS = {"finetune", "joint", "lwf", "er", "wa", "bic", "simplecil"} | NEW_WITHOUT_KEYS
SCHEDULED = {"optimizer": "sgd", "scheduler": "cosine", "batch_size": 48, "weight_decay": 5e-4}
FIRST_AND_LATER = {
    "init_epoch": 200, "init_lr": 0.1, "init_weight_decay": 5e-4, "init_lr_decay": 0.1,
    "init_milestones": [60, 120, 170], "milestones": [80, 120, 150], "epochs": 170, "lrate": 0.1,
    "batch_size": 128, "weight_decay": 2e-4, "lrate_decay": 0.1,
}  # fmt: skip
# What the toolboxes' own configs say beside the keys that all have (with other values than ours),
# the settings that come of it, and the keys without a counterpart (but those of the first task).
OWN_KEYS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "der": ({**FIRST_AND_LATER, "T": 2}, {}, "T"),
    "ewc": ({"lamda": 500, "fishermax": 0.1}, {"strength": 500, "fisher_cap": 0.1}, ""),
    "icarl": ({**FIRST_AND_LATER, "T": 3}, {"temperature": 3}, ""),
    "foster": (
        {
            "beta1": 0.9, "beta2": 0.8, "oofc": "ft", "is_teacher_wa": False,
            "is_student_wa": False, "lambda_okd": 2, "wa_value": 1, "init_epochs": 200,
            "init_lr": 0.1, "init_weight_decay": 5e-4, "boosting_epochs": 100,
            "compression_epochs": 50, "lr": 0.1, "batch_size": 128, "weight_decay": 5e-4,
            "num_workers": 8, "T": 3,
        },
        {
            "boosting_beta": 0.9, "compression_beta": 0.8, "distillation": 2, "temperature": 3,
            "compression": 0.5,
        },
        "oofc, is_teacher_wa, is_student_wa, wa_value, num_workers",
    ),
    "memo": (
        {
            **FIRST_AND_LATER, "train_base": False, "train_adaptive": False, "debug": False,
            "skip": False, "scheduler": "steplr", "alpha_aux": 0.5,
        },
        {"auxiliary": 0.5, "train_shared": False},
        "train_adaptive, debug, skip",
    ),
    "tagfex": (
        {
            "init_interpolation_factor": 0.9, "infonce_temp": 0.3, "kd_temp": 3,
            "infonce_kd_temp": 0.2, "ta_convnet_type": "resnet18", "proj_hidden_dim": 2048,
            "proj_output_dim": 1024, "attn_num_heads": 4, "contrast_factor": 2,
            "trans_cls_factor": 1, "transfer_factor": 3, "aux_factor": 1, "contrast_kd_factor": 4,
            "aug": 2,
        },
        {
            "inherited": 0.9, "contrast_temperature": 0.3, "transfer_temperature": 3,
            "attention_heads": 4, "contrast": 2, "transfer": 3, "auxiliary": 1,
            "contrast_distillation": 4,
        },
        "infonce_kd_temp, ta_convnet_type, proj_hidden_dim, proj_output_dim, trans_cls_factor, aug",
    ),
    "l2p": (
        {
            "get_original_backbone": True, "tuned_epoch": 5, "init_lr": 0.001875,
            "batch_size": 16, "weight_decay": 0, "min_lr": 1e-5, "optimizer": "adam",
            "scheduler": "constant", "reinit_optimizer": True, "freeze": ["blocks", "norm"],
            "size": 20, "length": 4, "top_k": 3, "batchwise_prompt": True,
            "pull_constraint": True, "pull_constraint_coeff": 0.5,
        },
        {"pool": 20, "length": 4, "chosen": 3, "pull": 0.5, "batchwise": True},
        "get_original_backbone, min_lr, reinit_optimizer, freeze, pull_constraint",
    ),
    "coda_prompt": (
        {**SCHEDULED, "tuned_epoch": 20, "init_lr": 0.001, "prompt_param": [50, 6.0, 0.1]},
        {"components": 5, "length": 6, "orthogonality": 0.1},
        "",
    ),
    "dualprompt": (
        {
            "tuned_epoch": 5, "init_lr": 0.001, "batch_size": 24, "optimizer": "adam",
            "scheduler": "constant", "use_g_prompt": True, "g_prompt_length": 6,
            "g_prompt_layer_idx": [0, 1], "e_prompt_layer_idx": [2, 3, 4], "size": 10,
            "length": 6, "top_k": 1, "batchwise_prompt": True, "pull_constraint_coeff": 0.2,
        },
        {"length": 6, "pull": 0.2, "batchwise": True},
        "use_g_prompt, g_prompt_length, g_prompt_layer_idx, e_prompt_layer_idx, size, top_k",
    ),
    "slca": (
        {
            "model_postfix": "20e", "lrate": 0.02, "weight_decay": 1e-4, "batch_size": 64,
            "lrate_decay": 0.1, "epochs": 20, "milestones": [18], "bcb_lrscale": 0.1,
            "ca_epochs": 5, "ca_with_logit_norm": 0.2,
        },
        {
            "slow": 0.1,
            "temperature": 0.2,
            "alignment": {"epochs": 5, "learning_rate": 0.02, "weight_decay": 1e-4},
        },
        "model_postfix",
    ),
    "hide_prompt": (
        {
            "length": 4, "prompt_momentum": 0.1, "reg": 0.2, "n_centroids": 5, "crct_epochs": 20,
            "ca_lr": 0.01,
        },
        {
            "length": 4, "ensemble": 0.1, "contrast": 0.2, "centroids": 5,
            "alignment": {"epochs": 20, "learning_rate": 0.01},
        },
        "",
    ),
    "ease": (
        {
            **SCHEDULED, "init_epochs": 20, "init_lr": 0.025, "later_epochs": 20,
            "later_lr": 0.025, "vpt_type": "Deep", "ffn_num": 32, "use_diagonal": False,
            "alpha": 0.2, "use_init_ptm": True, "beta": 1, "use_reweight": True,
        },
        {"bottleneck": 32, "others": 0.2, "unmodified": 1},
        "vpt_type, use_diagonal, use_reweight",
    ),
    "mos": (
        {
            **SCHEDULED, "tuned_epoch": 20, "init_lr": 0.03, "batch_size": 16,
            "weight_decay": 0.005, "reg": 0.2, "adapter_momentum": 0.3, "ensemble": True,
            "crct_epochs": 20, "ca_lr": 0.01, "ca_storage_efficient_method": "variance",
            "n_centroids": 10, "ffn_num": 8,
        },
        {
            "covariance": "diagonal",
            "bottleneck": 8,
            "merging": 0.3,
            "contrast": 0.2,
            "alignment": {
                "epochs": 20, "learning_rate": 0.01, "batch_size": 80, "weight_decay": 0.005,
            },
        },
        "ensemble, n_centroids",
    ),
    "ranpac": (
        {"tuned_epoch": 20, "init_lr": 0.01, "ffn_num": 32, "use_RP": True, "M": 5000},
        {"bottleneck": 32, "projection": 5000, "cosine": True},
        "use_RP",
    ),
    "aper_adapter": (
        {"tuned_epoch": 20, "init_lr": 0.01, "ffn_num": 32}, {"bottleneck": 32}, "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OWN_KEYS)
def test_every_method_takes_over_its_own_keys(tmp_path, name) -> None:
    given, settings, left = OWN_KEYS[name]
    config, remarks = read(tmp_path, model_name=name, **given)
    [method] = config.method
    published = get_method(method).config()
    expected = replace_settings(published, settings, method)
    built = replace_settings(published, config.training.set.get(method, {}), method)
    assert built == expected
    assert all(getattr(built, key) != getattr(published, key) for key in settings)
    parts = [remark.partition("no setting in edgecil: ")[2] for remark in remarks]
    listed = "".join(parts).rstrip(".").split(", ")
    later = [key for key in listed if not key.startswith("init_")]
    assert ", ".join(later) == left


@pytest.mark.parametrize(
    ("method", "given", "settings"),
    [
        ("ease", {"use_init_ptm": True, "beta": 1}, {"unmodified": 1}),
        ("ease", {"use_init_ptm": False, "beta": 1}, {"unmodified": 0}),
        ("mos", {"ca_storage_efficient_method": "variance"}, {"covariance": "diagonal"}),
        ("mos", {"ca_storage_efficient_method": "covariance"}, {"covariance": "full"}),
        ("slca", {"ca_with_logit_norm": 0}, {"temperature": None}),
        ("l2p", {"batchwise_prompt": True}, {"batchwise": True}),
        ("l2p", {"batchwise_prompt": False}, {"batchwise": False}),
    ],
)
def test_choices_become_settings_whatever_they_are(tmp_path, method, given, settings) -> None:
    config, remarks = read(tmp_path, model_name=method, **given)
    assert config.training.set == {method: settings}
    assert not any(key in " ".join(remarks) for key in given)


def test_a_choice_that_is_not_here_is_listed(tmp_path) -> None:
    given = {"model_name": "mos", "ca_storage_efficient_method": "multi-centroid"}
    config, remarks = read(tmp_path, **given)
    assert config.training.set == {}
    assert "ca_storage_efficient_method" in remarks[1]


def test_every_implemented_method_has_such_keys() -> None:
    ours = {name.replace("_", "-") for name in OWN_KEYS}
    ours = {keys.METHODS.get(name, name) for name in ours}
    assert ours | WITHOUT_KEYS == implemented()


def test_a_constant_rate_has_no_milestones(tmp_path) -> None:
    config, _ = read(tmp_path, scheduler="constant", init_lr=0.01, epochs=5)
    schedule = replace_settings(Schedule(), config.training.schedule, "training")
    assert [schedule.rate(epoch) for epoch in (0, 4, 200)] == [0.01] * 3


@pytest.mark.parametrize(
    ("dataset", "data", "sizes"),
    [
        ("cifar100", {}, (50, 20, 20, 10)),
        ("cifar224", {"classes": 60}, (50, 10)),
        ("my.npz", {"class_ids": tuple(range(75))}, (50, 20, 5)),
    ],
)
def test_a_run_cuts_the_tasks_of_a_config_as_the_toolboxes_do(
    dataset, data, sizes, tmp_path
) -> None:
    read(tmp_path, init_cls=50, increment=20)
    options = {"dataset": dataset, "data": data}
    with pytest.warns(EdgecilWarning):
        values = config_values(tmp_path / "icarl.json", options=options)
    assert values["sizes"] == sizes


def test_tasks_of_an_unknown_number_of_classes_stay_uncut(tmp_path) -> None:
    values = {"dataset": "my.npz", "base": 50, "increment": 20}
    assert cut_tasks(values, None) == values
    prompts = {"model_name": "coda_prompt", "prompt_param": [100, 8.0, 0.0]}
    config, remarks = read(tmp_path, dataset="vtab", **prompts)
    assert config.training.set == {}
    assert "prompt_param" in remarks[1]


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


def configured(config: ExperimentConfig) -> Any:
    """The settings that a run of the config has."""
    [name] = config.method
    method = get_method(name)
    schedule, memory = method.schedule(config.training.setup, config.training.backbone)
    built = method.configure(
        replace_schedule(schedule, config.training.schedule),
        replace_settings(memory, config.training.memory, "memory"),
        method.settings(config.training.setup),
    )
    return replace_settings(built, config.training.set.get(name, {}), name)


@pytest.mark.parametrize(
    "name", ["finetune", "ewc", "lwf", "replay", "icarl", "wa", "bic", "der", "tagfex"]
)
def test_configs_without_training_keys_have_pycils_settings(tmp_path, name) -> None:
    config, remarks = read(tmp_path, model_name=name)
    [method] = config.method
    published = PUBLISHED[method]["cifar100"]
    assert configured(config).schedule == published.schedule
    assert published.memory is None or configured(config).memory == published.memory
    assert published.source in remarks[1]


# The training keys of PILOT's files, with their values on CIFAR-100 and on ImageNet-R.
ON_A_VIT: dict[str, tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "aper_adapter": (
        "pretrained_vit_b16_224_adapter",
        {"optimizer": "sgd", "min_lr": 0, "ffn_num": 64},
        {"tuned_epoch": 20, "init_lr": 0.01, "batch_size": 48, "weight_decay": 5e-4},
        {"tuned_epoch": 10, "init_lr": 0.05, "batch_size": 16, "weight_decay": 5e-3},
    ),
    "ranpac": (
        "pretrained_vit_b16_224_adapter",
        {"optimizer": "sgd", "min_lr": 0, "ffn_num": 64, "use_RP": True, "M": 10000},
        {"tuned_epoch": 20, "init_lr": 0.01, "batch_size": 48, "weight_decay": 5e-4},
        {"tuned_epoch": 10, "init_lr": 0.05, "batch_size": 16, "weight_decay": 5e-3},
    ),
    "ease": (
        "vit_base_patch16_224_ease",
        {"optimizer": "sgd", "scheduler": "cosine", "init_epochs": 20, "later_epochs": 20},
        {"init_lr": 0.025, "later_lr": 0.025, "batch_size": 48, "weight_decay": 5e-4},
        {"init_lr": 0.05, "later_lr": 0.05, "batch_size": 16, "weight_decay": 5e-3},
    ),
    "mos": (
        "vit_base_patch16_224_mos",
        {"optimizer": "sgd", "scheduler": "cosine", "init_milestones": [10], "init_lr_decay": 0.1},
        {"tuned_epoch": 20, "init_lr": 0.03, "batch_size": 48, "weight_decay": 5e-4},
        {"tuned_epoch": 10, "init_lr": 0.05, "batch_size": 16, "weight_decay": 5e-3},
    ),
    "l2p": (
        "vit_base_patch16_224_l2p",
        {"optimizer": "adam", "scheduler": "constant", "init_lr": 0.001875, "weight_decay": 0},
        {"tuned_epoch": 5, "batch_size": 16},
        {"tuned_epoch": 10, "batch_size": 32},
    ),
    "coda_prompt": (
        "vit_base_patch16_224_coda_prompt",
        {"optimizer": "adam", "scheduler": "cosine", "init_lr": 0.001, "weight_decay": 0},
        {"tuned_epoch": 20, "batch_size": 128},
        {"tuned_epoch": 50, "batch_size": 128},
    ),
    "simplecil": (
        "pretrained_vit_b16_224",
        {"optimizer": "sgd", "tuned_epoch": 0, "init_lr": 0.01, "batch_size": 256},
        {"weight_decay": 0.05},
        {"weight_decay": 0.05},
    ),
}


@pytest.mark.parametrize("dataset", ["cifar100", "imagenet-r"])
@pytest.mark.parametrize("name", ON_A_VIT)
def test_configs_of_frozen_models_have_pilots_settings(tmp_path, name, dataset) -> None:
    backbone, both, cifar, imagenet_r = ON_A_VIT[name]
    own = cifar if dataset == "cifar100" else imagenet_r
    theirs = {"cifar100": "cifar224", "imagenet-r": "imagenetr"}[dataset]
    network = {"convnet_type": None, "backbone_type": backbone, "dataset": theirs}
    config, remarks = read(tmp_path, model_name=name, memory_size=0, **network, **both, **own)
    [method] = config.method
    if method == "simplecil":
        assert config.training.schedule == {}
        assert configured(config) == get_method(method).config()
        assert "optimizer, tuned_epoch, init_lr, batch_size" in remarks[1]
    else:
        assert configured(config).schedule == PUBLISHED[method][dataset].schedule
    plain = (method, dataset) == ("coda-prompt", "cifar100")
    assert config.data.preparation == ("plain" if plain else "centre-crop")
    if method == "mos":
        alignment = configured(config).alignment
        expected = (240, 5e-4) if dataset == "cifar100" else (80, 5e-3)
        assert (alignment.batch_size, alignment.weight_decay) == expected
    if method == "ranpac":
        assert (configured(config).cosine, configured(config).ridge) == (True, "last-task")
        assert any("ranpac.cosine = True" in remark for remark in remarks)


@pytest.mark.parametrize(
    ("name", "epochs", "batch"),
    [("finetune", 20, 128), ("icarl", 20, 128), ("der", 10, 32), ("foster", 20, 32)],
)
@pytest.mark.parametrize("dataset", ["cifar224", "imagenetr"])
def test_a_vit_that_is_trained_has_pilots_augmentation(
    tmp_path, name, epochs, batch, dataset
) -> None:
    keys = {
        **{key: FIRST_AND_LATER[key] for key in ("init_weight_decay", "weight_decay")},
        **({"boosting_epochs": epochs, "compression_epochs": epochs} if name == "foster" else {}),
        **({"init_epochs": epochs} if name == "foster" else {"init_epoch": epochs}),
        **({} if name == "foster" else {"epochs": epochs}),
    }
    network = {"convnet_type": None, "backbone_type": "vit_base_patch16_224", "dataset": dataset}
    config, _ = read(
        tmp_path, model_name=name, init_lr=0.001, lrate=0.001, batch_size=batch, **network, **keys
    )
    schedule = configured(config).schedule
    first = schedule.first
    assert (schedule.epochs, first.epochs, schedule.batch_size) == (epochs, epochs, batch)
    assert (schedule.weight_decay, first.weight_decay) == (2e-4, 5e-4)
    assert schedule.augment == first.augment == ("resized-crop:0.05", "flip")


def test_values_that_options_change_are_not_said_to_come_from_the_recipe(tmp_path) -> None:
    read(tmp_path)
    path = tmp_path / "icarl.json"
    _, remarks = translate_config(path, options={"training": {"epochs": 2}})
    assert "epochs" not in remarks[1]
    assert "learning_rate = 0.1" in remarks[1]
    assert len(translate_config(path, options={"training": {"setup": "fast"}})[1]) == 1


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"model_name": "podnet", "convnet_type": "cosine_resnet32"}, "'podnet'"),
        ({"model_name": "il2a", "convnet_type": "resnet18_cbam"}, "'il2a'"),
        ({"model_name": "simplecil", "convnet_type": "cosine_resnet32"}, "'cosine_resnet32'"),
        ({"model_name": "memo", "convnet_type": "vit_base_patch16_224_memo"}, "_memo'"),
    ],
)
def test_what_only_the_toolbox_has_parses_and_is_refused_with_its_verb(
    tmp_path, changes: dict[str, Any], reason: str
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**ICARL, **changes}))
    values, _ = translate_config(path)
    assert len(values["method"]) == 1
    with pytest.raises(UsageError, match=rf"{reason}.*edgecil toolbox"):
        read_toolbox_config(path)
    options = {"method": "icarl"}
    own = read_toolbox_config(path, options=options, on_remark=lambda remark: None)
    assert own["dataset"] == "cifar100"
