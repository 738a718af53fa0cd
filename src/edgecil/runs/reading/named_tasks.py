"""Orders of given tasks, as a column names them: what the orders of a table arrange."""

from __future__ import annotations

import re
from collections.abc import Sequence

from edgecil.runs.run_table import Arranged
from edgecil.sequences.sequence import ClassSequence

_SEPARATORS = (r"\s*(?:->|→|>|\||;)\s*", r"\s*,\s*", r"\s+")


def parse_task_order(text: str, names: Sequence[str]) -> ClassSequence | None:
    """Return an order of given tasks, each a class of its own; None if a text names other tasks.

    >>> parse_task_order("news -> reviews, old", ["reviews, old", "news"])
    <ClassSequence 1|0>
    >>> parse_task_order("Order-1", ["reviews", "news"]) is None
    True
    """
    number_of = {name.casefold(): number for number, name in enumerate(names)}
    for separator in _SEPARATORS:
        parts = [part.strip(" []()'\"").casefold() for part in re.split(separator, text)]
        if sorted(parts) == sorted(number_of):
            return ClassSequence([[number_of[part]] for part in parts])
    return None


def what_orders_arrange(column: str, names: Sequence[str]) -> Arranged:
    """Return what the orders of a column without sequences arrange, as far as its name says.

    >>> [what_orders_arrange(column, ()) for column in ("order_seed", "class order", "Task-Order")]
    ['classes', 'classes', 'tasks']
    >>> [what_orders_arrange("order", names) for names in ((), ("news", "reviews"))]
    ['unknown', 'tasks']
    """
    if names or "task" in column.lower():
        return "tasks"
    says_class = "class" in column.lower() or column.lower().endswith("seed")
    return "classes" if says_class else "unknown"
