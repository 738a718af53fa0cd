"""The reference names roles and metrics as the files of names have them."""

from __future__ import annotations

import re
from pathlib import Path

from edgecil.runs.metrics import find_metric
from edgecil.runs.reading.column_names import ROLES, column_name, synonyms

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "what-it-reads.md"
_OF_FORMS = {"metric", "curve", "index", "aggregate"}
"""Roles that no name tells."""


def rows_of(title: str) -> list[list[str]]:
    """Return the cells of the first table in a section."""
    section = PAGE.read_text(encoding="utf-8").partition(f"## {title}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [line.strip("|").split("|") for line in lines[2:]]


def test_every_role_and_its_names_are_documented() -> None:
    documented = set()
    for roles, names, _ in rows_of("Roles of columns"):
        own = set(re.findall("`([^`]+)`", roles))
        documented |= own
        for name in re.findall("`([^`]+)`", names.partition(";")[0]):
            assert column_name(name).role in own, name
            assert synonyms()[name].role in own
    section = PAGE.read_text(encoding="utf-8")
    written = {"protocol", "sequence", "identity"}
    assert all(f"`{name}`" in section for name in written)
    assert documented | written | _OF_FORMS == set(ROLES)


def test_the_directions_of_metrics_are_documented() -> None:
    checked = 0
    for words, better, _ in rows_of("Metrics"):
        for name in re.findall("`([^`]+)`", words):
            assert find_metric(name).higher_is_better is (better.strip() == "higher"), name
            checked += 1
    assert checked >= 20
