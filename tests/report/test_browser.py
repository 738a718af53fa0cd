"""In a real browser: no error, no request, hover, sorting, filtering, metrics, screen sizes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from edgecil.analysis.analysis import analyze
from edgecil.analysis.answers import DatasetAnalysis
from edgecil.report.order_table import OrderTable
from edgecil.report.page import Origin, compose_page
from edgecil.sequences import ClassSequence
from tests.analysis.tables import Run, build, noisy, six_classes, table_of
from tests.report.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.report.made_up import steady, varied, write_run

pytestmark = pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)

FACTS = """
const shown = (element) => element.getClientRects().length > 0;
return {
  width: document.documentElement.clientWidth,
  needed: document.documentElement.scrollWidth,
  charts: [...document.querySelectorAll("figure.drawing svg.chart")].filter(shown).map((svg) => {
    const box = svg.getBoundingClientRect();
    return [svg.closest("figure").id, box.width, box.height, box.left, box.right];
  }),
  paper: getComputedStyle(document.body).backgroundColor,
  ink: getComputedStyle(document.body).color,
  answer: [...document.querySelectorAll("h1")].filter(shown).map((one) => one.textContent),
}
"""
COLUMN = """
const [place] = arguments;
const rows = [...document.querySelectorAll("#table-orders tbody tr")];
return rows.map((row) => row.cells[place].textContent);
"""
HEADERS = (
    'return [...document.querySelectorAll("#table-orders thead th")].map((one) => one.textContent)'
)
CLICK = "document.querySelectorAll(arguments[0])[arguments[1] ?? 0].click()"
FILTER = """
const search = document.querySelector("#orders .tools input");
search.value = arguments[0];
document.querySelector("#orders .tools select").value = arguments[1];
search.dispatchEvent(new Event("input"));
return document.querySelector("#orders .tools output").textContent;
"""
DOT = """
const charts = [...document.querySelectorAll("#figure-overview svg.chart")];
const svg = charts.find((one) => one.getClientRects().length);
svg.scrollIntoView({block: "center"});
const path = svg.querySelector(`.dots[data-method="${arguments[0]}"]`);
const place = arguments[1] ?? 0;
const start = path.getAttribute("d").split("M").slice(1).at(place);
const [x, y] = start.match(/-?[\\d.]+/g).map(Number);
const at = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
return [at.x, at.y, +path.dataset.orders.split(" ").at(place)];
"""
PRINTED = """
const shown = (element) => element.getClientRects().length > 0;
const all = (selector) => [...document.querySelectorAll(selector)];
const chosen = (element) => !element.closest(".of-metric") || shown(element.closest(".of-metric"));
return {
  width: document.documentElement.clientWidth,
  needed: document.documentElement.scrollWidth,
  folded: all("details > *").filter((one) => chosen(one) && !one.getBoundingClientRect().height)
    .map((one) => one.outerHTML.slice(0, 80)),
  clipped: all(".scroll").filter((one) => getComputedStyle(one).overflowY !== "visible").length
    ? ["scroll"] : [],
  unnamed: all(".tab").filter((one) => !shown(one) || !shown(one.querySelector("h3"))).length,
  headers: [...new Set(all("th button").map((one) => getComputedStyle(one).display))],
  tools: all("nav, .buttons, .tools, .copyable button").filter(shown).map((one) => one.className),
}
"""
CLIPPED = """
const names = [];
for (const details of document.querySelectorAll("details")) details.open = true;
for (const one of document.querySelectorAll("body *")) {
  if (!one.getClientRects().length || one.closest(".unseen, .skip, svg")) continue;
  const style = getComputedStyle(one);
  const hides = style.overflowX !== "visible" && style.clipPath === "none";
  if (hides && one.scrollWidth > one.clientWidth + 1 && style.textOverflow !== "ellipsis")
    names.push(`${one.tagName}.${one.className} ${one.scrollWidth} > ${one.clientWidth}`);
}
return names;
"""
TEXTS = """
return [...document.querySelectorAll(`${arguments[0]} text`)]
  .filter((one) => one.getClientRects().length).map((one) => one.textContent)
"""
SHOWN = """
return [...document.querySelectorAll(arguments[0])].filter((one) => one.getClientRects().length)
  .map((one) => one.textContent)
"""
LONG = "learner with a long name"
TIP = 'const tip = document.getElementById("tip"); return tip.hidden ? null : tip.textContent'


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="module")
def save(tmp_path_factory):
    """Writes the page of analyses of one experiment by one or more metrics."""

    def write(dataset: DatasetAnalysis, *others: DatasetAnalysis) -> Path:
        path = tmp_path_factory.mktemp("page") / "index.html"
        path.write_text(compose_page(dataset, Origin(("x",)), others).html, encoding="utf-8")
        return path

    return write


def by_metric(directory: Path, *metrics: str) -> dict[str, DatasetAnalysis]:
    own = {
        metric: analyze(directory, similarity=six_classes(), metric=metric) for metric in metrics
    }
    return {metric: analysis.datasets[0] for metric, analysis in own.items()}


@pytest.fixture(scope="module")
def file(directory, save) -> Path:
    """A page of two methods on all 90 orders with a switch between two metrics."""
    return save(*by_metric(directory, "accuracy", "average").values())


@pytest.fixture(scope="module")
def metrics(tmp_path_factory) -> dict[str, DatasetAnalysis]:
    """Analyses of one experiment with counts per class, by metric."""
    shares = {"varied": varied, "steady": steady}
    folder = tmp_path_factory.mktemp("classes") / "runs"
    write_run(folder, shares, ("latin", "random"), runs=6, by_class=True)
    return by_metric(folder, "accuracy", "last", "average", "forgetting")


@pytest.fixture(scope="module")
def metrics_file(metrics, save) -> Path:
    return save(*metrics.values())


@pytest.fixture(scope="module")
def crowd_file(save) -> Path:
    """A page of twelve learners with long names on 150 orders of 40 classes."""
    rng = np.random.default_rng(0)
    orders = [ClassSequence(rng.permutation(40).reshape(10, 4).tolist()) for _ in range(150)]
    runs = [
        Run(f"{LONG} {n}", "d", "random", f"seed-{i}", order, 0, 50.0 + n + i / 50)
        for n in range(12)
        for i, order in enumerate(orders)
    ]
    return save(analyze(build(runs)).datasets[0])


def brightness(colour: str) -> float:
    red, green, blue = colour.removeprefix("rgb(").removesuffix(")").split(",")
    return (int(red) + int(green) + int(blue)) / (3 * 255)


@pytest.mark.parametrize("width", [1600, 1280, 800, 390])
def test_nothing_sticks_out_and_nothing_is_requested(browser, file, save, width) -> None:
    table = table_of({"low": noisy(0), "high": noisy(1, mean=60.0)})
    for page in (file, save(analyze(table, similarity=six_classes()).datasets[0])):
        browser.open(page, width)
        seen = browser.run(FACTS)
        assert seen["needed"] <= seen["width"] <= width
        figures = {"figure-overview", "figure-pairs", "figure-prediction"}
        assert figures <= {chart[0] for chart in seen["charts"]}
        for name, wide, high, left, right in seen["charts"]:
            assert wide > 200, name
            assert high > 60, name
            assert left >= 0, name
            assert right <= seen["width"], name
        assert len(seen["answer"]) == 1
        assert browser.log("browser") == []
        assert [url for url in browser.requests() if not url.startswith("file:")] == []


@pytest.mark.parametrize("width", [1600, 1280, 1000, 700, 390])
def test_no_column_is_clipped(browser, file, metrics_file, crowd_file, width) -> None:
    for page in (file, metrics_file, crowd_file):
        browser.open(page, width)
        assert browser.run(CLIPPED) == []


def test_the_switch_changes_curves_and_classes(browser, metrics_file, metrics, file) -> None:
    browser.open(file)
    assert browser.run(SHOWN, "#figure-confusion") == []
    browser.open(metrics_file, 1280)
    assert browser.run(SHOWN, "#classes h3")[-1] == "Confusion of old with new"
    assert "wrong, later task" in browser.run(TEXTS, "#figure-confusion")
    browser.run(CLICK, ".tabs-bar button", 1)
    for place, (metric, dataset) in enumerate(metrics.items()):
        browser.run(CLICK, "input[name=metric]", place)
        texts = browser.run(TEXTS, "#curves")
        for name in ("varied", "steady"):
            curve = dataset.details[name].curve
            value = curve.mean.mean() if metric == "average" else curve.mean[-1]
            assert f"{name} {value:.1f}".replace("-", "−") in texts
        mean = dataset.details["varied"].by_position
        numbers = {f"{value:.0f}".replace("-", "−") for value in mean[np.isfinite(mean)]}
        assert numbers <= set(browser.run(TEXTS, "#classes .tab"))
        assert browser.run(SHOWN, "#classes [aria-pressed=true]") == ["varied"]
        assert len(browser.run(SHOWN, "#curves .lede")) == 1


def test_charts_can_be_read_with_the_keyboard(browser, metrics_file, metrics) -> None:
    browser.open(metrics_file, 1280)
    browser.run('document.querySelector("#figure-overview svg.wide").focus()')
    for _ in range(3):
        browser.press("\ue014")  # the right arrow
        assert browser.run(TIP).startswith("steady")
    browser.run(
        'const all = [...document.querySelectorAll("#classes svg.wide")];'
        "all.find((one) => one.getClientRects().length).focus()"
    )
    browser.press("\ue014")
    browser.press("\ue014")
    tip = browser.run(TIP)
    class_ = tip.split(", in task 2: ")[0]
    name = browser.run(SHOWN, "#classes [aria-pressed=true]")[0]
    values = metrics["accuracy"].details[name].by_position
    names = metrics["accuracy"].table.names
    assert tip == f"{class_}, in task 2: {values[names.index(class_), 1]:.1f} %"


def test_every_order_can_be_reached(browser, crowd_file) -> None:
    browser.open(crowd_file, 1280)
    box = 'const box = document.querySelector("#table-orders .scroll");'
    for _ in range(6):
        browser.run(
            f"{box} box.scrollTop = box.scrollHeight; box.dispatchEvent(new Event('scroll'))"
        )
    rows = 'return document.querySelectorAll("#table-orders tbody tr").length'
    assert browser.run(rows) == 150
    browser.run(FILTER, "", "")  # draws the beginning again
    assert browser.run(rows) < 150
    x, y, order = browser.run(DOT, f"{LONG} 3", -1)
    browser.move(x, y, click=True)
    marked = 'return document.querySelector("#table-orders [aria-current=true]")?.dataset.order'
    assert browser.run(marked) == str(order)
    assert browser.run(rows) < 150


def test_rows_are_one_stop_of_the_tab_key_and_are_reached_with_arrows(browser, crowd_file) -> None:
    browser.open(crowd_file, 1280)
    stops = 'return document.querySelectorAll("#table-orders tbody tr[tabindex=\\"0\\"]").length'
    browser.run('document.querySelector("#table-orders tbody tr").focus()')
    for _ in range(2):
        browser.press("\ue015")  # the down arrow
    focused = (
        "return [...document.activeElement.parentElement.rows].indexOf(document.activeElement)"
    )
    assert (browser.run(focused), browser.run(stops)) == (2, 1)
    browser.press("\ue007")  # enter
    assert browser.run('return document.activeElement.getAttribute("aria-current")') == "true"


def test_orders_can_be_sorted_on_a_phone(browser, crowd_file) -> None:
    browser.open(crowd_file, 390)
    assert browser.run(SHOWN, ".tools .sorting")
    browser.run(
        'const by = document.querySelector(".sorting"); by.value = "2 down";'
        'by.dispatchEvent(new Event("input"))'
    )
    down = [float(text) for text in browser.run(COLUMN, 2)]
    assert down == sorted(down, reverse=True)
    labels = (
        'return [...document.querySelector("#table-orders tbody tr").cells]'
        ".map((one) => one.dataset.label)"
    )
    assert browser.run(labels)[:2] == [f"{LONG} 0", f"{LONG} 1"]


def test_the_first_screen_has_the_chart_the_next_step_and_the_buttons(
    browser, file, crowd_file
) -> None:
    bottoms = """
    const shown = (one) => one.getClientRects().length > 0;
    const names = ["h1", ".next", ".warning summary", "#answer figure.drawing svg", ".buttons"];
    return names.map((name) => Math.max(...[...document.querySelectorAll(name)].filter(shown)
        .map((one) => one.getBoundingClientRect().bottom)))
    """
    for page in (file, crowd_file):
        browser.open(page, 1280, 800)
        assert max(browser.run(bottoms)) < 800
        browser.open(page, 390, 800)
        assert max(browser.run(bottoms)[:3]) < 800
    browser.open(file, 390, 800)
    assert browser.run(bottoms)[0] < 400  # the answer


def test_the_page_follows_the_dark_theme(browser, file) -> None:
    browser.open(file, 800, dark=True)
    seen = browser.run(FACTS)
    assert brightness(seen["paper"]) < 0.2
    assert brightness(seen["ink"]) > 0.8


def test_hovering_a_dot_shows_its_order_and_a_click_marks_it(browser, file, dataset) -> None:
    browser.open(file, 1280)
    orders = OrderTable.of(dataset)
    for method in ("varied", "steady"):
        x, y, place = browser.run(DOT, method)
        browser.move(x, y)
        tip = browser.run(TIP)
        assert tip.startswith(f"{method}: accuracy {orders.values[method][place]:.2f} %")
        assert "bee & bug" in tip
        assert "1: " in tip
    browser.move(3, 3)
    assert browser.run(TIP) is None
    x, y, _ = browser.run(DOT, "varied")
    browser.move(x, y, click=True)
    selected = 'return document.querySelectorAll("#table-orders tr[aria-current=true]").length'
    rings = 'return document.querySelectorAll("#figure-overview .ring:not(.halo)").length'
    assert (browser.run(selected), browser.run(rings)) == (1, 2)  # the order of both methods
    browser.run('document.querySelector("#table-orders tr[aria-current=true]").click()')
    assert (browser.run(selected), browser.run(rings)) == (0, 0)


def test_hostile_names_are_text_and_have_tooltips(browser, save) -> None:
    names = ("\u202elearner", "<img src=x onerror=alert(1)>")
    orders = [ClassSequence([[a, b], [c, d]]) for a, b, c, d in ((0, 1, 2, 3), (0, 2, 1, 3))]
    runs = [
        Run(name, "<b>d</b>", "</script>", "=cmd()", order, 0, 50.0 + place)
        for name in names
        for place, order in enumerate(orders)
    ]
    browser.open(save(analyze(build(runs)).datasets[0]), 1280)
    assert browser.run('return document.querySelectorAll("img, main b").length') == 0
    for name in (" learner", names[1]):
        x, y, _ = browser.run(DOT, name)
        browser.move(x, y)
        assert browser.run(TIP).startswith(f"{name}: accuracy 5")
    assert "</script> =cmd()" in browser.run(TIP)
    assert browser.log("browser") == []


def test_the_table_of_orders_sorts_and_filters(browser, file) -> None:
    browser.open(file, 1280)
    place = browser.run(HEADERS).index("varied")
    browser.run('document.querySelector("#table-orders .scroll").scrollTop = 1e6')
    if place:
        browser.run(CLICK, "#table-orders th button", place)
    up = [float(text) for text in browser.run(COLUMN, place)]
    assert up == sorted(up)
    browser.run(CLICK, "#table-orders th button", place)
    down = [float(text) for text in browser.run(COLUMN, place)]
    assert down == sorted(down, reverse=True)
    assert down[0] == 80.0
    assert browser.run(FILTER, "edge hard", "") == "1 of 90 orders"
    assert browser.run(FILTER, "apple bear", "") == "18 of 90 orders"  # together: 3 places x 6
    assert browser.run(FILTER, "apple", "0") == "30 of 90 orders"  # first: a third
    assert browser.run(FILTER, "", "") == "90 of 90 orders"


def test_the_metric_switch_changes_the_page_to_the_numbers_of_that_analysis(
    browser, file, directory
) -> None:
    browser.open(file, 1280)
    (before,) = browser.run(FACTS)["answer"]
    browser.run(CLICK, "input[name=metric]", 1)
    (after,) = browser.run(FACTS)["answer"]
    assert before != after or "incremental" in after
    other = by_metric(directory, "average")["average"]
    place = browser.run(HEADERS).index("varied")
    shown = {float(text) for text in browser.run(COLUMN, place)}
    values = other.table.orders("varied").accuracies.tolist()
    assert shown <= {round(value, 1) for value in values}
    means = browser.run(TEXTS, "#figure-overview-average")
    assert f"{other.methods['varied'].truth.accuracies.mean():.1f}" in means


def test_two_chosen_learners_are_shown_on_their_common_orders(browser, file) -> None:
    browser.open(file, 1280)
    names = browser.run(
        'const [a, b] = document.querySelectorAll("#compare .tools select");'
        '[a.value, b.value] = [b.value, a.value]; a.dispatchEvent(new Event("input"));'
        "return [a, b].map((one) => one.selectedOptions[0].textContent)"
    )
    caption = browser.run('return document.querySelector(".scatter figcaption").textContent')
    assert caption.startswith(f"{names[0]} is better than {names[1]} on ")
    starts = 'return document.querySelector(".scatter .dots").getAttribute("d").split("M").length'
    assert browser.run(starts) == 91


def test_answer_and_charts_are_shown_without_javascript(browser, file) -> None:
    browser.scripts(allowed=False)
    try:
        browser.open(file, 1280)
    finally:
        browser.scripts(allowed=True)
    seen = browser.run(FACTS)
    assert len(seen["charts"]) >= 4
    assert len(seen["answer"]) == 1  # the switch is a matter of the style sheet
    browser.run(CLICK, "input[name=metric]", 1)
    assert len(browser.run(FACTS)["answer"]) == 1


def test_print_shows_what_the_screen_folds_and_hides(browser, file) -> None:
    browser.open(file, 800)
    browser.media("print")
    try:
        seen = browser.run(PRINTED)
    finally:
        browser.media("")
    assert seen["needed"] <= seen["width"]
    assert seen["folded"] == []
    assert seen["clipped"] == []
    assert seen["tools"] == []
    assert seen["unnamed"] == 0  # every learner's classes below its name
    assert seen["headers"] == ["contents"]  # else Chromium does not repeat them on every page
