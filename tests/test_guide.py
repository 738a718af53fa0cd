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
