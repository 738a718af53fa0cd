"""The verbs that train, watch and join experiments: run, status, merge."""

from __future__ import annotations

import shlex
from argparse import BooleanOptionalAction
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from edgecil.cli.output import note
from edgecil.cli.verb import DATA, PROTOCOL, SPACE, Option, Verb
from edgecil.report.answer_tables import show_results, show_status
from edgecil.report.table import Table

if TYPE_CHECKING:
    from edgecil.engine import Store
    from edgecil.engine.prepare import Prepared
    from edgecil.engine.protocol_results import ExperimentResults
    from edgecil.sequences import LabelledSequence


def _run(*, config: Any = None, dry_run: bool | None = None, **options: Any) -> ExperimentResults:
    import edgecil
    from edgecil.engine.options import read_config
    from edgecil.engine.protocol_results import experiment_results, planned_results

    if config is not None and config.lower().endswith(".json"):
        config = edgecil.read_toolbox_config(config, options=options, on_remark=note)
    elif config is not None:
        config = read_config(config)
        configured = config.pop("dry_run", False)
        dry_run = configured if dry_run is None else dry_run
    if dry_run:
        return planned_results(edgecil.plan_run(config=config, **options))
    noted: set[str] = set()

    def start(prepared: Prepared, store: Store) -> None:
        # With --until, this is called for every order that is added.
        new = {name: runs for name, runs in prepared.sequences.items() if name not in noted}
        noted.update(note_duplicates(new))

    with resumable(options.get("out")):
        return experiment_results(
            edgecil.run(config=config, progress=True, on_start=start, **options)
        )


@contextmanager
def resumable(out: str | None) -> Iterator[None]:
    """If the command is interrupted, a note says how to resume."""
    try:
        yield
    except KeyboardInterrupt:
        where = "stored" if out is None else f"in {out}"
        note(
            f"Stopped. Finished results are {where}; run the same command without --overwrite to "
            "resume."
        )
        raise


def note_duplicates(sequences: Mapping[str, Iterable[LabelledSequence]]) -> list[str]:
    """Say on stderr which labels of a protocol stand for the same sequence.

    Returns:
        The protocols that have such labels.
    """
    from edgecil.sequences.protocols import describe_duplicates

    noted = []
    for name, runs in sequences.items():
        sentence = describe_duplicates(name, ((run.label, run.sequence) for run in runs))
        if sentence is not None:
            note(sentence)
            noted.append(name)
    return noted


def _status(*, directory: str) -> dict[str, Any]:
    from edgecil.engine import Experiment

    status = Experiment.open(directory).status()
    return {**vars(status), "complete": status.complete}


def _merge(*, directories: list[str], out: str) -> ExperimentResults:
    import edgecil
    from edgecil.engine.protocol_results import experiment_results

    return experiment_results(edgecil.merge(directories, out=out))


def show_trained(answer: ExperimentResults) -> Iterator[Table | str]:
    """Show the results, and the command that gives their intervals."""
    yield from show_results(answer)
    if any(part.finished for part in answer.results):
        directory = shlex.quote(str(answer.directory))
        yield f"For intervals and comparisons, run: edgecil analyze {directory}"


def _show_status(answer: dict[str, Any]) -> Iterator[Table | str]:
    yield from show_status(answer)
    for failure in answer["failures"]:
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
            "sequences": (PROTOCOL, "sequences repeats first_seed metric"),
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
        show_trained,
        api="edgecil.engine.merge:merge",
    ),
)
