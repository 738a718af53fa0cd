"""docs/paper.md maps the paper to commands, names and tests that exist."""

from __future__ import annotations

import re
import shlex
from fnmatch import filter as matching
from pathlib import Path

import pytest

from edgecil.catalogue import list_recipes
from edgecil.cli.main import all_verbs, verb_parser
from edgecil.sequences.protocols import PROTOCOLS

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
ROWS = [line.strip("| ").split(" | ") for line in TEXT.splitlines() if line.startswith("| ")]
SPANS = re.findall(r"`([^`]+)`", TEXT)


def test_every_row_names_its_tests() -> None:
    rows = [row for row in ROWS if row[0] != "in the paper"]
    assert len(rows) > 40
    for row in rows:
        assert len(row) == 3, row
        tests = re.findall(r"`((?:tests|benchmarks)/[^` ]+)", row[2])
        assert tests, row
        for test in tests:
            path, _, name = test.partition("::")
            assert (ROOT / path).is_file(), test
            assert not name or f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), test


@pytest.mark.parametrize("command", [span for span in SPANS if span.startswith("edgecil ")])
def test_every_command_can_be_parsed(command: str) -> None:
    words = shlex.split(command)[1:]
    count = 1 if words[0] in all_verbs() else 2
    parser = verb_parser(" ".join(words[:count]))
    words = words[count:]
    parser.check_options(words)
    assert parser.parse_known_args(words)[1] == []


@pytest.mark.parametrize("options", [span for span in SPANS if span.startswith("--")])
def test_every_option_belongs_to_run_or_analyze(options: str) -> None:
    words = shlex.split(options)
    wanted = {word for word in words if word.startswith("--")}
    available = {
        name
        for verb in ("run", "analyze", "sequences")
        for action in verb_parser(verb)._actions
        for name in action.option_strings
    }
    assert wanted <= available
    if words[0] == "--protocol":
        assert words[1] in PROTOCOLS


def test_every_recipe_is_there() -> None:
    names = [recipe.name for recipe in list_recipes()]
    patterns = {span for span in SPANS if re.fullmatch(r"[a-z0-9-]+-(\*|cub200|cifar100)", span)}
    assert len(patterns) > 6
    for pattern in patterns:
        assert matching(names, pattern), pattern
