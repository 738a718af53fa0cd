"""Many kills at random moments: no result is lost, and none differs. Run by `make attack`."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from edgecil.cli.main import main
from tests.attacks.conftest import attack_rng
from tests.training.test_resume import (  # noqa: F401 (fixtures)
    NODES,
    Command,
    accuracies,
    command,
    finished,
    started,
    undisturbed,
)

pytestmark = pytest.mark.attack


KILLS = 100


@pytest.mark.timeout(7200)
def test_random_kills_lose_nothing(
    command: Command,  # noqa: F811
    undisturbed: object,  # noqa: F811
    tmp_path: Path,
) -> None:
    kills, runs, rng = 0, 0, attack_rng("kills")
    longest = 12.0
    while kills < KILLS:
        out = tmp_path / str(runs)
        runs += 1
        while finished(out) < NODES and kills < KILLS:
            before = finished(out)
            with started(command(out, "--workers", "2")) as process:
                deadline = time.monotonic() + rng.uniform(2.0, longest)
                while process.poll() is None and time.monotonic() < deadline:
                    time.sleep(0.01)
                process.kill()
                kills += 1
            assert finished(out) >= before, "a stored result was lost"
            if finished(out) == before:
                longest = min(1.3 * longest, 100.0)  # a busy machine starts slowly
        assert main(command(out, "--workers", "1")) == 0
        assert accuracies(out) == undisturbed
        assert not list((out / "states").iterdir())
    print(f"{kills} kills, {runs} runs of {NODES} results, 0 lost, 0 different")
