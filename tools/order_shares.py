"""Compute what share of a learner's variance is due to the class order.

    python tools/order_shares.py [DIRECTORY …]

Uses every enumerated truth table in which a learner is trained at least twice on each order, and
experiments with such repeats for methods that no truth table has (those stored before are kept).
Writes src/edgecil/methods/order_share.json, which `edgecil list methods` and `run` read, and the
table in docs/methods.md. Run it after the truth tables change; `tools/build_truths.py` does so.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import edgecil
from edgecil import lab
from edgecil.io.json import to_json
from edgecil.methods import get_method, method_names
from edgecil.methods.order_share import FILE, SCHEMA, OrderShare, OrderShares, stored_shares

COMMAND = "python tools/order_shares.py"
PAGE = Path(__file__).parents[1] / "docs" / "methods.md"
BEGIN, END = "<!-- order shares: tools/order_shares.py -->", "<!-- end of order shares -->"
DIGITS = 4
PACKAGE = "edgecil."  # other packages may register methods, too


def compute_shares(tables: Iterable[lab.TruthTable]) -> dict[str, OrderShare]:
    """Shares of order and noise in truth tables, by method."""
    accuracies: dict[str, list[NDArray[np.float64]]] = {}
    for table in tables:
        for method in table.methods if table.kind == "enumerated" else ():
            accuracies.setdefault(method, []).append(table.accuracies(method))
    return _pooled(accuracies)


def shares_of_experiment(directory: str) -> dict[str, OrderShare]:
    """Shares of order and noise in an experiment with repeats of every order, by method."""
    runs: dict[str, dict[int, dict[str, float]]] = {}
    for result in edgecil.Experiment.open(directory).results():
        seeds = runs.setdefault(result.method, {})
        seeds.setdefault(result.seed, {})[str(result.sequence)] = result.accuracy
    return _pooled(
        {
            method: [np.array([list(dict(sorted(row.items())).values()) for row in seeds.values()])]
            for method, seeds in runs.items()
        }
    )


def _pooled(tables: dict[str, list[NDArray[np.float64]]]) -> dict[str, OrderShare]:
    """Pool accuracies (repeats, orders) over the tables of each method that have repeats.

    The variance of the orders' means holds a part of the noise, which is subtracted.
    """
    shares = {}
    for method in sorted(tables):
        repeated = [accuracies for accuracies in tables[method] if len(accuracies) > 1]
        if repeated:
            noises = [float(one.var(axis=0, ddof=1).mean()) for one in repeated]
            orders = [
                float(one.mean(axis=0).var(ddof=1)) - noise / len(one)
                for one, noise in zip(repeated, noises, strict=True)
            ]
            shares[method] = OrderShare(
                round(max(0.0, float(np.mean(orders))) ** 0.5, DIGITS),
                round(float(np.mean(noises)) ** 0.5, DIGITS),
                len(repeated),
            )
    return shares


def render_table(shares: dict[str, OrderShare]) -> str:
    """Markdown: a row per measured method, most of the order first, then what is missing."""
    lines = [
        "| method | std due to the order | training noise | share of the order | sets of classes |",
        "|---|---|---|---|---|",
    ]
    for method, it in sorted(shares.items(), key=lambda item: -item[1].share):
        share = "nothing varies" if it.per_cent is None else f"{it.per_cent} %"
        lines.append(
            f"| {method} | {it.order_std:.2f} | {it.noise_std:.2f} | {share} | {it.tables} |"
        )
    own = [name for name in method_names() if get_method(name).build.__module__.startswith(PACKAGE)]
    missing = [f"`{name}`" for name in sorted(own) if name not in shares]
    if missing:
        lines += ["", f"Not measured yet: {', '.join(missing)}."]
    return "\n".join(lines)


def replace_table(page: str, table: str) -> str:
    """Return a page with another table between its two marks."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def write_shares(directories: Iterable[str] = ()) -> dict[str, OrderShare]:
    """Compute the shares and write the file and the page."""
    methods, others = compute_shares(lab.truths()), dict(stored_shares().others)
    for directory in directories:
        others |= shares_of_experiment(directory)
    others = {name: others[name] for name in sorted(others) if name not in methods}
    stored = OrderShares(COMMAND, methods, others)
    FILE.write_bytes(to_json(stored, SCHEMA, indent=2) + b"\n")
    page = PAGE.read_text(encoding="utf-8")
    shares = {**others, **methods}
    PAGE.write_text(replace_table(page, render_table(shares)), encoding="utf-8")
    return shares


if __name__ == "__main__":
    print(render_table(write_shares(sys.argv[1:])))
