"""How verbs that train or import show an experiment: a row per method and protocol, or JSON."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from edgecil.cli.output import note, print_json, print_line, print_table
from edgecil.cli.progress import Progress

if TYPE_CHECKING:
    from edgecil.cli.answers import ExperimentAnswer
    from edgecil.engine import Experiment
    from edgecil.interop.external import ExternalPlan
    from edgecil.sequences import LabelledSequence


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
        note(
            f"Stopped. Finished results are in {out}; run the same command without --overwrite to "
            "resume."
        )
        raise
    show(experiment)


def train_with_programs(
    trainer: Callable[..., Experiment],
    answer: type[ExperimentAnswer],
    *,
    json: bool,
    out: str,
    **options: Any,
) -> None:
    """Have another program train, and print the results.

    Args:
        trainer: :func:`edgecil.run_external` or :func:`edgecil.run_toolbox`.
        answer: the schema of the verb.
        json: print JSON.
        out: the experiment's directory.
        options: of the trainer.
    """

    def call(progress: Progress) -> Experiment:
        def start(plan: ExternalPlan, missing: int) -> None:
            note_repeats(plan.sequences)
            progress.start(len(plan.nodes()), len(plan.nodes()) - missing)

        def advance(node: Any, result: Any) -> None:
            progress.advance()

        return trainer(out=out, on_start=start, on_finished=advance, **options)

    def show(experiment: Experiment) -> None:
        print_experiment(answer, experiment, json=json, unit="runs")

    train(call, show, "runs", out)


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
