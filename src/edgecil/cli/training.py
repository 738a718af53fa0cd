"""The verbs that train, watch and join experiments: run, status, merge."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from edgecil.cli.output import note
from edgecil.cli.verb import PROTOCOL, SIMILARITY, SPACE, Option, Verb
from edgecil.io.progress_bar import Progress
from edgecil.report.answer_tables import (
    format_duration,
    plan_tables,
    results_table,
    status_table,
)
from edgecil.report.table import Table

if TYPE_CHECKING:
    from edgecil.engine import Store
    from edgecil.engine.executors import Finished
    from edgecil.engine.prepare import Prepared
    from edgecil.engine.protocol_results import ExperimentResults
    from edgecil.sequences import LabelledSequence


def _run(
    *, out: str, config: Any = None, dry_run: bool = False, **options: Any
) -> ExperimentResults:
    import edgecil
    from edgecil.engine.protocol_results import experiment_results, planned_results

    if config is not None and config.lower().endswith(".json"):
        from edgecil.interop.configs import read_run_config

        config, remarks = read_run_config(config, options)
        for remark in remarks:
            note(remark)
    if dry_run:
        for name in ("jsonl", "tensorboard", "wandb", "mlflow"):
            options.pop(name, None)
        return planned_results(edgecil.plan_run(out=out, config=config, **options))
    with train("tasks", out) as progress:

        def start(prepared: Prepared, store: Store) -> None:
            note_duplicates(prepared.sequences)
            tasks = set(prepared.plan)
            progress.start(len(tasks), len(tasks & store.done().keys()))

        def advance(finished: Finished) -> None:
            progress.advance(finished.job.node.method)

        return experiment_results(
            edgecil.run(out=out, config=config, on_start=start, on_finished=advance, **options)
        )


@contextmanager
def train(unit: str, out: str) -> Iterator[Progress]:
    """Progress in these units; an interrupted command says how to resume."""
    try:
        with Progress(unit) as progress:
            yield progress
    except KeyboardInterrupt:
        note(
            f"Stopped. Finished results are in {out}; run the same command without --overwrite to "
            "resume."
        )
        raise


def note_duplicates(sequences: Mapping[str, Iterable[LabelledSequence]]) -> None:
    """Say on stderr which labels of a protocol stand for the same sequence."""
    from edgecil.sequences.protocols import describe_duplicates

    for name, runs in sequences.items():
        sentence = describe_duplicates(name, ((run.label, run.sequence) for run in runs))
        if sentence is not None:
            note(sentence)


def show_results(answer: ExperimentResults) -> Iterator[Table | str]:
    """A row per method and protocol, and the work done or planned."""
    if answer.plan is not None:
        yield from plan_tables(answer.plan)
        return
    yield results_table(answer.results, answer.metric)
    work = f"Trained {answer.trained} {answer.unit}, reused {answer.reused}. "
    yield f"{work if answer.trained or answer.reused else ''}Results: {answer.directory}"


def _status(*, directory: str) -> dict[str, Any]:
    from edgecil.engine import Experiment

    status = Experiment.open(directory).status()
    return {**vars(status), "complete": status.complete}


def _merge(*, directories: list[str], out: str) -> ExperimentResults:
    import edgecil
    from edgecil.engine.protocol_results import experiment_results

    return experiment_results(edgecil.merge(directories, out=out))


def _show_status(answer: dict[str, Any]) -> Iterator[Table | str]:
    yield status_table(answer["parts"])
    finished, planned = (
        sum(getattr(part, count) for part in answer["parts"]) for count in ("finished", "planned")
    )
    shard = "" if answer["shard"] is None else f" of shard {answer['shard']}"
    yield f"{finished} of {planned} runs{shard}, {answer['tasks']} trained tasks"
    if answer["alive"]:
        now = time.time()
        for task in answer["running"]:
            since = format_duration(now - task.started)
            yield f"running for {since}: {task.method}, seed {task.seed}, task {len(task.tasks)}"
    elif answer["remaining"]:
        yield f"Not running; {answer['remaining']} task trainings remain."
    if answer["remaining"] and answer["seconds_left"] is not None:
        yield f"expected time left: {format_duration(answer['seconds_left'])}"
    for failure in answer["failures"]:
        note(str(failure))


VERBS = (
    Verb(
        "run",
        "train methods on the sequences of protocols; the same command resumes",
        (
            "edgecil run --config recipe:demo --out demo",
            "edgecil run quickdraw --method icarl --classes 10 --tasks 5 --out x --epochs 2",
        ),
        {
            "": (
                "config out overwrite jsonl tensorboard wandb mlflow",
                Option("dry_run", "", "show the plan with its expected time; train nothing"),
            ),
            "classes and their similarity": (
                SIMILARITY,
                "class_ids root image_size preparation normalisation download",
            ),
            "tasks": (SPACE,),
            "sequences": (PROTOCOL, "sequences repeats metric"),
            "training and execution": ("...",),
        },
        _run,
        show_results,
        api="edgecil.engine.run:run",
    ),
    Verb(
        "status",
        "show how far an experiment is, and which trainings failed",
        ("edgecil status demo", "edgecil status demo --json"),
        {"": ("<directory>",)},
        _status,
        _show_status,
        api="edgecil:Experiment.open",
    ),
    Verb(
        "merge",
        "join experiment directories, such as shards that were trained separately",
        (
            "edgecil merge shards/1 shards/2 shards/3 --out whole",
            "edgecil merge monday --out all --json",
        ),
        {"": ("<directories...> out",)},
        _merge,
        show_results,
        api="edgecil.engine.merge:merge",
    ),
)
