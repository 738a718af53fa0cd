from __future__ import annotations

import doctest
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "theory.md"


@pytest.mark.skipif(not PAGE.exists(), reason="docs/ is not part of the source distribution")
def test_the_page_on_theory_tells_the_truth() -> None:
    results = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert results.attempted > 5
    assert results.failed == 0
