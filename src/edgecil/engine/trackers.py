"""Trackers: finished runs as JSON lines, TensorBoard event files, or runs of wandb and MLflow.

Another service needs one small class.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from edgecil.engine.metrics import METRICS
from edgecil.engine.results import RunResult
from edgecil.errors import PrerequisiteError
from edgecil.io.files import replace_file


class Tracker(Protocol):
    """Receives the finished runs of an experiment."""

    def write(self, results: Iterable[RunResult]) -> None:
        """Write runs; one that was written by an earlier call is replaced or left as it is."""


def result_row(result: RunResult) -> dict[str, Any]:
    """Return a result as a flat row: metrics of the main classifier, `accuracy` of each."""
    return {
        **_origin(result),
        **{name: result.metric(name) for name in METRICS},
        **{f"accuracy_{name}": result.metric(classifier=name) for name in result.classifiers},
        "seconds": result.seconds,
        "peak_memory": result.peak_memory,
    }


def curves(result: RunResult) -> Iterator[tuple[int, str, float]]:
    """Yield the accuracy on all classes seen after each task: step, name and value in per cent."""
    by_classifier = {name: result.curve("last", name) for name in result.classifiers}
    for step in range(len(result.sequence.tasks)):
        for name, curve in by_classifier.items():
            if curve is not None:
                yield step, f"seen/{name}", float(curve[step])


def final_values(result: RunResult) -> dict[str, float]:
    """Return the numbers of a whole run, by name."""
    row = result_row(result)
    return {f"final/{name}": value for name, value in row.items() if isinstance(value, float)}


def run_key(result: RunResult) -> str:
    """Return a short name of a run, which depends on method, training seed and sequence."""
    text = f"{result.method} {result.seed} {result.sequence}"
    return hashlib.sha256(text.encode()).hexdigest()[:12]


class JsonLines:
    """One JSON object per line."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    def write(self, results: Iterable[RunResult]) -> None:
        """Write the file."""
        rows = {run_key(result): result_row(result) for result in results}
        with replace_file(self._path) as file:
            for row in rows.values():
                file.write((json.dumps(row) + "\n").encode())


class TensorBoard:
    """Event files, one folder per run; it is named by a hash of the sequence, which it holds."""

    def __init__(self, directory: str) -> None:
        _require("tensorboard", "TensorBoard event files")
        self._directory = Path(directory)

    def write(self, results: Iterable[RunResult]) -> None:
        """Write the event file of each run."""
        from torch.utils.tensorboard import SummaryWriter

        for result in results:
            sequence = str(result.sequence)
            key = hashlib.sha256(sequence.encode()).hexdigest()[:12]
            folder = self._directory / result.method / f"seed{result.seed}" / key
            for old in folder.glob("events.out.tfevents.*"):
                old.unlink()
            with SummaryWriter(str(folder)) as writer:
                writer.add_text("sequence", sequence)
                for step, name, value in curves(result):
                    writer.add_scalar(name, value, step)
                for name, value in final_values(result).items():
                    writer.add_scalar(name, value, len(result.nodes) - 1)


class WeightsAndBiases:
    """One run of a project for each run, under an id that stays the same.

    Where data is sent, and whether at all, is set by wandb's own variables (`WANDB_MODE=offline`).
    """

    def __init__(self, project: str) -> None:
        self._wandb = _require("wandb", "The tracker 'wandb'")
        self._project = project

    def write(self, results: Iterable[RunResult]) -> None:
        """Create each run, or continue the one of an earlier call."""
        for result in results:
            run = self._wandb.init(
                project=self._project,
                id=run_key(result),
                name=f"{result.method} {result.sequence}, seed {result.seed}"[:120],
                group=result.method,
                config={**_origin(result), **result.versions},
                resume="allow",
            )
            try:
                if not getattr(run, "resumed", False):
                    for step, name, value in curves(result):
                        run.log({name: value}, step=step)
                run.summary.update(final_values(result))
            finally:
                run.finish()


class MLflow:
    """One run of an MLflow experiment for each run, marked by the tag `edgecil.run`.

    The server, or the local directory, is set by MLflow's `MLFLOW_TRACKING_URI`.
    """

    TAG = "edgecil.run"

    def __init__(self, experiment: str) -> None:
        mlflow = _require("mlflow", "The tracker 'mlflow'")
        self._client = mlflow.MlflowClient()
        entry = self._client.get_experiment_by_name(experiment)
        self._experiment = (
            self._client.create_experiment(experiment) if entry is None else entry.experiment_id
        )

    def write(self, results: Iterable[RunResult]) -> None:
        """Create each run unless an earlier call has finished it."""
        for result in results:
            key = run_key(result)
            condition = f"tags.`{self.TAG}` = '{key}' and attributes.status = 'FINISHED'"
            if self._client.search_runs([self._experiment], filter_string=condition, max_results=1):
                continue
            tags = {self.TAG: key, "mlflow.runName": f"{result.method} {key}"}
            run = self._client.create_run(self._experiment, tags=tags).info.run_id
            for name, text in {**_origin(result), **result.versions}.items():
                self._client.log_param(run, name, text)
            for step, name, value in curves(result):
                self._client.log_metric(run, name, value, step=step)
            for name, value in final_values(result).items():
                self._client.log_metric(run, name, value)
            self._client.set_terminated(run)


TRACKERS: dict[str, Callable[[str], Tracker]] = {
    "jsonl": JsonLines,  # a file
    "tensorboard": TensorBoard,  # a directory
    "wandb": WeightsAndBiases,  # a project
    "mlflow": MLflow,  # an experiment
}


def open_trackers(**targets: str | Path | None) -> list[Tracker]:
    """Return the trackers of `TRACKERS` that have a target; None for none."""
    return [TRACKERS[name](str(it)) for name, it in targets.items() if it is not None]


def _origin(result: RunResult) -> dict[str, Any]:
    return {"method": result.method, "seed": result.seed, "sequence": str(result.sequence)}


def _require(package: str, what: str) -> Any:
    """Return the package, or an error with installation advice."""
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        raise PrerequisiteError(
            f"{what} requires the package {package}: run pip install {package}."
        ) from error
