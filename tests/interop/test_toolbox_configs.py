"""PyCIL's and PILOT's flat configs, as edgecil understands them.

The keys of the toolboxes' own files, with other values than ours, are in a file of data: for each
method the settings that come of them and the keys left over; for methods on a frozen ViT the
training keys on CIFAR-100 and ImageNet-R.
"""

from __future__ import annotations

import json
from dataclasses import fields
from itertools import product
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from edgecil.backbones import backbone_names
from edgecil.backbones.pretrained import PRETRAINED as OUR_PRETRAINED
from edgecil.errors import DataError, EdgecilWarning, UsageError
from edgecil.experiments import ExperimentConfig, build_config, read_config
from edgecil.interop.toolbox_configs import (
    TOOLBOX_KEYS,
    cut_tasks,
    read_toolbox_config,
    toolbox_sizes,
    translate_config,
)
from edgecil.methods import Schedule, get_method, method_names
from edgecil.methods.entry import replace_settings
from edgecil.methods.setups import PUBLISHED
from edgecil.training.planner import configure
from edgecil.training.run import resolve_options

DATA = json.loads((Path(__file__).parent / "data" / "toolbox_configs.json").read_text("utf-8"))
ICARL = {
    "prefix": "reproduce", "dataset": "cifar100", "memory_size": 2000, "memory_per_class": 20,
    "fixed_memory": False, "shuffle": True, "init_cls": 10, "increment": 10,
    "model_name": "icarl", "convnet_type": "resnet32", "device": ["0", "1"], "seed": [1993],
}  # fmt: skip
# FeCAM's keys are those of adapters, which are not trained here; ACIL's are nested by dataset; no
# keys of DER++ and LUCIR are known.
WITHOUT_KEYS = {
    *("finetune", "naive", "joint", "lwf", "er", "wa", "bic", "simplecil"),
    *("acil", "derpp", "fecam", "lucir"),
}


def write(tmp_path: Path, **changes: Any) -> Path:
    path = tmp_path / "icarl.json"
    config = {key: value for key, value in {**ICARL, **changes}.items() if value is not None}
    path.write_text(json.dumps(config))
    return path


def read(tmp_path: Path, **changes: Any) -> tuple[ExperimentConfig, list[str]]:
    values, remarks = translate_config(write(tmp_path, **changes))
    return build_config(values), remarks


def test_options_beside_a_json_file_take_precedence(tmp_path: Path) -> None:
    options: dict[str, Any] = {"data": {"classes": 8}, "base": 4, "increment": 2}
    with pytest.warns(EdgecilWarning) as caught:
        values = read_config(write(tmp_path, dataset="quickdraw"), options=options)
    assert ["have no effect" in str(one.message) for one in caught] == [True, False]
    assert "sizes" not in values
    settings, _ = resolve_options(values, options)
    assert (settings.method, settings.base, settings.increment) == (("icarl",), 4, 2)


def test_a_config_of_pycil_becomes_a_run(tmp_path) -> None:
    config, (ignored, source) = read(tmp_path)
    assert config.method == ("icarl",)
    assert (config.dataset, config.base, config.increment) == ("cifar100", 10, 10)
    training, setup = config.training, "pycil/icarl/cifar100"
    assert training.memory == {"total": 2000, "per_class": None}
    assert (training.backbone, training.device, training.setup) == ("resnet32", "cuda:0", setup)
    assert config.protocol == ("random", "probes")
    assert "prefix, shuffle, seed" in ignored
    assert setup in source
    schedule = configured(config).schedule
    assert (schedule.epochs, schedule.first.epochs) == (170, 200)
    for own in ({"training": {"setup": "fast"}}, {"method": "wa"}):
        _, remarks = translate_config(tmp_path / "icarl.json", options=own)
        assert remarks == [ignored]


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
    config, _ = read(tmp_path, scheduler="constant", init_lr=0.01, epochs=5)
    schedule = replace_settings(Schedule(), config.training.schedule, "training")
    assert [schedule.rate(epoch) for epoch in (0, 4, 200)] == [0.01] * 3


@pytest.mark.parametrize(
    ("changes", "option", "value"),
    [
        ({"fixed_memory": True}, "training.memory", {"total": None, "per_class": 20}),
        ({"device": 0}, "training.device", "cuda:0"),
        ({"device": "1"}, "training.device", "cuda:1"),
        *(({"device": cpu}, "training.device", "cpu") for cpu in ([-1], ["-1"], "cpu")),
        ({"device": "mps"}, "training.device", "mps"),
        ({"dataset": "cifar224"}, "dataset", "cifar100"),
        ({"dataset": "cub"}, "dataset", "cub200"),
        ({"dataset": "cifar100_aa"}, "dataset", "cifar100"),
        ({"dataset": "vtab"}, "dataset", "vtab"),
    ],
)
def test_a_key_becomes_an_option(tmp_path, changes, option, value) -> None:
    assert attrgetter(option)(read(tmp_path, **changes)[0]) == value


def test_the_tables_name_settings_that_exist() -> None:
    assert set(TOOLBOX_KEYS["training"]) <= {field.name for field in fields(Schedule)}
    for schedule in TOOLBOX_KEYS["schedules"].values():
        Schedule(schedule=schedule)
    assert set(TOOLBOX_KEYS["backbones"].values()) <= set(backbone_names())
    assert set(TOOLBOX_KEYS["pretrained"].values()) <= set(OUR_PRETRAINED)
    ours = {it for it in method_names() if "edgecil" in get_method(it).config.__module__}
    assert set(TOOLBOX_KEYS["own"]) | {"coda-prompt"} == ours - WITHOUT_KEYS - {"der"}
    tested = {name.replace("_", "-") for name in DATA["own_keys"]}
    assert {TOOLBOX_KEYS["methods"].get(name, name) for name in tested} | WITHOUT_KEYS == ours
    for name, table in TOOLBOX_KEYS["own"].items():
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
        ({"init_cls": "ten"}, r"\.json: 'init_cls'.*'ten'"),
        ({"milestones": 80}, "'milestones'.*80"),
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
    (tmp_path / "a.json").write_text("[1]")
    with pytest.raises(DataError, match="must contain a JSON object"):
        translate_config(tmp_path / "a.json")


@pytest.mark.parametrize("name", DATA["own_keys"])
def test_every_method_takes_over_its_own_keys(tmp_path, name) -> None:
    given, settings, left = DATA["own_keys"][name].values()
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


def test_keys_are_either_fixed_to_the_same_value_or_ignored(tmp_path) -> None:
    keys = {"use_reweight": True, "recalc_sim": False, "vpt_type": "Deep"}
    _, remarks = read(tmp_path, model_name="ease", **keys)
    assert remarks[1].endswith("no setting in edgecil: recalc_sim, vpt_type.")


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
        ("mos", {"ca_storage_efficient_method": "multi-centroid"}, {}),
        ("coda_prompt", {"prompt_param": [9, 8.0, 0], "dataset": "vtab"}, {}),
    ],
)
def test_choices_become_settings_or_are_listed(tmp_path, method, given, settings) -> None:
    config, remarks = read(tmp_path, model_name=method, **given)
    assert config.training.set == ({method: settings} if settings else {})
    listed = [key for key in given if key in " ".join(remarks)]
    assert listed == ([] if settings else [*given][:1])


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
    options = {"dataset": dataset, "data": data}
    with pytest.warns(EdgecilWarning):
        values = read_config(write(tmp_path, init_cls=50, increment=20), options=options)
    assert values["sizes"] == sizes
    values = {"dataset": "my.npz", "base": 50, "increment": 20}
    assert cut_tasks(values, None) == values, "of an unknown number of classes"


@pytest.mark.parametrize(
    ("first", "increment", "classes"), [*product([1, 2, 5, 10], [1, 3, 4, 10], [10, 11])]
)
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
    return configure(get_method(name), config, config.training.backbone)


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


@pytest.mark.parametrize("dataset", ["cifar100", "imagenet-r"])
@pytest.mark.parametrize("name", DATA["on_a_vit"])
def test_configs_of_frozen_models_have_pilots_settings(tmp_path, name, dataset) -> None:
    row = DATA["on_a_vit"][name]
    theirs = {"cifar100": "cifar224", "imagenet-r": "imagenetr"}[dataset]
    network = {"convnet_type": None, "backbone_type": row["backbone"], "dataset": theirs}
    given = {**network, **row["both"], **row[dataset]}
    config, remarks = read(tmp_path, model_name=name, memory_size=0, **given)
    [method] = config.method
    assert (config.dataset, config.training.backbone[:7]) == (dataset, "vit-b16")
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
    foster = {"boosting_epochs": epochs, "compression_epochs": epochs, "init_epochs": epochs}
    keys = foster if name == "foster" else {"epochs": epochs, "init_epoch": epochs}
    keys |= {"init_weight_decay": 5e-4, "weight_decay": 2e-4, "init_lr": 0.001, "lrate": 0.001}
    network = {"convnet_type": None, "backbone_type": "vit_base_patch16_224", "dataset": dataset}
    config, _ = read(tmp_path, model_name=name, batch_size=batch, **network, **keys)
    schedule = configured(config).schedule
    first = schedule.first
    assert (schedule.epochs, first.epochs, schedule.batch_size) == (epochs, epochs, batch)
    assert (schedule.weight_decay, first.weight_decay) == (2e-4, 5e-4)
    assert schedule.augment == first.augment == ("resized-crop:0.05", "flip")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"model_name": "podnet", "convnet_type": "cosine_resnet32"}, "'podnet'"),
        ({"model_name": "il2a", "convnet_type": "resnet18_cbam"}, "'il2a'"),
        ({"model_name": "simplecil", "convnet_type": "cosine_resnet32"}, "'cosine_resnet32'"),
        ({"model_name": "memo", "convnet_type": "vit_base_patch16_224_memo"}, "_memo'"),
    ],
)
@pytest.mark.filterwarnings("ignore::edgecil.errors.EdgecilWarning")
def test_what_only_the_toolbox_has_parses_and_is_refused_with_its_verb(
    tmp_path, changes: dict[str, Any], reason: str
) -> None:
    path = write(tmp_path, **changes)
    values, _ = translate_config(path)
    assert len(values["method"]) == 1
    with pytest.raises(UsageError, match=rf"{reason}.*edgecil toolbox"):
        read_toolbox_config(path)
    assert read_toolbox_config(path, options={"method": "icarl"})["dataset"] == "cifar100"
