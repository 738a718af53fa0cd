"""In a real browser the page renders: no error, every figure in sight, on a desk and on a phone."""

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
window.onload = () => {{
  const page = document.querySelector("iframe").contentDocument;
  const style = getComputedStyle(page.body);
  document.body.dataset.found = JSON.stringify({{
    width: page.documentElement.clientWidth,
    needed: page.documentElement.scrollWidth,
    figures: [...page.querySelectorAll("figure.drawing")].map((figure) => {{
      const box = figure.querySelector("svg").getBoundingClientRect();
      return [figure.id, box.width, box.height, box.left, box.right];
    }}),
    paper: style.backgroundColor,
    ink: style.color,
  }});
}};
</script></body>"""

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine")


def look(page: str, folder: Path, *, width: int, more: tuple[str, ...] = ()) -> dict:
    """What the browser made of a page of that width."""
    path = folder / "page.html"
    path.write_text(FRAME.format(width=width, page=html.escape(page)), encoding="utf-8")
    found = subprocess.run(
        [
            str(CHROMIUM),
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
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
    assert "CONSOLE" not in found.stderr
    told = re.search(r'data-found="([^"]*)"', found.stdout)
    assert told is not None
    return json.loads(html.unescape(told[1]))


def brightness(colour: str) -> float:
    return sum(int(part) for part in re.findall(r"\d+", colour)[:3]) / (3 * 255)


@pytest.mark.parametrize("width", [1200, 360])
def test_every_figure_is_in_sight_and_nothing_sticks_out(report, tmp_path, width) -> None:
    found = look(report.html, tmp_path, width=width)
    assert width - 20 <= found["width"] <= width  # but for a scroll bar
    assert found["needed"] <= found["width"]
    names = {name for name, *_ in found["figures"]}
    assert names == {f"figure-{picture.name}" for picture in report.pictures[1:]}
    for _, wide, high, left, right in found["figures"]:
        assert wide > 200
        assert high > 80
        assert left >= 0
        assert right <= found["width"]


def test_the_page_is_light_by_day_and_dark_by_night(report, tmp_path) -> None:
    found = look(report.html, tmp_path, width=800, more=(DARK,))
    assert brightness(found["paper"]) < 0.2
    assert brightness(found["ink"]) > 0.8
