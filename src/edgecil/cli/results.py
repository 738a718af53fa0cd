"""The verbs about results: analyze, compare, next, report, export-runs."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgecil.cli.output import note
from edgecil.cli.verb import Option, Verb, as_flag
from edgecil.errors import UsageError

if TYPE_CHECKING:
    from edgecil.estimation import Analysis
    from edgecil.estimation.next_runs import NextRuns
    from edgecil.report.table import Table

_RETURNING = ("export", "import-logs")  # verbs whose results another tool has trained


def _show_analysis(answer: Analysis) -> Iterator[Table | str]:
    from edgecil.estimation.analysis import describe_dataset
    from edgecil.estimation.sentences import describe_overall
    from edgecil.report.narrative import headline, noise_sentences
    from edgecil.report.orders import rank
    from edgecil.report.table import latex_lines
    from edgecil.report.tables import terminal_tables
    from edgecil.sequences.protocols import origin_sentences

    if over := list(describe_overall(answer.over_datasets, answer.options.metric)):
        yield "".join(f"{sentence}\n" for sentence in over)
    for dataset in answer.datasets:
        yield f"{headline(dataset)}\n"
        yield "".join(f"{sentence}\n" for sentence in describe_dataset(dataset))
        if noise := noise_sentences(dataset, rank(dataset)):
            yield f"{' '.join(noise)}\n"
        if origins := origin_sentences(dataset.provenance):
            yield "".join(f"{sentence}\n" for sentence in origins)
        yield from (tables := terminal_tables(dataset))
        yield "\n".join(["The first table in LaTeX:", *latex_lines(tables[0]), ""])


def _notes(analysis: Analysis) -> Iterator[str]:
    from edgecil.report.narrative import remarks, warnings

    for dataset in analysis.datasets:
        yield from (*warnings(dataset), *remarks(dataset))


def _next(*, out: str | None = None, **options: Any) -> dict[str, Any]:
    from edgecil.estimation.next_runs import next_runs

    datasets = next_runs(**options, out=out)
    return {"datasets": datasets, "out": out if datasets[0].orders else None}


def explain_next(datasets: Sequence[NextRuns], out: str | None = None) -> Iterator[str]:
    """What to run next, as sentences, the orders, and how to run them."""
    from edgecil.estimation.sentences import describe_next

    for dataset in datasets:
        if len(datasets) > 1:
            yield f"{dataset.dataset or 'your data'}:"
        yield from describe_next(dataset)
        yield from _how_to_run(dataset, out)


def _how_to_run(dataset: NextRuns, out: str | None) -> Iterator[str]:
    """The commands, if the experiment is recorded; else what to add to the file."""
    from edgecil.estimation.next_runs import CHOOSING, ONCE

    several = len(dataset.directories) > 1
    if dataset.orders:
        file = shlex.quote(out or "next.json")
        first = "" if out else f"repeat this command with --out {file}, then "
        how = "train them with your program, and add a row for each."
        if several and dataset.tool not in _RETURNING:
            each = ", ".join(dataset.directories)
            how = f"add --sequences {file} to the command that made each of {each}."
        elif dataset.directory is not None or dataset.tool in _RETURNING:
            command = _command(dataset, without=(*CHOOSING, *ONCE))
            how = f"{command} --sequences {file}{_afterwards(dataset.tool)}"
        yield f"To run them: {first}{how}"
    if dataset.repeat:
        how = "train these orders again with another seed, and add rows with a column 'seed'."
        repeats = f"--repeats-on {len(dataset.repeat)}"
        if dataset.tool in _RETURNING:
            how = "train these orders again with another seed, and import all results again."
        elif dataset.tool != "run":
            how = f"add --repeats 2 to the same 'edgecil {dataset.tool}' command."
        elif several or "sequences" in dataset.options:  # a file that is not recorded
            how = f"add {repeats} to the same 'edgecil run' command{'s' if several else ''}."
        elif dataset.directory is not None:
            how = f"{_command(dataset)} {repeats}"
        yield f"To train them once more: {how}"


def _command(dataset: NextRuns, *, without: Sequence[str] = ()) -> str:
    """The command that trains in the same experiment; '…' stands for options not recorded."""
    if dataset.tool in _RETURNING:
        return "edgecil export … --out DIR"
    words = ["edgecil", dataset.tool]
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


def _afterwards(tool: str) -> str:
    """What comes after the command, if another tool trains on its own."""
    if tool not in _RETURNING:
        return ""
    seeds = " Or train your config with as many further seeds, and import all logs again."
    return f", then follow what it prints.{seeds if tool == 'import-logs' else ''}"


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


def _report(*, source: Any, watch: bool = False, **options: Any) -> Any:
    from edgecil.report.write import watch_report, write_report

    if not watch:
        return write_report(source, **options)
    if len(source) != 1:
        raise UsageError("A page is kept current for one experiment directory.")
    page = Path(options.get("out") or Path(source[0]) / "report") / "index.html"
    note(f"Writing {page} every ten seconds until the run ends.")
    return watch_report(source[0], **options)


FRONT = (
    Verb(
        "analyze",
        "say what may be claimed about each method over all class orders; compare methods",
        ("edgecil analyze demo", "edgecil analyze accuracies.csv --metric last --json"),
        "edgecil.estimation.analysis:analyze",
        _show_analysis,
        arguments=("source",),
        notes=_notes,
    ),
    Verb(
        "compare",
        "compare methods on the class orders that they share",
        ("edgecil compare demo", "edgecil compare a.csv b.csv --method icarl,ewc --metric last"),
        "edgecil.estimation.comparison:compare",
        "edgecil.report.tables:comparison_tables",
        arguments=("source",),
    ),
    Verb(
        "next",
        "suggest the class orders to run next, and estimate how much they narrow the interval",
        ("edgecil next demo", "edgecil next demo --target 0.5 --out next.json"),
        "edgecil.estimation.next_runs:next_runs",
        lambda answer: explain_next(answer["datasets"], answer["out"]),
        arguments=("source",),
        call=_next,
        notes=lambda answer: (note for one in answer["datasets"] for note in one.notes),
    ),
    Verb(
        "report",
        "write one HTML page, figures (SVG, PNG, PDF) and tables (CSV, Markdown, LaTeX)",
        ("edgecil report demo --watch", "edgecil report accuracies.csv --open"),
        "edgecil.report.write:write_report",
        lambda answer: (f"Report: {page}" for page in answer.pages),
        arguments=("source",),
        without=("live",),
        further=(Option("watch", "keep the page current while the experiment runs", "bool"),),
        call=_report,
        notes=lambda answer: _notes(answer.analysis),
        plain=lambda answer: {"pages": answer.pages},
    ),
)
VERBS = (
    Verb(
        "export-runs",
        "write the runs of experiments to a CSV file, which 'edgecil analyze' reads",
        (
            "edgecil export-runs demo --out accuracies.csv",
            "edgecil export-runs demo --metric last --out last.csv.gz",
        ),
        "edgecil.estimation.sources:export_runs",
        lambda answer: (f"Runs: {answer}",),
        arguments=("source",),
        plain=lambda answer: {"out": answer},
    ),
)
