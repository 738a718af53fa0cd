"""The verbs about results: analyze, compare, next, report, export-runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgecil.cli.verb import Option, Verb, load
from edgecil.errors import UsageError

if TYPE_CHECKING:
    from edgecil.estimation import Analysis
    from edgecil.report.table import Table


def _show_analysis(answer: Analysis) -> Iterator[Table | str]:
    from edgecil.estimation.analysis import describe_dataset
    from edgecil.estimation.sentences import describe_overall
    from edgecil.report.narrative import headline, noise_sentences
    from edgecil.report.summary import rank
    from edgecil.report.table import latex_lines
    from edgecil.report.tables import terminal_tables

    for dataset in answer.datasets:
        yield f"{headline(dataset)}\n"
        yield "".join(f"{sentence}\n" for sentence in describe_dataset(dataset))
        if noise := noise_sentences(dataset, rank(dataset)):
            yield f"{' '.join(noise)}\n"
        yield from (tables := terminal_tables(dataset))
        yield "\n".join(["The first table in LaTeX:", *latex_lines(tables[0]), ""])
    yield from describe_overall(answer.over_datasets)


def _notes(analysis: Analysis) -> Iterator[str]:
    from edgecil.report.narrative import remarks, warnings

    for dataset in analysis.datasets:
        yield from (*warnings(dataset), *remarks(dataset))


def _show_comparison(answer: Any) -> Iterator[Table | str]:
    from edgecil.estimation.sentences import describe_comparison
    from edgecil.report.tables import differences_table

    yield differences_table(answer)
    yield from describe_comparison(answer)


def _next(*, out: str | None = None, **options: Any) -> dict[str, Any]:
    from edgecil.estimation.next_runs import next_runs

    datasets = next_runs(**options, out=out)
    return {"datasets": datasets, "out": out if datasets[0].orders else None}


def _show_next(answer: dict[str, Any]) -> Iterator[str]:
    from edgecil.cli.advice import explain_next

    return explain_next(answer["datasets"], answer["out"])


def _report(*, source: Any, watch: bool = False, **options: Any) -> Any:
    from edgecil.report.watch import watch_report
    from edgecil.report.write import write_report

    if not watch:
        return write_report(source, **options)
    if len(source) != 1:
        raise UsageError("A page is kept current for one experiment directory.")
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
        answer=lambda: load("edgecil.estimation.analysis:Analysis"),
    ),
    Verb(
        "compare",
        "compare methods on the class orders that they share",
        ("edgecil compare demo", "edgecil compare a.csv b.csv --method icarl,ewc --metric last"),
        "edgecil.estimation.comparison:compare",
        _show_comparison,
        arguments=("source",),
        answer=lambda: load("edgecil.estimation.comparison:MethodComparison"),
    ),
    Verb(
        "next",
        "suggest the class orders to run next, and estimate how much they narrow the interval",
        ("edgecil next demo", "edgecil next demo --target 0.5 --out next.json"),
        "edgecil.estimation.next_runs:next_runs",
        _show_next,
        arguments=("source",),
        call=_next,
        notes=lambda answer: (note for one in answer["datasets"] for note in one.notes),
        answer=lambda: {
            "datasets": list[load("edgecil.estimation.next_runs:NextRuns")],  # type: ignore[misc]
            "out": str | None,
        },
    ),
    Verb(
        "report",
        "write one HTML page, figures (SVG, PNG, PDF) and tables (CSV, Markdown, LaTeX)",
        ("edgecil report demo --watch", "edgecil report accuracies.csv --out report --open"),
        "edgecil.report.write:write_report",
        lambda answer: (f"Report: {page}" for page in answer.pages),
        arguments=("source",),
        without=("live",),
        further=(Option("watch", "keep the page current while the experiment runs", "bool"),),
        call=_report,
        notes=lambda answer: _notes(answer.analysis),
        plain=lambda answer: {"pages": answer.pages},
        answer=lambda: {"pages": list[Path]},
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
        answer=lambda: {"out": Path},
    ),
)
