"""Why there is no verdict on two methods, in words."""

from __future__ import annotations

from typing import Literal

from edgecil.statistics.sequential import LEAST_LOOK
from edgecil.statistics.verdicts import LEAST_RUNS

NoVerdict = Literal["few", "not random", "equal", "too early", "constants", "published few"]
"""Why there is no interval of a difference."""

_WORDS: dict[NoVerdict, str] = {
    "few": f"a verdict requires {LEAST_RUNS} {{unit}}s of each",
    "not random": "these were not chosen at random, so nothing can be said about others",
    "equal": "these are equal, so that nothing shows how far others may differ",
    "too early": f"a verdict that is valid after every {{unit}} requires {LEAST_LOOK} of each",
    "published few": f"a verdict requires {LEAST_RUNS} runs behind each number",
    "constants": "neither number has a spread, so no verdict follows",
}


def no_verdict_words(reason: NoVerdict, unit: str) -> str:
    """Return why there is no verdict, as a clause.

    >>> no_verdict_words("few", "run")
    'a verdict requires 3 runs of each'
    """
    return _WORDS[reason].format(unit=unit)
