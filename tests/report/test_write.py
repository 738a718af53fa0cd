"""A report is a folder with a page, figures and tables; the same analysis gives the same bytes."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import webbrowser
from dataclasses import replace
from pathlib import Path

import matplotlib
import pytest

from edgecil.analysis.analysis import analyze
from edgecil.analysis.answers import Analysis
from edgecil.errors import UsageError
from edgecil.report import Report, write as module, write_report
from tests.analysis.tables import rows, six_classes, write
from tests.report.made_up import varied, write_run

HEADER = {".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<svg", ".pdf": b"%PDF"}


def contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Analysis:
    """One method and one protocol: few figures."""
    folder = write_run(tmp_path_factory.mktemp("runs") / "small", {"varied": varied}, ("edge",))
    return analyze(folder, similarity=six_classes())


@pytest.fixture(scope="module")
def report(small, tmp_path_factory) -> Report:
    return write_report(small, out=tmp_path_factory.mktemp("report") / "new" / "folder")


@pytest.fixture(scope="module")
def folder(report) -> Path:
    return report.pages[0].parent


def test_every_figure_is_there_for_screens_slides_and_papers(folder) -> None:
    files = {path.name: path for path in (folder / "figures").iterdir()}
    suffixes = ("svg", "png", "pdf", "column.pdf")
    assert set(files) == {f"{name}.{s}" for name in ("overview", "curves") for s in suffixes}
    for path in files.values():
        assert path.read_bytes().startswith(HEADER[path.suffix])
    tables = list((folder / "tables").iterdir())
    assert {path.suffix for path in tables} == {".csv", ".md", ".tex"}
    assert len(tables) == 3 * len({path.stem for path in tables})


def test_the_page_of_an_experiment_can_be_switched_to_the_field_s_metrics(tmp_path) -> None:
    directory = write_run(tmp_path / "runs", {"varied": varied}, ("latin",))
    page = write_report(directory).pages[0]
    html = page.read_text(encoding="utf-8")
    values = re.findall(r'name="metric" id="metric-\d" value="(\w+)"', html)
    assert values == ["accuracy", "last", "average", "forgetting", "learning"]
    for metric in values[1:]:
        assert (page.parent / "figures" / f"overview-{metric}.svg").is_file()
        table = (page.parent / "tables" / f"summary-{metric}.csv").read_text(encoding="utf-8")
        own = analyze(directory, metric=metric)["varied"].claims.mean.value
        assert float(table.splitlines()[1].split(",")[1]) == pytest.approx(own)


def test_a_file_is_switched_to_the_metrics_among_its_columns(small, tmp_path) -> None:
    path = tmp_path / "a.csv"
    write(rows(small.datasets[0].table), path)
    lines = path.read_text(encoding="utf-8").splitlines()
    more = [f"{line},{place}" for place, line in enumerate(lines[1:], start=30)]
    path.write_text("\n".join([f"{lines[0]},average", *more]), encoding="utf-8")
    html = write_report(path, out=tmp_path / "r").pages[0].read_text(encoding="utf-8")
    assert re.findall(r'name="metric" id="metric-\d" value="(\w+)"', html) == [
        "accuracy",
        "average",
    ]


def test_the_pages_are_shown_in_the_browser(report, folder, monkeypatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr("webbrowser.open", shown.append)
    report.open()
    assert shown == [(folder / "index.html").resolve().as_uri()]
    assert repr(report) == f"Report({folder}/index.html)"


def test_the_same_analysis_gives_the_same_bytes_with_any_matplotlib_style(
    small, folder, tmp_path
) -> None:
    with matplotlib.rc_context({"font.size": 30.0, "axes.facecolor": "red"}):
        write_report(small, out=tmp_path)
    written, before = contents(tmp_path), contents(folder)
    assert written.keys() == before.keys()
    assert {n for n in written if written[n] != before[n]} <= {"index.html"}  # names its folder


def test_a_live_page_is_one_file_that_loads_itself_again(small, tmp_path) -> None:
    (page,) = write_report(small, out=tmp_path / "live", live=True).pages
    assert 'http-equiv="refresh"' in page.read_text(encoding="utf-8")
    assert set(contents(page.parent)) <= {"index.html", ".edgecil"}
    write_report(small, out=tmp_path / "live")
    assert 'http-equiv="refresh"' not in page.read_text(encoding="utf-8")
    assert (page.parent / "figures" / "overview.pdf").is_file()


def test_the_analysis_is_beside_the_page(report, folder) -> None:
    saved = Analysis.load(folder / "analysis.json")
    assert saved["varied"].runs == report.analysis["varied"].runs
    assert 'href="analysis.json"' in report.pages[0].read_text(encoding="utf-8")


def test_an_analysis_has_its_options_already(small, tmp_path) -> None:
    with pytest.raises(UsageError, match="'predictor'"):
        write_report(small, out=tmp_path, predictor="intra")
    small.save(tmp_path / "a.json")
    (page,) = write_report(tmp_path / "a.json", out=tmp_path / "r", live=True).pages
    assert 'name="metric"' not in page.read_text(encoding="utf-8")


def test_each_dataset_has_its_own_page(small, tmp_path, monkeypatch) -> None:
    runs = rows(small.datasets[0].table)
    write([*runs, *(replace(run, dataset="a b") for run in runs)], tmp_path / "a.csv")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="'out' is required"):
        write_report(["a.csv", "a.csv"])
    pages = write_report("a.csv").pages
    assert pages[0] == Path("a-report/made-up/index.html")
    assert pages[1].parent.parent == Path("a-report")
    assert all(page.is_file() for page in pages)


@pytest.mark.slow
def test_the_page_is_written_until_the_run_ends_and_then_whole(monkeypatch, tmp_path) -> None:
    seen: list[str] = []
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    out = tmp_path / "x"
    page = out / "report" / "index.html"

    def look(seconds: float) -> None:
        assert seconds == 10.0
        wait(0.1)
        seen.extend([page.read_text(encoding="utf-8")] if page.exists() else [])

    wait = module.time.sleep
    words = "run quickdraw --method finetune --classes 6 --tasks 3 --epochs 1 --workers 1"
    command = [sys.executable, "-m", "edgecil", *words.split(), "--protocol", "random:60"]
    with subprocess.Popen([*command, "--out", str(out)], stderr=subprocess.DEVNULL) as run:
        while not (out / "progress.json").exists():
            assert run.poll() is None
            wait(0.05)
        monkeypatch.setattr(module.time, "sleep", look)
        assert module.watch_report(out, open=True).pages == (page,)
        assert run.wait(timeout=60) == 0
    assert len({text for text in seen if "it loads itself again" in text}) > 1
    assert "it loads itself again" not in page.read_text(encoding="utf-8")
    assert (page.parent / "figures").is_dir()
    assert len(opened) == 1
