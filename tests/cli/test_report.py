"""`edgecil report` turns runs into a page, without torch, and says what it cannot do."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from edgecil.estimation import read_accuracies, write_accuracies
from tests.report.made_up import varied, write_run


@pytest.fixture
def few(tmp_path) -> Path:
    """One learner, one protocol."""
    return write_run(tmp_path / "few", {"varied": varied}, ("random",))


def test_the_report_goes_into_the_run_directory_and_its_path_is_told(cli, few) -> None:
    answer = cli("report", few, "--draws", 2)
    assert answer.code == 0
    assert f"report: {few}/report/index.html" in answer.out.replace("\n", "")
    assert "varied" in answer.out
    assert (few / "report" / "figures" / "distributions.png").is_file()
    assert (few / "report" / "tables" / "ranges.tex").is_file()


def test_a_program_gets_the_paths(cli, few, tmp_path) -> None:
    answer = cli("report", few, "--draws", 2, "--out", tmp_path / "r", "--json")
    assert answer.json == {"reports": [str(tmp_path / "r" / "index.html")]}


def test_a_csv_needs_a_place_for_its_report(cli, few, tmp_path) -> None:
    table = read_accuracies(few)[0]
    write_accuracies(table.runs, tmp_path / "a.csv")
    assert cli("report", tmp_path / "a.csv").code == 2
    assert "with --out DIR" in cli("report", tmp_path / "a.csv").sentence
    answer = cli("report", tmp_path / "a.csv", "--draws", 2, "--out", tmp_path / "r", "--json")
    assert Path(answer.json["reports"][0]).is_file()


def test_each_dataset_of_a_csv_has_its_own_page(cli, few, tmp_path) -> None:
    runs = read_accuracies(few)[0].runs
    write_accuracies([*runs, *(replace(run, dataset="a b") for run in runs)], tmp_path / "a.csv")
    answer = cli("report", tmp_path / "a.csv", "--draws", 2, "--out", tmp_path / "r", "--json")
    pages = [Path(page) for page in answer.json["reports"]]
    assert pages[0] == tmp_path / "r" / "made-up" / "index.html"
    assert pages[1].parent.parent == tmp_path / "r"
    assert all(page.is_file() for page in pages)


def test_a_directory_without_runs_is_named(cli, tmp_path) -> None:
    assert "holds no results.sqlite" in cli("report", tmp_path).sentence


def test_no_report_needs_torch(few) -> None:
    code = (
        "import sys\n"
        "from edgecil.cli.main import main\n"
        f"assert main(['report', {str(few)!r}, '--draws', '2']) == 0\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
