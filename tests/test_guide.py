"""Every command and every output of README and the guide is what the product prints."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
guide = pytest.importorskip("guide", reason="tools/ is not part of the wheel")

WORDS = 600


def test_dots_stand_for_anything() -> None:
    assert guide.matches("mean 61.2\n", "mean 61.2\n")
    assert guide.matches("Results: .../x\n", "Results: /tmp/a/x\n")
    assert guide.matches("first\n...\nlast\n", "first\n1\n2\nlast\n")
    assert guide.matches("first\n...\n", "first\n1\n2\n")
    assert not guide.matches("mean 61.2\n", "mean 61.3\n")


def test_numbers_of_a_training_may_differ_by_the_tolerance_of_their_block() -> None:
    expected = "a|b 86.7 (90 % interval 80.5 to 92.9)\nnone  0.00  1\n"
    near = "a|b 86.2 (90 % interval 81.0 to 92.9)\nnone   0.50  1\n"
    closed = guide.Tolerance(0.5)
    assert guide.matches(expected, near, closed)
    assert not guide.matches(expected, near)
    assert not guide.matches(expected, near.replace("86.2", "86.1"), closed)
    assert not guide.matches(expected, near.replace("90 %", "91 %"), closed)
    assert not guide.matches(expected, near.replace("to", "and"), closed)
    assert guide.matches(expected, near.replace("90 %", "91 %"), guide.Tolerance(0.5, counts=True))


def test_a_tolerance_is_read_from_the_comment_above_its_block_and_measured(
    tmp_path: Path,
) -> None:
    page = tmp_path / "page.md"
    text = "A.\n\n<!-- accuracies within 2 -->\n```python\nprint(1.5)\n```\n\n```text\n1.7\n```\n"
    page.write_text(text, encoding="utf-8")
    assert guide.refresh(page, tmp_path) == text.replace("1.7", "1.5"), "the block below has none"
    moved = text.replace("<!-- accuracies within 2 -->\n", "")
    moved = moved.replace("```text", "<!-- accuracies within 2 -->\n```text")
    page.write_text(moved, encoding="utf-8")
    assert guide.refresh(page, tmp_path) == moved
    assert guide.measured_tolerance(["86.0 3\n", "87.0 4\n", "88.0 5\n"]) == 0.5 + 5 * 1.0


@pytest.mark.filterwarnings("ignore::edgecil.errors.EdgecilWarning")
@pytest.mark.parametrize("page", guide.PAGES, ids=lambda page: page.stem)
def test_a_page_shows_what_is_printed(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    assert guide.refresh(page, tmp_path) == page.read_text(encoding="utf-8")


def test_links_lead_to_files() -> None:
    for page in (*guide.PAGES, guide.PAGES[0].parent / "docs" / "index.md"):
        for target in re.findall(r"\]\(([^)#]+)", page.read_text("utf-8")):
            assert target.startswith("http") or (page.parent / target).exists(), (page.name, target)


def test_pages_are_short() -> None:
    for page in guide.PAGES[1:]:
        prose = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
        assert len(prose.split()) <= WORDS, page.name
