"""The page is whole, works offline, and shows hostile names as text."""

from __future__ import annotations

import html
import json
import re
import shlex
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from edgecil.analysis.analysis import analyze
from edgecil.analysis.answers import AnalysisOptions
from edgecil.cli.main import verb_parser
from edgecil.experiments.experiment import Experiment
from edgecil.io.numbers import format_duration
from edgecil.report.drawing import Text
from edgecil.report.figure import svg_file
from edgecil.report.narrative import describe_answer
from edgecil.report.order_table import OrderTable, rank
from edgecil.report.page import Origin, compose_page
from edgecil.report.page_text import printable, signed_number
from edgecil.report.sections import datasets_section
from edgecil.report.table import as_latex, files_of
from edgecil.runs.identity import ExperimentRecord, Identity
from edgecil.runs.run_table import PENDING
from edgecil.sequences import ClassSequence, SequenceSpace
from edgecil.similarity import SimilarityMatrix
from edgecil.wording.metric_words import metric_words
from tests.analysis.tables import noisy, rows, six_classes, table_of, write
from tests.report.made_up import page_of, steady, varied, write_reported, write_run

SECTIONS = ("answer", "compare", "curves", "orders", "details", "repeat")
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

    def handle_endtag(self, tag) -> None:
        assert tag in VOID or self.open.pop() == tag

    def handle_data(self, data) -> None:
        if not {"style", "script"} & set(self.open):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def reader(page):
    return Reader(page.html)


def test_the_page_loads_nothing(page) -> None:
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", page.html))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert "<script src" not in page.html
    assert "default-src 'none'" in page.html
    assert "@import" not in page.html
    assert not re.search(r"url\((?!#)", page.html)


def test_every_section_figure_and_table_has_its_place_and_every_link_a_target(page, reader) -> None:
    assert [name for name, count in Counter(reader.ids).items() if count > 1] == []
    inside = [link[1:] for link in reader.links if link.startswith("#")]
    assert list(dict.fromkeys(link for link in inside[1:] if link in SECTIONS)) == list(SECTIONS)
    assert {figure.name for figure, _ in page.figures} == {
        *("overview", "pairs", "prediction", "curves")
    }
    drawn = {f"figure-{figure.name}" for figure, _ in page.figures}
    assert {*inside, *SECTIONS, *drawn, *(f"table-{it.name}" for it in page.tables)} <= set(
        reader.ids
    )
    files = {f"figures/{f.name}.{suffix}" for f, kinds in page.figures for suffix in kinds}
    files |= {f"tables/{t.name}{s}" for t in page.tables for s in files_of(t)}
    assert {link for link in reader.links if not link.startswith("#")} == files


def test_figures_have_a_text_alternative_and_the_colours_of_the_theme(page) -> None:
    drawings = re.findall(r'<svg [^>]*role="img" aria-label="[^"]+".*?</svg>', page.html, re.DOTALL)
    assert len(drawings) == 2 * len(page.figures)
    assert not any(re.search(r"(fill|stroke)[=:]\W*#", drawing) for drawing in drawings)


def data_of(page):
    text = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.html)
    return json.loads(text[1])


def test_the_data_hold_every_order_with_its_accuracies(page, dataset) -> None:
    data, orders = data_of(page), OrderTable.of(dataset)
    assert data["classes"][3] == "bee & bug"
    tasks = np.array(data["tasks"])
    decoded = [
        ClassSequence([np.flatnonzero(row == k).tolist() for k in range(3)]) for row in tasks
    ]
    assert decoded == list(orders.sequences)
    for method in ("varied", "steady"):
        values = data["metrics"]["accuracy"]["values"][method]
        assert values == np.round(orders.values[method], 2).tolist()
    assert data["chosen"] == orders.chosen_by


def test_unusual_methods_are_safe_everywhere(tmp_path) -> None:
    shares = dict(zip(HOSTILE, (steady, varied, steady, varied, steady), strict=True))
    names = ("<script>", '"', "a'b", "$c_1$ & d", "=e()", "\u202ef")
    folder = write_run(tmp_path / "odd", shares, ("edge", "random"), names=names)
    page = page_of(folder, six_classes())
    reader = Reader(page.html)
    for name in HOSTILE:
        assert " ".join(printable(name).split()) in reader.text
    assert page.html.count("<script>") == 1  # ours
    assert page.html.count("<script") == 2
    assert "<b>" not in page.html
    for figure, _ in page.figures:
        assert b"<script" not in svg_file(figure.wide, figure.caption)
    for name in (*(f.name for f, _ in page.figures), *(t.name for t in page.tables)):
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]*", name)


def test_without_similarity_truth_or_matrices_the_page_is_whole(tmp_path) -> None:
    page = page_of(write_run(tmp_path / "few", {"varied": varied}, ("random",)))
    assert {figure.name for figure, _ in page.figures} == {"overview", "curves"}
    assert "compare" not in Reader(page.html).ids
    folder = write_reported(tmp_path / "theirs", {"hard": 50.0, "median": 61.0, "easy": 70.0})
    page = page_of(folder, six_classes())
    assert {figure.name for figure, _ in page.figures} == {"overview"}
    assert page.configs == {}
    text = Reader(page.html).text
    assert "70.0" in text
    assert "Curves and classes are not shown" in text


def test_ten_tasks_have_an_estimate(tmp_path) -> None:
    space = SequenceSpace.equal(20, 10)
    values = np.random.default_rng(0).random((20, 20))
    similarity = SimilarityMatrix.of((values + values.T) / 2)
    names = tuple(f"class {index}" for index in range(20))
    shares = {"varied": varied, "steady": steady}
    options = {"space": space, "names": names, "similarity": similarity}
    folder = write_run(tmp_path / "classic", shares, ("random", "edge"), **options)
    page = page_of(folder, similarity)
    assert "about 10¹⁵" in Reader(page.html).text
    assert {"overview", "pairs", "curves"} <= {figure.name for figure, _ in page.figures}
    summary = next(table for table in page.tables if table.name == "summary")
    assert summary.rows[0][-1] == "3 orders of random"


def test_each_experiment_is_repeated_in_its_own_directory(dataset, page) -> None:
    assert list(page.configs) == ["run.toml"]
    assert "edgecil run --config runs/x/report/run.toml --out runs/x-again" in page.html
    assert "edgecil report runs/x-again" in page.html
    (one,) = dataset.experiments
    sources = ("runs/a", "runs/b, too", "c.csv")
    both = replace(dataset, experiments=[replace(one, directory=name) for name in sources[:2]])
    assert commands_of(both, Origin(sources, "out")) == [
        "edgecil run --config out/run-1.toml --out runs/a-again",
        "edgecil run --config out/run-2.toml --out 'runs/b, too-again'",
        "edgecil report runs/a-again 'runs/b, too-again' c.csv --out out-again",
    ]
    inside = Origin(sources, "out", "out/x")
    assert commands_of(both, inside)[0].startswith("edgecil run --config out/x/run-1.toml ")


def test_every_option_of_the_analysis_is_repeated(dataset, tmp_path) -> None:
    options = AnalysisOptions("last", "intra", str(tmp_path), "nme")
    origin = Origin(("c.csv",), "out", options=options)
    (*_, command) = commands_of(replace(dataset, experiments=()), origin)
    words = shlex.split(command)
    assert words[:5] == ["edgecil", "report", "c.csv", "--out", "out"]
    given = dict(zip(words[5::2], words[6::2], strict=True))
    recorded = {name: value for name, value in vars(options).items() if value is not None}
    assert given == {f"--{name.replace('_', '-')}": str(v) for name, v in recorded.items()}
    assert set(given) <= set(verb_parser("report")._option_string_actions)


def commands_of(dataset, origin: Origin) -> list[str]:
    page = compose_page(dataset, origin).html
    listed = page.split('<pre id="commands"><code>')[1].split("</code>")[0]
    return html.unescape(listed).splitlines()


def test_a_constructed_order_far_from_the_random_ones_is_in_the_answer(dataset) -> None:
    varied = dataset.methods["varied"]
    claims = replace(varied.claims, probes={"when grouped": 95.0, "when spread": 70.0})
    methods = {**dataset.methods, "varied": replace(varied, claims=claims)}
    own = replace(dataset, methods=methods)
    sentences = describe_answer(own, rank(own), metric_words("accuracy"))
    assert any("reaches 95.0 when grouped" in text for text in sentences)


def test_a_table_without_orders_says_what_cannot_be_concluded(tmp_path) -> None:
    path = tmp_path / "results.csv"
    rows = [
        f"{name},{seed},{60 + seed + place}" for seed in range(4) for place, name in enumerate("ab")
    ]
    path.write_text("\n".join(["method,seed,accuracy", *rows]), encoding="utf-8")
    dataset = analyze(path).datasets[0]
    page = compose_page(dataset, Origin((str(path),), "out"))
    reader = Reader(page.html)
    assert "class orders unknown" in reader.text
    assert "nothing is said about other class orders" in reader.text
    summary = next(table for table in page.tables if table.name == "summary")
    assert summary.title == "Accuracy over runs"
    low, high = dataset.methods["b"].claims.mean.interval
    assert f"62.5 ({low:.1f}--{high:.1f})" in as_latex(summary)
    assert data_of(page)["classes"] == []


def test_an_unfinished_experiment_is_of_one_moment_and_counts_per_method(dataset) -> None:
    table = dataset.table
    status = table.status.copy()
    ran = (table.method == table.methods.index("varied")) & (table.sequence < 5)
    status[ran] = PENDING
    values = np.where(ran, np.nan, table.values)
    half = replace(dataset, table=replace(table, status=status, values=values))
    text = Reader(compose_page(half, Origin(("x",), live=True)).html).text
    assert "175 of 180 runs, read at" in text
    assert "runs: varied 85 of 90, steady 90" in text
    assert "runs, read at" not in Reader(compose_page(dataset, Origin(("x",))).html).text


def test_several_datasets_share_a_section(dataset, tmp_path) -> None:
    runs = rows(table_of({"low": noisy(0), "high": noisy(1, mean=60.0)}, ("random",)))
    write([*runs, *(replace(run, dataset="other") for run in runs)], tmp_path / "a.csv")
    analysis = analyze(tmp_path / "a.csv")
    page = compose_page(
        analysis.datasets[0], Origin(("x",)), all_datasets=datasets_section(analysis)
    )
    assert {"datasets", "profiles"} <= {figure.name for figure, _ in page.figures}
    (over,) = analysis.over_datasets
    texts = {
        m.text for f, _ in page.figures if f.name == "datasets" for m in f.wide.marks if is_text(m)
    }
    assert any(text.startswith(signed_number(over.difference)) for text in texts)
    assert "… on other" in texts


def test_every_metric_has_its_own_curves(directory) -> None:
    metrics = ("accuracy", "last", "average", "forgetting")
    own, *others = (
        analyze(directory, similarity=six_classes(), metric=metric).datasets[0]
        for metric in metrics
    )
    page = compose_page(own, Origin(("x",)), others)
    figures = {figure.name: figure for figure, _ in page.figures}
    for metric, dataset in zip(metrics, (own, *others), strict=True):
        suffix = "" if metric == "accuracy" else f"-{metric}"
        texts = {mark.text for mark in figures[f"curves{suffix}"].wide.marks if is_text(mark)}
        for name in ("varied", "steady"):
            expected = f"{name} {dataset.methods[name].claims.mean.value:.1f}".replace("-", "−")
            assert expected in texts, (metric, name)
    captions = {figures[f"curves{suffix}"].caption for suffix in ("", "-last", "-forgetting")}
    assert len(captions) == 3
    assert all("behind the answer above" in caption for caption in captions)
    first = min(mark.x for mark in figures["curves-forgetting"].wide.marks if is_text(mark, "2"))
    assert first == 44.0  # forgetting begins after the second task


def is_text(mark, text: str | None = None) -> bool:
    return isinstance(mark, Text) and text in (None, mark.text)


def test_the_page_says_how_long_the_trainings_took(dataset, directory) -> None:
    # 90 orders of 6 classes in 3 tasks share 15 first tasks, and 90 of each of the others
    assert dataset.training_seconds == {"varied": 0.5 * 195, "steady": 0.5 * 195}
    assert Experiment.open(directory).training_seconds() == dataset.training_seconds
    days = replace(dataset, training_seconds={"varied": 7200.0, "steady": 200.0})
    text = Reader(compose_page(days, Origin(("x",))).html).text
    assert f"training and tests {format_duration(7400.0)}" in text
    assert f"of which varied {format_duration(7200.0)}, steady {format_duration(200.0)}" in text


def test_several_experiments_keep_their_machines(dataset) -> None:
    one = {"dataset": {}, "machine": "x86_64", "cpu": "AVX2", "environment": {"device": "cpu"}}
    two = {**one, "machine": "aarch64"}
    records = [ExperimentRecord("runs/a", (), Identity.of(it)) for it in (one, two)]
    both = replace(dataset, experiments=records)
    text = Reader(compose_page(both, Origin(("x",))).html).text
    assert "machine x86_64, aarch64 AVX2" in text
    assert "device cpu" in text
