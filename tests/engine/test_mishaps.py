"""Mistakes and damage that must not lose results."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from edgecil.cli.main import main
from edgecil.engine.directory import clear
from edgecil.engine.store import Store, StoreReader

RUN = ["run", "--method", "finetune", "--dataset", "quickdraw", "--classes", "4", "--tasks", "2"]
RUN += ["--protocol", "random", "--epochs", "1", "--workers", "1"]


def results(out: Path) -> int:
    store = Store(out)
    try:
        return len(store.done())
    finally:
        store.close()


@pytest.fixture
def finished(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main([*RUN, "--out", str(tmp_path / "run")]) == 0
    return tmp_path / "run"


@pytest.mark.parametrize(
    "wrong", [["--executor", "ry"], ["--workers", "0"], ["--address", "nowhere"]]
)
def test_an_invalid_command_deletes_nothing(finished, wrong) -> None:
    before = results(finished)
    assert before > 0
    assert main([*RUN, "--out", str(finished), "--overwrite", *wrong]) == 2
    assert results(finished) == before


def test_overwrite_keeps_files_of_other_programs(finished) -> None:
    kept = [finished / "notes.txt", finished / "states" / "mine.txt", finished / "states/.gitkeep"]
    for path in kept:
        path.write_text("precious")
    clear(finished)
    assert all(path.read_text(encoding="utf-8") == "precious" for path in kept)
    assert results(finished) == 0


def test_a_damaged_state_is_trained_again(tmp_path, capsys, monkeypatch) -> None:
    more = [*RUN, "--protocol", "enumerate", "--out", str(tmp_path)]
    engine = sys.modules["edgecil.engine.scheduler"]
    whole = engine.execute

    def stop_after_one(plan, store, executor, on_finished, *more, **options):
        def once(finished):
            raise KeyboardInterrupt

        return whole(plan, store, executor, once)

    monkeypatch.setattr(engine, "execute", stop_after_one)
    assert main(more) == 130
    monkeypatch.undo()
    (state,) = (tmp_path / "states").glob("*.pt")
    content = bytearray(state.read_bytes())
    content[len(content) // 2] ^= 1
    state.write_bytes(content)
    assert main(more) == 0
    undisturbed = tmp_path.with_name("undisturbed")
    assert main([*more[:-1], str(undisturbed)]) == 0
    assert counts(tmp_path) == counts(undisturbed)


def counts(out: Path) -> dict[object, object]:
    with StoreReader(out) as store:
        return {node: result.correct for node, result in store.done().items()}
