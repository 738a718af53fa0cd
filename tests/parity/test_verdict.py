"""What benchmarks/parity.py says about differences between two codes."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest


@pytest.fixture
def benchmark_module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    import parity

    return parity


def test_a_wide_interval_around_zero_cannot_tell(benchmark_module: ModuleType) -> None:
    """With three orders, half of the interval is 2.92 standard deviations / sqrt(3)."""
    spread = np.array([-1.0, 0.0, 1.0])
    for factor, expected in (
        (1.0, ("+0.0 (-1.7 to +1.7)", "no difference detected")),
        (1.75, ("+0.0 (-3.0 to +3.0)", "no difference detected")),
        (1.8, ("+0.0 (-3.0 to +3.0)", "cannot tell (± 3)")),
        (8.0, ("+0.0 (-13.5 to +13.5)", "cannot tell (± 13)")),
    ):
        assert benchmark_module.verdict(factor * spread, "PyCIL") == expected
    assert benchmark_module.verdict(8.0 * spread + 20.0, "PyCIL")[1] == "ours higher"
    assert benchmark_module.verdict(spread - 2.0, "PyCIL")[1] == "PyCIL higher"
    assert benchmark_module.verdict(spread[:2], "PyCIL") == ("-0.5", "too few orders")


def test_the_page_has_the_verdicts_of_its_intervals() -> None:
    page = (Path(__file__).parents[2] / "docs" / "evidence" / "methods.md").read_text(
        encoding="utf-8"
    )
    rows = [line.split("|") for line in page.splitlines() if " to " in line and " × " in line]
    assert len(rows) > 10
    for row in rows:
        low, high = map(float, row[-3].split("(")[1].rstrip(") ").split(" to "))
        if low > 0.0 or high < 0.0 or "higher" in row[-2]:
            assert "higher" in row[-2]
        else:
            assert row[-2].strip().startswith("cannot tell") == (high - low > 6.0), row
