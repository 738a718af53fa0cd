"""The verbs that compare methods and say what to run next: compare, next."""

from __future__ import annotations

from typing import Any

from edgecil.cli.verb import Option, Verb
from edgecil.report.claim_tables import differences_table, explain_differences, explain_next


def _compare(*, source: list[str], **options: Any) -> Any:
    import edgecil

    return edgecil.compare(source, **options)


def _next(*, source: list[str], out: str | None = None, **options: Any) -> dict[str, Any]:
    import edgecil

    datasets = edgecil.next_runs(source, **options)
    if out is not None:
        datasets[0].save(out)
    return {"datasets": datasets, "out": out}


VERBS = (
    Verb(
        "compare",
        "compare methods on the class orders that they share",
        ("edgecil compare demo", "edgecil compare a.csv b.csv --methods icarl,ewc --metric last"),
        {"": ("<source...> methods metric classifier",)},
        _compare,
        lambda answer: (differences_table(answer), *explain_differences(answer)),
        api="edgecil.estimation.compare:compare",
    ),
    Verb(
        "next",
        "say which class orders to run next, and what they would buy",
        ("edgecil next demo", "edgecil next demo --target 0.5 --out next.json"),
        {
            "": (
                "<source...> target metric seed",
                Option("out", "FILE", "write the orders, for edgecil run --sequences FILE"),
            )
        },
        _next,
        lambda answer: explain_next(answer["datasets"]),
        api="edgecil.estimation.next_runs:next_runs",
    ),
)
