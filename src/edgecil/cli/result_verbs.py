"""The verbs about results: analyze, compare, next, report, export-runs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgecil.cli.output import note
from edgecil.cli.verb import Option, Verb
from edgecil.errors import UsageError

if TYPE_CHECKING:
    from edgecil.analysis import Analysis
    from edgecil.analysis.next_runs import DatasetNextRuns
    from edgecil.report.table import Table
    from edgecil.runs.reading.reading import Reading

_NEXT_FILE = "next.json"


def _show_analysis(answer: Analysis) -> Iterator[Table | str]:
    from edgecil.report.analysis_tables import terminal_tables
    from edgecil.report.narrative import headline, noise_sentences
    from edgecil.report.order_table import rank
    from edgecil.report.table import latex_lines
    from edgecil.sequences.protocols import origin_sentences
    from edgecil.wording.analysis_sentences import describe_dataset, describe_methods
    from edgecil.wording.comparison_sentences import describe_comparisons

    if answer.reading:
        yield f"{answer.reading}\n"
    several = len(answer.datasets) > 1
    comparisons = list(describe_comparisons(answer.compared_groups))
    if several and comparisons:
        yield "".join(f"{sentence}\n" for sentence in comparisons)
    for dataset in answer.datasets:
        yield f"{headline(dataset)}\n"
        sentences = describe_methods(dataset) if several else describe_dataset(dataset)
        yield "".join(f"{sentence}\n" for sentence in sentences)
        noise = noise_sentences(dataset, rank(dataset))
        if noise:
            yield f"{' '.join(noise)}\n"
        origins = origin_sentences(dataset.provenance)
        if origins:
            yield "".join(f"{sentence}\n" for sentence in origins)
        tables = terminal_tables(dataset)
        yield from tables
        yield "\n".join(["The first table in LaTeX:", *latex_lines(tables[0]), ""])


def _read(*, source: Any, save: str | None = None, **options: Any) -> Reading:
    from edgecil.runs.reading.reading import read

    reading = read(source, **options)
    if save is not None:
        reading.save(save)
    return reading


def _show_reading(reading: Reading) -> Iterator[str]:
    yield f"{reading}\n"


def _notes(analysis: Analysis) -> Iterator[str]:
    from edgecil.report.narrative import missing_facts, warnings

    for dataset in analysis.datasets:
        yield from (*warnings(dataset), *missing_facts(dataset))


def _next(*, out: str | None = None, **options: Any) -> dict[str, Any]:
    from edgecil.analysis.next_runs import next_runs

    advice = next_runs(**options, out=out)
    has_orders = bool(advice.datasets[0].orders)
    has_pairs = any(len(dataset.steps) > 1 for dataset in advice.datasets)
    repeat = "" if out else shlex.join([*_verb_words("next", options), "--out", _NEXT_FILE])
    return {
        "reading": advice.reading,
        "datasets": advice.datasets,
        "out": out if has_orders else None,
        "repeat_command": repeat,
        "compare_command": _compare_command(options) if has_pairs else "",
    }


def _compare_command(options: Mapping[str, Any]) -> str:
    """Return the command that compares the same runs, at any time."""
    without = ("target", "order_seed", "overwrite")
    shared = {name: value for name, value in options.items() if name not in without}
    return shlex.join([*_verb_words("compare", shared), "--anytime"])


def _verb_words(verb: str, options: Mapping[str, Any]) -> list[str]:
    """Return a verb on the same sources, with the options that are plain values."""
    words = ["edgecil", verb, *map(str, options["source"])]
    for name, value in options.items():
        if name != "source" and isinstance(value, (str, int, float)):
            flag = f"--{name.replace('_', '-')}"
            words += [flag] if value is True else [flag, str(value)]
        elif name != "source" and isinstance(value, (list, tuple)):
            words += [f"--{name.replace('_', '-')}", ",".join(map(str, value))]
    return words


def _next_notes(answer: dict[str, Any]) -> Iterator[str]:
    for dataset in answer["datasets"]:
        yield from dataset.notes


def _show_next(answer: dict[str, Any]) -> Iterator[str]:
    if answer["reading"]:
        yield answer["reading"]
    yield from explain_next(answer["datasets"], answer["out"], answer["repeat_command"])
    if answer["compare_command"]:
        yield f"To compare them, after every run if you like: {answer['compare_command']}"


def explain_next(
    datasets: Sequence[DatasetNextRuns], out: str | None = None, repeat_command: str = ""
) -> Iterator[str]:
    """Yield sentences that say what to run next, the orders, and how to run them.

    `repeat_command` writes the orders to a file, if they are in none yet.
    """
    from edgecil.wording.sentences import describe_next

    several = len(datasets) > 1
    for dataset in datasets:
        if several:
            yield f"{dataset.dataset or 'your data'}:"
        yield from describe_next(dataset)
        if dataset.orders:
            yield from _how_to_run(dataset, out, "" if several else repeat_command)
        if dataset.repeat:
            yield f"To train them once more: {_how_to_repeat(dataset)}"


def _how_to_run(dataset: DatasetNextRuns, out: str | None, repeat_command: str) -> Iterator[str]:
    """Yield the commands that train further orders, or what to do where another tool trains."""
    tool = dataset.tool
    directories = [shlex.quote(directory) for directory in dataset.directories]
    if not directories:
        yield "To run them: train them with your program, and add a row for each."
        return
    if out is None and repeat_command:
        yield f"To write them to a file: {repeat_command}"
    file = shlex.quote(out or _NEXT_FILE)
    if tool in ("export", "import-logs"):  # another tool trains on its own
        how = f"give --sequences {file} to 'edgecil export', and follow what it prints."
        if tool == "import-logs":
            how += " Or train your config with as many further seeds, and import all logs again."
    elif len(directories) > 1:
        how = f"add --sequences {file} to the command that made each of {', '.join(directories)}."
    elif tool == "run":
        how = f"{_resume(directories[0])} --repeats 1 --sequences {file}"
    else:
        how = f"add --sequences {file} to the 'edgecil {tool}' command that made {directories[0]}."
    yield f"To run them: {how}"


def _how_to_repeat(dataset: DatasetNextRuns) -> str:
    """Return the command that trains the first orders once more, or what to do."""
    directories = [shlex.quote(directory) for directory in dataset.directories]
    if not directories:
        return "train these orders again with another seed, and add rows with a column 'seed'."
    if dataset.tool in ("export", "import-logs"):
        return "train these orders again with another seed, and import all results again."
    if len(directories) > 1:
        return f"add --repeats-on {len(dataset.repeat)} to the same 'edgecil run' commands."
    if dataset.tool == "run":
        return f"{_resume(directories[0])} --repeats-on {len(dataset.repeat)}"
    return f"add --repeats 2 to the same 'edgecil {dataset.tool}' command."


def _resume(directory: str) -> str:
    return f"edgecil run --config {directory} --out {directory}"


def _report(*, source: Any, watch: bool = False, **options: Any) -> Any:
    from edgecil.report.write import watch_report, write_report

    if not watch:
        return write_report(source, **options)
    if len(source) != 1:
        raise UsageError("A page is kept current for one experiment directory.")
    page = Path(options.get("out") or Path(source[0]) / "report") / "index.html"
    note(f"Writing {page} every ten seconds until the run ends.")
    return watch_report(source[0], **options)


_READING = (
    "metric",
    "columns",
    "higher_is_better",
    "lower_is_better",
    "at",
    "by",
    "only",
    "baseline",
    "n",
    "reading",
)
"""The options of a reading that --help shows."""


FRONT_VERBS = (
    Verb(
        "analyze",
        "say what may be claimed about each method over all class orders; compare methods",
        ("edgecil analyze demo", "edgecil analyze accuracies.csv --metric last --json"),
        "edgecil.analysis.analysis:analyze",
        _show_analysis,
        arguments=("source",),
        front=("level", "classifier", "similarity", *_READING),
        notes=_notes,
    ),
    Verb(
        "compare",
        "compare methods on the class orders that they share",
        ("edgecil compare demo", "edgecil compare a.csv b.csv --method icarl,ewc --metric last"),
        "edgecil.analysis.comparison:compare",
        "edgecil.report.pair_tables:comparison_tables",
        arguments=("source",),
        front=("method", "level", "anytime", *_READING),
    ),
    Verb(
        "next",
        "suggest the class orders to run next, and estimate how much they narrow the interval",
        ("edgecil next demo", "edgecil next demo --target 0.5 --out next.json"),
        "edgecil.analysis.next_runs:next_runs",
        _show_next,
        arguments=("source",),
        front=("target", "out", "level", "order_seed", *_READING),
        call=_next,
        notes=_next_notes,
    ),
    Verb(
        "report",
        "write one HTML page, figures (SVG, PNG, PDF) and tables (CSV, Markdown, LaTeX)",
        ("edgecil report demo --watch", "edgecil report accuracies.csv --open"),
        "edgecil.report.write:write_report",
        lambda answer: (f"Report: {page}" for page in answer.pages),
        arguments=("source",),
        front=("out", "open", "watch", "level", *_READING),
        without=("live",),
        further=(Option("watch", "keep the page current while the experiment runs", "bool"),),
        call=_report,
        notes=lambda answer: _notes(answer.analysis),
        plain=lambda answer: {"pages": answer.pages},
    ),
)
RESULT_VERBS = (
    Verb(
        "read",
        "say how results are understood: methods, datasets, runs, the metric and its direction",
        (
            "edgecil read results.csv",
            "edgecil read logs/ --columns seed=trial --save reading.toml",
        ),
        "edgecil.runs.reading.reading:read",
        _show_reading,
        arguments=("source",),
        further=(Option("save", "file to write, which --reading takes for other sources", "str"),),
        call=_read,
        front=("save", *_READING),
        plain=lambda reading: reading.summary(),
    ),
    Verb(
        "export-runs",
        "write the runs of experiments to a CSV file, which 'edgecil analyze' reads",
        (
            "edgecil export-runs demo --out accuracies.csv",
            "edgecil export-runs demo --metric last --out last.csv.gz",
        ),
        "edgecil.analysis.sources:export_runs",
        lambda answer: (f"Runs: {answer}",),
        arguments=("source",),
        front=("out", "overwrite", "classifier", *_READING),
        plain=lambda answer: {"out": answer},
    ),
)
