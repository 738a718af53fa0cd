"""Each promise of docs/evidence/reliability.md names a test that exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "evidence" / "reliability.md"


def promises() -> dict[str, list[str]]:
    """The tests that hold each promise."""
    text = PAGE.read_text(encoding="utf-8").partition("## Promises")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    return {row[0]: re.findall(r"`(tests/[^`]+)`", row[-1]) for row in rows[2:]}


def test_each_promise_is_held_by_tests_that_exist() -> None:
    tests_of_promise = promises()
    assert len(tests_of_promise) > 15
    for promise, tests in tests_of_promise.items():
        assert tests, promise
        for test in tests:
            path, _, name = test.partition("::")
            tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
            names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
            assert name in names, test
