from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated

import pytest

from edgecil.cli.verb import options_of
from edgecil.errors import DataError, EdgecilError, UsageError
from edgecil.experiments.config import GROUPS, Data, Execution, ExperimentConfig
from edgecil.experiments.config_values import (
    build_config,
    config_text,
    merge_options,
    read_config,
)
from edgecil.hints import Range
from edgecil.options import Options, option


def test_a_file_holds_every_option_and_is_written_as_the_same(tmp_path) -> None:
    path = tmp_path / "run.toml"
    path.write_text(
        """
        method = ["icarl", "hide-prompt"]
        dataset = 'a "quoted" name'
        sizes = [4, 2]
        protocol = "random, latin"
        repeats = 2
        data = { classes_seed = 1 }
        [training]
        epochs = 3
        schedule = { decay = 0.5, augment = ["crop:2"] }
        [training.set.hide-prompt.alignment]
        learning_rate = 0.5
        [execution]
        workers = 2
        """
    )
    values = read_config(path)
    assert values["execution"] == {"workers": 2}
    config = build_config(values)
    assert config == ExperimentConfig(
        method=("icarl", "hide-prompt"),
        dataset='a "quoted" name',
        sizes=(4, 2),
        protocol=("random", "latin"),
        repeats=2,
        data={"classes_seed": 1},
        training={
            "epochs": 3,
            "schedule": {"decay": 0.5, "augment": ["crop:2"]},
            "set": {"hide-prompt": {"alignment": {"learning_rate": 0.5}}},
        },
    )
    path.write_text(config_text(config), encoding="utf-8")
    assert build_config(read_config(path)) == config


def test_names_are_taken_once_and_paths_and_none_are_accepted(tmp_path) -> None:
    given = {"method": "ewc, icarl,ewc", "dataset": tmp_path, "protocol": ["a", "a"]}
    config = build_config({**given, "data": {"root": None}})
    assert (config.method, config.protocol) == (("ewc", "icarl"), ("a",))
    assert (config.dataset, config.data.root, config.repeats) == (str(tmp_path), None, 1)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (None, EdgecilError, r"run\.toml"),
        ("method = [", DataError, "run.toml.*TOML"),
        ("metod = 'icarl'", UsageError, "'metod'.*'method'"),
        ('method = "ewc"\n[data]\nclasses = "six"\n', UsageError, r"run\.toml.*'classes'"),
    ],
)
def test_files_that_cannot_be_used(tmp_path, text, error, message) -> None:
    path = tmp_path / "run.toml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(error, match=message):
        read_config(path)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"method": None}, "'method'"),
        ({"dataset": None}, "'dataset'"),
        ({"protocol": []}, "one 'protocol'"),
        ({"repeats": 0}, "'repeats'.*1.*0"),
        ({"training": {"first_seed": -1}}, "'first_seed'.*0.*-1"),
        ({"training": {"threads": -1}}, "'threads'.*1"),
        ({"tasks": "3"}, "'tasks'.*int.*.*'3'"),
        ({"tasks": True}, "'tasks'"),
        ({"training": {"precision": "half"}}, "precision.*'half'"),
        ({"method": [1]}, "'method'"),
        ({"method": 1}, "'method'"),
        ({"sizes": ["a"]}, "'sizes'"),
        ({"training": 3}, "Training.*mapping.*3"),
        ({"training": {"schedule": 3}}, "'schedule'.*table"),
        ({"training": {"set": {"icarl": 3}}}, "'set'.*table"),
        ({"training": {"epoch": 3}}, "'epoch'.*'epochs'"),
        ({"data": {"preparation": "x"}}, "preparation 'x'"),
        ({"classes": 3}, "'classes'.*'data'"),
        ({"task": 3}, "Unknown option 'task'"),
        ({"similarity": {"file": "a.npz", "captions": "bundled"}}, "'captions'.*'file'"),
        ({"similarity": {"file": "a.npz", "embeddings": "b.npy"}}, "not both"),
    ],
)
def test_values_that_make_no_sense(values, message) -> None:
    given = {"method": "icarl", "dataset": "x", **values}
    with pytest.raises(UsageError, match=message):
        build_config({name: value for name, value in given.items() if value is not None})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"workers": 0}, "'workers' must be at least 1. Got 0"),
        ({"workers_per_device": 0}, "'workers_per_device' must be at least 1"),
        ({"executor": "slurm"}, "Unknown executor"),
        ({"timeout": 0.5}, "'timeout' must be at least 1"),
    ],
)
def test_executions_that_make_no_sense(values, message) -> None:
    with pytest.raises(UsageError, match=message):
        Execution(**values)


def test_a_new_field_is_an_option_everywhere(monkeypatch) -> None:
    """One field gives a flag, a key of a section, a check and a line of help."""

    @dataclass(frozen=True)
    class Own(Options):
        width: Annotated[int, Range(20)] = option("columns of the page", 80)

    def draw(*, page: Own | None = None) -> None:
        """Draw.

        Args:
            page: the page.
        """

    monkeypatch.setitem(draw.__globals__, "Own", Own)
    [flag] = options_of(draw)
    assert (flag.name, flag.kind, flag.help) == (
        "page.width",
        "int",
        "columns of the page (default: 80)",
    )
    assert Own(**Own.options_in({"width": 30})).changed() == {"width": 30}
    for wrong in (19, "wide"):
        with pytest.raises(UsageError, match="'width'"):
            Own(width=wrong)


def test_every_option_of_a_group_has_help() -> None:
    entries = [entry for kind in GROUPS.values() for entry in fields(kind)]
    assert all(entry.metadata["help"] for entry in entries)
    flags = [entry.metadata["flag"] or entry.name for entry in entries]
    assert len(set(flags)) == len(flags), "flags of one verb have one name each"


@pytest.mark.parametrize(
    ("values", "options", "merged"),
    [
        ({"tasks": 3}, {"tasks": None}, {"tasks": 3}),
        ({"tasks": 3}, {"sizes": (2, 1)}, {"sizes": (2, 1)}),
        ({"base": 2, "increment": 1}, {"base": 4}, {"base": 4, "increment": 1}),
        (
            {"data": {"classes": 6, "classes_seed": 1}},
            {"data": {"class_ids": (1, 2)}},
            {"data": {"class_ids": (1, 2)}},
        ),
        (
            {"data": {"classes": 6, "classes_seed": 1}},
            {"data": Data(classes=4)},
            {"data": {"classes": 4}},
        ),
        (
            {"similarity": {"encoder": "e", "names": "n"}},
            {"similarity": "s"},
            {"similarity": {"file": "s"}},
        ),
        (
            {"similarity": "s"},
            {"similarity": {"captions": "bundled"}},
            {"similarity": {"captions": "bundled"}},
        ),
        (
            {"similarity": {"encoder": "e"}},
            {"similarity": {"template": "{name}"}},
            {"similarity": {"encoder": "e", "template": "{name}"}},
        ),
    ],
)
def test_options_replace_what_they_contradict(values, options, merged) -> None:
    assert merge_options(values, options) == merged
