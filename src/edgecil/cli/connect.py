"""The verbs that connect other programs: external, toolbox, export, import-logs."""

from __future__ import annotations

from edgecil.cli.training import show_trained, trained_by
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
    ),
    Verb(
        "toolbox",
        "have an unmodified PyCIL or PILOT checkout train the sequences; the same command resumes",
        (
            "edgecil toolbox ~/PyCIL --config ~/PyCIL/exps/icarl.json --out runs/icarl",
            "edgecil toolbox ~/PILOT --config ~/PILOT/exps/ease.json --set device=-1 --out e",
        ),
        "edgecil.interop.toolbox:run_toolbox",
        lambda it: show_trained(it) if hasattr(it, "results") else (str(it),),
        arguments=("checkout", "dataset"),
        call=trained_by("edgecil.interop.toolbox:run_toolbox"),
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
