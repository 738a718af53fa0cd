"""The page docs/evidence/leaderboard.md: protocols and estimators on the bundled truth tables.

    python benchmarks/protocols.py [--draws 20] [--budgets 3 5 10 30]
    python benchmarks/protocols.py --default [--draws 200]

Prints one Markdown table per budget. `--default` prints W₁ of random orders with the default
estimate as a multiple of W₁ of random orders with `gaussian-c4`, by scale. Nothing is trained.
"""

from __future__ import annotations

import argparse

from edgecil import lab
from edgecil.lab._leaderboard import BUDGETS, leaderboard_tables
from edgecil.report.table import as_markdown


def show_default(draws: int, budgets: list[int]) -> None:
    """Print the ratio for every scale and budget, with its interval over class sets."""
    board = lab.leaderboard(protocol=[], estimators=["smoothed"], draws=draws, budgets=budgets)
    print(f"| classes | {' | '.join(f'{budget} runs' for budget in budgets)} |")
    print(f"|---|{'---|' * len(budgets)}")
    for scale in dict.fromkeys(row.scale for row in board.rows):
        cells = []
        for budget in budgets:
            one = board.row("random", "smoothed", budget, scale).relative
            between = "" if one.low is None else f" ({one.low:.2f} to {one.high:.2f})"
            cells.append(f"{one.mean:.3f}{between}")
        print(f"| {scale} | {' | '.join(cells)} |")


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--draws", type=int)
    parser.add_argument("--budgets", type=int, nargs="+", default=list(BUDGETS))
    parser.add_argument("--default", action="store_true")
    asked = parser.parse_args()
    if asked.default:
        show_default(asked.draws or 200, asked.budgets)
        return
    for part in leaderboard_tables(lab.leaderboard(draws=asked.draws or 20, budgets=asked.budgets)):
        print(part if isinstance(part, str) else as_markdown(part))


if __name__ == "__main__":
    main()
