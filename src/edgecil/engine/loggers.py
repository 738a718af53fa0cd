"""Optional logs: one row per finished (method, sequence, seed)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from edgecil.engine.plan import prefix_text
from edgecil.engine.results import RunResult
from edgecil.errors import PrerequisiteError
from edgecil.storage import replace_file


def result_row(result: RunResult) -> dict[str, Any]:
    """A result as a flat row: metrics of the main reading, and A(O) of each reading."""
    main = result.reading()
    return {
        "method": result.method,
        "seed": result.seed,
        "sequence": prefix_text(result.sequence.tasks),
        "accuracy": main.accuracy,
        "a_last": main.last,
        "a_avg": main.average,
        "forgetting": main.forgetting,
        **{f"accuracy_{name}": result.reading(name).accuracy for name in result.readings},
        "seconds": result.seconds,
        "peak_memory": result.peak_memory,
    }


def write_jsonl(results: Iterable[RunResult], path: Path) -> None:
    """One JSON object per line."""
    with replace_file(path) as file:
        for result in results:
            file.write((json.dumps(result_row(result)) + "\n").encode())


def write_tensorboard(results: Iterable[RunResult], directory: Path) -> None:
    """TensorBoard event files: the accuracy after each task, one run per method and sequence."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise PrerequisiteError(
            "TensorBoard event files need TensorBoard: run pip install tensorboard."
        ) from error
    for result in results:
        name = f"{result.method}/seed{result.seed}/{prefix_text(result.sequence.tasks)}"
        with SummaryWriter(str(directory / name.replace("|", "_").replace(" ", "-"))) as writer:
            for step, node in enumerate(result.nodes):
                for reading, correct in node.correct.items():
                    seen = sum(node.totals)
                    writer.add_scalar(f"seen/{reading}", 100.0 * sum(correct) / seen, step)
            for metric, value in result_row(result).items():
                if isinstance(value, float):
                    writer.add_scalar(f"final/{metric}", value, len(result.nodes) - 1)
