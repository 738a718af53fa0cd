"""Trackers: results as JSON lines or TensorBoard event files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from edgecil.engine.results import METRICS, RunResult
from edgecil.errors import PrerequisiteError
from edgecil.io.files import replace_file


def result_row(result: RunResult) -> dict[str, Any]:
    """A result as a flat row: metrics of the main classifier, and `accuracy` of each classifier."""
    return {
        "method": result.method,
        "seed": result.seed,
        "sequence": str(result.sequence),
        **{name: result.metric(name) for name in METRICS},
        **{f"accuracy_{name}": result.classifier(name).accuracy for name in result.classifiers},
        "seconds": result.seconds,
        "peak_memory": result.peak_memory,
    }


def write_jsonl(results: Iterable[RunResult], path: Path) -> None:
    """One JSON object per line."""
    with replace_file(path) as file:
        for result in results:
            file.write((json.dumps(result_row(result)) + "\n").encode())


def require_tensorboard() -> None:
    """Raise an error with installation advice if TensorBoard is missing."""
    if find_spec("tensorboard") is None:
        raise PrerequisiteError(
            "TensorBoard event files require TensorBoard: run pip install tensorboard."
        )


def write_tensorboard(results: Iterable[RunResult], directory: Path) -> None:
    """Write TensorBoard event files: the accuracy after each task, one folder per run.

    A folder is named by a hash of the run's sequence, which it holds as a text. Files of an
    earlier call are replaced.
    """
    require_tensorboard()
    from torch.utils.tensorboard import SummaryWriter

    for result in results:
        sequence = str(result.sequence)
        key = hashlib.sha256(sequence.encode()).hexdigest()[:12]
        folder = directory / result.method / f"seed{result.seed}" / key
        for old in folder.glob("events.out.tfevents.*"):
            old.unlink()
        with SummaryWriter(str(folder)) as writer:
            writer.add_text("sequence", sequence)
            for step, node in enumerate(result.nodes):
                for classifier, correct in node.correct.items():
                    seen = sum(node.totals)
                    writer.add_scalar(f"seen/{classifier}", 100.0 * sum(correct) / seen, step)
            for metric, value in result_row(result).items():
                if isinstance(value, float):
                    writer.add_scalar(f"final/{metric}", value, len(result.nodes) - 1)
