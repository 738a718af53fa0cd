"""One setting that stands for many: `as`, and published setups."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from edgecil.classes import get_classes
from edgecil.errors import EdgecilWarning, UsageError
from edgecil.experiments.protocol_results import experiment_results
from edgecil.methods import setups
from edgecil.methods.setups import PUBLISHED, Stated
from edgecil.similarity.text import fill_template
from edgecil.training.presets import PRESETS, expand_presets
from tests.grouped import train

FROZEN = {"preparation": "centre-crop", "normalisation": "none", "image_size": 224}


def test_the_authors_code_in_one_word() -> None:
    bound = expand_presets({"as": "authors", "method": "ease,mos", "dataset": "imagenet-r"})
    assert bound["protocol"] == ["rs", "edge-released"]
    assert bound["metric"] == "last"
    assert bound["similarity"] == {
        "encoder": "clip-vit-b-16",
        "template": "{label}",
        "encoder_half": True,
    }
    training = {"setup": "published", "one_seed": True, "backbone": "vit-b16-in1k"}
    assert bound["training"] == training
    assert bound["data"] == FROZEN


@pytest.mark.parametrize(
    ("method", "backbone", "data"),
    [("icarl", "resnet18", None), ("l2p", "vit-b16-in21k", {"image_size": 224})],
)
def test_the_paper_in_one_word(method, backbone, data) -> None:
    bound = expand_presets({"as": "paper", "method": [method], "dataset": "cub200"})
    assert bound["protocol"] == ["rs", "edge"]
    assert bound["metric"] == "accuracy"
    assert bound["similarity"] == {"encoder": "clip-vit-b-16", "template": "{label}"}
    assert fill_template("{label}", get_classes("cifar100"))[1] == "aquarium_fish"
    assert bound["training"] == {"setup": "paper", "backbone": backbone}
    assert bound.get("data") == data


def test_what_is_given_is_kept() -> None:
    own = {
        "protocol": ["random", "adversarial"],
        "similarity": {"file": "d.npz"},
        "training": {"backbone": "resnet32"},
    }
    bound = expand_presets({"as": "paper", "method": ["icarl"], "dataset": "cifar100", **own})
    assert (bound["protocol"], bound["similarity"]) == (own["protocol"], own["similarity"])
    assert bound["training"] == {"setup": "paper", "backbone": "resnet32"}


def test_mixed_families_and_unknown_readings_are_refused() -> None:
    with pytest.raises(UsageError, match="icarl, l2p"):
        expand_presets({"as": "paper", "method": ["icarl", "l2p"], "dataset": "cifar100"})
    with pytest.raises(UsageError, match="'author'"):
        expand_presets({"as": "author", "method": ["icarl"]})


def test_a_setup_by_name_brings_method_dataset_network_and_images() -> None:
    bound = expand_presets({"training": {"setup": "pilot/ease/imagenet-r"}})
    assert (bound["method"], bound["dataset"]) == (["ease"], "imagenet-r")
    assert bound["training"]["backbone"] == "vit-b16-in1k"
    assert bound["data"] == FROZEN


def test_published_setups_set_the_preparation_or_refuse() -> None:
    published = {"dataset": "cifar100", "training": {"setup": "published"}}
    with pytest.raises(UsageError, match=r"coda-prompt.*two directories"):
        expand_presets({**published, "method": ["ease", "coda-prompt"]})
    own = {**published, "method": ["icarl"], "dataset": "quickdraw"}
    assert expand_presets(own) == own
    with pytest.warns(EdgecilWarning, match="centre-crop"):
        bound = expand_presets(
            {"training": {"setup": "pilot/ease/imagenet-r"}, "data": {"preparation": "plain"}}
        )
    assert bound["data"]["preparation"] == "plain"


def test_setups_on_two_networks_give_each_method_its_own() -> None:
    bound = expand_presets(
        {"method": ["wa", "tagfex"], "dataset": "cifar100", "training": {"setup": "published"}}
    )
    own = {"wa": {"backbone": "resnet32"}, "tagfex": {"backbone": "resnet18"}}
    assert bound["training"]["set"] == own
    assert set(PRESETS) == {"paper", "authors"}


def test_the_stated_accuracy_stands_beside_the_reached_one(toy, tmp_path, monkeypatch) -> None:
    dataset = str(toy["dataset"])
    stated = Stated({"last": 50.0, "average": 60.0}, "a log", 2, "resnet-tiny", 100.0)
    row = replace(
        PUBLISHED["finetune"]["cifar100"],
        dataset=dataset,
        backbone="resnet-tiny",
        stated=(stated, replace(stated, tasks=4), replace(stated, weights="resnet32")),
    )
    monkeypatch.setitem(setups.PUBLISHED["finetune"], dataset, row)
    options = {"setup": "published", "epochs": 1, "schedule": {"first": {"epochs": 1}}}
    options |= {**toy, "dataset": dataset, "method": "finetune", "protocol": "random"}
    whole = train(**options, budget=2)
    rows = experiment_results(whole).stated
    assert [(row.metric, row.stated, row.orders) for row in rows] == [
        ("last", 50.0, 2),
        ("average", 60.0, 2),
    ]
    reached = np.mean([run.metric("last") for run in whole.results()])
    assert rows[0].reached == pytest.approx(reached)
    part = train(**{**options, "classes": 2, "budget": 1, "out": tmp_path / "part"})
    assert experiment_results(part).stated == (), "two classes are not the dataset"
