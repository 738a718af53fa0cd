"""The options of an analysis, which `analyze` and `report` share; named as those of the API."""

from __future__ import annotations

import argparse


def add_analysis_options(parser: argparse.ArgumentParser) -> None:
    """What to analyse, and how."""
    parser.add_argument(
        "source",
        metavar="DIR | FILE",
        help="an experiment directory, a CSV file of accuracies, or a saved analysis",
    )
    parser.add_argument(
        "--metric", metavar="NAME", help="number of each run to analyse (default: accuracy)"
    )
    parser.add_argument(
        "--similarity",
        metavar="FILE",
        help="similarity of the classes (.npz, .npy, .csv; default: the experiment's own, for a "
        "CSV file that of the class names)",
    )
    parser.add_argument(
        "--predictor",
        metavar="NAME",
        help="an objective, a column of the CSV file, or 'pilot' (default: adjacent, i.e. S)",
    )
    parser.add_argument(
        "--pilot", metavar="DIR | FILE", help="cheap runs of the same methods, to predict with"
    )
    parser.add_argument(
        "--draws",
        type=int,
        metavar="n",
        help="how often the random part of a protocol is drawn (default: 2000)",
    )
