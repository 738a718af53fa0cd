"""The verbs that connect other programs: external, toolbox, import-logs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from edgecil.cli.output import note
from edgecil.cli.training import note_duplicates, resumable, show_trained
from edgecil.cli.verb import PROTOCOL, SIMILARITY, SPACE, Verb
from edgecil.io.progress_bar import Progress

if TYPE_CHECKING:
    from edgecil.engine.protocol_results import ExperimentResults
    from edgecil.interop.external import ExternalPlan


def _train_with_programs(trainer: str, *, out: str, **options: Any) -> ExperimentResults:
    import edgecil
    from edgecil.engine.protocol_results import experiment_results

    with resumable(out), Progress("runs") as progress:

        def start(plan: ExternalPlan, missing: int) -> None:
            note_duplicates(plan.sequences)
            progress.start(len(plan.nodes()), len(plan.nodes()) - missing)

        def advance(node: Any, result: Any) -> None:
            progress.advance()

        run = getattr(edgecil, trainer)
        return experiment_results(run(out=out, on_start=start, on_finished=advance, **options))


def _import_logs(*, paths: list[str], **options: Any) -> ExperimentResults:
    from edgecil.engine.protocol_results import experiment_results
    from edgecil.interop import import_logs

    return experiment_results(
        import_logs(paths, **options, on_left_out=lambda reason: note(f"Left out: {reason}"))
    )


_SEQUENCES = {
    "classes and their similarity": (SIMILARITY,),
    "tasks": (SPACE,),
    "sequences": (PROTOCOL,),
    "experiment": ("out overwrite repeats workers timeout",),
}
VERBS = (
    Verb(
        "external",
        "have another program train the sequences of protocols; the same command resumes",
        (
            "edgecil external quickdraw --classes 6 --tasks 3 --out runs/mine "
            '--command "python train.py {order_file} {result_file}"',
            "edgecil external cifar100 --tasks 10 --protocol latin --budget 5 --timeout 3600 "
            '--out runs/mine --command "./train.sh {order_file} {result_file} {seed}"',
        ),
        {"": ("command method",), **_SEQUENCES},
        partial(_train_with_programs, "run_external"),
        show_trained,
        api="edgecil.interop.external:run_external",
    ),
    Verb(
        "toolbox",
        "have an unmodified PyCIL or PILOT checkout train the sequences; the same command resumes",
        (
            "edgecil toolbox ~/PyCIL --config ~/PyCIL/exps/icarl.json --out runs/icarl",
            "edgecil toolbox ~/PILOT --config ~/PILOT/exps/ease.json --set device=[-1] --out e",
        ),
        {"": ("<checkout> config set python threads",), **_SEQUENCES},
        partial(_train_with_programs, "run_toolbox"),
        show_trained,
        api="edgecil.interop.toolbox:run_toolbox",
    ),
    Verb(
        "import-logs",
        "import log files of PyCIL and PILOT as an experiment",
        (
            "edgecil import-logs ~/PyCIL/logs/icarl/cifar100/0/10/*.log --out runs/icarl",
            "edgecil import-logs random.log edge.log --out runs/fork",
        ),
        {"": ("<paths...> protocol out overwrite",)},
        _import_logs,
        show_trained,
        api="edgecil.interop.log_import:import_logs",
    ),
)
