"""A kill at any write, sync, rename, deletion or commit loses nothing and changes no result."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from edgecil.analysis import Analysis
from edgecil.experiments.experiment import Experiment
from edgecil.io.json import to_plain
from tests.attacks.conftest import LONG, attack_rng
from tests.toys import save_toy
from tests.training.test_resume import finished

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="preloads a library"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="requires a C compiler"),
    pytest.mark.slow,
]

Attack = Callable[..., tuple[int, int]]

FEW = 12  # kills in `make test`


@pytest.fixture(scope="module")
def attack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attack]:
    """Train, analyse and save below a directory, with a kill at the n-th boundary."""
    folder = tmp_path_factory.mktemp("boundaries")
    library, source = folder / "boundaries.so", Path(__file__).with_name("boundaries.c")
    words = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"]
    subprocess.run(words, check=True)
    dataset = save_toy(folder / "toy.npz")
    with subprocess.Popen(
        [sys.executable, "-m", "tests.attacks.boundary_server", str(library), str(dataset)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "LD_PRELOAD": str(library)},
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None

        def request(directory: Path, boundary: int = 0, *, torn: bool = False) -> tuple[int, int]:
            server.stdin.write(f"{directory} {boundary} {int(torn)}\n")
            server.stdin.flush()
            code, count = server.stdout.readline().split()
            return int(code), int(count)

        yield request
        server.stdin.close()


def outcome(directory: Path) -> tuple[object, object]:
    """All that must be equal: every right answer, and the analysis."""
    runs = Experiment.open(directory / "run").results()
    counts = {run.sequence: [node.class_correct for node in run.nodes] for run in runs}
    analysis = Analysis.load(directory / "analysis.json")
    return counts, [
        (name, to_plain(method.claims), to_plain(method.truth))
        for dataset in analysis.datasets
        for name, method in dataset.methods.items()
    ]


@pytest.mark.timeout(7200 if LONG else 300)
def test_kills_at_io_boundaries(attack: Attack, tmp_path: Path) -> None:
    code, count = attack(tmp_path / "undisturbed")
    assert code == 0
    assert count > 100, "writes of SQLite must be among them"
    expected = outcome(tmp_path / "undisturbed")
    every = [(place, torn) for place in range(1, count + 1) for torn in (False, True)]
    chosen = every if LONG else attack_rng("boundaries").sample(every, FEW)
    for place, torn in chosen:
        directory = tmp_path / f"{place}-{torn:d}"
        code, _ = attack(directory, place, torn=torn)
        assert code == -signal.SIGKILL, (place, torn)
        before = finished(directory / "run")
        assert attack(directory)[0] == 0, (place, torn)
        assert finished(directory / "run") >= before, (place, torn)
        assert outcome(directory) == expected, (place, torn)
        left = [path for path in directory.rglob(".*") if path.name != ".edgecil"]
        assert left == [], (place, torn)
        shutil.rmtree(directory)
    print(f"{len(chosen)} kills at {count} boundaries: 0 results lost, 0 different, 0 files left")
