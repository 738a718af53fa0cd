"""The verbs that compare: methods (compare, next) and protocols on truth tables (leaderboard)."""

from __future__ import annotations

from typing import Any

from edgecil.cli.output import note
from edgecil.cli.verb import OVERWRITE, Option, Verb, calling, names
from edgecil.lab.leaderboard_table import leaderboard_tables
from edgecil.report.claim_tables import differences_table, explain_next


def _comparison(answer: Any) -> Any:
    from edgecil.estimation.sentences import explain_differences  # loads SciPy

    return differences_table(answer), *explain_differences(answer)


def _next(*, out: str | None = None, **options: Any) -> dict[str, Any]:
    import edgecil

    datasets = edgecil.next_runs(**options, out=out)
    return {"datasets": datasets, "out": out if datasets[0].orders else None}


def _leaderboard(*, source: list[str] | None = None, own: bool = False, **options: Any) -> Any:

    from edgecil import lab

    if not own and options.keys().isdisjoint(("draws", "budgets", "protocol", "estimators")):
        hint = "This takes about two minutes; fewer --draws, --budgets or --protocol take less."
        options["on_start"] = lambda truths: note(hint)
    return lab.leaderboard(*(source or ()), bundled=not own, **options)


_OUT = Option("out", "FILE", "write the orders to this file, for 'edgecil run --sequences'")
VERBS = (
    Verb(
        "compare",
        "compare methods on the class orders that they share",
        ("edgecil compare demo", "edgecil compare a.csv b.csv --method icarl,ewc --metric last"),
        {"": ("<source...> method metric classifier",)},
        calling("compare"),
        _comparison,
        api="edgecil.estimation.compare:compare",
    ),
    Verb(
        "next",
        "suggest the class orders to run next, and estimate how much they narrow the interval",
        ("edgecil next demo", "edgecil next demo --target 0.5 --out next.json"),
        {"": ("<source...> target metric classifier order_seed", _OUT, OVERWRITE)},
        _next,
        lambda answer: explain_next(
            answer["datasets"], answer["out"], lambda name: f"--{name.replace('_', '-')}"
        ),
        api="edgecil.estimation.next_runs:next_runs",
    ),
    Verb(
        "leaderboard",
        "rank protocols and estimators on truth tables; nothing is trained",
        (
            "edgecil leaderboard --budgets 3,5,10",
            "edgecil leaderboard own.csv --own --protocol latin,edge --draws 50",
        ),
        {
            "": (
                Option("source", "SOURCE", "experiments or CSV files with every order", place="*"),
                Option("own", "", "use only these results, not the bundled truth tables"),
                Option("protocol", "A,B,…", "protocols to rank", names),
                Option("estimators", "A,B,…", "estimators to rank (default: all)", names),
                "budgets draws metric draw_seed",
            ),
        },
        _leaderboard,
        leaderboard_tables,
        api="edgecil.lab._leaderboard:leaderboard",
    ),
)
