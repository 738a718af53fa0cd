"""Build the bundled truth tables (src/edgecil/lab/data/truths.npz).

    python tools/build_truths.py train RUNS      train what is missing below RUNS, then pack
    python tools/build_truths.py pack RUNS       pack what is finished below RUNS
    python tools/build_truths.py check RUNS      train one order of each packed learner again

Training takes about half an hour of two cores for each set of six classes and repeat over all
twelve learners. It is resumable: every task training is stored below RUNS at once, one directory
`SET-METHOD` for each set of classes and learner, and the same command continues. Cheap learners
come first, so that the finished part is a table at any time. What the bundled file already holds is
neither trained again nor lost when other directories are packed, so that the build can continue on
another machine: it trains only the training seeds that the file lacks, and packing adds them to
those of the same learner. `check` says whether this code still gives the packed results, without
which such repeats would not be comparable. The same results give the same bytes. The shares of
order and training noise, which follow from the tables, are written again (`tools/order_shares.py`).
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
from edgecil.lab.truth_files import read_truths, write_truths
from edgecil.lab.truth_repeats import join_repeats
from edgecil.lab.truth_tables import TruthTable, experiment_truth, merge_tables

TABLES = Path(__file__).parents[1] / "src/edgecil/lab/data/truths.npz"
LEARNERS = (
    *("ranpac", "ease", "ewc", "icarl", "memo", "der"),
    *("tagfex", "mos", "coda-prompt", "hide-prompt", "foster", "l2p"),
)
REPEATS = 2
KERNELS = "AVX2"  # of torch; `run` selects them, because others round differently
CHOICE = ("protocol", "budget")  # options that choose sequences


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


SIX: dict[str, Any] = {
    "dataset": "quickdraw",
    "data": {"classes": 6},
    "tasks": 3,
    "protocol": "enumerate",
}
SETS = (
    ClassSet("first", "quickdraw-6-first", SIX),
    ClassSet("42", "quickdraw-6-seed-42", {**SIX, "data": {"classes": 6, "classes_seed": 42}}),
    ClassSet("1", "quickdraw-6-seed-1", {**SIX, "data": {"classes": 6, "classes_seed": 1}}),
    ClassSet("2", "quickdraw-6-seed-2", {**SIX, "data": {"classes": 6, "classes_seed": 2}}),
    ClassSet(
        "eight",
        "quickdraw-8-first",
        {**SIX, "data": {"classes": 8}, "tasks": 4},
        ("ranpac", "ease"),
        1,
    ),
    ClassSet(
        "twenty",
        "quickdraw-20-first",
        {**SIX, "data": {"classes": 20}, "tasks": 10, "protocol": "random", "budget": 300},
        ("ranpac", "ease"),
        1,
    ),
)


def jobs(
    names: list[str] | None, learners: list[str] | None
) -> Iterator[tuple[ClassSet, str, int]]:
    """Class set, learner and training seed of every call of `run`, cheap learners first."""
    for learner in LEARNERS:
        for seed in range(REPEATS):
            for chosen in SETS:
                wanted = (not names or chosen.name in names) and (
                    not learners or learner in learners
                )
                if wanted and learner in chosen.learners and seed < chosen.repeats:
                    yield chosen, learner, seed


def train(runs: Path, path: Path, names: list[str] | None, learners: list[str] | None) -> None:
    """Train every seed that the file lacks."""
    done = packed_seeds(read_truths(path) if path.exists() else [])
    for chosen, learner, seed in jobs(names, learners):
        if seed in done.get((chosen.table, learner), ()):
            continue
        print(f"{chosen.table}: {learner}, training seed {seed}", flush=True)
        edgecil.run(
            out=runs / f"{chosen.name}-{learner}",
            method=learner,
            training={"first_seed": seed, "one_seed": True},
            **chosen.options,
        )


def check(runs: Path, path: Path, names: list[str] | None, learners: list[str] | None) -> list[str]:
    """Train the first sequence of every packed learner again; return what came out differently.

    Repeats of different commits are comparable only where this code gives the packed results.
    """
    different = []
    tables = {table.name: table for table in read_truths(path)}
    for chosen, learner, seed in jobs(names, learners):
        table = tables.get(chosen.table)
        packed = None if table is None else table.results.get(learner)
        if table is None or packed is None or seed != packed.seeds[0]:
            continue
        own = {name: chosen.options[name] for name in chosen.options if name not in CHOICE}
        experiment = edgecil.run(
            out=runs / f"check-{chosen.name}-{learner}",
            method=learner,
            training={"first_seed": seed, "one_seed": True},
            sequences=table.sequences[:1],
            **own,
        )
        (run,) = experiment.results()
        again = run.metric("accuracy"), run.metric("average")
        stored = tuple(
            float(table.accuracies(learner, metric)[0, 0]) for metric in ("accuracy", "average")
        )
        text = f"{chosen.table}: {learner}, {table.sequences[0]}: {again}, packed {stored}"
        print(text, flush=True)
        if again != stored:
            different.append(text)
    return different


def packed_seeds(tables: list[TruthTable]) -> dict[tuple[str, str], tuple[int, ...]]:
    """The training seeds of every learner in each table."""
    return {
        (table.name, method): result.seeds
        for table in tables
        for method, result in table.results.items()
    }


def pack(runs: Path, path: Path, commit: str) -> list[TruthTable]:
    """Add the finished repeats of all directories to the file, or write a new one.

    A directory may have seeds that the file lacks and no others. One whose repeats do not fit with
    those in the file is left out, and a sentence says why.
    """
    tables = {table.name: table for table in (read_truths(path) if path.exists() else [])}
    for chosen in SETS:
        for learner in chosen.learners:
            directory = runs / f"{chosen.name}-{learner}"
            if not directory.is_dir():
                continue
            try:
                table = with_commit(
                    experiment_truth(Experiment.open(directory), chosen.table), commit
                )
                first = tables.get(chosen.table)
                if first is not None and learner in first.results:
                    tables[chosen.table] = join_repeats(first, table, learner)
                else:
                    (tables[chosen.table],) = merge_tables([*([first] if first else []), table])
            except edgecil.EdgecilError as error:
                print(f"left out {directory}: {error}")
    packed = [in_order(tables[chosen.table]) for chosen in SETS if chosen.table in tables]
    write_truths(packed, path)
    return packed


def in_order(table: TruthTable) -> TruthTable:
    """The table with its learners in the order of the plan, in whatever order they were packed."""
    return replace(
        table,
        results={method: table.results[method] for method in LEARNERS if method in table.results},
    )


def with_commit(table: TruthTable, commit: str) -> TruthTable:
    """The table with the commit that trained it."""
    about = {"commit": commit, "kernels": KERNELS}
    provenance = {method: {**about, **own} for method, own in table.provenance.items()}
    return replace(table, provenance=provenance)


def main() -> None:
    """Parse the command line, train, pack, and print what the file holds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("action", choices=("train", "pack", "check"))
    parser.add_argument("runs", type=Path, help="directory of the experiment directories")
    parser.add_argument("--sets", nargs="*", help="only these: " + " ".join(s.name for s in SETS))
    parser.add_argument("--learners", nargs="*", help="only these")
    parser.add_argument("--out", type=Path, default=TABLES)
    parser.add_argument("--commit", help="that trained, if it is not the current one")
    options = parser.parse_args()
    if options.action == "check":
        different = check(options.runs, options.out, options.sets, options.learners)
        raise SystemExit(f"{len(different)} results differ." if different else 0)
    if options.action == "train":
        train(options.runs, options.out, options.sets, options.learners)
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
