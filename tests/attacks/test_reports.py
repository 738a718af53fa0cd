"""A report that cannot be written, or whose writer is killed, leaves the previous one whole."""

from __future__ import annotations

import os
import signal
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from edgecil import Analysis, analyze, write_report
from edgecil.analysis.answers import DatasetAnalysis
from edgecil.errors import EdgecilError
from edgecil.report import write
from tests.analysis.tables import noisy, table_of
from tests.attacks.conftest import attack_rng, strength
from tests.attacks.test_directories import content
from tests.training.test_resume import files_at_most

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def first() -> Analysis:
    return analyze(table_of({"m": noisy(0)}, ("latin",)))


@pytest.fixture(scope="module")
def second() -> Analysis:
    """Of the same runs with other accuracies, so that every number of the report differs."""
    return analyze(table_of({"m": noisy(1)}, ("latin",)))


@pytest.fixture(autouse=True)
def _quick_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages and figures take seconds; what is attacked here is only how files are written."""

    def compose(dataset: DatasetAnalysis, *_: object) -> str:
        return f"{dataset.methods['m'].claims.mean.value:.6f}"

    def files(page: str, folder: Path, **_: object) -> dict[Path, bytes]:
        names = ("index.html", "figures/a.svg", "tables/a.csv", "tables/b.csv")
        return {folder / name: 1000 * f"{name} {page}".encode() for name in names}

    monkeypatch.setattr(write, "compose_page", compose)
    monkeypatch.setattr(write, "page_files", files)


@pytest.fixture
def folder(first: Analysis, tmp_path: Path) -> Path:
    write_report(first, out=tmp_path / "report")
    return tmp_path / "report"


def test_a_full_disk_leaves_the_previous_report(folder: Path, second: Analysis) -> None:
    before = content(folder)
    largest = max(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    for limit in (100, largest // 2, largest - 1000):
        with files_at_most(limit), pytest.raises(EdgecilError, match=r"Cannot write .*File too"):
            write_report(second, out=folder)
        assert content(folder) == before


def test_a_folder_in_the_place_of_a_file_is_named(folder: Path, second: Analysis) -> None:
    """As root, who may write read-only folders: nothing is renamed before all is written."""
    (folder / "tables").rename(folder / "aside")
    (folder / "tables").touch()
    before = content(folder)
    with pytest.raises(EdgecilError, match=r"Cannot write .*tables"):
        write_report(second, out=folder)
    assert content(folder) == before


def test_a_page_that_cannot_be_composed_leaves_the_previous_report(
    folder: Path, second: Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second of two datasets fails."""
    before = content(folder)
    compose = write.compose_page
    made = iter([True, False])

    def fail(*arguments: object) -> object:
        if next(made):
            return compose(*arguments)  # type: ignore[arg-type]
        raise MemoryError

    monkeypatch.setattr(write, "compose_page", fail)
    twice = replace(second, datasets=(second.datasets[0], second.datasets[0]))
    with pytest.raises(MemoryError):
        write_report(twice, out=folder)
    assert content(folder) == before


@pytest.fixture
def boundaries(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts writes to disk and renamings, and kills the process at the one that is wanted."""
    state = [0, 0]
    for owner, name in ((Path, "replace"), (os, "fdopen")):
        actual = getattr(owner, name)

        def count(*arguments: object, actual: object = actual, **options: object) -> object:
            state[0] += 1
            if state[0] == state[1]:
                os.kill(os.getpid(), signal.SIGKILL)
            return actual(*arguments, **options)  # type: ignore[operator]

        monkeypatch.setattr(owner, name, count)
    return state


def test_a_kill_leaves_every_file_complete(
    folder: Path, first: Analysis, second: Analysis, boundaries: list[int]
) -> None:
    """Before the first renaming nothing has changed; after it, each file is the old or the new."""
    old, changes = content(folder), boundaries[0]
    write_report(second, out=folder)
    count, new = boundaries[0] - changes, content(folder)
    assert count == 2 * len(new) - 2, "each file but the marker is written and renamed"
    assert new.keys() == old.keys()
    unchanged, chosen = 0, attack_rng("report").sample(range(1, count + 1), strength(10, count))
    for place in chosen:
        write_report(first, out=folder)
        assert content(folder) == old
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a process with threads forks
            process = os.fork()
        if process == 0:
            boundaries[:] = 0, place
            write_report(second, out=folder)
            os._exit(0)
        _, status = os.waitpid(process, 0)
        assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
        left = {name: digest for name, digest in content(folder).items() if name in old}
        assert left.keys() == old.keys()
        assert all(left[name] in (old[name], new[name]) for name in old)
        unchanged += left == old
        write_report(second, out=folder)
        assert content(folder) == new, "the next call completes it, and leaves nothing behind"
    assert 0 < unchanged < len(chosen)
    print(f"report: {len(chosen)} kills, {unchanged} left the old one unchanged, 0 damaged")
