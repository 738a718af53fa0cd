"""An unmodified PyCIL or PILOT checkout, driven from outside."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgecil.errors import UsageError
from edgecil.interop import toolbox_driver
from edgecil.interop.configs import read_flat_config, toolbox_sizes
from edgecil.interop.exports import export
from edgecil.interop.external import ExternalRun, Training
from edgecil.io.files import replace_file
from edgecil.sequences.protocols import LabelledSequence

_PARTS = ("trainer.py", "utils/data_manager.py", "utils/factory.py", "models/base.py")
_NOT_CODE = ("data", "logs")


@dataclass(frozen=True)
class Toolbox:
    """A checkout and the settings to train with.

    Attributes:
        root: of the checkout.
        settings: its flat config, with what the command line changed.
        python: the interpreter of the toolbox's own environment.
        threads: per training.
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
        """A checkout with one of its config files, and changes to that by key."""
        root = Path(root).absolute()
        missing = [part for part in _PARTS if not (root / part).is_file()]
        if missing:
            raise UsageError(f"{root} is no checkout of PyCIL or PILOT: it has no {missing[0]}.")
        settings = {**read_flat_config(config), **changes}
        settings["device"] = device_list(settings.get("device", [-1]))
        given = python or sys.executable
        return cls(root, settings, str(Path(given).absolute()) if "/" in given else given, threads)

    @property
    def method(self) -> str:
        """The learner's name in the toolbox."""
        return str(self.settings["model_name"])

    def sizes(self, classes: int) -> tuple[int, ...]:
        """The task sizes that the config asks for, cut as the toolboxes do."""
        first, increment = (self.settings.get(key) for key in ("init_cls", "increment"))
        if type(first) is not int or type(increment) is not int or min(first, increment) < 1:
            raise UsageError(
                "The toolbox's config must give 'init_cls' and 'increment', whole numbers of at "
                f"least 1. Got {first!r} and {increment!r}."
            )
        return toolbox_sizes(first, increment, classes)

    def run(
        self,
        out: str | Path,
        names: Sequence[str],
        ids: Sequence[int],
        sequences: Mapping[str, Sequence[LabelledSequence]],
        seeds: int,
    ) -> ExternalRun:
        """What to have trained.

        Args:
            out: the run directory.
            names: of the N classes that take part.
            ids: the toolbox's own ids of these.
            sequences: over classes 0 … N-1, by protocol.
            seeds: how often to repeat each.
        """
        out = Path(out).absolute()
        first = next(run.sequence for runs in sequences.values() for run in runs)
        tasks = export(first, "pycil")
        settings = {
            "prefix": "edgecil",
            **self.settings,
            "init_cls": tasks["init_cls"],
            "increment": tasks["increment"],
        }

        def command(training: Training) -> list[str]:
            place = _mirror(self.root, training.folder / "checkout", out / "data")
            file = training.folder / "settings.json"
            with replace_file(file) as opened:
                opened.write(json.dumps(settings).encode())
            files = (place, file, training.order_file, training.result_file)
            return [self.python, toolbox_driver.__file__, str(self.root), *map(str, files)]

        return ExternalRun(
            method=self.method,
            command=command,
            dataset=str(self.settings["dataset"]),
            names=names,
            ids=ids,
            sequences=sequences,
            seeds=seeds,
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


def device_list(device: Any) -> list[Any]:
    """Devices as the toolboxes want them: a list of GPU numbers, with -1 for the CPU.

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
    """What lies at the top of a checkout, without hidden things."""
    return [path for path in root.iterdir() if not path.name.startswith(".")]


def _python_files(part: Path) -> list[Path]:
    if part.is_dir():
        return [] if part.name in _NOT_CODE else list(part.rglob("*.py"))
    return [part] if part.suffix == ".py" else []


def _mirror(root: Path, place: Path, data: Path) -> Path:
    """A folder to train in: links to all that the checkout has, without its logs.

    The toolboxes read `./data`, which is `data` if the checkout has none, and write `./logs` and
    more: so they leave the checkout, and each other's files, alone.
    """
    place.mkdir(parents=True, exist_ok=True)
    parts = {part.name: part for part in _parts(root) if part.name != "logs"}
    if "data" not in parts:
        data.mkdir(exist_ok=True)
        parts["data"] = data
    for name, part in parts.items():
        (place / name).unlink(missing_ok=True)
        (place / name).symlink_to(part)
    return place
