from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from edgecil.engine.config import ExperimentConfig, build_config, config_text, read_config
from edgecil.errors import DataError, EdgecilError, UsageError


def test_a_file_says_everything_that_a_run_depends_on(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text(
        """
        methods = ["icarl", "ewc"]
        dataset = "quickdraw"
        sizes = [4, 2]
        protocols = "random, latin"
        seeds = 2
        [training]
        epochs = 3
        [settings.icarl.memory]
        per_class = 5
        """
    )
    assert build_config(read_config(path)) == ExperimentConfig(
        methods=("icarl", "ewc"),
        dataset="quickdraw",
        sizes=(4, 2),
        protocols=("random", "latin"),
        seeds=2,
        training={"epochs": 3},
        settings={"icarl": {"memory": {"per_class": 5}}},
    )


def test_names_are_taken_once() -> None:
    config = build_config({"methods": "ewc, icarl,ewc", "dataset": "x", "protocols": ["a", "a"]})
    assert config.methods == ("ewc", "icarl")
    assert config.protocols == ("a",)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("methods = [", DataError, "run.toml is not valid TOML"),
        ("metods = 'icarl'", UsageError, "'metods'. Did you mean 'methods'"),
    ],
)
def test_files_that_cannot_be_used(
    tmp_path: Path, text: str, error: type[EdgecilError], message: str
) -> None:
    path = tmp_path / "run.toml"
    path.write_text(text)
    with pytest.raises(error, match=message):
        read_config(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(EdgecilError, match=r"run\.toml"):
        read_config(tmp_path / "run.toml")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"dataset": "x"}, "Say which methods"),
        ({"methods": "icarl"}, "Say which dataset"),
        ({"methods": "icarl", "dataset": "x", "protocols": []}, "at least one protocol"),
        ({"methods": "icarl", "dataset": "x", "seeds": 0}, "'seeds' must be at least 1. Got 0"),
        ({"methods": "icarl", "dataset": "x", "threads": -1}, "'threads' must be at least 1"),
        ({"methods": "icarl", "dataset": "x", "tasks": "3"}, "'tasks' must be .*int.* Got '3'"),
        ({"methods": "icarl", "dataset": "x", "tasks": True}, "'tasks' must be .*Got True"),
        ({"methods": "icarl", "dataset": "x", "half": 1}, "'half' must be .*bool. Got 1"),
        ({"methods": [1], "dataset": "x"}, "'methods' must be .*Got \\(1,\\)"),
        ({"methods": "icarl", "dataset": "x", "sizes": ["a"]}, "'sizes' must be"),
        ({"methods": "icarl", "dataset": "x", "training": 3}, "'training' must be"),
        ({"methods": "icarl", "dataset": "x", "settings": {"icarl": 3}}, "'settings' must be"),
        ({"methods": "icarl", "dataset": "x", "task": 3}, "Unknown setting 'task'"),
    ],
)
def test_values_that_make_no_sense(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build_config(values)


def test_a_configuration_written_as_toml_is_read_as_the_same(tmp_path: Path) -> None:
    config = build_config(
        {
            "methods": ["ewc", "hide-prompt"],
            "dataset": 'a "quoted" name',
            "sizes": [2, 2, 1],
            "download": True,
            "template": "{name}",
            "protocols": ["edge", "enumerate"],
            "training": {"epochs": 3, "augment": ["crop:2"]},
            "settings": {"hide-prompt": {"alignment": {"learning_rate": 0.5}}},
        }
    )
    path = tmp_path / "again.toml"
    path.write_text(config_text(config), encoding="utf-8")
    assert build_config(read_config(path)) == config
