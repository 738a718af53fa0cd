"""Measure everything that the docs quote from the truth tables again, and write it into the docs.

    python tools/evidence.py                     all of it; about ten minutes of one core
    python tools/evidence.py calibration until   only these
    python tools/evidence.py --list              names, pages and commands

Run it after `tools/build_truths.py pack` has changed the bundled tables. Every table stands in the
docs between `<!-- evidence: NAME -->` and `<!-- end of evidence -->`; the output of its command
replaces what is between them, each as soon as it is measured, with the checksum of the tables that
it was measured on: a test fails while a block has another one. `calibration` comes first, because
it also stores the coverage that claims are labelled with. Nothing is trained.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

from edgecil import lab

ROOT = Path(__file__).parents[1]
DATA = ROOT / "src" / "edgecil" / "lab" / "data"
DRAWINGS, PHOTOGRAPHS = "truths.npz", "photographs.npz"
# Blocks that are measured on photographs, too; the others are of drawings alone.
ON_BOTH = ("tables", "calibration", "orders", "sample-sizes", "default", "leaderboard")
TABLES = "tables"
# By name: the page, and the command (without `python`).
EVIDENCE = {
    TABLES: ("evidence/leaderboard.md", "tools/evidence.py --tables"),
    "calibration": ("evidence/calibration.md", "-m edgecil.lab calibrate --draws 400"),
    "orders": ("evidence/photographs.md", "-m edgecil.lab orders --placebos 200"),
    "sample-sizes": (
        "evidence/sample-size.md",
        "benchmarks/sample_sizes.py --truth caltech101-100 --methods finetune,lwf,er",
    ),
    "accuracies": ("evidence/methods.md", "tools/evidence.py --accuracies"),
    "until": ("evidence/calibration.md", "benchmarks/error_rates.py until --trials 1000"),
    "relabelling": (
        "evidence/calibration.md",
        "benchmarks/error_rates.py relabelling --trials 1000",
    ),
    "default": ("evidence/leaderboard.md", "benchmarks/protocols.py --default"),
    "leaderboard": ("evidence/leaderboard.md", "benchmarks/protocols.py"),
    "search-large": (
        "evidence/search.md",
        "benchmarks/search.py --same-training --learners ease --draws 8 "
        "--variants search costs-ignored",
    ),
    "search": ("evidence/search.md", "benchmarks/search.py --draws 4"),
}
END = "<!-- end of evidence -->"


def start_of(name: str) -> str:
    """The comment before a block."""
    return f"<!-- evidence: {name} -->"


def stamp(name: str = "") -> str:
    """The comment at the end of a block: which truth tables it was measured on."""
    measured = []
    for file in (DRAWINGS, PHOTOGRAPHS) if name in ON_BOTH else (DRAWINGS,):
        digest = hashlib.sha256((DATA / file).read_bytes()).hexdigest()[:16]
        measured.append(f"{file} {digest}")
    return f"<!-- measured on {', '.join(measured)} -->"


def measure(command: str) -> tuple[str, float]:
    """The output of a command, and the processor's seconds that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **os.environ}
    output = subprocess.run(
        [sys.executable, *command.split()],
        cwd=ROOT,
        env={**environment, "PYTHONPATH": str(ROOT / "src")},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return output, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def replace_block(text: str, name: str, output: str) -> str:
    """A page with the block of this name replaced; an error if it has none."""
    pattern = re.compile(f"{re.escape(start_of(name))}.*?{re.escape(END)}", re.DOTALL)
    block = f"{start_of(name)}\n\n{output.strip()}\n\n{stamp(name)}\n{END}"
    changed, count = pattern.subn(lambda _: block, text)
    if count != 1:
        raise SystemExit(f"The block {start_of(name)} occurs {count} times in its page, not once.")
    return changed


def print_tables() -> None:
    """What the bundled file has: classes, orders, methods and how often each is repeated."""
    print("| table | orders | classes | methods (repeats) |\n|---|---|---|---|")
    for table in lab.truths():
        kind = "all" if table.kind == "enumerated" else "random"
        methods = ", ".join(
            f"{method} ({len(result.seeds)})" for method, result in table.results.items()
        )
        names = ", ".join((table.classes or ())[:20])
        names += f" … ({table.space.classes})" if table.space.classes > 20 else ""
        tasks = f"in {table.space.tasks} tasks"
        orders = f"{kind} {len(table.sequences):,} {tasks}"
        if table.structured is not None:
            orders += f", {len(table.structured.sequences)} structured ones"
        print(f"| `{table.name}` | {orders} | {names} | {methods} |")


def print_accuracies() -> None:
    """A(O) over all orders of the first table, its first training seed, least mean first."""
    table = lab.truths()[0]
    accuracies = {method: table.accuracies(method)[0] for method in table.results}
    print("| method | mean | std | min | max |\n|---|---|---|---|---|")
    for method, values in sorted(accuracies.items(), key=lambda item: item[1].mean()):
        cells = (values.mean(), values.std(), values.min(), values.max())
        print(f"| {method} | {' | '.join(f'{cell:.2f}' for cell in cells)} |")


def main() -> None:
    """Parse the command line, measure, and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("name", nargs="*", help="; ".join(EVIDENCE))
    parser.add_argument("--list", action="store_true", help="print the commands")
    parser.add_argument("--tables", action="store_true", help="print what the bundled file has")
    parser.add_argument("--accuracies", action="store_true", help="print A(O) of the first table")
    options = parser.parse_args()
    unknown = [name for name in options.name if name not in EVIDENCE]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}. Choose from {', '.join(EVIDENCE)}.")
    if options.tables:
        print_tables()
        return
    if options.accuracies:
        print_accuracies()
        return
    for name in options.name or EVIDENCE:
        page, command = EVIDENCE[name]
        if options.list:
            print(f"{name}: docs/{page}: python {command}")
            continue
        output, seconds = measure(command)
        path = ROOT / "docs" / page
        path.write_text(replace_block(path.read_text("utf-8"), name, output), "utf-8")
        print(f"{name}: {seconds:.0f} CPU s, docs/{page}", flush=True)


if __name__ == "__main__":
    main()
