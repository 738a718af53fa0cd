"""The verb about truth tables: leaderboard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from edgecil.cli.verb import Option, Verb, names
from edgecil.report.table import Table

if TYPE_CHECKING:
    from edgecil.estimation.leaderboard import Leaderboard


def _leaderboard(*, source: list[str] | None = None, own: bool = False, **options: Any) -> Any:
    import edgecil

    return edgecil.leaderboard(*(source or ()), bundled=not own, **options)


def _show(answer: Leaderboard) -> Iterator[Table | str]:
    from edgecil.report.leaderboard_table import leaderboard_tables

    yield from leaderboard_tables(answer)
    yield (
        f"Means over {answer.truths} truths on {len(answer.tables)} tables in {answer.sets} class "
        f"sets, {answer.draws} draws of each protocol.\n"
        "relative W₁: distance to the truth as a multiple of that of random + gaussian-c4, with a "
        "90 % interval over class sets."
    )


VERBS = (
    Verb(
        "leaderboard",
        "rank protocols and estimators on truth tables; nothing is trained",
        (
            "edgecil leaderboard --budgets 3,5,10",
            "edgecil leaderboard own.csv --own --protocols latin,edge --draws 50",
        ),
        {
            "": (
                Option(
                    "source",
                    "SOURCE",
                    "your own truths: CSV files or experiment directories with every class order",
                    place="*",
                ),
                Option("own", "", "use your own truths only, not those that come with edgecil"),
                Option("protocols", "A,B,…", "names of protocols", names),
                Option("estimators", "A,B,…", "names of estimators (default: all)", names),
                "budgets draws metric seed",
            ),
        },
        _leaderboard,
        _show,
        api="edgecil.estimation.leaderboard:leaderboard",
    ),
)
