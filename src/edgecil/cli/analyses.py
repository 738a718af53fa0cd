"""The verbs about results: analyze, report, rank, paper-tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from edgecil.cli.output import note
from edgecil.cli.verb import Option, Verb, names, pick
from edgecil.report.table import Table

if TYPE_CHECKING:
    from edgecil import Analysis


def _analyze(*, source: list[str], csv: str | None = None, **options: Any) -> Analysis:
    import edgecil

    if csv is not None:
        for sentence in edgecil.export_runs(source, csv, **pick({**options}, "metric classifier")):
            note(sentence)
    analysis = edgecil.analyze(source if len(source) > 1 else source[0], **options)
    _note_warnings(analysis)
    return analysis


def _show_analysis(answer: Analysis) -> Iterator[Table | str]:
    from edgecil.report.narrative import headline
    from edgecil.report.tables import terminal_tables

    for dataset in answer.datasets:
        yield f"{headline(dataset)}\n"
        yield "".join(f"{name}: {method.answer}\n" for name, method in dataset.methods.items())
        yield from terminal_tables(dataset)


def _report(*, source: list[str], open: bool = False, **options: Any) -> dict[str, Any]:
    import edgecil

    report = edgecil.write_report(source if len(source) > 1 else source[0], **options)
    if open:
        report.open()
    _note_warnings(report.analysis)
    return {"pages": report.pages}


def _note_warnings(analysis: Analysis) -> None:
    from edgecil.report.narrative import warnings

    for dataset in analysis.datasets:
        for sentence in warnings(dataset):
            note(sentence)


def _rank(*, source: str) -> dict[str, Any]:
    import edgecil

    return {"rankings": edgecil.rank(source)}


def _show_rankings(answer: dict[str, Any]) -> Iterator[Table]:
    from edgecil.report.answer_tables import ranking_tables

    for ranking in answer["rankings"]:
        yield from ranking_tables(ranking)


def _paper_tables(*, source: list[str], **options: Any) -> dict[str, Any]:
    import edgecil

    tables = edgecil.paper_tables(source if len(source) > 1 else source[0], **options)
    return {"tables": tables}


_OPTIONS = "metric classifier similarity predictor pilot draws seed"
VERBS = (
    Verb(
        "analyze",
        "estimate the accuracy over all class orders; compare methods and protocols",
        ("edgecil analyze demo", "edgecil analyze accuracies.csv --metric last --json"),
        {
            "": ("<source...>", Option("csv", "FILE", "also write the runs to a CSV file")),
            "analysis": (_OPTIONS,),
        },
        _analyze,
        _show_analysis,
        api="edgecil.estimation.analyze:analyze",
    ),
    Verb(
        "report",
        "write one HTML page, figures (SVG, PNG, PDF) and tables (CSV, Markdown, LaTeX)",
        ("edgecil report demo", "edgecil report accuracies.csv --out report --open"),
        {
            "": (
                "<source...>",
                Option("out", "DIR", "folder of the report (default: report/ in the experiment)"),
                Option("open", "", "show the pages in the web browser"),
            ),
            "analysis": (_OPTIONS,),
        },
        _report,
        lambda answer: (f"Report: {page}" for page in answer["pages"]),
        api="edgecil.estimation.analyze:analyze",
    ),
    Verb(
        "rank",
        "rank methods by published summaries (no sequences), and compare the protocols",
        ("edgecil rank paper-rankings", "edgecil rank published.csv --json"),
        {"": ("<source>",)},
        _rank,
        _show_rankings,
        api="edgecil.estimation.published:rank",
    ),
    Verb(
        "paper-tables",
        "print LaTeX tables in the layout of the EDGE paper",
        ("edgecil paper-tables demo", "edgecil paper-tables demo --out tex --order 2 --bits"),
        {
            "": (
                "<source...>",
                Option("out", "DIR", "folder to write the tables to, as paper-NAME.tex"),
                Option("protocols", "A,B,…", "what to compare (default: random,edge)", names),
                Option("estimator", "NAME", "of every protocol (default: gaussian)"),
                Option("order", "N", "1 for W₁ (default), 2 for W₂", int),
                Option("bits", "", "JSD in bits in place of nats"),
            ),
            "analysis": (_OPTIONS,),
        },
        _paper_tables,
        lambda answer: answer["tables"].values(),
        api="edgecil.estimation.analyze:analyze",
    ),
)
