"""`edgecil report`: one HTML page, figures and tables from accuracies."""

from __future__ import annotations

import argparse
from typing import Any

from edgecil.cli.options import add_analysis
from edgecil.cli.output import console, note, print_json, print_line

NAME = "report"
HELP = "write one HTML page, figures (SVG, PNG, PDF) and tables (CSV, Markdown, LaTeX)"
EXAMPLES = ("edgecil report demo", "edgecil report accuracies.csv --out report")


def configure(parser: argparse.ArgumentParser) -> None:
    """What to report on, and where the report goes."""
    add_analysis(parser)
    parser.add_argument(
        "--out", metavar="DIR", help="folder of the report (default: report/ in the experiment)"
    )


def run(*, json: bool, source: list[str], **options: Any) -> None:
    """Write the report and print the short answer."""
    import edgecil
    from edgecil.cli.answers import Report
    from edgecil.report.narrative import warnings
    from edgecil.report.table import as_text
    from edgecil.report.tables import summary_table

    report = edgecil.write_report(source if len(source) > 1 else source[0], **options)
    if json:
        print_json(Report(pages=[str(page) for page in report.pages]))
    for page, dataset in zip(report.pages, report.analysis.datasets, strict=True):
        if not json:
            print(as_text(summary_table(dataset), console().width))
            print_line(f"Report: {page}")
        for sentence in warnings(dataset):
            note(sentence)
