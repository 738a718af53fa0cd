"""The page is whole, opens anywhere, and says why a part is missing."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser

import numpy as np
import pytest

from edgecil.report.page import compose
from edgecil.report.tables import as_latex
from edgecil.sequences import SequenceSpace
from edgecil.similarity import SimilarityMatrix
from tests.estimation.tables import six_classes
from tests.report.made_up import evidence_of, steady, varied, write_reported, write_run

SECTIONS = ("methods", "protocols", "rankings", "samples", "settings")
VOID = {"meta", "br", "hr", "img", "link", "input"}


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
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def page(report):
    return Reader(report.html)


def test_every_section_and_method_can_be_linked_to(page) -> None:
    assert set(SECTIONS) <= set(page.ids)
    assert {"method-varied", "method-steady"} <= set(page.ids)
    assert [link for link in page.links if link[1:] in SECTIONS] == [
        f"#{name}" for name in SECTIONS
    ]


def test_the_answer_comes_before_everything_else(report) -> None:
    first = report.html.index("a learner&#x27;s accuracy differs by 0.0 (steady) to 40.0 points")
    picture = report.html.index("figure-distribution-varied")
    assert first < picture < report.html.index('id="methods"')


def test_a_bad_predictor_is_told_before_the_first_figure(evidence, report) -> None:
    r = evidence.judgement.methods["varied"].correlations["adjacent"].pearson
    assert abs(r) < 0.3 or r < 0.0
    assert report.html.index(f"(r = {r:+.2f})") < report.html.index("<figure")


def test_nothing_is_fetched_from_anywhere(report, page) -> None:
    assert all(link.startswith("#") for link in page.links)
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", report.html))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "<script" not in report.html
    assert "@import" not in report.html
    assert not re.search(r"url\((?!#)", report.html)


def test_ids_are_unique_and_every_link_has_a_target(page) -> None:
    assert [name for name, count in Counter(page.ids).items() if count > 1] == []
    assert {link[1:] for link in page.links} <= set(page.ids)


def test_every_figure_but_the_collection_stands_in_the_page(report, page) -> None:
    names = {picture.name for picture in report.pictures}
    assert names == {
        "distributions",
        *(
            f"{kind}-{method}"
            for kind in ("distribution", "prediction", "matrices", "samples")
            for method in ("varied", "steady")
        ),
        "closeness",
    }
    shown = {name.removeprefix("figure-") for name in page.ids if name.startswith("figure-")}
    assert shown == names - {"distributions"}


def test_figures_follow_the_theme(report) -> None:
    drawings = re.findall(r'<svg role="img".*?</svg>', report.html, re.DOTALL)
    assert len(drawings) == len(report.pictures) - 1
    for drawing in drawings:
        assert "var(--ink)" in drawing
        assert not re.search(r"fill: #fff|fill: white", drawing[: drawing.index("var(--")])


def test_every_letter_is_outlined_once_for_the_whole_page(report) -> None:
    outlines = re.findall(r'<path id="(DejaVu[^"]+)"[^>]*transform="scale', report.html)
    assert len(outlines) == len(set(outlines)) > 20
    used = set(re.findall(r'href="#(DejaVu[^"]+)"', report.html))
    assert used == set(outlines)


def test_drawings_keep_hundredths_of_a_point_and_no_more(report) -> None:
    drawings = "".join(re.findall(r'<svg role="img".*?</svg>', report.html, re.DOTALL))
    assert not re.search(r"\d\.\d{3}", drawings)
    whole = next(picture.svg for picture in report.pictures if picture.name == "closeness")
    assert re.search(rb"\d\.\d{3}", whole), "the files keep all digits"


def test_every_letter_of_a_table_is_one_that_latex_knows(report) -> None:
    for table in report.tables:
        assert as_latex(table).isascii(), table.name


def test_rankings_have_their_errors_as_run_and_over_draws(evidence, report) -> None:
    (table,) = [table for table in report.tables if table.name == "rankings"]
    found = [evidence.judgement.rankings[name]["gaussian"] for name in ("random", "edge", "latin")]
    assert table.rows[-3:] == (
        ("error of this run", "all", None, *(one.error for one in found)),
        ("mean error over draws", "all", None, *(one.average.error for one in found)),
        (
            "draws without error, %",
            "all",
            None,
            *(100.0 * one.average.correct_share for one in found),
        ),
    )


def test_distances_are_those_of_the_estimator_that_suits_the_protocol(evidence, report) -> None:
    (table,) = [table for table in report.tables if table.name == "closeness"]
    rows = {row[:2]: dict(zip(table.titles, row, strict=True)) for row in table.rows}
    (picture,) = [picture for picture in report.pictures if picture.name == "closeness"]
    drawn = picture.figure.axes[1].lines
    averages = evidence.judgement.methods["varied"].averages
    for place, (protocol, estimator) in enumerate(
        {"random": "gaussian-c4", "edge": "gaussian", "latin": "gaussian-c4"}.items()
    ):
        found, row = averages[protocol][estimator], rows["varied", protocol]
        assert row["estimate"] == estimator
        assert (row["JSD"], row["W₁"]) == (found.jsd, found.wasserstein)
        assert row["± JSD"] == found.standard_errors["jsd"]
        assert row["± W₁"] == found.standard_errors["wasserstein"]
        assert drawn[place].get_xdata()[0] == found.wasserstein


def test_seeds_that_draw_the_same_order_are_told(page) -> None:
    assert "The 3 runs of random have 2 different orders: seed-0 and seed-42" in page.text


def test_every_table_stands_in_the_page(report, page) -> None:
    shown = {name.removeprefix("table-") for name in page.ids if name.startswith("table-")}
    assert shown == {table.name for table in report.tables}
    assert {"ranges", "closeness", "rankings", "sequences-varied", "samples"} <= shown


def test_sequences_are_told_by_the_names_of_their_classes(evidence, page) -> None:
    orders = evidence.table.orders("varied", "edge")
    hard = orders.sequences[orders.labels.index("hard")]
    names = evidence.table.names
    told = " | ".join(", ".join(names[class_] for class_ in task) for task in hard.tasks)
    assert told in page.text
    assert "bee & bug" in page.text


def test_the_settings_repeat_the_run(report, page) -> None:
    assert report.configs == {
        "run.toml": 'method = ["varied", "steady"]\ndataset = "made-up"\ntasks = 3\n'
    }
    assert "edgecil run --config runs/x/report/run.toml --out runs/x-again" in page.text
    assert '"torch": "0"' in page.text


def test_one_method_one_protocol_no_truth_and_no_similarity_say_what_is_missing(tmp_path) -> None:
    folder = write_run(tmp_path / "few", {"varied": varied}, ("random",))
    found = compose(evidence_of(folder))
    text = Reader(found.html).text
    for sentence in (
        "The truth is not known here",
        "No similarity of the classes is known",
        "No accuracy matrices",
        "One method alone has no ranking.",
        "Without the truth it cannot be said how many runs are enough",
        "no distance from it can be given",
    ):
        assert sentence in text
    assert {picture.name for picture in found.pictures} == {
        "distributions",
        "distribution-varied",
    }


def test_another_tools_results_without_matrices_are_reported(tmp_path) -> None:
    folder = write_reported(tmp_path / "theirs", {"hard": 50.0, "median": 61.0, "easy": 70.0})
    found = compose(evidence_of(folder, six_classes()))
    text = Reader(found.html).text
    assert "edge's three 50.0 to 70.0" in text
    assert "No accuracy matrices" in text
    assert "What was asked for is not recorded here" in text
    assert "prediction-theirs" in {picture.name for picture in found.pictures}


def test_a_classic_setting_of_ten_tasks_gets_a_calibrated_estimate(tmp_path) -> None:
    space = SequenceSpace.equal(20, 10)
    values = np.random.default_rng(0).random((20, 20))
    similarity = SimilarityMatrix.of((values + values.T) / 2)
    names = tuple(f"class {index}" for index in range(20))
    shares = {"varied": varied, "steady": steady}
    options = {"space": space, "names": names, "similarity": similarity}
    folder = write_run(tmp_path / "classic", shares, ("random", "edge"), **options)
    found = compose(evidence_of(folder, similarity))
    text = Reader(found.html).text
    assert "The truth is not known here (there are about 10^15 orders)" in text
    assert "Estimated, by regression from edge: nine orders of ten between" in text
    assert {"matrices-varied", "prediction-steady"} <= {p.name for p in found.pictures}


def test_odd_names_of_methods_are_safe_in_paths_and_in_the_page(tmp_path) -> None:
    odd = {"../<b>x</b>": steady, "a b": varied}
    found = compose(evidence_of(write_run(tmp_path / "odd", odd, ("edge",)), six_classes()))
    page = Reader(found.html)
    assert "../<b>x</b>" in page.text
    assert "<b>" not in found.html
    for name in (*(p.name for p in found.pictures), *(t.name for t in found.tables)):
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]*", name)
