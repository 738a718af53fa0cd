"""The verbs that train, watch and join experiments, here or by other programs."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from edgecil.cli import was_interrupted
from edgecil.cli.output import note
from edgecil.cli.verb import Option, Verb, load_object

if TYPE_CHECKING:
    from edgecil.experiments.protocol_results import ExperimentResults
    from edgecil.experiments.status import Status
    from edgecil.interop.toolbox import ToolboxPlan
    from edgecil.report.table import Table
    from edgecil.search import SearchResult, Trial


def _search(**options: Any) -> SearchResult:
    from edgecil.search import search_orders

    with resumable(**options):
        return search_orders(on_round=_note_round, **options)


def _note_round(trials: Sequence[Trial]) -> None:
    values = [trial.value for trial in trials]
    note(f"{len(trials)} orders trained: {min(values):.2f} to {max(values):.2f}")


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


def trained_by(api: str) -> Callable[..., Any]:
    """Return a function that calls a function of the API, and returns the results or the plan."""

    def call(**options: Any) -> Any:
        from edgecil.experiments.protocol_results import experiment_results

        with resumable(**options):
            answer = load_object(api)(**options)
        return answer if options.get("dry_run") else experiment_results(answer)

    return call


def show_trained(answer: ExperimentResults) -> Iterator[Table | str]:
    """Show the results, what was not learned, and the command that gives their intervals."""
    from edgecil.analysis.details import note_unlearned, read_first_tasks
    from edgecil.experiments import Experiment
    from edgecil.report.verb_tables import show_results

    yield from show_results(answer)
    yield from map(str, answer.stated)
    if any(part.finished for part in answer.results):
        yield from note_unlearned(read_first_tasks(Experiment.open(answer.directory)))
        directory = shlex.quote(str(answer.directory))
        yield f"For intervals and comparisons, run: edgecil analyze {directory}"


def _show_search(answer: SearchResult) -> Iterator[str]:
    yield f"{answer}."
    yield (
        f"Trained {len(answer.trials)} orders, {answer.trainings} tasks in all. In the search this "
        f"order had {answer.value:.1f}. Results: {answer.experiment.directory}"
    )


def _status(*, directory: str, full: bool = False) -> tuple[Status, bool]:
    from edgecil.experiments import Experiment

    return Experiment.open(directory).status(), full


def _show_status(answer: tuple[Status, bool]) -> Iterator[Table | str]:
    from edgecil.report.verb_tables import status_table

    status, full = answer
    if full:
        yield status_table(status.parts)
    yield str(status)
    if full:
        for task in status.running:
            yield f"Running: {task.method}, seed {task.seed}, task {len(task.tasks)}"
        yield from (f"Failed: {failure}" for failure in status.failures[1:])


def _plain_status(answer: tuple[Status, bool]) -> dict[str, Any]:
    status, _ = answer
    return {**vars(status), "complete": status.complete}


def _show_toolbox(answer: ExperimentResults | ToolboxPlan) -> Iterator[Table | str]:
    from edgecil.interop.toolbox import ToolboxPlan

    if isinstance(answer, ToolboxPlan):
        yield str(answer)
    else:
        yield from show_trained(answer)


_ORDERS = (
    *("dataset", "classes", "tasks", "base", "increment"),
    *("protocol", "sequences", "budget"),
)
_RUN = (
    *("dataset", "method", "classes", "tasks", "base", "increment", "protocol", "budget"),
    *("repeats", "out", "config", "overwrite", "backbone", "setup", "epochs", "workers", "until"),
)
RUN = Verb(
    "run",
    "train methods on the sequences of protocols; the same command resumes",
    (
        "edgecil run --config recipe:demo --out demo",
        "edgecil run quickdraw --method icarl --classes 10 --tasks 5 --out x --epochs 2",
    ),
    "edgecil.training.run:run",
    show_trained,
    arguments=("dataset",),
    call=trained_by("edgecil.training.run:run"),
    needed=("method",),
    front=_RUN,
)
TRAINING_VERBS = (
    Verb(
        "check",
        "find what a run requires and what is missing; plan its orders, time and storage",
        (
            "edgecil check recipe:demo",
            "edgecil check cub200 --root ~/data --method l2p --tasks 10 --protocol edge --out x",
        ),
        "edgecil.training.run:run",
        lambda answer: (str(answer),),
        arguments=("dataset",),
        call="edgecil.training.check:check",
        plain=lambda answer: {**vars(answer), "ready": answer.ready},
        code=lambda answer: 0 if answer.ready else 1,
        front=_RUN,
    ),
    Verb(
        "search",
        "find the worst or best class order of a method, and confirm it by new trainings",
        (
            "edgecil search quickdraw --method ease --classes 8 --tasks 4 --goal worst --out x",
            "edgecil search --config own.toml --method icarl --goal best --budget 30 --out y",
        ),
        "edgecil.search.run_search:search_orders",
        _show_search,
        arguments=("dataset",),
        without=(
            "training.first_seed",
            "training.one_seed",
            "execution.shard",
            "execution.keep_states",
            "execution.until",
            "execution.repeats_on",
        ),
        call=_search,
        needed=("method", "out"),
        front=(
            *("goal", "budget", "metric", "confirm", "dataset", "classes", "tasks", "base"),
            *("increment", "config", "overwrite", "backbone", "setup", "epochs", "workers"),
        ),
        plain=lambda answer: answer.summary(),
    ),
    Verb(
        "status",
        "show how far an experiment is, and which trainings failed",
        ("edgecil status demo", "edgecil status demo --full"),
        "edgecil.experiments.experiment:Experiment.open",
        _show_status,
        arguments=("directory",),
        further=(Option("full", "also by method and protocol, with every failure", "bool"),),
        call=_status,
        plain=_plain_status,
    ),
    Verb(
        "merge",
        "join experiment directories, such as shards that were trained separately",
        (
            "edgecil merge shards/1 shards/2 shards/3 --out whole",
            "edgecil merge monday --out all --json",
        ),
        "edgecil.experiments.merge:merge",
        show_trained,
        arguments=("directories",),
        call=trained_by("edgecil.experiments.merge:merge"),
    ),
    Verb(
        "external",
        "have another program train the sequences of protocols; the same command resumes",
        (
            "edgecil external quickdraw --classes 6 --tasks 3 --out runs/external "
            '--command "python train.py {order_file} {result_file}"',
            "edgecil external cifar100 --tasks 10 --protocol latin --budget 5 --timeout 3600 "
            '--out runs/external --command "./train.sh {order_file} {result_file} {seed}"',
        ),
        "edgecil.interop.external:run_external",
        show_trained,
        arguments=("dataset",),
        call=trained_by("edgecil.interop.external:run_external"),
        front=("command", "out", "method", "repeats", "workers", "timeout", "overwrite", *_ORDERS),
    ),
    Verb(
        "toolbox",
        "have an unmodified PyCIL or PILOT checkout train the sequences; the same command resumes",
        (
            "edgecil toolbox ~/PyCIL --config ~/PyCIL/exps/icarl.json --out runs/icarl",
            "edgecil toolbox ~/PILOT --config ~/PILOT/exps/ease.json --set device=-1 --out e",
        ),
        "edgecil.interop.toolbox:run_toolbox",
        _show_toolbox,
        arguments=("checkout", "dataset"),
        call=trained_by("edgecil.interop.toolbox:run_toolbox"),
        front=(
            *("config", "out", "set", "repeats", "workers", "timeout", "overwrite", "dry_run"),
            *_ORDERS,
        ),
    ),
    Verb(
        "export",
        "write files that make PyCIL, PILOT, Mammoth, Avalanche or Continuum train the sequences",
        (
            "edgecil export pycil ~/PyCIL --config ~/PyCIL/exps/icarl.json --out exps/edge",
            "edgecil export mammoth ~/mammoth cifar100 --tasks 10 --out exps/derpp "
            '--command "python main.py --model derpp --dataset seq-cifar100"',
        ),
        "edgecil.interop.exports:export",
        lambda answer: (str(answer),),
        arguments=("tool", "checkout", "dataset"),
        front=("out", "config", "set", "command", "method", "repeats", "overwrite", *_ORDERS),
    ),
    Verb(
        "import-logs",
        "make an experiment of log files of PyCIL and PILOT, or of the results of exported runs",
        (
            "edgecil import-logs ~/PyCIL/logs/icarl/cifar100/0/10/*.log --out runs/icarl",
            "edgecil import-logs random.log edge.log --out runs/fork",
        ),
        "edgecil.interop.logs:import_logs",
        show_trained,
        arguments=("paths",),
        call=trained_by("edgecil.interop.logs:import_logs"),
    ),
)
