"""How long pages take to write and to answer, on made-up tables of accuracies.

    python -m benchmarks.report [--only NAME] [--keep DIRECTORY]

Prints, for each table, CPU seconds of its analyses and of its page with all files, the size of the
page, and in Chromium, if it is installed, milliseconds until the page is loaded and answers a click
on a header of the table of orders.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from tests.report.browser import CHROMIUM, DRIVER, Browser

import edgecil
from edgecil.io.files import replace_files
from edgecil.report.page import Origin, compose_page
from edgecil.report.write import page_files
from edgecil.runs.run_table import Runs
from edgecil.sequences import ClassSequence

# learners, orders, classes, tasks, metrics
TABLES = {
    "three runs": (1, 3, 100, 10, ("accuracy",)),
    "12 learners": (12, 300, 100, 10, ("accuracy", "last", "average", "forgetting")),
    "20 learners": (20, 3000, 200, 20, ("accuracy",)),
    "100,000 rows": (2, 50_000, 10, 5, ("accuracy",)),
}
LOADED = "return performance.getEntriesByType('navigation')[0].loadEventEnd"
SORTED = """
const start = performance.now();
document.querySelector("#table-orders th button").click();
document.querySelector("#table-orders").getBoundingClientRect();
return performance.now() - start;
"""


def make_table(learners: int, orders: int, classes: int, tasks: int, metric: str) -> Runs:
    rng = np.random.default_rng(0)
    size = classes // tasks
    sequences: dict[ClassSequence, None] = {}
    while len(sequences) < orders:
        order = rng.permutation(classes).reshape(tasks, size).tolist()
        sequences[ClassSequence(order)] = None
    rng = np.random.default_rng(sum(map(ord, metric)))
    means = 45.0 + 1.5 * np.arange(learners)[:, None]
    return Runs.of(
        [f"learner {learner + 1}" for learner in range(learners) for _ in range(orders)],
        [*sequences] * learners,
        rng.normal(means, 3.0, (learners, orders)).round(3).ravel(),
        protocol=["random"] * (learners * orders),
        label=[f"seed-{place}" for place in range(orders)] * learners,
        seed=[0] * (learners * orders),
        dataset="made-up",
        metric=metric,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=TABLES)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    print(f"{'table':14} {'analysis':>10} {'page':>8} {'size':>9} {'loaded':>9} {'sorted':>9}")
    with tempfile.TemporaryDirectory() as folder, browser_in(Path(folder)) as browser:
        for name, (*sizes, metrics) in TABLES.items():
            if options.only in (None, name):
                place = (options.keep or Path(folder)) / name.replace(" ", "-")
                print(f"{name:14} {measure(sizes, metrics, place, browser)}", flush=True)


def measure(
    sizes: list[int], metrics: tuple[str, ...], folder: Path, browser: Browser | None
) -> str:
    tables = [make_table(*sizes, metric) for metric in metrics]
    start = time.process_time()
    first, *others = (edgecil.analyze(table, metric=table.metric).datasets[0] for table in tables)
    analysed = time.process_time()
    files = page_files(compose_page(first, Origin("made-up.csv", "report"), others), folder)
    replace_files(files.items())
    written = time.process_time()
    line = f"{analysed - start:8.1f} s {written - analysed:6.1f} s"
    line += f" {len(files[folder / 'index.html']) / 1e6:6.2f} MB"
    if browser is not None:
        browser.resize(1280)
        browser.open(folder / "index.html")
        line += f" {browser.run(LOADED):6.0f} ms {browser.run(SORTED):6.0f} ms"
    return line


@contextmanager
def browser_in(folder: Path) -> Iterator[Browser | None]:
    if CHROMIUM is None or DRIVER is None:
        yield None
        return
    with Browser(folder / "profile") as browser:
        yield browser


if __name__ == "__main__":
    main()
