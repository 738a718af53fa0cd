"""The builder of truth tables trains what a file lacks, packs it, and confirms it."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgecil.lab.truth_tables import read_truths, write_truths
from tests.toys import save_toy
from tests.training import strange as strange  # registers its learners

COMMIT = "a" * 40


def test_the_file_gains_what_was_missing_and_a_sample_is_confirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One learner, twice on all 6 orders of 4 classes."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "tools"))
    import build_truths as tool

    options = {
        "dataset": save_toy(tmp_path / "toy.npz", train=4),
        "tasks": 2,
        "protocol": "random:6",
        "repeats": 2,
        "execution": {"workers": 1},
    }
    monkeypatch.setattr(tool, "SETS", (tool.ClassSet("toy", "toy-4", options, {"instant": {}}),))
    path, runs = tmp_path / "t.npz", tmp_path / "runs"
    tool.train(runs, path, None, None)
    tool.pack(runs, path, COMMIT)
    (table,) = read_truths(path)
    assert (table.kind, table.results["instant"].seeds) == ("enumerated", (0, 1))
    assert table.provenance["instant"]["commit"] == COMMIT
    before = path.read_bytes()
    tool.train(tmp_path / "none", path, None, None)
    assert not (tmp_path / "none").exists(), "nothing is missing any more"
    tool.pack(runs, path, COMMIT)
    assert path.read_bytes() == before
    assert tool.check(tmp_path / "again", path, None, None) == 0
    table.results["instant"].correct[0, 0, -1, 0, 0] ^= 1
    write_truths([table], path)
    assert tool.check(tmp_path / "again", path, None, None) == 1
