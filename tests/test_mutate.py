"""Mutants are changes of one place that still parse, and a mutated copy is tested apart."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from pathlib import Path
from typing import Any

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
        assert next(tool.list_mutants(room)).room == room
        for more in (False, True):
            files = tool.files_with_tests(room, more=more)
            assert len(files) > 1
            assert all((tool.HERE / file).is_file() for file in files)


def test_a_mutant_is_tested_by_the_tests_that_enter_its_function() -> None:
    mutants = [it for it in tool.list_mutants("statistics") if it.path.endswith("inversion.py")]
    inside = next(it for it in mutants if tool.enclosing_function(it) is not None)
    function = tool.enclosing_function(inside)
    assert function is not None
    records = [
        tool.TestRecord("slow", 9.0, frozenset({function})),
        tool.TestRecord("of the module", 2.0, frozenset({f"{inside.path}:0"})),
        tool.TestRecord("fast", 1.0, frozenset({function, "src/other.py:1"})),
        tool.TestRecord("other", 0.1, frozenset({"src/other.py:1"})),
    ]
    assert tool.tests_for(inside, records) == ["fast", "slow"]
    assert tool.tests_for(inside, records[1:2] + records[3:]) == ["of the module"]
    assert tool.tests_for(inside, records[3:]) == ["other"]


def test_the_innermost_function_counts_with_its_decorators(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.py").write_text(
        "A = 1\n@cache\ndef f():\n    def g():\n        return 2\n    return g\n"
    )
    monkeypatch.setattr(tool, "HERE", tmp_path)
    lines = {line: tool.Mutant("statistics", "x.py", line, 0, 0, "", "") for line in (1, 5, 6)}
    functions = {line: tool.enclosing_function(mutant) for line, mutant in lines.items()}
    assert functions == {1: None, 5: "x.py:4", 6: "x.py:2"}


def test_the_recorder_sees_the_functions_that_a_test_enters(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("def f():\n    return 2\ndef g():\n    return 3\n")
    namespace: dict[str, Any] = {}
    code = compile((tmp_path / "x.py").read_text(), str(tmp_path / "x.py"), "exec")
    exec(code, namespace)
    recorder = tool.TestRecorder(tmp_path)
    before = sys.gettrace()
    sys.settrace(recorder._enter)
    namespace["g"]()
    sys.settrace(before)
    assert recorder._functions() == {"src/x.py:3"}
