"""Nobody's data is deleted, and reading needs no write access."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from edgecil import Experiment, analyze, check, run, write_report
from edgecil.cli.main import main
from edgecil.errors import DataError, EdgecilError, UsageError
from edgecil.experiments.experiment_files import clear, remove_features, remove_leftovers, writing
from edgecil.experiments.plan import Node
from edgecil.experiments.results import NodeResult
from edgecil.experiments.store import Store
from tests.analysis.tables import rows
from tests.attacks.hostile import experiment_bytes
from tests.toys import save_toy

RUN = ["run", "--method", "finetune", "--tasks", "2", "--protocol", "random", "--budget", "1"]
RUN += ["--epochs", "1", "--workers", "1"]


def content(directory: Path) -> dict[str, str]:
    """Every file and its digest."""
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """Somebody's directory, with names that edgecil uses too."""
    home = tmp_path / "home"
    for name in ("shared/features/mine.npz", "states/thesis.pt", "index.html", "notes.txt"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("precious", encoding="utf-8")
    return home


def test_a_directory_of_somebody_else_is_refused_and_unchanged(
    precious: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    toy, before = save_toy(tmp_path / "toy.npz"), content(precious)
    for more in ([], ["--overwrite"]):
        assert main([*RUN, "--dataset", str(toy), "--out", str(precious), *more]) == 2
        assert "edgecil did" in capsys.readouterr().err
    experiment_bytes(tmp_path / "run")
    with pytest.raises(UsageError, match="did not write"):
        write_report(tmp_path / "run", out=precious)
    assert content(precious) == before
    with writing(tmp_path / "other"):
        pass
    with pytest.raises(UsageError, match="experiment"):
        write_report(tmp_path / "run", out=tmp_path / "other")


def test_an_invalid_command_deletes_nothing(tmp_path: Path) -> None:
    words = [*RUN, "--dataset", str(save_toy(tmp_path / "toy.npz")), "--out", str(tmp_path / "run")]
    assert main(words) == 0
    before = content(tmp_path / "run")
    for wrong in (["--executor", "ry"], ["--workers", "0"], ["--address", "nowhere"]):
        assert main([*words, "--overwrite", *wrong]) == 2
        assert content(tmp_path / "run") == before


def test_a_path_that_no_file_system_has_is_refused(tmp_path: Path) -> None:
    experiment_bytes(tmp_path / "run")
    with pytest.raises(UsageError, match="null"):
        write_report(tmp_path / "run", out=tmp_path / "a\0b")
    for verb in (run, check):
        with pytest.raises(UsageError, match="null"):
            verb(out="a\0b", dataset="quickdraw", method="finetune", data={"classes": 4}, tasks=2)


def test_only_listed_files_are_removed_from_our_own(precious: Path, tmp_path: Path) -> None:
    directory = tmp_path / "run"
    experiment_bytes(directory)
    shutil.copytree(precious, directory, dirs_exist_ok=True)
    ours = ["0" * 32 + ".npz", "0" * 32 + ".pt", "." + "0" * 32 + ".pt.abcdefgh"]
    places = [directory / "shared" / "features" / ("1" * 32), directory / "states"]
    for place, name in ((places[0], ours[0]), (places[1], ours[1]), (places[1], ours[2])):
        place.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(b"ours")
    remove_leftovers(directory)
    assert not (places[1] / ours[2]).exists()
    assert (places[1] / ours[1]).exists()
    remove_features(directory)
    assert not places[0].exists()
    clear(directory)
    assert content(directory) == content(precious)


def test_folders_behind_links_are_not_reached(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / ("0" * 32 + ".pt")).write_bytes(b"not ours")
    directory = tmp_path / "run"
    directory.mkdir()
    (directory / "states").symlink_to(outside)
    clear(directory)
    assert len(list(outside.iterdir())) == 1


def test_reading_needs_no_write_access(tmp_path: Path) -> None:
    """Archived and colleagues' experiments can be analysed."""
    directory = tmp_path / "archive"
    experiment_bytes(directory)
    before = content(directory)
    for path in (directory, *directory.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        analysis = analyze(directory)
        status = Experiment.open(directory).status()
    finally:
        for path in (directory, *directory.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert len(rows(analysis.datasets[0].table)) == 4
    assert (status.finished, len(status.failures)) == (2, 1)
    assert content(directory) == before


def test_a_deleted_database_is_an_error(tmp_path: Path) -> None:
    node, result = Node("m", 0, ((0,),)), NodeResult({"head": (1,)}, (2,), 0.1, 1)
    for destroy in (
        lambda path: (path / "results.sqlite").unlink(),
        shutil.rmtree,
        lambda path: (path / "results.sqlite").rename(path / "elsewhere"),
    ):
        with Store(tmp_path / "run") as store:
            store.record(node, result)
            destroy(tmp_path / "run")
            with pytest.raises(EdgecilError, match="deleted or replaced"):
                store.record(Node("m", 1, ((0,),)), result)
        shutil.rmtree(tmp_path / "run", ignore_errors=True)


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_is_no_file_in_place_of_the_database_is_named(tmp_path: Path, make) -> None:
    with writing(tmp_path / "run"):
        pass
    database = tmp_path / "run" / "results.sqlite"
    database.unlink()
    make(database)
    for attempt in (Experiment.open, lambda path: writing(path).__enter__()):
        with pytest.raises(DataError, match=r"it is a (folder|pipe)"):
            attempt(tmp_path / "run")


def test_a_report_that_cannot_be_written_in_the_experiment_may_be_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment_bytes(tmp_path / "run")

    def refuse(folder: Path, kind: str) -> None:
        raise EdgecilError("Cannot write x: Read-only file system.")

    monkeypatch.setattr("edgecil.report.write.claim", refuse)
    with pytest.raises(EdgecilError, match=r"Read-only file system; .* 'out'\.$"):
        write_report(tmp_path / "run")
    with pytest.raises(EdgecilError, match=r"Read-only file system\.$"):
        write_report(tmp_path / "run", out=tmp_path / "elsewhere")


def test_a_pipe_in_place_of_the_similarity_does_not_stop_an_analysis(tmp_path: Path) -> None:
    experiment_bytes(tmp_path / "run")
    (tmp_path / "run" / "similarity.npz").unlink(missing_ok=True)
    os.mkfifo(tmp_path / "run" / "similarity.npz")
    code = "import sys, edgecil; print(len(edgecil.analyze(sys.argv[1]).datasets))"
    words = [sys.executable, "-c", code, str(tmp_path / "run")]
    answer = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert answer.stdout == "1\n", answer.stderr
