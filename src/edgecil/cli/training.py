"""The verbs that train, watch and join experiments: run, status, merge."""

from __future__ import annotations

import shlex
from argparse import BooleanOptionalAction
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from edgecil.cli import was_interrupted
from edgecil.cli.output import note
from edgecil.cli.verb import DATA, PROTOCOL, SPACE, Option, Verb
from edgecil.report.answer_tables import show_results, show_status
from edgecil.report.table import Table

if TYPE_CHECKING:
    from edgecil.engine.protocol_results import ExperimentResults
    from edgecil.engine.status import Status


def _run(**options: Any) -> ExperimentResults:
    from edgecil.engine.protocol_results import run_or_plan

    with resumable(**options):
        return run_or_plan(**options)


@contextmanager
def resumable(
    *, out: str | None = None, overwrite: bool | None = None, **_: object
) -> Iterator[None]:
    """If the command is interrupted, a note says how to resume."""
    try:
        yield
    except BaseException as error:
        if not was_interrupted(error):
            raise
        where = "stored" if out is None else f"in {out}"
        without = " without --overwrite" if overwrite else ""
        note(f"Finished results are {where}; run the same command{without} to resume.")
        raise


def trained_by(name: str) -> Callable[..., ExperimentResults]:
    """Return a function that calls a public function and returns the results of its experiment."""

    def call(**options: Any) -> ExperimentResults:
        import edgecil
        from edgecil.engine.protocol_results import experiment_results

        with resumable(**options):
            return experiment_results(getattr(edgecil, name)(**options))

    return call


def _status(*, directory: str) -> Status:
    from edgecil.engine import Experiment

    return Experiment.open(directory).status()


def show_trained(answer: ExperimentResults) -> Iterator[Table | str]:
    """Show the results, and the command that gives their intervals."""
    yield from show_results(answer)
    if any(part.finished for part in answer.results):
        directory = shlex.quote(str(answer.directory))
        yield f"For intervals and comparisons, run: edgecil analyze {directory}"


def _show_status(answer: Status) -> Iterator[Table | str]:
    yield from show_status(answer)
    for failure in answer.failures:
        note(str(failure))


_SWITCH = BooleanOptionalAction
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
                "config out overwrite until repeats_on jsonl tensorboard wandb mlflow",
                Option(
                    "dry_run", "", "show the plan and its expected time; train nothing", _SWITCH
                ),
            ),
            "classes and their similarity": (DATA,),
            "tasks": (SPACE,),
            "sequences": (PROTOCOL, "sequences repeats first_seed one_seed metric"),
            "training and execution": ("...",),
        },
        _run,
        show_trained,
        api="edgecil.engine.run:run",
        needed=("method", "out"),
    ),
    Verb(
        "status",
        "show how far an experiment is, and which trainings failed",
        ("edgecil status demo", "edgecil status demo --json"),
        {"": ("<directory>",)},
        _status,
        _show_status,
        api="edgecil:Experiment.open",
        plain=lambda answer: {**vars(answer), "complete": answer.complete},
    ),
    Verb(
        "merge",
        "join experiment directories, such as shards that were trained separately",
        (
            "edgecil merge shards/1 shards/2 shards/3 --out whole",
            "edgecil merge monday --out all --json",
        ),
        {"": ("<directories...> out",)},
        trained_by("merge"),
        show_trained,
        api="edgecil.engine.merge:merge",
    ),
)
