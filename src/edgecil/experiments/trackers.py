"""Trackers: finished runs as JSON lines, TensorBoard event files, or runs of wandb and MLflow.

Another service needs one function. A run that was written by an earlier call is replaced or left as
it is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from edgecil.errors import PrerequisiteError
from edgecil.experiments.results import RunResult
from edgecil.io.files import replace_file
from edgecil.runs.metrics import METRICS

_TAG = "edgecil.run"  # of runs in MLflow


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


def write_jsonl(file: str, results: Iterable[RunResult]) -> None:
    """Write one JSON object per line."""
    rows = {run_key(result): result_row(result) for result in results}
    with replace_file(Path(file)) as lines:
        for row in rows.values():
            lines.write((json.dumps(row) + "\n").encode())


def write_tensorboard(directory: str, results: Iterable[RunResult]) -> None:
    """Write event files, one folder per run."""
    from torch.utils.tensorboard import SummaryWriter

    for result in results:
        folder = Path(directory) / result.method / f"seed{result.seed}" / run_key(result)
        for old in folder.glob("events.out.tfevents.*"):
            old.unlink()
        with SummaryWriter(str(folder)) as writer:
            writer.add_text("sequence", str(result.sequence))
            for step, name, value in curves(result):
                writer.add_scalar(name, value, step)
            for name, value in final_values(result).items():
                writer.add_scalar(name, value, len(result.nodes) - 1)


def write_wandb(project: str, results: Iterable[RunResult]) -> None:
    """Create a run of the project for each run, or continue the run of an earlier call.

    Where data is sent, and whether at all, is set by wandb's own variables (`WANDB_MODE=offline`).
    """
    import wandb

    for result in results:
        run = wandb.init(
            project=project,
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


def write_mlflow(experiment: str, results: Iterable[RunResult]) -> None:
    """Create a run of the MLflow experiment for each run unless an earlier call has finished it.

    The server, or the local directory, is set by MLflow's `MLFLOW_TRACKING_URI`.
    """
    from mlflow import MlflowClient

    client = MlflowClient()
    entry = client.get_experiment_by_name(experiment)
    place = client.create_experiment(experiment) if entry is None else entry.experiment_id
    for result in results:
        key = run_key(result)
        condition = f"tags.`{_TAG}` = '{key}' and attributes.status = 'FINISHED'"
        if client.search_runs([place], filter_string=condition, max_results=1):
            continue
        tags = {_TAG: key, "mlflow.runName": f"{result.method} {key}"}
        run = client.create_run(place, tags=tags).info.run_id
        for name, text in {**_origin(result), **result.versions}.items():
            client.log_param(run, name, text)
        for step, name, value in curves(result):
            client.log_metric(run, name, value, step=step)
        for name, value in final_values(result).items():
            client.log_metric(run, name, value)
        client.set_terminated(run)


Tracker = Callable[[Iterable[RunResult]], None]
TRACKERS: dict[str, Callable[[str, Iterable[RunResult]], None]] = {
    "jsonl": write_jsonl,
    "tensorboard": write_tensorboard,
    "wandb": write_wandb,
    "mlflow": write_mlflow,
}


def open_trackers(**targets: str | Path | None) -> list[Tracker]:
    """Return the trackers of `TRACKERS` that have a target; None for none."""
    texts = {name: str(target) for name, target in targets.items() if target is not None}
    for package in texts.keys() - {"jsonl"}:
        try:
            import_module(package)
        except ModuleNotFoundError as error:
            raise PrerequisiteError(
                f"The tracker {package!r} requires the package: run pip install {package}."
            ) from error
    return [partial(TRACKERS[name], target) for name, target in texts.items()]


def _origin(result: RunResult) -> dict[str, Any]:
    return {"method": result.method, "seed": result.seed, "sequence": str(result.sequence)}
