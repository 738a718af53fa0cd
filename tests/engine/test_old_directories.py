"""Experiment directories that earlier versions of edgecil wrote; `data/` has their databases."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import edgecil
from edgecil.errors import DataError, UsageError
from edgecil.io.directory import claim

DATA = Path(__file__).parent / "data"
USES: dict[str, Callable[[Path], Any]] = {
    "open": edgecil.Experiment.open,
    "analyze": edgecil.analyze,
    "report": edgecil.write_report,
    "compare": edgecil.compare,
    "run": lambda path: edgecil.run(
        out=path,
        method="icarl",
        dataset="quickdraw",
        tasks=2,
        data={"classes": 4},
        training={"epochs": 1},
        execution={"workers": 1},
    ),
}


def old_directory(home: Path, name: str) -> Path:
    """Return a directory with the database of an earlier version."""
    directory = home / "old"
    claim(directory, "experiment")
    packed = (DATA / f"{name}.sqlite.gz").read_bytes()
    (directory / "results.sqlite").write_bytes(gzip.decompress(packed))
    return directory


@pytest.mark.parametrize("use", USES)
def test_the_first_format_is_refused_and_left_as_it_is(use: str, tmp_path: Path) -> None:
    directory = old_directory(tmp_path, "format-1")
    before = (directory / "results.sqlite").read_bytes()
    with pytest.raises(DataError, match=r"format 1\b.* 3 to 4") as refused:
        USES[use](directory)
    assert len(str(refused.value).splitlines()) == 1
    assert (directory / "results.sqlite").read_bytes() == before


def test_the_format_of_one_training_seed_is_read_but_not_continued(tmp_path: Path) -> None:
    directory = old_directory(tmp_path, "format-3")
    before = (directory / "results.sqlite").read_bytes()
    answer = edgecil.analyze(directory)["simplecil"].answer
    assert (answer.shared_seeds, answer.order_count) == (1, 3)
    assert answer.mean.value == pytest.approx(91.25)
    with pytest.raises(UsageError, match="cannot be continued") as refused:
        USES["run"](directory)
    assert len(str(refused.value).splitlines()) == 1
    assert (directory / "results.sqlite").read_bytes() == before
