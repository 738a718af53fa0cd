"""The numbers of six drawings are those that were stored, up to rounding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from edgecil.analysis import Comparison, analyze
from edgecil.io.json import to_plain
from edgecil.lab import audit
from edgecil.paper import normality

pytestmark = pytest.mark.slow

DEMO = Path(__file__).parents[1] / "demo"
STORED = DEMO / "estimates.json"
RUNS = DEMO / "accuracies.csv"


def measure() -> Any:
    """Return the numbers."""
    analysis, audited = analyze(RUNS), audit(RUNS, draws=60).datasets[0].methods
    methods = analysis.datasets[0].methods
    (tests,) = normality(RUNS).values()
    return {
        name: {
            "mean": method.claims.mean.value,
            "std": method.claims.std.value,
            "tail": method.claims.tail.value,
            "share": method.order_effect.order_share,
            "correlation": method.correlation.pearson,
            "shapiro_p": tests[name].shapiro_p,
            "averages": to_plain(audited[name].averages),
            "comparisons": {
                other: of_first(analysis.datasets[0].compare(name, other), name)
                for other in list(methods)[list(methods).index(name) + 1 :]
            },
        }
        for name, method in methods.items()
    }


def of_first(comparison: Comparison, name: str) -> list[float]:
    """Return the difference, the share of wins and p, as the first method sees them."""
    won = (comparison.wins + comparison.ties / 2.0) / comparison.n
    if comparison.ahead == name:
        return [comparison.difference, won, comparison.unadjusted_p]
    return [-comparison.difference, 1.0 - won, comparison.unadjusted_p]


def test_every_number_is_the_stored_one() -> None:
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    _same(stored, json.loads(json.dumps(measure())), "")


def _same(stored: Any, given: Any, path: str) -> None:
    if isinstance(stored, dict):
        assert stored.keys() == given.keys(), path
        for key, value in stored.items():
            _same(value, given[key], f"{path}/{key}")
    elif isinstance(stored, list):
        for place, (one, other) in enumerate(zip(stored, given, strict=True)):
            _same(one, other, f"{path}/{place}")
    elif isinstance(stored, float):
        assert given == pytest.approx(stored, rel=1e-6, abs=1e-9), path
    else:
        assert given == stored, path


if __name__ == "__main__":
    text = json.dumps(to_plain(measure()), indent=1)
    STORED.write_text(text + "\n", encoding="utf-8")
