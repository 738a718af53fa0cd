"""The builder of truth tables trains the seeds that a file lacks, and adds them to the others."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from edgecil.lab.truth_files import read_truths
from tests.engine import strange as strange  # registers its learners
from tests.grouped import grouped
from tests.toys import save_toy

COMMITS = ("a" * 40, "b" * 40)


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script with a plan of one learner, twice on all 6 orders of 4 classes."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "tools"))
    import build_truths

    options = {
        "dataset": save_toy(tmp_path / "toy.npz", train=4),
        "tasks": 2,
        "protocol": "enumerate",
        "execution": {"workers": 1},
    }
    monkeypatch.setattr(build_truths, "LEARNERS", ("instant",))
    toy = build_truths.ClassSet("toy", "toy-4", options, learners=("instant",))
    monkeypatch.setattr(build_truths, "SETS", (toy,))
    return build_truths


def test_a_second_machine_trains_the_missing_seed_only_and_packing_adds_it(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, here, there = tmp_path / "t.npz", tmp_path / "here", tmp_path / "there"
    monkeypatch.setattr(tool, "REPEATS", 1)
    tool.train(here, path, None, None)
    tool.pack(here, path, COMMITS[0])
    monkeypatch.setattr(tool, "REPEATS", 2)
    tool.train(there, path, None, None)
    assert {run.seed for run in tool.Experiment.open(there / "toy-instant").results()} == {1}
    tool.pack(there, path, COMMITS[1])
    (joined,) = read_truths(path)
    assert joined.results["instant"].seeds == (0, 1)
    assert joined.provenance["instant"]["commit"] == COMMITS[0]
    assert joined.provenance["instant"]["seed 1"] == {"commit": COMMITS[1]}
    both = tmp_path / "both.npz"
    tool.train(tmp_path / "new", both, None, None)
    tool.pack(tmp_path / "new", both, COMMITS[0])
    (alone,) = read_truths(both)
    for metric in ("accuracy", "average"):
        np.testing.assert_array_equal(
            joined.accuracies("instant", metric), alone.accuracies("instant", metric)
        )
    tool.train(tmp_path / "none", path, None, None)
    assert not (tmp_path / "none").exists(), "nothing is missing any more"
    before = path.read_bytes()
    tool.pack(there, path, COMMITS[1])
    assert path.read_bytes() == before
    assert tool.check(tmp_path / "again", path, None, None) == []


def test_repeats_with_other_settings_or_results_are_left_out_in_one_sentence(
    tool: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (chosen,) = tool.SETS
    options = {**chosen.options, "method": "instant"}
    for name, changes in {
        "first": {},
        "set": {"first_seed": 1, "set": {"instant": {"file": "other"}}},
    }.items():
        tool.edgecil.run(**grouped(out=tmp_path / name / "toy-instant", **options, **changes))
    path = tmp_path / "t.npz"
    tool.pack(tmp_path / "first", path, COMMITS[0])
    before = path.read_bytes()
    capsys.readouterr()
    tool.pack(tmp_path / "set", path, COMMITS[1])
    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    assert "settings file is 'other', not ''" in printed
    assert path.read_bytes() == before
