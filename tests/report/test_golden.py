"""One stored page guards wording, numbers and layout; `python -m tests.report.golden` writes it."""

from __future__ import annotations

from tests.report.golden import PATH, golden_page


def test_the_page_is_the_stored_one() -> None:
    assert golden_page().splitlines() == PATH.read_text(encoding="utf-8").splitlines()
