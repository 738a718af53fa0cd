"""The verbs that connect other programs: external, toolbox, import-logs."""

from __future__ import annotations

from edgecil.cli.training import results_type, show_trained, trained_by
from edgecil.cli.verb import Verb

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
        show_trained,
        arguments=("checkout", "dataset"),
        call=trained_by("edgecil.interop.toolbox:run_toolbox"),
        answer=results_type,
    ),
    Verb(
        "import-logs",
        "import log files of PyCIL and PILOT as an experiment",
        (
            "edgecil import-logs ~/PyCIL/logs/icarl/cifar100/0/10/*.log --out runs/icarl",
            "edgecil import-logs random.log edge.log --out runs/fork",
        ),
        "edgecil.interop.log_import:import_logs",
        show_trained,
        arguments=("paths",),
        call=trained_by("edgecil.interop.log_import:import_logs"),
        answer=results_type,
    ),
)
