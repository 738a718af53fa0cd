"""What to run next, as sentences and commands."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from edgecil.cli.verb import as_flag

if TYPE_CHECKING:
    from edgecil.estimation.next_runs import NextRuns


def explain_next(datasets: Sequence[NextRuns], out: str | None = None) -> Iterator[str]:
    """What to run next, as sentences, the orders, and how to run them."""
    from edgecil.estimation.sentences import describe_next

    for dataset in datasets:
        if len(datasets) > 1:
            yield f"{dataset.dataset}:"
        yield from describe_next(dataset)
        yield from _how_to_run(dataset, out)


def _how_to_run(dataset: NextRuns, out: str | None) -> Iterator[str]:
    """The commands, if the experiment is recorded; else what to add to the file."""
    from edgecil.estimation.next_runs import CHOOSING, ONCE

    if dataset.orders:
        file = out or "next.json"
        first = "" if out else f"repeat this command with --out {file}, then "
        if dataset.directory is None:
            yield f"To run them: {first}train them with your program, and add a row for each."
        else:
            command = _command(dataset, without=(*CHOOSING, *ONCE))
            yield f"To run them: {first}{command} --sequences {shlex.quote(file)}"
    if dataset.repeat and dataset.directory is None:
        yield (
            "To train them once more: train these orders again with another seed, and add rows "
            "with a column 'seed'."
        )
    elif dataset.repeat:
        repeats = f"--repeats-on {len(dataset.repeat)}"
        if "sequences" in dataset.options:  # a file that is not recorded
            yield f"To train them once more: add {repeats} to the same 'edgecil run' command."
        else:
            yield f"To train them once more: {_command(dataset)} {repeats}"


def _command(dataset: NextRuns, *, without: Sequence[str] = ()) -> str:
    """The command that trains in the same experiment; '…' stands for options not recorded."""
    words = ["edgecil", "run"]
    for flag, value in _flags(dataset.options, without):
        if flag == "--dataset":
            words.insert(2, str(value))
        elif isinstance(value, Mapping):
            words += (word for text in _settings(value) for word in (flag, text))
        elif value is True:
            words.append(flag)
        else:
            text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
            words += (flag, text)
    unknown = "" if dataset.options else " …"
    return f"{shlex.join(words)}{unknown} --out {shlex.quote(str(dataset.directory))}"


def _flags(options: Mapping[str, Any], without: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield the flag and the value of each option of `run`, those of its groups included."""
    from edgecil.engine.config import GROUPS

    for name, value in options.items():
        if name in GROUPS:
            own = {entry.name: entry.metadata["flag"] for entry in fields(GROUPS[name])}
            yield from ((as_flag(own[key] or key), it) for key, it in value.items())
        elif name not in without:
            yield as_flag(name), value


def _settings(values: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _settings(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}={json.dumps(value)}"
