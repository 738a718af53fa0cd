"""The page is whole, works offline, and shows hostile names as text."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser

import numpy as np
import pytest

from edgecil.sequences import SequenceSpace
from edgecil.similarity import SimilarityMatrix
from tests.estimation.tables import six_classes
from tests.report.made_up import page_of, steady, varied, write_reported, write_run

SECTIONS = ("orders", "methods", "comparison", "protocols", "details", "repeat")
VOID = {"meta", "br", "hr", "img", "link", "input"}
HOSTILE = (
    "<script>alert(1)</script>",
    "../'\"><b>x</b>",
    "\\input{x} $y_1$",
    "=cmd()",
    "\u202etfel",
)


class Reader(HTMLParser):
    """Reads a page; a tag that closes what is not open is an error."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs) -> None:
        given = dict(attrs)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given[name] for name in ("href", "xlink:href", "src") if given.get(name)]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        if not {"style", "script"} & set(self.open):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def reader(page):
    return Reader(page.html)


def test_every_section_and_method_can_be_linked_to(reader) -> None:
    assert set(SECTIONS) <= set(reader.ids)
    assert {"method-varied", "method-steady"} <= set(reader.ids)
    assert [link[1:] for link in reader.links if link[1:] in SECTIONS] == list(SECTIONS)


def test_the_answer_comes_before_everything_else(page) -> None:
    lead = page.html.index('<p class="lead">steady has the highest mean accuracy')
    assert lead < page.html.index('id="figure-overview"') < page.html.index('id="orders"')


def test_the_page_loads_nothing(page, reader) -> None:
    relative = [link for link in reader.links if not link.startswith("#")]
    assert all(re.fullmatch(r"(figures|tables)/[\w.-]+", link) for link in relative)
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", page.html))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "<script src" not in page.html
    assert "default-src 'none'" in page.html
    assert "@import" not in page.html
    assert not re.search(r"url\((?!#)", page.html)


def test_every_link_has_a_target(page, reader) -> None:
    assert [name for name, count in Counter(reader.ids).items() if count > 1] == []
    inside = {link[1:] for link in reader.links if link.startswith("#")}
    assert inside <= set(reader.ids)
    files = {f"figures/{f.name}{s}" for f in page.figures for s in (".png", ".svg", ".pdf")}
    files |= {f"tables/{t.name}{s}" for t in page.tables for s in (".csv", ".md", ".tex")}
    assert {link for link in reader.links if not link.startswith("#")} == files


def test_every_figure_and_table_is_on_the_page(page, reader) -> None:
    kinds = ("distribution", "prediction", "matrices", "budgets")
    names = {f"{kind}-{method}" for kind in kinds for method in ("varied", "steady")}
    assert {figure.name for figure in page.figures} == {"overview", "closeness", *names}
    ids = {f"figure-{figure.name}" for figure in page.figures}
    ids |= {f"table-{table.name}" for table in page.tables}
    assert ids <= set(reader.ids)


def test_figures_have_a_text_alternative_and_follow_the_theme(page) -> None:
    drawings = re.findall(r'<svg role="img" aria-label="[^"]+".*?</svg>', page.html, re.DOTALL)
    assert len(drawings) == len(page.figures)
    for drawing in drawings:
        assert "var(--ink)" in drawing
        assert not re.search(r"fill: #fff|fill: white", drawing[: drawing.index("var(--")])


def test_every_letter_is_outlined_once(page) -> None:
    outlines = re.findall(r'<path id="(DejaVu[^"]+)"[^>]*transform="scale', page.html)
    assert len(outlines) == len(set(outlines)) > 20
    assert set(re.findall(r'href="#(DejaVu[^"]+)"', page.html)) == set(outlines)


def test_every_dot_has_a_tooltip_with_its_classes(page, dataset) -> None:
    titles = re.findall(r"<title>([^<]*)</title></use>", page.html)
    assert len(titles) == 2 * 90
    worst = next(title for title in titles if title.startswith("varied: 40.00"))
    assert "apple" in worst
    assert "bee &amp; bug" in worst


def test_unusual_methods_are_safe_everywhere(tmp_path) -> None:
    shares = dict(zip(HOSTILE, (steady, varied, steady, varied, steady), strict=True))
    names = ("<script>", '"', "a'b", "$c_1$ & d", "=e()", "\u202ef")
    folder = write_run(tmp_path / "odd", shares, ("edge", "random"), names=names)
    page = page_of(folder, six_classes())
    reader = Reader(page.html)
    for name in HOSTILE:
        assert name in reader.text or " ".join(name.split()) in reader.text
    assert page.html.count("<script>") == 1  # ours
    assert "<b>" not in page.html
    for name in (*(f.name for f in page.figures), *(t.name for t in page.tables)):
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]*", name)


def test_without_similarity_and_truth_the_page_is_whole(tmp_path) -> None:
    folder = write_run(tmp_path / "few", {"varied": varied}, ("random",))
    page = page_of(folder)
    reader = Reader(page.html)
    assert {figure.name for figure in page.figures} == {
        "overview",
        "distribution-varied",
    }
    assert "comparison" not in reader.ids
    assert "closeness" not in {table.name for table in page.tables}


def test_results_of_other_tools_without_matrices_are_reported(tmp_path) -> None:
    folder = write_reported(tmp_path / "theirs", {"hard": 50.0, "median": 61.0, "easy": 70.0})
    page = page_of(folder, six_classes())
    names = {figure.name for figure in page.figures}
    assert "prediction-theirs" in names
    assert "matrices-theirs" not in names
    assert page.configs == {}
    assert "50.0 to 70.0" in Reader(page.html).text


def test_ten_tasks_have_an_estimate(tmp_path) -> None:
    space = SequenceSpace.equal(20, 10)
    values = np.random.default_rng(0).random((20, 20))
    similarity = SimilarityMatrix.of((values + values.T) / 2)
    names = tuple(f"class {index}" for index in range(20))
    shares = {"varied": varied, "steady": steady}
    options = {"space": space, "names": names, "similarity": similarity}
    folder = write_run(tmp_path / "classic", shares, ("random", "edge"), **options)
    page = page_of(folder, similarity)
    assert "about 10^15" in Reader(page.html).text
    assert {"matrices-varied", "prediction-steady"} <= {figure.name for figure in page.figures}
    summary = next(table for table in page.tables if table.name == "summary")
    assert summary.rows[0][-1] == "estimate: gaussian on random"


def test_the_page_names_the_commands_that_repeat_it(page) -> None:
    section = page.html.split('id="repeat"')[1]
    assert "edgecil run --config runs/x/report/run.toml --out runs/x-again" in section
    assert "edgecil report runs/x-again" in section
    assert list(page.configs) == ["run.toml"]
