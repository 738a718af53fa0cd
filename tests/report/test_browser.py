"""In a real browser: no error, no network, nothing sticks out, tables sort and filter."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DARK = "--blink-settings=preferredColorScheme=0"

# A window is never narrower than 500 pixels, but a frame may be as narrow as a phone. What the
# browser made of the page in it is left in an attribute.
FRAME = """<!DOCTYPE html><body style="margin:0">
<iframe style="border:0;height:900px;width:{width}px" srcdoc="{page}"></iframe>
<script>
const column = (table, place) => [...table.tBodies[0].rows].filter((row) => !row.hidden)
  .map((row) => row.cells[place].textContent);
const use = (figure) => {{
  const table = figure.querySelector("table");
  const button = table.querySelector("th button");
  button.click();
  const up = column(table, 0);
  button.click();
  const down = column(table, 0);
  const sorted = table.querySelector("th").getAttribute("aria-sort");
  const search = figure.querySelector("input");
  search.value = "edge hard";
  search.dispatchEvent(new Event("input"));
  const last = table.tHead.rows[0].cells.length - 1;
  return {{up, down, sorted, filtered: column(table, last - 1),
    count: figure.querySelector("output").textContent}};
}};
window.onload = () => {{
  const page = document.querySelector("iframe").contentDocument;
  const style = getComputedStyle(page.body);
  document.body.dataset.seen = JSON.stringify({{
    width: page.documentElement.clientWidth,
    needed: page.documentElement.scrollWidth,
    figures: [...page.querySelectorAll("figure.drawing")].map((figure) => {{
      const box = figure.querySelector("svg").getBoundingClientRect();
      return [figure.id, box.width, box.height, box.left, box.right];
    }}),
    paper: style.backgroundColor,
    ink: style.color,
    loaded: page.defaultView.performance.getEntriesByType("resource").map((entry) => entry.name),
    table: use(page.querySelector("#table-orders")),
  }});
}};
</script></body>"""

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


def look(page: str, folder: Path, *, width: int, more: tuple[str, ...] = ()) -> dict:
    """What the browser made of a page of that width."""
    path = folder / "page.html"
    path.write_text(FRAME.format(width=width, page=html.escape(page)), encoding="utf-8")
    browser = subprocess.run(
        [
            str(CHROMIUM),
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            f"--user-data-dir={folder / 'profile'}",
            "--window-size=1300,900",
            *more,
            "--dump-dom",
            path.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "CONSOLE" not in browser.stderr
    answer = re.search(r'data-seen="([^"]*)"', browser.stdout)
    assert answer is not None
    return json.loads(html.unescape(answer[1]))


def brightness(colour: str) -> float:
    return sum(int(part) for part in re.findall(r"\d+", colour)[:3]) / (3 * 255)


@pytest.mark.parametrize("width", [1200, 390])
def test_every_figure_is_in_sight_and_nothing_sticks_out(page, tmp_path, width) -> None:
    seen = look(page.html, tmp_path, width=width)
    assert width - 20 <= seen["width"] <= width  # but for a scroll bar
    assert seen["needed"] <= seen["width"]
    assert {name for name, *_ in seen["figures"]} == {f"figure-{f.name}" for f in page.figures}
    for _, wide, high, left, right in seen["figures"]:
        assert wide > 200
        assert high > 80
        assert left >= 0
        assert right <= seen["width"]
    assert seen["loaded"] == []


def test_the_table_of_orders_sorts_and_filters(page, dataset, tmp_path) -> None:
    table = look(page.html, tmp_path, width=800)["table"]
    accuracies = [float(text) for text in table["up"]]
    assert len(accuracies) == 90
    assert accuracies == sorted(accuracies)
    assert [float(text) for text in table["down"]] == sorted(accuracies, reverse=True)
    assert table["sorted"] == "descending"
    assert len(table["filtered"]) == 1
    assert "edge hard" in table["filtered"][0]
    assert table["count"] == "1 of 90"


def test_the_page_follows_the_dark_theme(page, tmp_path) -> None:
    seen = look(page.html, tmp_path, width=800, more=(DARK,))
    assert brightness(seen["paper"]) < 0.2
    assert brightness(seen["ink"]) > 0.8
