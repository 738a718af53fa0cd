"""Hostile files of every format end in our sentence: no other error, no hang, no nonsense."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from pathlib import Path

import pytest

from edgecil.errors import EdgecilError
from tests.attacks.conftest import attack_rng, strength
from tests.attacks.hostile import READERS, crafted, mutants, valid_files

MOST_SECONDS = 20.0  # of processor time for one file


@pytest.fixture(scope="module")
def valid(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    files = valid_files(tmp_path_factory.mktemp("made"))
    assert files.keys() == READERS.keys()
    return files


def attack(name: str, path: Path, content: bytes, *, is_first: bool = False) -> str:
    path.write_bytes(content)
    outcome, start = "accepted", time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            READERS[name](path)
        except EdgecilError:
            outcome = "refused"
    seconds = time.process_time() - start
    assert seconds < MOST_SECONDS or is_first, "which loads modules"
    return outcome


@pytest.mark.timeout(600)  # for what waits without using the processor
@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_refused_or_make_sense(
    valid: dict[str, bytes], name: str, tmp_path: Path
) -> None:
    assert attack(name, tmp_path / name, valid[name], is_first=True) == "accepted"
    assert attack(name, tmp_path / name, b"\xff\x00\xfe") == "refused"
    outcomes = Counter(
        attack(name, tmp_path / name, content)
        for content in mutants(valid[name], attack_rng(name), strength(15, 150))
    )
    print(f"{name}: {dict(outcomes)}")


@pytest.mark.timeout(600)
def test_files_made_to_do_harm_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content, kind in crafted(tmp_path):
        assert attack(kind, tmp_path / f"hostile-{name}", content) == "refused", name
    assert not (tmp_path / "pwned").exists()
