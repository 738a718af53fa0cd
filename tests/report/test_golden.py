"""One stored page guards wording, numbers and layout, without its drawings.

Write it again after a deliberate change of wording or layout, and read the difference:

    python -m tests.report.test_golden
"""

from __future__ import annotations

import re
from pathlib import Path

from edgecil.analysis.analysis import analyze
from edgecil.report.page import Origin, compose_page
from tests.analysis.tables import noisy, six_classes, table_of

PATH = Path(__file__).parent / "golden_page.html"


def golden_page() -> str:
    """The page of two methods on all 90 orders; drawings, style and script are left out."""
    table = table_of({"low": noisy(0), "high": noisy(1, mean=60.0)})
    analysis = analyze(table, similarity=six_classes())
    html = compose_page(analysis.datasets[0], Origin(("runs.csv",), "report")).html
    html = re.sub(r"(<svg\b[^>]*>).*?</svg>", r"\1</svg>", html, flags=re.DOTALL)
    return re.sub(r"<(style|script)>.*?</\1>", r"<\1></\1>", html, flags=re.DOTALL)


def test_the_page_is_the_stored_one() -> None:
    assert golden_page().splitlines() == PATH.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    PATH.write_text(golden_page(), encoding="utf-8")
