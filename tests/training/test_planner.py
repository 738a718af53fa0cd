from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import edgecil
from edgecil.data.items import Items
from edgecil.errors import EdgecilWarning, UsageError
from edgecil.experiments.config import ExperimentConfig
from edgecil.experiments.config_values import build_config
from edgecil.sequences.protocols import RECOMMENDED
from edgecil.training.loading import load
from edgecil.training.planner import inspect
from edgecil.training.requirements import Requirements

SIX = {"dataset": "quickdraw", "tasks": 3, "data": {"classes": 6}, "method": ("finetune",)}


def configured(**options: Any) -> ExperimentConfig:
    return build_config({**SIX, **options})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Grey images of 12 pixels, of four classes that no class list knows."""
    rng = np.random.default_rng(0)
    for name in ("qqa", "qqb", "qqc", "qqd"):
        for part, count in (("train", 3), ("test", 2)):
            (tmp_path / "images" / part / name).mkdir(parents=True)
            for number in range(count):
                pixels = rng.integers(0, 256, (12, 12), dtype=np.uint8)
                Image.fromarray(pixels).save(tmp_path / "images" / part / name / f"{number}.png")
    return tmp_path / "images"


def test_nothing_is_decoded_before_a_run_is_loaded(folder, monkeypatch) -> None:
    config = configured(dataset=str(folder), tasks=4, data={}, protocol="random:4")

    def refuse(*_: object) -> None:
        raise AssertionError("an image was decoded")

    with monkeypatch.context() as patched:
        patched.setattr(Items, "read", refuse)
        inspection = inspect(config)
    assert inspection is not None
    assert inspection.classes.labels == ("qqa", "qqb", "qqc", "qqd")
    assert (inspection.space.size, inspection.networks) == (24, {"finetune": "resnet18"})
    assert [len(orders) for orders in inspection.expected_orders().values()] == [4]
    prepared = load(inspection)
    assert prepared.context.backbones == {"finetune": "resnet-tiny"}, "decoded images are grey"
    assert len(prepared.plan.runs) == 4


def test_a_check_and_a_run_draw_the_same_orders_and_compare_the_same_identity() -> None:
    config = configured(protocol="random:5,latin,edge", budget=4)
    listed, strict = inspect(config, Requirements()), inspect(config)
    assert listed is not None
    assert strict is not None
    assert (listed.config, listed.networks) == (strict.config, strict.networks)
    prepared = load(strict)
    orders = listed.expected_orders()
    drawn = {name: [it.sequence for it in runs] for name, runs in prepared.sequences.items()}
    assert {name: len(runs) for name, runs in orders.items()} == {
        "random": 5,
        "latin": 4,
        "edge": 4,
    }
    assert {name: orders[name] for name in ("random", "latin")} == {
        name: drawn[name] for name in ("random", "latin")
    }
    assert len(drawn["edge"]) == 4
    identity = listed.identity()
    assert {name: prepared.identity[name] for name in identity} == identity


def test_without_a_similarity_of_names_class_means_of_the_inputs_are_used(folder) -> None:
    options = {"dataset": str(folder), "data": {}, "tasks": 2, "method": ("simplecil",)}
    found = Requirements()
    recommended = inspect(configured(**options), found)
    assert recommended is not None
    assert recommended.config.protocol == RECOMMENDED
    assert recommended.similarity.from_inputs
    assert [(it.name, it.available) for it in found[1:]][-1] == ("similarity", True)
    edge = inspect(configured(**options, protocol="edge"), found := Requirements())
    assert edge is not None
    assert all(it.available for it in found), "a run computes the similarity of the inputs"
    finetune = replace(edge.config, method=("finetune",))
    inspection = inspect(finetune)
    assert inspection is not None
    with pytest.warns(EdgecilWarning, match="class means of their inputs"):
        prepared = load(inspection)
    assert prepared.similarity is not None
    assert prepared.similarity.source["features"] == "pixels"


def test_problems_are_listed_or_raised() -> None:
    config = configured(method=("finetune", "l2p"), training={"backbone": "resnet-tiny"})
    found = Requirements()
    inspection = inspect(config, found)
    assert inspection is not None
    assert list(inspection.networks) == ["finetune"]
    (problem,) = [it for it in found if not it.available]
    assert "l2p requires the sockets of a ViT" in problem.about
    assert "'simplecil' or 'er'" in problem.about
    with pytest.raises(UsageError, match="l2p requires"):
        inspect(config)
    ranpac = configured(method=("ranpac",), training={"backbone": "resnet-tiny"})
    with pytest.raises(UsageError, match="'bottleneck' 0"):
        inspect(ranpac)
    wrong = configured(training={"set": {"icarl": {"temperature": 3.0}}})
    with pytest.raises(UsageError, match="'icarl', which is not among the methods"):
        inspect(wrong)


def test_a_check_shows_what_a_run_refuses(tmp_path) -> None:
    missing = edgecil.check("quickdraw", method="l2p", tasks=3, classes=6, out=tmp_path / "out")
    assert missing.ready, [it.about for it in missing.problems]
    refused = edgecil.check(
        "quickdraw", method="l2p", tasks=3, classes=6, backbone="resnet32", out=tmp_path / "out"
    )
    assert [it.name for it in refused.problems] == ["methods"]
