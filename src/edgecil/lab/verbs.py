"""The verbs of the laboratory: `edgecil lab …`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from edgecil.cli.verb import Option, Verb, VerbGroup, load

if TYPE_CHECKING:
    from edgecil.lab import Audit
    from edgecil.report.table import Table


def _leaderboard(*, source: list[str] | None = None, own: bool = False, **options: Any) -> Any:
    from edgecil.lab import leaderboard

    return leaderboard(*(source or ()), bundled=not own, **options)


def _show_audit(answer: Audit) -> Iterator[Table | str]:
    from edgecil.lab.section import audit_tables, seen_by_random

    for dataset in answer.datasets:
        yield f"{dataset.dataset}: {seen_by_random(dataset)}\n"
        yield from audit_tables(dataset)


def _show_by(function: str) -> Callable[[Any], list[str]]:
    """Return what shows an answer as the text that a function makes of it."""
    return lambda answer: [f"{load(function)(answer)}\n"]


GROUP = VerbGroup(
    "what a student of protocols needs: which protocol comes closest to an enumerated truth",
    (
        Verb(
            "audit",
            "compare protocols and estimators with the truth of an experiment that ran every order",
            ("edgecil lab audit demo", "edgecil lab audit runs.csv --metric last --draws 200"),
            "edgecil.lab._audit:audit",
            _show_audit,
            arguments=("source",),
        ),
        Verb(
            "calibrate",
            "judge the claims of analyze, compare, until and next on the bundled truth tables",
            ("edgecil lab calibrate --draws 20", "edgecil lab calibrate --draws 60 --write"),
            "edgecil.lab.calibrate:check_claims",
            _show_by("edgecil.lab.calibrate:format_calibration"),
        ),
        Verb(
            "leaderboard",
            "rank protocols and estimators on truth tables; nothing is trained",
            (
                "edgecil lab leaderboard --budgets 3,5,10",
                "edgecil lab leaderboard own.csv --own --protocol latin,edge --draws 50",
            ),
            "edgecil.lab._leaderboard:leaderboard",
            lambda answer: load("edgecil.lab._leaderboard:leaderboard_tables")(answer),
            without=("sources", "bundled"),
            further=(
                Option(
                    "source",
                    "experiments or CSV files with every order",
                    metavar="SOURCE",
                    count="*",
                ),
                Option("own", "use only these results, not the bundled truth tables", "bool"),
            ),
            call=_leaderboard,
        ),
        Verb(
            "orders",
            "show what class orders do to the learners of the bundled truth tables",
            ("edgecil lab orders", "edgecil lab orders --placebos 200"),
            "edgecil.lab.order_effects:order_effects",
            _show_by("edgecil.lab.order_effects:format_order_effects"),
            without=("tables",),
        ),
    ),
)
