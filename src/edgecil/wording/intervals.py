"""Intervals in words: a textbook's name where it is that, else what moved it from there."""

from __future__ import annotations

_TEXTBOOK = {
    "student": "Student's t",
    "welch": "Welch's t",
    "constant": "Student's t, against a constant",
}
_MOVED = {
    "nearly equal": "wider than Student's t: {count} nearly equal {unit}s",
    "large spread": "narrower than Student's t: a spread beyond that of accuracies",
    "outliers": "wider than Student's t: an outlier among the {unit}s",
    "classes": "not Student's t alone: accuracies of single classes show the spread, too",
    "repeats": "not Student's t alone: orders and trainings are separated",
    "shared seed": "wider than Student's t: all orders share a training seed",
    "combined": "wider than Welch's t: nearly equal {unit}s",
    "anytime": "valid after every {unit}",
}
_SURPRISING = ("nearly equal", "large spread", "outliers", "combined", "anytime", "constant")
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def basis_words(basis: str, count: int, unit: str) -> str:
    """Return what an interval is: `Student's t`, or what moved it.

    Args:
        basis: see :data:`~edgecil.analysis.samples.Basis`.
        count: number of runs behind it.
        unit: what one of them is called: `order`, `run` or `training`.

    >>> basis_words("student", 5, "run")
    "Student's t"
    >>> basis_words("nearly equal", 3, "run")
    "wider than Student's t: three nearly equal runs"
    """
    if basis in _TEXTBOOK:
        return _TEXTBOOK[basis]
    number = _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"
    return _MOVED[basis].format(count=number, unit=unit)


def interval_remark(basis: str | None, count: int, unit: str) -> str:
    """Return what a sentence adds to an interval that differs from what a reader expects.

    That classes, repeats or a shared seed enter is said once, below a table.

    >>> interval_remark("student", 5, "run"), interval_remark("classes", 3, "order")
    ('', '')
    """
    return basis_words(basis, count, unit) if basis in _SURPRISING else ""
