"""The verbs about results: analyze, report, rank, paper-tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from edgecil.cli.verb import OVERWRITE, Option, Verb, calling, names
from edgecil.report.table import Table

if TYPE_CHECKING:
    from edgecil import Analysis


def _show_analysis(answer: Analysis) -> Iterator[Table | str]:
    from edgecil.estimation.summary import summaries
    from edgecil.report.narrative import headline, noise_sentences
    from edgecil.report.tables import terminal_tables

    for dataset in answer.datasets:
        yield f"{headline(dataset)}\n"
        yield "".join(f"{name}: {method.answer}\n" for name, method in dataset.methods.items())
        if noise := noise_sentences(dataset, summaries(dataset)):
            yield f"{' '.join(noise)}\n"
        yield from terminal_tables(dataset)


def _notes(analysis: Analysis) -> Iterator[str]:
    from edgecil.report.narrative import remarks, warnings

    for dataset in analysis.datasets:
        yield from (*warnings(dataset), *remarks(dataset))


def _show_rankings(answer: dict[str, Any]) -> Iterator[Table]:
    from edgecil.report.answer_tables import ranking_tables

    for ranking in answer["rankings"]:
        yield from ranking_tables(ranking)


_OPTIONS = "metric classifier similarity predictor"
VERBS = (
    Verb(
        "analyze",
        "say what may be claimed about each method over all class orders; compare methods",
        ("edgecil analyze demo", "edgecil analyze accuracies.csv --metric last --json"),
        {
            "": ("<source...>",),
            "analysis": (_OPTIONS,),
        },
        calling("analyze"),
        _show_analysis,
        api="edgecil.estimation.analyze:analyze",
        notes=_notes,
    ),
    Verb(
        "export-runs",
        "write the runs of experiments to a CSV file, which 'edgecil analyze' reads",
        (
            "edgecil export-runs demo --out accuracies.csv",
            "edgecil export-runs demo --metric last --out last.csv.gz",
        ),
        {"": ("<source...> out metric classifier", OVERWRITE)},
        calling("export_runs", "out"),
        lambda answer: (f"Runs: {answer['out']}",),
        api="edgecil.estimation.sources:export_runs",
    ),
    Verb(
        "report",
        "write one HTML page, figures (SVG, PNG, PDF) and tables (CSV, Markdown, LaTeX)",
        ("edgecil report demo", "edgecil report accuracies.csv --out report --open"),
        {
            "": (
                "<source...>",
                Option("out", "DIR", "folder to write to (default: report/ in the experiment)"),
                Option("metrics", "A,B,…", "further metrics that the page can switch to", names),
                Option("open", "", "open the pages in the web browser"),
            ),
            "analysis": (_OPTIONS,),
        },
        calling("write_report"),
        lambda answer: (f"Report: {page}" for page in answer.pages),
        api="edgecil.estimation.analyze:analyze",
        notes=lambda answer: _notes(answer.analysis),
        plain=lambda answer: {"pages": answer.pages},
    ),
    Verb(
        "rank",
        "rank methods by published summaries (no sequences), and compare the protocols",
        ("edgecil rank paper-rankings", "edgecil rank published.csv --json"),
        {"": ("<source>",)},
        calling("rank", "rankings", "edgecil.paper"),
        _show_rankings,
        api="edgecil.paper.published:rank",
    ),
    Verb(
        "paper-tables",
        "print LaTeX tables in the layout of the EDGE paper",
        (
            "edgecil paper-tables demo",
            "edgecil paper-tables demo --out tex --wasserstein-order 2 --bits",
        ),
        {
            "": (
                "<source...>",
                Option("out", "DIR", "also write each table to this folder, as paper-NAME.tex"),
                OVERWRITE,
                Option("protocol", "A,B,…", "protocols to compare (default: random,edge)", names),
                Option("estimator", "NAME", "estimator for every protocol (default: gaussian)"),
                Option("wasserstein_order", "N", "1 for the distance W₁ (default), 2 for W₂", int),
                Option("bits", "", "give the JSD in bits instead of nats"),
            ),
            "analysis": ("metric classifier",),
        },
        calling("paper_tables", "tables", "edgecil.paper"),
        lambda answer: answer["tables"].values(),
        api="edgecil.estimation.analyze:analyze",
    ),
)
