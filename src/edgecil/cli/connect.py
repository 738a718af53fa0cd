"""The verbs that connect other programs: external, toolbox, export, import-logs."""

from __future__ import annotations

from typing import Any

from edgecil.cli.training import results_type, show_trained, trained_by
from edgecil.cli.verb import Verb, load


def _toolbox(*, dry_run: bool | None = None, **options: Any) -> Any:
    if dry_run:
        plan = load("edgecil.interop.toolbox:run_toolbox")(dry_run=True, **options)
        return results_type()(options["out"], "runs", 0, plan.stored, [], [], planned=str(plan))
    return trained_by("edgecil.interop.toolbox:run_toolbox")(**options)


VERBS = (
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
        answer=results_type,
    ),
    Verb(
        "toolbox",
        "have an unmodified PyCIL or PILOT checkout train the sequences; the same command resumes",
        (
            "edgecil toolbox ~/PyCIL --config ~/PyCIL/exps/icarl.json --out runs/icarl",
            "edgecil toolbox ~/PILOT --config ~/PILOT/exps/ease.json --set device=-1 --out e",
        ),
        "edgecil.interop.toolbox:run_toolbox",
        lambda it: (it.planned,) if it.planned else show_trained(it),
        arguments=("checkout", "dataset"),
        call=_toolbox,
        answer=results_type,
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
        answer=lambda: load("edgecil.interop.exports:Exported"),
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
        answer=results_type,
    ),
)
