"""What came of a run: a table per method and protocol, for programs and for people."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from edgecil.cli.output import console, note, print_json, print_line, print_table
from edgecil.cli.progress import Progress
from edgecil.errors import EdgecilError

if TYPE_CHECKING:
    from edgecil.cli.answers import ExperimentAnswer
    from edgecil.engine import Experiment, RunResult, Store, Summary
    from edgecil.engine.plan import Node
    from edgecil.sequences import LabelledSequence


def announce(sequences: Mapping[str, Iterable[LabelledSequence]]) -> None:
    """Say before a run what of its sequences, by protocol, might surprise."""
    from edgecil.sequences.protocols import describe_duplicates

    for name, runs in sequences.items():
        repeats = describe_duplicates(name, ((run.label, run.sequence) for run in runs))
        if repeats is not None:
            note(repeats)


def tabulate(
    store: Store, methods: Iterable[str], protocols: Sequence[str], seeds: int
) -> list[dict[str, Any]]:
    """Per method and protocol: every run, what failed, and statistics of A(O) over sequences.

    With several training seeds a sequence counts by its mean; `seed_std` is the spread that
    remains within sequences.
    """
    import numpy as np

    sequences, results, failures = store.sequences(), store.runs(), store.failures()
    tables = []
    for method in methods:
        for protocol in protocols:
            asked = [
                (labelled.label, (method, seed, labelled.sequence.tasks))
                for labelled in sequences[protocol]
                for seed in range(seeds)
            ]
            rows = [_row(label, results[key]) for label, key in asked if key in results]
            by_label: dict[str, list[float]] = {}
            for row in rows:
                by_label.setdefault(row["label"], []).append(row["accuracy"])
            found = np.array([np.mean(values) for values in by_label.values()])
            within = [np.var(values) for values in by_label.values()]
            tables.append(
                {
                    "method": method,
                    "protocol": protocol,
                    "sequences": rows,
                    "expected": len(sequences[protocol]),
                    "found": len(by_label),
                    "failed": _failed(method, sequences[protocol], failures),
                    **{
                        name: float(getattr(found, name)()) if len(found) else None
                        for name in ("mean", "std", "min", "max")
                    },
                    "seed_std": float(np.sqrt(np.mean(within))) if seeds > 1 else None,
                }
            )
    return tables


def _failed(
    method: str, runs: list[LabelledSequence], failures: dict[Node, tuple[str, str]]
) -> list[dict[str, Any]]:
    """The protocol's runs that a failed training is part of, with its error."""
    return [
        {"label": run.label, "seed": node.seed, "error": error}
        for run in runs
        for node, (error, _) in failures.items()
        if node.method == method and run.sequence.tasks[: len(node.prefix)] == node.prefix
    ]


def _row(label: str, result: RunResult) -> dict[str, Any]:
    main = result.classifier()
    return {
        "label": label,
        "seed": result.seed,
        "tasks": [list(task) for task in result.sequence.tasks],
        "accuracy": main.accuracy,
        "a_last": main.last,
        "a_avg": main.average,
        "forgetting": main.forgetting,
        "matrix": [[value for value in row if value == value] for row in main.matrix.tolist()],
        "classifiers": {name: result.classifier(name).accuracy for name in result.classifiers},
        "seconds": result.seconds,
        "peak_memory": result.peak_memory,
    }


def print_results(
    tables: list[dict[str, Any]], summary: Summary, args: argparse.Namespace, trainings: str
) -> None:
    """One JSON object, or a line per method and protocol and what was done.

    Args:
        tables: see :func:`tabulate`.
        summary: what was trained now and before.
        args: with `json` and `out`.
        trainings: what the summary counts.
    """
    if args.json:
        print_json(tables[0] if len(tables) == 1 else {"results": tables})
        return
    rows = []
    for table in tables:
        found, expected = table["found"], table["expected"]
        numbers = ["n/a"] * 4
        if found:
            numbers = [f"{table[name]:.2f}" for name in ("mean", "std", "min", "max")]
        count = str(found) if found == expected else f"{found} of {expected}"
        rows.append((table["method"], table["protocol"], count, *numbers))
    columns = ("method", "protocol", "sequences", "mean A(O)", "std", "min", "max")
    print_table(columns, rows, right=columns[2:])
    console().print(
        f"{summary.trained} {trainings} now, {summary.reused} from before; kept in {args.out}",
        markup=False,
    )


def report_failures(summary: Summary, failures: Mapping[Node, tuple[str, str]]) -> None:
    """An error that names the first failure, if there was one."""
    from edgecil.sequences.sequence import format_tasks

    if summary.failed:
        first = summary.failed[0]
        raise EdgecilError(
            f"{len(summary.failed)} of the trainings failed, the first ({first.method}, "
            f"{format_tasks(first.prefix)}) with {failures[first][0].rstrip('.')}; the others are "
            "kept, and the same command tries again."
        )


def train(
    call: Callable[[Progress], Experiment], show: Callable[[Experiment], None], unit: str, out: str
) -> None:
    """Train with progress and print the results, also those beside a failed training.

    Args:
        call: trains and returns the experiment.
        show: prints it.
        unit: what the progress counts, in the plural.
        out: the experiment's directory.
    """
    from edgecil.engine.experiment import TrainingFailedError

    try:
        with Progress(unit) as progress:
            experiment = call(progress)
    except TrainingFailedError as error:
        show(error.experiment)
        raise
    except KeyboardInterrupt:
        note(f"Stopped. Finished results are in {out}; run the same command to resume.")
        raise
    show(experiment)


def note_repeats(sequences: Mapping[str, Iterable[LabelledSequence]]) -> None:
    """Say on stderr which labels of a protocol stand for the same sequence."""
    from edgecil.sequences.protocols import describe_duplicates

    for name, runs in sequences.items():
        sentence = describe_duplicates(name, ((run.label, run.sequence) for run in runs))
        if sentence is not None:
            note(sentence)


def print_experiment(
    answer: type[ExperimentAnswer],
    experiment: Experiment,
    *,
    json: bool,
    unit: str,
    methods: Collection[str] | None = None,
    protocols: Collection[str] | None = None,
    repeats: int | None = None,
) -> None:
    """Print the results as JSON, or a row per method and protocol and the work done.

    Args:
        answer: the schema of the verb.
        experiment: the results.
        json: print JSON.
        unit: what was trained, in the plural.
        methods: show these only.
        protocols: show these only.
        repeats: show the first of them only.
    """
    from edgecil.cli.answers import Failed
    from edgecil.engine.protocol_results import protocol_results

    parts = protocol_results(experiment, methods=methods, protocols=protocols, repeats=repeats)
    work = experiment.summary
    trained, reused = (0, 0) if work is None else (work.trained, work.reused)
    if json:
        print_json(
            answer(
                directory=str(experiment.directory),
                trained=trained,
                reused=reused,
                results=parts,
                failures=[Failed.of(failure) for failure in experiment.failures()],
            )
        )
        return
    columns = ("method", "protocol", "sequences", "mean A(O)", "std", "min", "max")
    rows = []
    for part in parts:
        numbers = (part.mean, part.std, part.min, part.max)
        cells = ("n/a" if number is None else f"{number:.2f}" for number in numbers)
        some = "" if part.finished == part.planned else f" of {part.planned}"
        rows.append((part.method, part.protocol, f"{part.finished}{some}", *cells))
    print_table(columns, rows, right=columns[2:])
    done = "" if work is None else f"Trained {trained} {unit}, reused {reused}. "
    print_line(f"{done}Results: {experiment.directory}")
