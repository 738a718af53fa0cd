"""What enumerating every order costs on a frozen transformer, with sharing and without.

    python benchmarks/pretrained.py [--methods l2p,coda-prompt,hide-prompt,ease,mos,ranpac]

Runs, with the command line's own `edgecil run` and an empty cache each time: one sequence of the
first six classes of quickdraw in three tasks, all of them, and all of them with `--no-sharing`
(no features or pieces from disk, or from other sequences). All orders must come out the same both
ways, or this fails. Prints a Markdown table; seconds are from the command to its end, start of
Python and torch included.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import numpy as np

from edgecil.experiments import Store

PRETRAINED = "l2p,coda-prompt,hide-prompt,ease,mos,ranpac"
ONE = ("--eval", "random", "--runs", "1")
ALL = ("--eval", "enumerate")
COLUMNS = (
    "method",
    "one sequence (s)",
    "all 90 (s)",
    "all ÷ one",
    "all, no sharing (s)",
    "mean A(O)",
    "std",
)


def timed_run(method: str, *options: str) -> tuple[float, dict[object, float]]:
    """Seconds of one `edgecil run` in an empty directory, and its accuracies by sequence."""
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory) / "run"
        words = ["run", "--method", method, "--dataset", "quickdraw", "--classes", "6"]
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "edgecil", *words, "--tasks", "3", *options, "--out", str(out)],
            env={**os.environ, "EDGECIL_CACHE": str(Path(directory) / "cache")},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        seconds = time.perf_counter() - start
        with closing(Store(out)) as store:
            return seconds, {key: run.accuracy for key, run in store.runs().items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--methods", default=PRETRAINED)
    args = parser.parse_args()
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    total = total_alone = 0.0
    for method in args.methods.split(","):
        one, _ = timed_run(method, *ONE)
        shared, measured = timed_run(method, *ALL)
        alone, measured_alone = timed_run(method, *ALL, "--no-sharing")
        if measured != measured_alone:
            sys.exit(f"{method}: accuracies with and without sharing differ.")
        accuracies = np.array(list(measured.values()))
        times = f"{one:.1f} | {shared:.0f} | {shared / one:.1f} | {alone:.0f}"
        spread = f"{accuracies.mean():.2f} | {accuracies.std():.2f}"
        print(f"| {method} | {times} | {spread} |", flush=True)
        total, total_alone = total + shared, total_alone + alone
    print(f"\nAll 90 of each: {total:.0f} seconds with sharing, {total_alone:.0f} without.")


if __name__ == "__main__":
    main()
