"""Compute what share of a learner's variance is due to the class order, from the truth tables.

    python tools/order_shares.py

Uses every enumerated truth table in which a learner is trained at least twice on each order. Writes
src/edgecil/methods/order_share.json, which `edgecil methods` and `run` read, and the table in
docs/methods.md. Run it after the truth tables change; `tools/build_truths.py` does so itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

import edgecil
from edgecil.io.json import to_json
from edgecil.methods import get_method, method_names
from edgecil.methods.order_share import FILE, SCHEMA, OrderShare, OrderShares

COMMAND = "python tools/order_shares.py"
PAGE = Path(__file__).parents[1] / "docs" / "methods.md"
BEGIN, END = "<!-- order shares: tools/order_shares.py -->", "<!-- end of order shares -->"
DIGITS = 4
PACKAGE = "edgecil."  # other packages may register methods, too


def compute_shares(tables: Iterable[edgecil.TruthTable]) -> dict[str, OrderShare]:
    """Standard deviations due to the order and to training noise, pooled over tables, by method.

    The variance of the orders' means holds a part of the noise, which is subtracted.
    """
    orders: dict[str, list[float]] = {}
    noises: dict[str, list[float]] = {}
    for table in tables:
        for method in table.methods if table.kind == "enumerated" else ():
            accuracies = table.accuracies(method)
            repeats = len(accuracies)
            if repeats > 1:
                noise = float(accuracies.var(axis=0, ddof=1).mean())
                between = float(accuracies.mean(axis=0).var(ddof=1))
                noises.setdefault(method, []).append(noise)
                orders.setdefault(method, []).append(between - noise / repeats)
    return {
        method: OrderShare(
            round(max(0.0, float(np.mean(orders[method]))) ** 0.5, DIGITS),
            round(float(np.mean(noises[method])) ** 0.5, DIGITS),
            len(noises[method]),
        )
        for method in sorted(orders)
    }


def render_table(shares: dict[str, OrderShare]) -> str:
    """Markdown: a row per measured method, most of the order first, then what is missing."""
    lines = [
        "| method | std due to the order | training noise | share of the order | truth tables |",
        "|---|---|---|---|---|",
    ]
    for method, it in sorted(shares.items(), key=lambda item: -item[1].share):
        share = f"{100 * it.share:.0f} %"
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


def write_shares() -> dict[str, OrderShare]:
    """Compute the shares and write the file and the page."""
    shares = compute_shares(edgecil.truths())
    FILE.write_bytes(to_json(OrderShares(COMMAND, shares), SCHEMA, indent=2) + b"\n")
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(replace_table(page, render_table(shares)), encoding="utf-8")
    return shares


if __name__ == "__main__":
    print(render_table(write_shares()))
