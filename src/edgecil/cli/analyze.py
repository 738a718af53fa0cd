"""`edgecil analyze`: what the accuracies of some class orders say about all of them."""

from __future__ import annotations

import argparse
from typing import Any

from edgecil.cli.options import add_analysis
from edgecil.cli.output import console, note, print_json, print_line

NAME = "analyze"
HELP = "estimate the accuracy over all class orders; compare methods and protocols"
EXAMPLES = ("edgecil analyze demo", "edgecil analyze accuracies.csv --metric last --json")


def configure(parser: argparse.ArgumentParser) -> None:
    """What to analyse, and how."""
    add_analysis(parser)
    parser.add_argument("--csv", metavar="FILE", help="also write the runs to a CSV file")


def run(*, json: bool, source: list[str], csv: str | None = None, **options: Any) -> None:
    """Print the tables of every dataset, and its warnings on stderr."""
    import edgecil
    from edgecil.estimation.analysis import SCHEMA
    from edgecil.estimation.sources import export_runs
    from edgecil.io.json import to_plain
    from edgecil.report.narrative import headline, warnings
    from edgecil.report.table import as_text
    from edgecil.report.tables import terminal_tables

    if csv is not None:
        chosen = {name: options[name] for name in ("metric", "classifier") if name in options}
        for sentence in export_runs(source, csv, **chosen):
            note(sentence)
    analysis = edgecil.analyze(source if len(source) > 1 else source[0], **options)
    if json:
        print_json({"schema": SCHEMA, **to_plain(analysis)})
    for dataset in analysis.datasets:
        if not json:
            print_line(f"{headline(dataset)}\n", style="bold")
            for table in terminal_tables(dataset):
                print(as_text(table, console().width))
        for sentence in warnings(dataset):
            note(sentence)
