"""Build the bundled truth tables (truths.npz and photographs.npz in src/edgecil/lab/data).

    python tools/build_truths.py train RUNS      train what is missing below RUNS, then pack
    python tools/build_truths.py pack RUNS       pack what is finished below RUNS
    python tools/build_truths.py check RUNS      train a sample of each packed learner again

Drawings take about half an hour of two cores for each set of six classes and repeat over all
twelve learners; photographs, which are vectors, take an hour of one core for all tables. Training
is resumable: every task training is stored below RUNS at once, one directory `SET-METHOD` for each
set of classes and learner, and the same command continues. Learners that the bundled file has are
neither trained again nor lost when other directories are packed. `check` trains the first order of
every packed learner with `edgecil.run`, of photographs also a structured order. On the processor
named in the table's provenance, with the torch and the kernels named there, it fails unless the
correct answers on every class after every task are the packed ones; elsewhere it fails where the
accuracy differs by more than another training seed explains, as the repeats of the table show. The
same results give the same bytes.
"""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from structured_orders import structured_orders

import edgecil
from edgecil.experiments import Experiment
from edgecil.lab.truth_tables import (
    TruthCounts,
    TruthTable,
    experiment_truth,
    merge_tables,
    read_truths,
    write_truths,
)
from edgecil.runs.identity import PROCESSOR

DATA = Path(__file__).parents[1] / "src/edgecil/lab/data"
FILES = {"quickdraw": "truths.npz", "caltech101": "photographs.npz"}  # by dataset
DRAWING_LEARNERS = (
    *("ranpac", "ease", "ewc", "icarl", "memo", "der"),
    *("tagfex", "mos", "coda-prompt", "hide-prompt", "foster", "l2p"),
)
ON_VECTORS = {"backbone": "linear", "memory_per_class": 3}
# Distillation does nothing to a linear head, whose features never change.
ON_TRAINED = {"backbone": "mlp", "memory_per_class": 3}
SIX_PHOTO_LEARNERS: dict[str, dict[str, Any]] = {
    "simplecil": ON_VECTORS,
    "acil": ON_VECTORS,
    "ranpac": {**ON_VECTORS, "set": {"ranpac": {"bottleneck": 0}}},
    "derpp": ON_VECTORS,
    "wa": ON_VECTORS,
    "finetune": ON_TRAINED,
    "lwf": ON_TRAINED,
    "er": ON_TRAINED,
}
# Of six classes in three tasks it answers every time with the last task: a third is right.
PHOTO_LEARNERS = {**SIX_PHOTO_LEARNERS, "naive": ON_TRAINED}
PHOTOGRAPHS = "caltech101"
# Points by which another processor changes a prediction in closed form, and standard deviations
# between training seeds by which it changes a training.
CLOSED_FORM, DEVIATIONS = 0.5, 5.0
# What decides the last bits of a training, as an identity records it.
LAST_BITS = ("torch", "machine", "cpu", "kernels", "gpu", PROCESSOR)


@dataclass(frozen=True)
class ClassSet:
    """A set of classes and the sequences to train on.

    Attributes:
        name: of its directories.
        table: of its truth table.
        options: of `edgecil.run`.
        learners: the methods to train, with the options of their training.
        structured: train on structured orders, too.
    """

    name: str
    table: str
    options: dict[str, Any]
    learners: Mapping[str, Mapping[str, Any]] = field(
        default_factory=lambda: {key: {"one_seed": True} for key in DRAWING_LEARNERS}
    )
    structured: bool = False

    def run(self, learner: str, out: Path, **choice: Any) -> Experiment:
        """Train a learner; `choice` replaces the choice of runs."""
        options = {name: value for name, value in self.options.items() if name not in choice}
        return edgecil.run(
            out=out, method=learner, training=self.learners[learner], **options, **choice
        )


def drawings(classes: int, seed: int | None, tasks: int, protocol: str, repeats: int) -> Any:
    """Options of `edgecil.run`."""
    data = {"classes": classes} | ({} if seed is None else {"classes_seed": seed})
    return {
        "dataset": "quickdraw",
        "data": data,
        "tasks": tasks,
        "protocol": protocol,
        "repeats": repeats,
    }


def photographs(classes: int, seed: int, tasks: int, orders: int) -> Any:
    """Options of `edgecil.run`; every order has its own training seeds."""
    made = drawings(classes, seed, tasks, f"random:{orders}", 2)
    return {**made, "dataset": PHOTOGRAPHS}


FROZEN = {key: {"one_seed": True} for key in ("ranpac", "ease")}
SETS = (
    ClassSet("first", "quickdraw-6-first", drawings(6, None, 3, "enumerate", 2)),
    ClassSet("42", "quickdraw-6-seed-42", drawings(6, 42, 3, "enumerate", 2)),
    ClassSet("1", "quickdraw-6-seed-1", drawings(6, 1, 3, "enumerate", 2)),
    ClassSet("2", "quickdraw-6-seed-2", drawings(6, 2, 3, "enumerate", 2)),
    ClassSet("eight", "quickdraw-8-first", drawings(8, None, 4, "enumerate", 1), FROZEN),
    ClassSet("twenty", "quickdraw-20-first", drawings(20, None, 10, "random:300", 1), FROZEN),
    *(
        ClassSet(
            f"photos-{seed}",
            f"caltech101-6-seed-{seed}",
            photographs(6, seed, 3, 60),
            SIX_PHOTO_LEARNERS,
        )
        for seed in range(6)
    ),
    ClassSet("photos-20", "caltech101-20-seed-1", photographs(20, 1, 10, 60), PHOTO_LEARNERS),
    ClassSet(
        "photos-100",
        "caltech101-100",
        {"dataset": PHOTOGRAPHS, "tasks": 10, "protocol": "random:60", "repeats": 2},
        PHOTO_LEARNERS,
        structured=True,
    ),
)


def wanted(
    names: list[str] | None, learners: list[str] | None
) -> Iterator[tuple[ClassSet, str, str]]:
    """Class set, learner and directory of every call of `run`."""
    for chosen in SETS:
        for learner in chosen.learners if not names or chosen.name in names else ():
            if not learners or learner in learners:
                yield chosen, learner, f"{chosen.name}-{learner}"


def train(runs: Path, path: Path, names: list[str] | None, learners: list[str] | None) -> None:
    """Train every learner that the file lacks."""
    tables = {table.name: table for table in (read_truths(path) if path.exists() else [])}
    for chosen, learner, directory in wanted(names, learners):
        packed = tables.get(chosen.table)
        if packed is not None and learner in packed.methods:
            continue
        print(f"{chosen.table}: {learner}", flush=True)
        choice: dict[str, Any] = {}
        if chosen.structured:
            made = packed.structured if packed is not None else None
            orders = (
                structured_orders(PHOTOGRAPHS, chosen.options["tasks"])
                if made is None
                else dict(zip(made.labels, made.sequences, strict=True))
            )
            choice["sequences"] = {
                "structured": [f"{label}: {sequence}" for label, sequence in orders.items()]
            }
        chosen.run(learner, runs / directory, **choice)


def check(runs: Path, path: Path, names: list[str] | None, learners: list[str] | None) -> int:
    """Train a sample of the packed runs again; return how many are not confirmed."""
    different = 0
    tables = {table.name: table for table in read_truths(path)}
    for chosen, learner, directory in wanted(names, learners):
        table = tables.get(chosen.table)
        for part in (table, None if table is None else table.structured):
            packed = None if part is None else part.results.get(learner)
            if part is None or not isinstance(packed, TruthCounts):
                continue
            sequence = part.sequences[0]
            experiment = chosen.run(
                learner,
                runs / f"check-{part.kind}-{directory}",
                protocol=(),
                repeats=1,
                execution={"workers": 1},
                sequences=[sequence],
            )
            (run,) = experiment.results()
            again = np.zeros(packed.correct.shape[2:4], dtype=np.int64)
            for step, node in enumerate(run.nodes):
                assert node.class_correct is not None
                seen = [class_ for task in sequence.tasks[: step + 1] for class_ in task]
                right = node.class_correct[packed.classifiers[0]]
                again[step, seen] = [count for task in right for count in task]
            same = bool((again == packed.correct[0, 0, :, :, 0]).all())
            accuracy = float(part.accuracies(learner)[0, 0])
            trained_here = has_same_bits(part.provenance.get(learner, {}), experiment.identity)
            bound = 0.0 if trained_here else allowed_difference(part, learner)
            assert run.accuracy is not None
            difference = abs(run.accuracy - accuracy)
            confirmed = same if trained_here else difference <= bound
            different += not confirmed
            outcome = "the same" if same else f"differs by {difference:.2f} of {bound:.2f} points"
            if not confirmed:
                outcome = outcome.upper()
            print(f"{part.name}: {learner}: {accuracy}, {run.accuracy}: {outcome}", flush=True)
    return different


def has_same_bits(provenance: Mapping[str, Any], identity: Mapping[str, Any]) -> bool:
    """Return whether a packed training and one of this process agree to the last bit."""
    return all(provenance.get(name) == identity.get(name) for name in LAST_BITS)


def allowed_difference(table: TruthTable, learner: str) -> float:
    """Return by how many points a run of a learner may differ on another processor.

    That is what another training seed changes: the standard deviation between the repeats of an
    order, pooled over orders; where there is one repeat, the standard deviation between orders.
    """
    accuracies = table.accuracies(learner)  # (repeats, orders)
    if len(accuracies) > 1:
        deviation = float(np.sqrt(accuracies.var(axis=0, ddof=1).mean()))
    else:
        deviation = float(accuracies.std(ddof=1))
    return CLOSED_FORM + DEVIATIONS * deviation


def pack(runs: Path, path: Path, commit: str, names: list[str] | None = None) -> list[TruthTable]:
    """Add the finished learners of all directories to the file, or write a new one."""
    tables = {table.name: table for table in (read_truths(path) if path.exists() else [])}
    for chosen, _learner, directory in wanted(names, None):
        if not (runs / directory).is_dir():
            continue
        try:
            table = experiment_truth(Experiment.open(runs / directory), chosen.table)
        except edgecil.EdgecilError as error:
            print(f"left out {runs / directory}: {error}")
            continue
        table = with_commit(table, commit)
        first = tables.get(chosen.table)
        merged = merge_tables([*([first] if first else []), table])
        if len(merged) > 1:
            print(f"left out {runs / directory}: it has other sequences.")
            continue
        tables[chosen.table] = in_order(merged[0], tuple(chosen.learners))
    packed = [tables[chosen.table] for chosen in SETS if chosen.table in tables]
    write_truths(packed, path)
    return packed


def in_order(table: TruthTable, learners: tuple[str, ...]) -> TruthTable:
    """The table with its learners in the order of the plan, in whatever order they were packed."""
    results = {method: table.results[method] for method in learners if method in table.results}
    structured = None if table.structured is None else in_order(table.structured, learners)
    return replace(table, results=results, structured=structured)


def with_commit(table: TruthTable, commit: str) -> TruthTable:
    """Return the table with the commit that trained it; of photographs only the main classifier."""
    provenance = {method: {"commit": commit, **facts} for method, facts in table.provenance.items()}
    results = dict(table.results)
    for method, counts in results.items():
        if table.dataset == PHOTOGRAPHS and isinstance(counts, TruthCounts):
            results[method] = replace(
                counts, classifiers=counts.classifiers[:1], correct=counts.correct[:, :1]
            )
    structured = None if table.structured is None else with_commit(table.structured, commit)
    return replace(table, results=results, provenance=provenance, structured=structured)


def main() -> None:
    """Parse the command line, train, pack, and print what the file holds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("action", choices=("train", "pack", "check"))
    parser.add_argument("runs", type=Path, help="directory of the experiment directories")
    parser.add_argument("--sets", nargs="*", help="only these: " + " ".join(s.name for s in SETS))
    parser.add_argument("--learners", nargs="*", help="only these")
    parser.add_argument("--out", type=Path, default=DATA, help="folder of the two files")
    parser.add_argument("--commit", help="that trained, if it is not the current one")
    options = parser.parse_args()
    different = 0
    for dataset, file in FILES.items():
        path = options.out / file
        names = [
            chosen.name
            for chosen in SETS
            if chosen.options["dataset"] == dataset
            and (not options.sets or chosen.name in options.sets)
        ]
        if not names:
            continue
        if options.action == "check":
            different += check(options.runs, path, names, options.learners)
            continue
        if options.action == "train":
            train(options.runs, path, names, options.learners)
        commit = options.commit or subprocess.check_output(
            ["git", "rev-parse", "HEAD"], cwd=DATA, text=True
        )
        for table in pack(options.runs, path, commit.strip(), names):
            repeats = {method: len(result.seeds) for method, result in table.results.items()}
            print(f"{table.name}: {len(table.sequences)} sequences; repeats {repeats}")
        print(f"{path}: {path.stat().st_size:,} bytes")
    if different:
        raise SystemExit(f"{different} results differ.")


if __name__ == "__main__":
    main()
