"""Levels and grades: how surely something is said, and from how many runs at least."""

from __future__ import annotations

from typing import Literal

LEVEL = 0.95
"""Probability with which an interval contains what it is about, unless another is given."""
LEAST_RUNS = 3
"""Runs, or orders, below which there is neither an interval nor a verdict."""
LEAST_SHOWN = 5
"""Runs that say where the next one lies; fewer do where the accuracies of classes are known."""
CLEAR, LIKELY = 0.01, 0.05
"""p-values below which a difference is clear, and likely."""

Grade = Literal["clear", "likely", "cannot tell", "too few"]


def grade(p_value: float, runs: int) -> Grade:
    """Return how sure it is which of two methods is better, from the p-value and nothing else.

    Where an interval at 95 % belongs to the same test, it excludes 0 exactly if the grade is
    `likely` or `clear`; one at 99 % does if it is `clear`. Below three runs there is no verdict.

    >>> grade(0.0945, 5), grade(0.049, 5), grade(0.0099, 5), grade(0.001, 2)
    ('cannot tell', 'likely', 'clear', 'too few')
    """
    if runs < LEAST_RUNS:
        return "too few"
    if p_value < CLEAR:
        return "clear"
    return "likely" if p_value < LIKELY else "cannot tell"
