"""The verbs that list what there is."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest

from edgecil.experiments.config import ExperimentConfig
from edgecil.methods import get_method
from edgecil.training.planner import configure
from tests.cli.conftest import Cli

SIZES = {
    "cifar100": 100, "cub200": 200, "imagenet-r": 200, "imagenet-a": 200, "ham10000": 7,
    "eyepacs": 5, "quickdraw": 100, "quickdraw-pretrain": 245,
}  # fmt: skip
CLIP = {
    "clip-rn50", "clip-rn101", "clip-rn50x64", "clip-vit-b-32", "clip-vit-b-16", "clip-vit-l-14",
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "some"),
    [
        ("datasets", "apple, aquarium fish, baby"), ("encoders", "minilm-bundled"),
        ("backbones", "vit-quickdraw"), ("methods", "icarl"), ("protocols", "latin"),
        ("objectives", "generalization"), ("recipes", "demo"), ("setups", "published"),
    ],
)  # fmt: skip
def test_people_see_a_table(cli: Cli, kind: str, some: str) -> None:
    answer = cli("list", kind)
    assert (answer.code, answer.err) == (0, "")
    assert some in " ".join(answer.out.split())
    assert "…" not in answer.out or kind == "datasets"  # which shows some class names


def test_datasets(cli: Cli) -> None:
    listed = {row["name"]: row for row in cli("list", "datasets", "--json").json["entries"]}
    assert {name: row["classes"] for name, row in listed.items()}.items() >= SIZES.items()
    assert listed["quickdraw"]["images"]
    assert not listed["cub200"]["images"]


def test_encoders(cli: Cli) -> None:
    listed = {row["name"]: row for row in cli("list", "encoders", "--json").json["entries"]}
    assert listed.keys() >= CLIP | {"minilm", "minilm-bundled"}
    assert listed["minilm-bundled"]["available"]
    for name in CLIP:
        assert not listed[name]["available"]
        assert "hf download" in listed[name]["note"] or "pip install" in listed[name]["note"]


def test_backbones(cli: Cli) -> None:
    listed = {row["name"]: row for row in cli("list", "backbones", "--json").json["entries"]}
    assert all(listed[name]["available"] for name in ("resnet32", "resnet18", "vit-quickdraw"))
    assert not any(listed[name]["available"] for name in ("vit-b16-in21k", "vit-b16-clip"))


def list_settings(cli: Cli, *more: str) -> dict[str, Any]:
    rows = cli("list", "methods", "--json", *more).json["entries"]
    return {row["name"]: row["settings"] for row in rows}


def test_methods_have_the_settings_of_the_default_recipe(cli: Cli) -> None:
    listed = list_settings(cli)
    assert listed["der"]["balancing"] == 30
    assert listed["ranpac"]["projection"] == 1000
    assert listed["icarl"]["schedule"]["epochs"] == 12
    assert listed["icarl"]["memory"] == {"total": 2000, "per_class": 5}
    assert "setup 'slow'" in cli("list", "methods", "--setup", "slow").sentence


def test_listed_settings_are_those_that_a_run_uses(cli: Cli) -> None:
    counts = {}
    for setup in ("fast", "paper", "published", "ease/ease/cub200"):
        listed = list_settings(cli, "--setup", setup)
        config = ExperimentConfig(tuple(listed), "quickdraw", training={"setup": setup})
        for name, settings in listed.items():
            used = asdict(configure(get_method(name), config, "resnet-tiny"))
            assert settings == json.loads(json.dumps(used))
        counts[setup] = len(listed)
    assert counts["fast"] == counts["paper"] > counts["ease/ease/cub200"] == 1


def test_recipes(cli: Cli) -> None:
    listed = {row["name"]: row for row in cli("list", "recipes", "--json").json["entries"]}
    assert listed["demo"]["settings"]["dataset"] == "caltech101"
    assert listed["demo"]["summary"]
    some = cli("list", "recipes", "samples-*", "--json").json["entries"]
    assert {row["name"] for row in some} == {"samples-cub200", "samples-quickdraw"}
    assert 'dataset = "caltech101"' in cli("list", "recipes", "--show", "demo").out
    assert "'demo'" in cli("list", "recipes", "--show", "dmo").sentence
