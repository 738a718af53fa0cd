"""`edgecil status`: how far an experiment is."""

from __future__ import annotations

import argparse

from edgecil.cli.output import note, print_json, print_line, print_table

NAME = "status"
HELP = "show how far an experiment is, and which trainings failed"
EXAMPLES = ("edgecil status demo", "edgecil status demo --json")


def configure(parser: argparse.ArgumentParser) -> None:
    """Which experiment."""
    parser.add_argument("directory", metavar="DIR", help="the experiment's directory")


def run(*, json: bool, directory: str) -> None:
    """Print finished and planned runs by method and protocol."""
    from edgecil.cli.answers import Failed, Status
    from edgecil.engine import Experiment

    status = Experiment.open(directory).status()
    if json:
        print_json(
            Status(
                directory=str(status.directory),
                complete=status.complete,
                tasks=status.tasks,
                parts=list(status.parts),
                failures=[Failed.of(failure) for failure in status.failures],
            )
        )
        return
    columns = ("method", "protocol", "finished", "planned", "failed")
    rows = [
        (part.method, part.protocol, str(part.finished), str(part.planned), str(part.failed))
        for part in status.parts
    ]
    print_table(columns, rows, right=columns[2:])
    print_line(f"{status.finished} of {status.planned} runs, {status.tasks} trained tasks")
    for failure in status.failures:
        note(str(failure))
