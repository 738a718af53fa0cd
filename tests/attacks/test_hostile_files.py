"""Hostile files of every format end in our sentence: no other error, no hang, no nonsense."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from pathlib import Path

import pytest

from edgecil.errors import EdgecilError
from tests.attacks.conftest import attack_rng, strength
from tests.attacks.hostile import Format, crafted, formats, mutants

NAMES = [
    *("runs.csv", "matrix.npy", "matrix.npz", "matrix.csv", "vectors.npz", "toy.npz"),
    *("shard.tar", "shard.parquet", "shard.arrow", "a.png"),
    *("a.jpg", "train", "w.safetensors", "w.pt", "c.toml", "pycil.json", "result.json", "run.log"),
    *("results.sqlite", "captions.json", "captions.csv", "names.json", "names.csv", "names.txt"),
    *("orders.json", "analysis.json", "truths.npz", "published.csv"),
    *("config.json", "sources.toml"),
]

MOST_SECONDS = 20.0  # of processor time for one file


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Format]:
    every = formats(tmp_path_factory.mktemp("made"))
    assert [entry.name for entry in every] == NAMES
    return {entry.name: entry for entry in every}


def attack(entry: Format, path: Path, content: bytes) -> str:
    path.write_bytes(content)
    outcome, start = "accepted", time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            entry.read(path)
        except EdgecilError:
            outcome = "refused"
    seconds = time.process_time() - start
    assert seconds < MOST_SECONDS or content is entry.valid, "which loads modules at first"
    return outcome


@pytest.mark.timeout(600)  # for what waits without using the processor
@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_refused_or_make_sense(
    known: dict[str, Format], name: str, tmp_path: Path
) -> None:
    entry = known[name]
    assert attack(entry, tmp_path / name, entry.valid) == "accepted"
    assert attack(entry, tmp_path / name, b"\xff\x00\xfe") == "refused"
    outcomes = Counter(
        attack(entry, tmp_path / name, content)
        for content in mutants(entry.valid, attack_rng(name), strength(15, 150))
    )
    print(f"{name}: {dict(outcomes)}")


@pytest.mark.timeout(600)
def test_files_made_to_do_harm_are_refused(
    known: dict[str, Format], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content, kind in crafted(tmp_path):
        assert attack(known[kind], tmp_path / f"hostile-{name}", content) == "refused", name
    assert not (tmp_path / "pwned").exists()
