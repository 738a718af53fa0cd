"""Take the pictures of docs/report.md and README from a written report, at two dots per pixel.

    python -m tools.report_pictures demo/report docs/images
    python -m tools.report_pictures latin/report docs/images --only confusion

It needs Chromium with ChromeDriver and Pillow, and the tests' browser in the working directory. The
demo (`edgecil run --config recipe:demo --out demo`, `edgecil report demo`) has every part.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from tests.report.browser import Browser

# By name of a picture: what is at its top, its height, and what is shown above that.
PARTS = {
    "answer": ("body", 800, 0),
    "curves": ("#curves h2", 640, 24),
    "classes": ("#classes h2", 500, 24),
    "confusion": ("#figure-confusion", 410, 96),
    "compare": ("#compare h2", 960, 24),
    "orders": ("#orders h2", 700, 24),
    "protocols": ("#protocols h2", 860, 24),
    "repeat": ("#repeat h2", 420, 24),
}
WIDTH = 1200
SCROLL = """
document.querySelector(".bar").style.position = "static";
const sections = document.querySelectorAll("main > section");
for (const one of sections) one.style.contentVisibility = "visible";
const top = document.querySelector(arguments[0]).getBoundingClientRect().top + scrollY;
scrollTo(0, arguments[0] === "body" ? 0 : top - arguments[1]);
return new Promise((done) => setTimeout(done, 300));
"""


def main() -> None:
    """Take the pictures that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report", type=Path)
    parser.add_argument("images", type=Path)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Browser(Path(folder) / "profile") as browser:
        for name in options.only:
            shoot(browser, options.report, name, options.images / f"report-{name}.png")
    if "answer" in options.only:
        shutil.copy(options.report / "figures" / "overview.png", options.images / "demo.png")


def shoot(browser: Browser, report: Path, name: str, path: Path) -> None:
    """Write one picture, reduced to 128 colours."""
    top, height, above = PARTS[name]
    size = {"width": WIDTH, "height": height, "deviceScaleFactor": 2, "mobile": False}
    browser.cdp("Emulation.setDeviceMetricsOverride", **size)
    browser.cdp("Emulation.setScrollbarsHidden", hidden=True)
    browser.open(report / "index.html")
    if not browser.run("return document.querySelector(arguments[0]) !== null", top):
        print(f"{name}: the report has no such part")
        return
    browser.run(SCROLL, top, above)
    browser.screenshot(path)
    picture = Image.open(path).convert("RGB").quantize(128, dither=Image.Dither.NONE)
    picture.save(path, optimize=True)
    print(f"{name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
