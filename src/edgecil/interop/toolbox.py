"""Train class orders with an unmodified checkout of PyCIL or PILOT."""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from edgecil.engine.database import DATABASE
from edgecil.engine.experiment import Experiment
from edgecil.engine.plan import Node
from edgecil.engine.store import StoreReader
from edgecil.engine.toolbox_configs import read_flat_config, toolbox_dataset
from edgecil.errors import UsageError, shown
from edgecil.interop import toolbox_driver
from edgecil.interop.external import ExternalPlan, ExternalRun, train
from edgecil.interop.orders import ChosenOrders, Orders, choose_orders
from edgecil.similarity import SimilaritySource

_CLASS_SOURCES = ("names", "file", "embeddings")
_PARTS = ("trainer.py", "utils/data_manager.py", "utils/factory.py", "models/base.py")
_NOT_CODE = ("data", "logs")
_COUNTING = 120.0  # seconds that counting the GPUs may take


@dataclass(frozen=True)
class Toolbox:
    """A checkout and the settings to train with.

    Attributes:
        root: the checkout.
        settings: the toolbox's flat config, with changes.
        python: the interpreter of the toolbox's environment.
        threads: threads of each training.
    """

    root: Path
    settings: Mapping[str, Any]
    python: str = sys.executable
    threads: int = 1

    @classmethod
    def open(
        cls,
        root: str | Path,
        config: str | Path,
        changes: Mapping[str, Any],
        *,
        python: str | None = None,
        threads: int = 1,
    ) -> Toolbox:
        """Return a checkout with one of its config files, and changes to that by key."""
        root = Path(root).absolute()
        missing = [part for part in _PARTS if not (root / part).is_file()]
        if missing:
            raise UsageError(f"{root} is not a checkout of PyCIL or PILOT: it has no {missing[0]}.")
        for key in ("seed", "shuffle"):
            if key in changes:
                raise UsageError(
                    f"Setting {key!r} has no effect: the protocol chooses the class orders "
                    "('protocol', 'order_seed'), and 'repeats' says how often each is trained."
                )
        settings = {**read_flat_config(config), **changes}
        settings["device"] = device_list(settings.get("device", [-1]))
        given = python or sys.executable
        return cls(root, settings, str(Path(given).absolute()) if "/" in given else given, threads)

    @property
    def method(self) -> str:
        """The learner's name in the toolbox."""
        return str(self.settings["model_name"])

    @property
    def first_and_increment(self) -> tuple[int, int]:
        """Sizes of the first and of each further task in the config."""
        first, increment = (self.settings.get(key) for key in ("init_cls", "increment"))
        if type(first) is not int or type(increment) is not int or min(first, increment) < 1:
            raise UsageError(
                "The toolbox's config must give init_cls and increment, integers of at least 1. "
                f"Got {shown(first)} and {shown(increment)}."
            )
        return first, increment

    def check_gpus(self) -> None:
        """Raise if the config asks for a GPU that the toolbox's own torch does not have."""
        gpus = [int(one) for one in self.settings["device"] if str(one).isdecimal()]
        if not gpus:
            return
        count = "import torch; print(torch.cuda.device_count())"
        try:
            done = subprocess.run(
                [self.python, "-c", count], capture_output=True, text=True, timeout=_COUNTING
            )
        except (OSError, subprocess.TimeoutExpired):
            return  # the training fails with its own message
        available = done.stdout.strip()
        if available.isdecimal() and max(gpus) >= int(available):
            raise UsageError(
                f"The toolbox's config asks for GPU {max(gpus)}, and its torch has {available} "
                "GPUs here. To train on the CPU, give 'set' device=-1."
            )

    def plan(self, out: str | Path, orders: ChosenOrders, repeats: int) -> ExternalPlan:
        """Return what the toolbox is to train.

        Args:
            out: the experiment's directory.
            orders: the classes, by the toolbox's own ids, and their orders.
            repeats: how often to train each order.
        """
        out = Path(out).absolute()
        first = next(run.sequence for runs in orders.sequences.values() for run in runs)
        settings = {"prefix": "edgecil", **self.settings, **pycil_tasks(first.sizes)}

        def command(run: ExternalRun) -> list[str]:
            file = run.folder / "settings.json"
            if run.folder.exists():
                file.write_text(json.dumps(settings), encoding="utf-8")
            files = (run.folder / "checkout", file, run.order_file, run.result_file)
            driver = [toolbox_driver.__file__, str(self.root), str(out / "data")]
            return [self.python, *driver, *map(str, files)]

        return ExternalPlan(
            method=self.method,
            command=command,
            dataset=str(self.settings["dataset"]),
            orders=orders,
            repeats=repeats,
            identity={
                "toolbox": fingerprint(self.root),
                "settings": settings,
                "threads": self.threads,
            },
            cwd=out,
            environment={
                "PYTHONHASHSEED": "0",
                "PYTHONDONTWRITEBYTECODE": "1",
                "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
                "OMP_NUM_THREADS": str(self.threads),
                "MKL_NUM_THREADS": str(self.threads),
            },
        )


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
    progress: bool = True,
    similarity: SimilaritySource | Mapping[str, Any] | str | Path | None = None,
    orders: Orders | Mapping[str, Any] | None = None,
) -> Experiment:
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
        progress: show progress on stderr.
        similarity: where the similarity of the classes comes from.
        orders: which class orders to train. The dataset and the task sizes are those of the config
            unless given.
    """
    toolbox = Toolbox.open(checkout, config, set or {}, python=python, threads=threads)
    toolbox.check_gpus()
    asked = Orders(**Orders.given(orders))
    source = SimilaritySource(**SimilaritySource.given(similarity))
    chosen = choose_toolbox_orders(toolbox, asked, source, out, overwrite=overwrite)
    return train(
        toolbox.plan(out, chosen, repeats),
        out,
        workers=workers,
        timeout=timeout,
        overwrite=overwrite,
        progress=progress,
    )


@dataclass(frozen=True)
class ToolboxPlan:
    """What :func:`run_toolbox` would train.

    Attributes:
        method: the learner's name in the toolbox.
        stored: number of runs whose results are there.
        commands: the command of each run that is missing.
    """

    method: str
    stored: int
    commands: tuple[str, ...]

    def __str__(self) -> str:
        total = f"{self.method}: {self.stored} runs stored, {len(self.commands)} to train"
        return f"{total}, the first one by:\n{self.commands[0]}" if self.commands else f"{total}."


def plan_toolbox(
    checkout: str | Path,
    *,
    config: str | Path,
    out: str | Path,
    set: Mapping[str, Any] | None = None,
    python: str | None = None,
    threads: int = 1,
    repeats: int = 1,
    overwrite: bool = False,
    similarity: SimilaritySource | Mapping[str, Any] | str | Path | None = None,
    orders: Orders | Mapping[str, Any] | None = None,
    **_: object,
) -> ToolboxPlan:
    """Return what :func:`run_toolbox` with the same arguments would train; nothing is written."""
    toolbox = Toolbox.open(checkout, config, set or {}, python=python, threads=threads)
    asked = Orders(**Orders.given(orders))
    source = SimilaritySource(**SimilaritySource.given(similarity))
    chosen = choose_toolbox_orders(toolbox, asked, source, out, overwrite=overwrite)
    plan = toolbox.plan(out, chosen, repeats)
    done: Mapping[Node, Any] = {}
    if (Path(out) / DATABASE).exists() and not overwrite:
        with StoreReader(Path(out)) as store:
            done = store.whole_runs()
    nodes = plan.nodes()
    missing = [node for node in nodes if node not in done]
    words = [plan.command(ExternalRun(node, Path(out).absolute() / "…")) for node in missing]
    return ToolboxPlan(plan.method, len(nodes) - len(missing), tuple(map(shlex.join, words)))


def choose_toolbox_orders(
    toolbox: Toolbox,
    asked: Orders,
    source: SimilaritySource,
    out: str | Path,
    *,
    overwrite: bool = False,
) -> ChosenOrders:
    """Return the orders; the dataset and the task sizes are those of the config unless given."""
    if asked.dataset is None and source.changed().keys().isdisjoint(_CLASS_SOURCES):
        asked = replace(asked, dataset=toolbox_dataset(str(toolbox.settings["dataset"])))
    sizes = None if asked.has_sizes else toolbox.first_and_increment
    return choose_orders(asked, source, out=out, overwrite=overwrite, default_sizes=sizes)


def device_list(device: Any) -> list[Any]:
    """Return devices in the form that the toolboxes read: a list of GPU numbers, -1 for the CPU.

    >>> device_list("cpu"), device_list(0), device_list(["0", "-1"])
    ([-1], [0], ['0', -1])
    """
    devices = device if isinstance(device, list) else [device]
    return [-1 if str(one) in ("-1", "cpu") else one for one in devices]


def fingerprint(root: Path) -> str:
    """SHA-256 over the Python files of a checkout, with their names."""
    digest = hashlib.sha256()
    for path in sorted(path for part in _parts(root) for path in _python_files(part)):
        digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _parts(root: Path) -> list[Path]:
    """Return files and folders at the top of a checkout, without hidden ones."""
    return [path for path in root.iterdir() if not path.name.startswith(".")]


def _python_files(part: Path) -> list[Path]:
    if part.is_dir():
        return [] if part.name in _NOT_CODE else list(part.rglob("*.py"))
    return [part] if part.suffix == ".py" else []


def pycil_tasks(sizes: Sequence[int]) -> dict[str, int]:
    """Return task sizes as keys of PyCIL and PILOT.

    >>> pycil_tasks((50, 10, 10))
    {'init_cls': 50, 'increment': 10}
    """
    base, *increments = sizes
    increment = increments[0] if increments else base
    regular = all(size == increment for size in increments[:-1])
    if increments and not (regular and increments[-1] <= increment):
        raise UsageError(
            "PyCIL and PILOT support only a first task followed by equal increments. "
            f"Got task sizes {list(sizes)}."
        )
    return {"init_cls": base, "increment": increment}
