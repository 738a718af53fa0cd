"""The verbs of the laboratory: `python -m edgecil.lab …`."""

from __future__ import annotations

from typing import Any

from edgecil.cli.verb import Option, Verb, VerbGroup


def _leaderboard(
    *, source: list[str] | None = None, without_bundled: bool = False, **options: Any
) -> Any:
    from edgecil.lab import leaderboard

    return leaderboard(*(source or ()), bundled=not without_bundled, **options)


LAB_VERBS = VerbGroup(
    "what a student of protocols needs: which protocol comes closest to an enumerated truth",
    (
        Verb(
            "audit",
            "compare protocols and estimators with the truth of an experiment that ran every order",
            (
                "python -m edgecil.lab audit demo",
                "python -m edgecil.lab audit runs.csv --metric last --draws 200",
            ),
            "edgecil.lab._audit:audit",
            "edgecil.lab.section:show_audit",
            arguments=("source",),
        ),
        Verb(
            "calibrate",
            "judge the claims of analyze, compare, until and next on the bundled truth tables",
            (
                "python -m edgecil.lab calibrate --draws 20",
                "python -m edgecil.lab calibrate --draws 60 --write",
            ),
            "edgecil.lab.calibrate:check_claims",
            "edgecil.lab.calibrate:format_calibration",
        ),
        Verb(
            "leaderboard",
            "rank protocols and estimators on truth tables; nothing is trained",
            (
                "python -m edgecil.lab leaderboard --budgets 3,5,10",
                "python -m edgecil.lab leaderboard own.csv --own --protocol latin,edge --draws 50",
            ),
            "edgecil.lab._leaderboard:leaderboard",
            "edgecil.lab._leaderboard:leaderboard_tables",
            without=("bundled",),
            further=(
                Option(
                    "source",
                    "experiments or CSV files with every order",
                    metavar="SOURCE",
                    count="*",
                ),
                Option(
                    "without_bundled",
                    "use only these results, not the bundled truth tables",
                    "bool",
                    flag="own",
                ),
            ),
            call=_leaderboard,
        ),
        Verb(
            "orders",
            "show what class orders do to the learners of the bundled truth tables",
            ("python -m edgecil.lab orders", "python -m edgecil.lab orders --placebos 200"),
            "edgecil.lab.order_effects:order_effects",
            "edgecil.lab.order_effects:format_order_effects",
            without=("tables",),
        ),
        Verb(
            "runs",
            "write the runs of a bundled truth table to a CSV file, with the orders of RS and EDGE",
            (
                "python -m edgecil.lab runs quickdraw-6-first --out runs.csv",
                "python -m edgecil.lab runs caltech101-100 --out random.csv",
            ),
            "edgecil.lab.truth_runs:export_truth",
            lambda answer: (f"Runs: {answer}",),
            arguments=("table",),
        ),
    ),
)
