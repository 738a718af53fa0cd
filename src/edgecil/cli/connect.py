"""The verbs that connect other programs: external, toolbox, import-logs."""

from __future__ import annotations

from edgecil.cli.training import show_trained, trained_by
from edgecil.cli.verb import PROTOCOL, SIMILARITY, SPACE, Verb

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
            "edgecil external quickdraw --classes 6 --tasks 3 --out runs/external "
            '--command "python train.py {order_file} {result_file}"',
            "edgecil external cifar100 --tasks 10 --protocol latin --budget 5 --timeout 3600 "
            '--out runs/external --command "./train.sh {order_file} {result_file} {seed}"',
        ),
        {"": ("command method",), **_SEQUENCES},
        trained_by("run_external"),
        show_trained,
        api="edgecil.interop.external:run_external",
    ),
    Verb(
        "toolbox",
        "have an unmodified PyCIL or PILOT checkout train the sequences; the same command resumes",
        (
            "edgecil toolbox ~/PyCIL --config ~/PyCIL/exps/icarl.json --out runs/icarl",
            "edgecil toolbox ~/PILOT --config ~/PILOT/exps/ease.json --set device=-1 --out e",
        ),
        {"": ("<checkout> config set python threads",), **_SEQUENCES},
        trained_by("run_toolbox"),
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
        trained_by("import_logs"),
        show_trained,
        api="edgecil.interop.log_import:import_logs",
    ),
)
