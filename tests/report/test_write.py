"""The folder holds the page and every figure and table in every format, always the same bytes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import matplotlib
import pytest

from edgecil.report.evidence import Evidence
from edgecil.report.page import compose
from edgecil.report.write import write_report
from tests.estimation.tables import six_classes
from tests.report.made_up import evidence_of, varied, write_run

HEADER = {".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<?xml", ".pdf": b"%PDF"}


def contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Evidence:
    """One learner and one protocol: few figures."""
    folder = write_run(tmp_path_factory.mktemp("runs") / "small", {"varied": varied}, ("edge",))
    return evidence_of(folder, six_classes())


@pytest.fixture(scope="module")
def folder(small, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("report") / "new" / "folder"
    assert write_report(compose(small), folder) == folder / "index.html"
    return folder


def test_every_figure_is_there_in_three_formats(folder) -> None:
    found = list((folder / "figures").iterdir())
    names = {path.stem for path in found}
    assert names == {
        "distributions",
        "distribution-varied",
        "prediction-varied",
        "matrices-varied",
    }
    assert len(found) == 3 * len(names)
    for path in found:
        assert path.read_bytes().startswith(HEADER[path.suffix])


def test_every_table_is_there_in_three_formats(folder) -> None:
    found = list((folder / "tables").iterdir())
    assert {path.suffix for path in found} == {".csv", ".md", ".tex"}
    assert len(found) == 3 * len({path.stem for path in found})


def test_the_same_runs_give_the_same_bytes_whatever_the_users_style(
    small, folder, tmp_path
) -> None:
    with matplotlib.rc_context({"font.size": 30.0, "axes.facecolor": "red"}):
        write_report(compose(small), tmp_path)
    assert contents(tmp_path) == contents(folder)
