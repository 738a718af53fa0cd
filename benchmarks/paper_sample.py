"""The paper's sample size as ordinary commands: 10,820 random orders of 100 classes in 10 tasks.

    python benchmarks/paper_sample.py [--orders 10820] [--method simplecil,fecam]

Runs `edgecil check`, `run`, `status`, `analyze` and `report` one after another on the bundled
features of photographs, each as a process of its own. Prints a Markdown table: processor and wall
time with the start of Python, and peak memory; and the duration that `check` has predicted.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple


class Measured(NamedTuple):
    """Seconds and bytes of a command, and what it has printed."""

    cpu: float
    wall: float
    memory: int
    output: str


def measure(words: list[str], folder: Path) -> Measured:
    """Run a command of edgecil in a folder."""
    start = time.perf_counter()
    with (folder / "output").open("w+", encoding="utf-8") as file:
        command = [sys.executable, "-m", "edgecil", *words]
        process = subprocess.Popen(command, cwd=folder, stdout=file, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        file.seek(0)
        output = file.read()
    if status:
        raise SystemExit(f"edgecil {' '.join(words)} failed:\n{output}")
    return Measured(usage.ru_utime + usage.ru_stime, wall, 1024 * usage.ru_maxrss, output)


def main() -> None:
    """Print a line for each command, and the prediction."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--orders", type=int, default=10_820)
    parser.add_argument("--method", default="simplecil,fecam")
    arguments = parser.parse_args()
    options = ["--tasks", "10", "--method", arguments.method, "--out", "runs"]
    experiment = ["caltech101", *options, "--protocol", f"random:{arguments.orders}"]
    commands = {
        "check": ["check", *experiment],
        "run": ["run", *experiment],
        "status": ["status", "runs"],
        "analyze": ["analyze", "runs"],
        "report": ["report", "runs"],
    }
    predictions = []
    print("| command | CPU s | wall s | peak MB |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, words in commands.items():
            measured = measure(words, Path(folder))
            row = f"{measured.cpu:.1f} | {measured.wall:.1f} | {measured.memory / 1e6:.0f}"
            print(f"| {name} | {row} |", flush=True)
            predictions += re.findall("Expected time: (.*)", measured.output)
    print(f"\n`check` predicted {predictions[0].rstrip('.')}")


if __name__ == "__main__":
    main()
