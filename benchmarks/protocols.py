"""The leaderboard of docs/leaderboard.md: protocols and estimators on the bundled truth tables.

    python benchmarks/protocols.py [--draws 60] [--budgets 3 5 10 30]

Prints one Markdown table per budget. It takes about two minutes of CPU and trains nothing.
"""

from __future__ import annotations

import argparse

import edgecil
from edgecil.estimation.leaderboard import BUDGETS
from edgecil.report.leaderboard_table import leaderboard_tables
from edgecil.report.table import as_markdown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=60)
    parser.add_argument("--budgets", type=int, nargs="*", default=BUDGETS)
    options = parser.parse_args()
    board = edgecil.leaderboard(budgets=options.budgets, draws=options.draws)
    print(f"{board.truths} truths, {board.sets} class sets: {', '.join(board.tables)}\n")
    for table in leaderboard_tables(board):
        print(table if isinstance(table, str) else as_markdown(table), flush=True)


if __name__ == "__main__":
    main()
