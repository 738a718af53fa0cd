"""The builder of truth tables trains what a file lacks, packs it, and confirms it."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from edgecil.lab.truth_tables import TruthTable, read_truths, write_truths
from edgecil.training import handshake
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
    assert "the same" in capsys.readouterr().out
    check_on_another_processor(tool, table, path, tmp_path, monkeypatch)
    table.results["instant"].correct[0, 0, -1, 0, 0] ^= 1
    write_truths([table], path)
    assert tool.check(tmp_path / "again", path, None, None) == 1
    assert "DIFFERS BY" in capsys.readouterr().out


def check_on_another_processor(
    tool: ModuleType,
    table: TruthTable,
    path: Path,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There a difference within the spread between training seeds is confirmed, more is not."""
    bound = 0.5 + 5 * np.sqrt(table.accuracies("instant").var(axis=0, ddof=1).mean())
    assert tool.allowed_difference(table, "instant") == pytest.approx(bound)
    packed = table.provenance["instant"]
    assert tool.has_same_bits(packed, packed)
    for name in ("torch", "kernels", "processor"):
        assert not tool.has_same_bits(packed, {**packed, name: "another"})
    with monkeypatch.context() as other:
        other.setattr(handshake, "processor_type", lambda: "GenuineIntel 6 143")
        for difference, failures in ((0.9 * bound, 0), (1.1 * bound, 1)):
            accuracies = table.accuracies("instant") + difference
            other.setattr(tool.TruthTable, "accuracies", lambda *_, values=accuracies: values)
            other.setattr(tool, "allowed_difference", lambda *_: bound)
            assert tool.check(folder / f"by {difference}", path, None, None) == failures
