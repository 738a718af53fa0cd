"""The leaderboard of protocols and estimators as tables, one for each budget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from edgecil.io.csv_files import Cell
from edgecil.report.table import Column, Table, make_table

if TYPE_CHECKING:
    from edgecil.lab._leaderboard import Leaderboard
    from edgecil.lab.set_scores import Score

_COLUMNS = (
    "protocol",
    "estimator",
    Column("relative W₁", 2),
    "90 % interval",
    Column("W₁ in s", 3),
    Column("JSD", 3),
    Column("mean covered", 2),
    Column("std covered", 2),
    Column("range missed", 2),
    Column("ranking error", 2),
)


def leaderboard_tables(board: Leaderboard) -> Iterator[Table | str]:
    """Rows of each budget, closest to the truth first."""
    for budget in dict.fromkeys(row.budget for row in board.rows):
        rows = [
            (
                row.protocol,
                row.estimator,
                row.relative.mean,
                _interval(row.relative),
                row.wasserstein.mean,
                row.jsd.mean,
                _mean(row.mean_coverage),
                _mean(row.std_coverage),
                row.missed_range.mean,
                _mean(row.ranking_error),
            )
            for row in board.rows
            if row.budget == budget
        ]
        title, name = f"{budget} runs", f"leaderboard-{budget}"
        yield make_table(_COLUMNS, rows, title=title, name=name)
    yield (
        f"Means over {board.truths} truths on {len(board.tables)} tables in {board.sets} class "
        f"sets, {board.draws} draws of each protocol.\n"
        "relative W₁: distance to the truth as a multiple of that of random + gaussian-c4, with a "
        "90 % interval over class sets.\n"
        "W₁ in s: distance to the truth, in standard deviations of the truth.\n"
        "JSD: Jensen-Shannon divergence from the truth, in nats; 0 is equal, 0.69 the greatest.\n"
        "mean covered, std covered: share of draws whose 90 % interval contains the true value.\n"
        "range missed: share of the true range that is outside the estimated range.\n"
        "ranking error: mean number of places by which a method's rank is wrong."
    )


def _mean(score: Score | None) -> Cell:
    return None if score is None else score.mean


def _interval(score: Score) -> Cell:
    return None if score.low is None else f"{score.low:.2f} to {score.high:.2f}"
