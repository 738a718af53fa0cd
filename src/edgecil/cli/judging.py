"""Reading and judging accuracies, which `estimate` and `report` share."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from edgecil.cli.known_similarities import find_similarities, tell_source
from edgecil.errors import UsageError

if TYPE_CHECKING:
    from edgecil.estimation import AccuracyTable, DatasetAnalysis, Predictor
    from edgecil.report.evidence import Journal


@dataclass(frozen=True, eq=False)
class Judged:
    """One dataset of a source.

    Attributes:
        table: its runs, classes numbered 0 … N-1.
        judgement: what is said of them.
        predictor: the one that estimates use, where it is the same for every method.
        origin: what S comes from, in a few words; None where it is not known.
        journal: what the run directory remembers beside; empty for a file.
        remarks: what was left out, and why.
    """

    table: AccuracyTable
    judgement: DatasetAnalysis
    predictor: Predictor | None
    origin: str | None
    journal: Journal
    remarks: tuple[str, ...]


def add_judging_options(parser: argparse.ArgumentParser) -> None:
    """Where the accuracies are, and what to predict them with."""
    parser.add_argument(
        "source",
        metavar="DIR | FILE.csv",
        help="a run directory, or method,dataset,protocol,label,sequence,seed,accuracy",
    )
    parser.add_argument(
        "--similarity",
        metavar="FILE",
        help="of the classes: .npz, .npy or .csv (default: the run's own; of a CSV's class names)",
    )
    parser.add_argument(
        "--classes-seed",
        type=int,
        metavar="S",
        help="the CSV's classes were drawn from the dataset with this seed, as 'run' does it",
    )
    parser.add_argument(
        "--root", metavar="DIR", help="the dataset's images, to correlate with their prototypes too"
    )
    parser.add_argument(
        "--predictor",
        metavar="NAME",
        default="adjacent",
        help="an objective (default: adjacent, the paper's S), a column of the CSV, or pilot",
    )
    parser.add_argument(
        "--pilot", metavar="DIR | FILE.csv", help="cheap runs of the same methods, to predict with"
    )
    parser.add_argument(
        "--draws",
        type=int,
        default=2000,
        metavar="n",
        help="how often a protocol's random part is drawn again; where there are no more possible "
        "draws than that, each is made once (default: %(default)s)",
    )


def judge_source(args: argparse.Namespace) -> list[Judged]:
    """Judge every dataset of the source."""
    from edgecil.estimation import analyze_table, read_accuracies
    from edgecil.estimation.analyze_table import build_predictors
    from edgecil.report.evidence import Journal, read_journal

    found = []
    tables = read_accuracies(args.source)
    journal = read_journal(args.source) if Path(args.source).is_dir() else Journal()
    for table in tables:
        remarks: list[str] = []
        similarities = find_similarities(args, table, journal.configs, remarks)
        judgement = analyze_table(
            table,
            similarities=similarities,
            predictor=args.predictor,
            pilot=_pilot(args, table),
            draws=args.draws,
        )
        plain = table.renumbered()
        predictor = build_predictors(plain, similarities, args.predictor).get(args.predictor)
        told = (*remarks, *judgement.notes)
        origin = next(map(tell_source, similarities.values()), None)
        found.append(Judged(plain, judgement, predictor, origin, journal, told))
    return found


def _pilot(args: argparse.Namespace, table: AccuracyTable) -> AccuracyTable | None:
    """The pilot's runs of the same dataset."""
    from edgecil.estimation import read_accuracies

    if args.pilot is None:
        if args.predictor == "pilot":
            raise UsageError("Predictor 'pilot' needs the pilot's runs; give --pilot DIR or FILE.")
        return None
    pilots = {pilot.dataset: pilot for pilot in read_accuracies(args.pilot)}
    if table.dataset not in pilots:
        raise UsageError(f"The pilot {args.pilot} has no runs of {table.dataset!r}.")
    return pilots[table.dataset]
