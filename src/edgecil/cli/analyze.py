"""`edgecil analyze`: what the accuracies of some class orders say about all of them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from edgecil.cli.analysis_options import add_analysis_options
from edgecil.cli.output import console, note, print_json, print_line
from edgecil.errors import EdgecilError

if TYPE_CHECKING:
    from edgecil.engine.accuracies import Run

NAME = "analyze"
HELP = "estimate the accuracy over all class orders, compare methods and protocols"
EXAMPLES = ("edgecil analyze runs/demo", "edgecil analyze accuracies.csv --json")


def configure(parser: argparse.ArgumentParser) -> None:
    """What to analyse, and how."""
    add_analysis_options(parser)
    parser.add_argument("--csv", metavar="FILE", help="also write the runs to a CSV file")


def run(*, json: bool, source: str, csv: str | None = None, **options: Any) -> None:
    """Print the tables of every dataset, and on stderr its warnings."""
    from edgecil.estimation.analyze import analyze
    from edgecil.io.json import to_plain
    from edgecil.report.narrative import headline, warnings
    from edgecil.report.table import as_text
    from edgecil.report.tables import terminal_tables

    if csv is not None:
        _export(source, csv)
    analysis = analyze(source, **options)
    if json:
        print_json({"datasets": [to_plain(dataset) for dataset in analysis.datasets]})
    for dataset in analysis.datasets:
        if not json:
            print_line(f"{headline(dataset)}\n", style="bold")
            for table in terminal_tables(dataset):
                print(as_text(table, console().width))
        for sentence in warnings(dataset):
            note(sentence)


def _export(source: str, path: str) -> None:
    """Write the runs with the ids that their classes have in the dataset."""
    from edgecil.classes import get_classes
    from edgecil.engine.accuracies import read_accuracies, write_accuracies

    runs: list[Run] = []
    for table in read_accuracies(source):
        numbered = table
        if table.names is not None:
            try:
                numbered = table.numbered_by(get_classes(table.dataset).labels)
            except EdgecilError as error:
                note(
                    f"The class ids in {path} are those of the experiment, 0 to "
                    f"{len(table.names) - 1}, because the dataset's labels are not known: {error}"
                )
        runs += numbered.runs
    write_accuracies(runs, path)
