"""Build the bundled truth tables (src/edgecil/estimation/data/truths.npz).

    python tools/build_truths.py train RUNS      train what is missing below RUNS, then pack
    python tools/build_truths.py pack RUNS       pack what is finished below RUNS

Training takes about half an hour of two cores for each set of six classes and repeat over all
twelve learners. It is resumable: every task training is stored below RUNS at once, one directory
`SET-METHOD` for each set of classes and learner, and the same command continues. Cheap learners
come first, so that the finished part is a table at any time. What the bundled file already holds is
neither trained again nor lost when other directories are packed, so that the build can continue on
another machine. The same results give the same bytes. The shares of order and training noise, which
follow from the tables, are written again (`tools/order_shares.py`).
"""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import order_shares

import edgecil
from edgecil.engine import Experiment
from edgecil.estimation.truth_files import read_truths, write_truths
from edgecil.estimation.truth_tables import TruthTable, experiment_truth, merge_tables

TABLES = Path(__file__).parents[1] / "src/edgecil/estimation/data/truths.npz"
LEARNERS = (
    *("ranpac", "ease", "ewc", "icarl", "memo", "der"),
    *("tagfex", "mos", "coda-prompt", "hide-prompt", "foster", "l2p", "finetune"),
)
REPEATS = 2
KERNELS = "AVX2"  # of torch; `run` selects them, because others round differently


@dataclass(frozen=True)
class ClassSet:
    """A set of classes and the sequences to train on.

    Attributes:
        name: of its directories.
        table: of its truth table.
        options: of `edgecil.run`.
        learners: the methods to train.
        repeats: trainings of each sequence.
    """

    name: str
    table: str
    options: dict[str, Any]
    learners: tuple[str, ...] = LEARNERS
    repeats: int = REPEATS


SIX: dict[str, Any] = {"classes": 6, "tasks": 3, "protocol": "enumerate"}
SETS = (
    ClassSet("first", "quickdraw-6-first", SIX),
    ClassSet("42", "quickdraw-6-seed-42", {**SIX, "classes_seed": 42}),
    ClassSet("1", "quickdraw-6-seed-1", {**SIX, "classes_seed": 1}),
    ClassSet("2", "quickdraw-6-seed-2", {**SIX, "classes_seed": 2}),
    ClassSet(
        "eight",
        "quickdraw-8-first",
        {"classes": 8, "tasks": 4, "protocol": "enumerate"},
        ("ranpac", "ease"),
        1,
    ),
    ClassSet(
        "twenty",
        "quickdraw-20-first",
        {"classes": 20, "tasks": 10, "protocol": "random", "budget": 300},
        ("ranpac", "ease"),
        1,
    ),
)


def jobs(
    names: list[str] | None, learners: list[str] | None
) -> Iterator[tuple[ClassSet, str, int]]:
    """Class set, learner and number of repeats of every call of `run`, cheap ones first."""
    for learner in LEARNERS:
        for repeats in range(1, REPEATS + 1):
            for chosen in SETS:
                wanted = (not names or chosen.name in names) and (
                    not learners or learner in learners
                )
                if wanted and learner in chosen.learners and repeats <= chosen.repeats:
                    yield chosen, learner, repeats


def train(runs: Path, names: list[str] | None, learners: list[str] | None) -> None:
    """Train what is missing."""
    done = packed_repeats(read_truths(TABLES))
    for chosen, learner, repeats in jobs(names, learners):
        if done.get((chosen.table, learner), 0) >= repeats:
            continue
        print(f"{chosen.table}: {learner}, {repeats} repeats", flush=True)
        edgecil.run(
            out=runs / f"{chosen.name}-{learner}",
            method=learner,
            dataset="quickdraw",
            repeats=repeats,
            **chosen.options,
        )


def packed_repeats(tables: list[TruthTable]) -> dict[tuple[str, str], int]:
    """How often every learner is repeated in each table."""
    return {
        (table.name, method): len(result.seeds)
        for table in tables
        for method, result in table.results.items()
    }


def pack(runs: Path, path: Path, commit: str) -> list[TruthTable]:
    """Add the finished repeats of all directories to the file, or write a new one."""
    tables = read_truths(path) if path.exists() else []
    done = packed_repeats(tables)
    for chosen in SETS:
        for learner in chosen.learners:
            directory = runs / f"{chosen.name}-{learner}"
            if not directory.is_dir():
                continue
            try:
                table = experiment_truth(Experiment.open(directory), chosen.table)
            except edgecil.EdgecilError as error:
                print(f"left out: {error}")
                continue
            if len(table.results[learner].seeds) <= done.get((chosen.table, learner), 0):
                continue
            tables.append(
                replace(
                    table,
                    provenance={
                        method: {"commit": commit, "kernels": KERNELS, **about}
                        for method, about in table.provenance.items()
                    },
                )
            )
    merged = merge_tables(tables)
    write_truths(merged, path)
    return merged


def main() -> None:
    """Parse the command line, train, pack, and print what the file holds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("action", choices=("train", "pack"))
    parser.add_argument("runs", type=Path, help="directory of the experiment directories")
    parser.add_argument("--sets", nargs="*", help="only these: " + " ".join(s.name for s in SETS))
    parser.add_argument("--learners", nargs="*", help="only these")
    parser.add_argument("--out", type=Path, default=TABLES)
    parser.add_argument("--commit", help="that trained, if it is not the current one")
    options = parser.parse_args()
    if options.action == "train":
        train(options.runs, options.sets, options.learners)
    commit = options.commit or subprocess.check_output(
        ["git", "rev-parse", "HEAD"], cwd=TABLES.parent, text=True
    )
    for table in pack(options.runs, options.out, commit.strip()):
        repeats = {method: len(result.seeds) for method, result in table.results.items()}
        print(f"{table.name}: {len(table.sequences)} sequences; repeats {repeats}")
    print(f"{options.out}: {options.out.stat().st_size:,} bytes")
    if options.out == TABLES:
        order_shares.write_shares()


if __name__ == "__main__":
    main()
