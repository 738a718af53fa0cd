"""Published numbers in words: how the summary of runs that nobody has was taken."""

from __future__ import annotations

from edgecil.runs.published import PublishedResult


def describe_published(name: str, result: PublishedResult) -> str:
    """Return how a published number enters a comparison.

    >>> describe_published("er", PublishedResult("er", 80.5))
    'er is a published mean, 80.5, without a spread, and counts as a constant.'
    >>> describe_published("er", PublishedResult("er", 80.5, std=1.5, n=3))
    "er is published, 80.5 ± 1.5 of 3 runs; the ± is taken to divide by n, as NumPy's std does."
    """
    mean = f"{result.mean:g}"
    if result.std is None:
        return f"{name} is a published mean, {mean}, without a spread, and counts as a constant."
    text = f"{name} is published, {mean} ± {result.std:g} of {result.n} runs"
    if result.ddof is None:
        return f"{text}; the ± is taken to divide by n, as NumPy's std does."
    return f"{text}; the ± divides by {'n' if result.ddof == 0 else 'n - 1'}."
