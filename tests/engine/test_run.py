from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from edgecil.engine import run as run_module
from edgecil.engine.config import ExperimentConfig
from edgecil.engine.results import Summary
from edgecil.engine.run import run
from edgecil.engine.scheduler import execute
from tests.toys import save_toy, toy_vit


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ExperimentConfig:
    monkeypatch.setenv("EDGECIL_CACHE", str(tmp_path / "cache"))
    dataset = save_toy(tmp_path / "toy.npz", train=4)
    return ExperimentConfig(
        ("ease",),
        str(dataset),
        tasks=2,
        protocols=("random",),
        runs=2,
        pretrained=toy_vit(),
        training={"epochs": 1},
    )


def results(config: ExperimentConfig, out: Path) -> dict[Any, float]:
    store, _ = run(config, out, workers=1)
    with closing(store):
        return {key: found.classifier("head").accuracy for key, found in store.runs().items()}


def shared(out: Path, kind: str) -> list[Path]:
    return [path for path in (out / "shared" / kind).rglob("*") if path.suffix in (".npz", ".pt")]


def test_a_complete_run_keeps_pieces_and_no_features(
    config: ExperimentConfig, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    first = results(config, out)
    assert shared(out, "tasks")
    assert not (out / "shared" / "features").exists()
    more = results(replace(config, runs=4), out)
    assert more.items() >= first.items()
    assert more == results(replace(config, runs=4), tmp_path / "another")


def test_an_incomplete_run_keeps_features_for_the_next_call(
    config: ExperimentConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*args: Any) -> Summary:
        return replace(execute(*args), failed=tuple(args[0])[:1])

    monkeypatch.setattr(run_module, "execute", failing)
    results(config, tmp_path / "out")
    assert shared(tmp_path / "out", "features")
