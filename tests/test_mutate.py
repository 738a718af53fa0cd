"""Mutants are changes of one place that still parse, and a mutated copy is tested apart."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
tool = pytest.importorskip("mutate", reason="tools/ is not part of the wheel")


def test_each_room_has_its_share_of_mutants_that_parse_and_differ() -> None:
    mutants = tool.draw(100, seed=0)
    counts = Counter(mutant.room for mutant in mutants)
    assert counts == {room: round(100 * share) for room, share in tool.SHARES.items()}
    for mutant in mutants:
        source = (tool.HERE / mutant.path).read_bytes()
        changed = mutant.apply(source)
        assert source[mutant.start : mutant.end].decode() == mutant.old
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source)), mutant


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a < b", ["a <= b"]),
        ("a + 1", ["a - 1", "2"]),
        ("not a", ["a"]),
        ("x if a else b", ["b if a else x"]),
        ("y = min(a, b)", ["max"]),
        ("'text' + a", []),
    ],
)
def test_a_place_has_these_changes(code: str, expected: list[str]) -> None:
    nodes = tool._code(ast.parse(code))
    changes = [change for node in nodes for change in tool._changes(node)]
    assert changes == expected


def test_every_room_and_its_tests_are_there() -> None:
    for room in tool.ROOMS:
        mutant = next(tool.list_mutants(room))
        files = tool.tests_for(mutant, more=True)
        assert len(files) > 1
        assert all((tool.HERE / file).is_file() for file in files)
