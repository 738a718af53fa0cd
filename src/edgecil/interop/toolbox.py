"""Train class orders with an unmodified checkout of PyCIL or PILOT."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from edgecil.errors import (
    UsageError,
    format_value,
    nearest,
    unknown_name_error,
    warn,
    wrong_value_error,
)
from edgecil.experiments.experiment import Experiment
from edgecil.experiments.plan import Node
from edgecil.experiments.store import DATABASE, StoreReader
from edgecil.interop import toolbox_driver
from edgecil.interop.external import ExternalPlan, train_missing_runs
from edgecil.interop.order_options import OrderOptions, choose_orders
from edgecil.interop.toolbox_configs import read_flat_config, toolbox_dataset, toolbox_sizes
from edgecil.options import checked
from edgecil.similarity import SimilaritySource

_CLASS_SOURCES = ("names", "file", "embeddings")
CHECKOUT_PARTS = ("trainer.py", "utils/data_manager.py", "utils/factory.py", "models/base.py")
_NOT_CODE = ("data", "logs")
_LIBRARIES = ("torch", "torchvision", "timm")
# Prints which modules are missing, and the number of GPUs.
_PROBE = """
import importlib.util, json, sys
gpus, *names = sys.argv[1:]
missing = [name for name in names if importlib.util.find_spec(name) is None]
counted = gpus != "0" and importlib.util.find_spec("torch") is not None
print(json.dumps([missing, __import__("torch").cuda.device_count() if counted else None]))
"""
_PROBE_SECONDS = 120.0  # that the probe may take


@dataclass(frozen=True)
class ToolboxPlan:
    """What :func:`run_toolbox` would train.

    Attributes:
        method: the learner's name.
        stored: number of runs that are stored.
        commands: one for each other run.
        notes: the orders, and what constructed ones come from.
        missing: what the training lacks, and what to do about it.
    """

    method: str
    stored: int
    commands: tuple[str, ...]
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def __str__(self) -> str:
        total = f"{self.method}: {self.stored} runs stored, {len(self.commands)} to train"
        first = f", the first one by:\n{self.commands[0]}" if self.commands else "."
        return "\n".join([f"{total}{first}", *self.notes, *self.missing])


@checked
def run_toolbox(
    checkout: str | Path,
    *,
    config: str | Path,
    out: str | Path,
    set: Mapping[str, Any] | None = None,
    python: str | None = None,
    threads: int = 1,
    repeats: int = 1,
    workers: int = 1,
    timeout: float | None = None,
    overwrite: bool = False,
    dry_run: bool = False,
    progress: bool = True,
    similarity: SimilaritySource | Mapping[str, Any] | str | Path | None = None,
    orders: OrderOptions | Mapping[str, Any] | None = None,
) -> Experiment | ToolboxPlan:
    """Have an unmodified checkout of PyCIL or PILOT train class orders, or resume.

    Args:
        checkout: folder of PyCIL or PILOT; the EDGE authors' forks are supported as well.
        config: one of the toolbox's own JSON files.
        out: the experiment directory.
        set: changes to the config file, by key.
        python: Python interpreter of the toolbox's environment; the current one by default.
        threads: number of threads of each training.
        repeats: number of trainings of each order, each with its own training seed.
        workers: number of trainings at the same time.
        timeout: seconds after which a training counts as failed.
        overwrite: delete existing results and start over.
        dry_run: say what would be trained, and what it lacks; train nothing.
        progress: show progress on stderr.
        similarity: where the similarity of the classes comes from.
        orders: which class orders to train. By default the dataset and the task sizes are taken
            from the config.
    """
    root = check_checkout(checkout, "PyCIL or PILOT")
    plan = plan_toolbox(
        root,
        read_settings(config, set or {}),
        Path(out).absolute(),
        OrderOptions.from_value(orders),
        SimilaritySource.from_value(similarity),
        python=python,
        threads=threads,
        repeats=repeats,
        overwrite=overwrite,
    )
    lacking = _find_missing(root, plan)
    if dry_run:
        return _missing_runs(plan, root, lacking, overwrite=overwrite)
    if lacking is not None:
        raise lacking
    return train_missing_runs(
        plan, out, workers=workers, timeout=timeout, overwrite=overwrite, progress=progress
    )


def read_settings(config: str | Path, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return one of a checkout's config files, with changes by key."""
    for key in ("seed", "shuffle"):
        if key in changes:
            raise UsageError(
                f"Setting {key!r} has no effect: the protocol chooses the class orders "
                "(`protocol`, `order_seed`), and `repeats` says how often each is trained."
            )
    values = read_flat_config(config)
    for key in changes:
        suggestions = [] if key in values else nearest(key, values, 0.85)
        if suggestions:
            warn(
                f"{config} has no {key!r} that `set` could change. Did you mean {suggestions[0]!r}?"
            )
    settings = {"prefix": "edgecil", **values, **changes}
    devices = settings.get("device", -1)
    if not isinstance(devices, list):
        devices = [devices]
    settings["device"] = [-1 if str(device) in ("-1", "cpu") else device for device in devices]
    return settings


def check_checkout(
    checkout: str | Path | None, tool: str, parts: Sequence[str] = CHECKOUT_PARTS
) -> Path:
    """Return the folder of a tool, which must have these files."""
    if checkout is None or not Path(checkout).expanduser().is_dir():
        raise wrong_value_error("checkout", f"the folder of {tool}", checkout and str(checkout))
    root = Path(checkout).expanduser().absolute()
    missing = [part for part in parts if not (root / part).is_file()]
    if missing:
        raise UsageError(f"{root} is not a checkout of {tool}: it has no {missing[0]}.")
    return root


def plan_toolbox(
    root: Path,
    settings: Mapping[str, Any],
    out: Path,
    options: OrderOptions,
    source: SimilaritySource,
    *,
    python: str | None = None,
    threads: int = 1,
    repeats: int = 1,
    overwrite: bool = False,
) -> ExternalPlan:
    """Return what a toolbox will train; the config has the default dataset and task sizes."""
    if options.dataset is None and source.changed().keys().isdisjoint(_CLASS_SOURCES):
        name = str(settings["dataset"])
        options = replace(options, dataset=toolbox_dataset(name))
        if options.dataset is None and options.classes is None:
            raise UsageError(f"Unknown dataset {name!r}; give `dataset`, `names` or `classes`.")
    factory = (root / "utils/factory.py").read_text("utf-8", "replace")
    learners = re.findall(r"[\"']([\w-]+)[\"']", factory)
    learner = str(settings["model_name"])
    if learner.lower() not in learners and nearest(learner, learners):
        raise unknown_name_error("model_name", learner, learners)
    sizes = None if options.are_given else _first_and_increment(settings)
    orders = choose_orders(options, source, out=out, overwrite=overwrite, toolbox_tasks=sizes)
    settings = {**settings, **pycil_tasks(orders.sizes)}
    words = [find_interpreter(python), toolbox_driver.__file__, str(root), str(out / "data")]
    return ExternalPlan(
        method=learner,
        command=[*words, json.dumps(settings), "{order_file}", "{result_file}"],
        dataset=str(settings["dataset"]),
        orders=orders,
        repeats=repeats,
        identity={"toolbox": digest_checkout(root), "settings": settings, "threads": threads},
        cwd=out,
        environment={
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
            "OMP_NUM_THREADS": str(threads),
            "MKL_NUM_THREADS": str(threads),
        },
    )


def find_interpreter(python: str | None) -> str:
    """Return a Python by its absolute path, or by a name alone; the current one by default."""
    interpreter = python or sys.executable
    if "/" not in interpreter:
        return interpreter
    return str(Path(interpreter).expanduser().absolute())


def _missing_runs(
    plan: ExternalPlan, root: Path, lacking: UsageError | None, *, overwrite: bool
) -> ToolboxPlan:
    out = plan.cwd
    done: Mapping[Node, Any] = {}
    if (out / DATABASE).exists() and not overwrite:
        with StoreReader(out) as store:
            done = store.whole_runs()
    nodes = plan.nodes()
    missing = [node for node in nodes if node not in done]
    commands = tuple(shlex.join(plan.words(out / "…", node.seed)) for node in missing)
    data = str(root / "data")
    if not Path(data).exists():
        downloads = out / "data"
        data = f"the toolbox downloads into {downloads}; put what it does not download into {data}"
    notes = (f"Orders: {plan.orders}.", *plan.orders.notes, f"Data: {data}.")
    problems = () if lacking is None else (str(lacking),)
    return ToolboxPlan(plan.method, len(nodes) - len(missing), commands, notes, problems)


def _find_missing(root: Path, plan: ExternalPlan) -> UsageError | None:
    """Return an error if the toolbox lacks something, as far as can be known without training."""
    python = plan.command[0]
    if shutil.which(python) is None:
        return UsageError(
            f"There is no program {python}; give `python` of the toolbox's environment."
        )
    devices = plan.identity["settings"]["device"]
    gpus = [int(device) for device in devices if str(device).isdecimal()]
    code = "\n".join(path.read_text("utf-8", "replace") for path in _code_files(root))
    imports = set(re.findall(r"^\s*(?:import|from) (\w+)", code, re.MULTILINE))
    libraries = [name for name in _LIBRARIES if name in imports]
    try:
        probe = subprocess.run(
            [python, "-c", _PROBE, str(len(gpus)), *libraries],
            capture_output=True,
            text=True,
            timeout=_PROBE_SECONDS,
        )
        lacking, gpu_count = json.loads(probe.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None  # the training fails with its own message
    if lacking:
        return UsageError(
            f"{python} lacks {', '.join(lacking)}; give `python` of the toolbox's environment, or "
            "install them there."
        )
    if gpu_count is not None and max(gpus) >= gpu_count:
        return UsageError(
            f"The toolbox's config asks for GPU {max(gpus)}, and its torch has {gpu_count} GPUs "
            "here; to train on the CPU, give `set` device=-1."
        )
    return None


def _first_and_increment(settings: Mapping[str, Any]) -> tuple[int, int]:
    """Return the sizes of the first and of each further task in the config."""
    first, increment = settings.get("init_cls"), settings.get("increment")
    if type(first) is not int or type(increment) is not int or min(first, increment) < 1:
        raise UsageError(
            "The toolbox's config must give init_cls and increment, integers of at least 1. "
            f"Got {format_value(first)} and {format_value(increment)}."
        )
    return first, increment


def digest_checkout(root: Path) -> str:
    """Return the SHA-256 of the Python files of a checkout, with their names."""
    digest = hashlib.sha256()
    for path in _code_files(root):
        digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _code_files(root: Path) -> list[Path]:
    """Return the Python files of a checkout, without data, logs and hidden folders."""
    files: list[Path] = []
    for part in root.iterdir():
        if part.name.startswith(".") or part.name in _NOT_CODE:
            continue
        files += [part] if part.is_file() else part.rglob("*.py")
    return sorted(path for path in files if path.suffix == ".py")


def pycil_tasks(sizes: Sequence[int]) -> dict[str, int]:
    """Return task sizes as keys of PyCIL and PILOT.

    >>> pycil_tasks((50, 10, 10))
    {'init_cls': 50, 'increment': 10}
    """
    base, increment = sizes[0], sizes[:2][-1]
    if toolbox_sizes(base, increment, sum(sizes)) != tuple(sizes):
        raise UsageError(
            "PyCIL and PILOT support only a first task followed by equal increments. "
            f"Got task sizes {list(sizes)}."
        )
    return {"init_cls": base, "increment": increment}
