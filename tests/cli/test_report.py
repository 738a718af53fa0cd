"""`edgecil report` turns runs into a page, without torch, and says what it cannot do."""

from __future__ import annotations

import html
import os
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from edgecil.engine.run_files import read_runs
from tests.engine import strange
from tests.estimation.tables import rows, six_classes, write
from tests.report.made_up import varied, write_run
from tests.toys import save_toy

assert strange.Instant  # registered: a method that takes no time


def printed_commands(page: str | Path) -> list[list[str]]:
    """The words of each command that the page says repeats it."""
    section = Path(page).read_text(encoding="utf-8").split('id="repeat"')[1]
    lines = html.unescape(re.search(r"<code>(.*?)</code>", section, re.DOTALL)[1]).splitlines()
    commands = [shlex.split(line) for line in lines]
    assert all(command.pop(0) == "edgecil" for command in commands)
    return commands


@pytest.fixture
def few(tmp_path) -> Path:
    """One learner, one protocol."""
    return write_run(tmp_path / "few", {"varied": varied}, ("random",))


def test_the_report_goes_into_the_run_directory_and_its_path_is_printed(cli, few) -> None:
    answer = cli("report", few)
    assert answer.code == 0
    assert f"Report: {few}/report/index.html" in answer.out.replace("\n", "")
    assert (few / "report" / "figures" / "overview.png").is_file()
    assert (few / "report" / "tables" / "summary.tex").is_file()


def test_a_program_gets_the_paths(cli, few, tmp_path) -> None:
    answer = cli("report", few, "--out", tmp_path / "r", "--json")
    assert answer.json == {
        "schema": "edgecil.report/1",
        "pages": [str(tmp_path / "r" / "index.html")],
    }


def test_the_report_of_a_csv_is_named_after_it(cli, few, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(rows(read_runs(few)[0]), tmp_path / "a.csv.gz")
    assert cli("report", tmp_path / "a.csv.gz", "--json").json["pages"] == ["a-report/index.html"]
    assert (tmp_path / "a-report" / "index.html").is_file()


def test_the_command_that_a_page_on_a_file_prints_repeats_it_with_every_option(cli, few) -> None:
    runs = [replace(run, dataset="quickdraw") for run in rows(read_runs(few)[0])]
    write(runs, "my runs.csv")
    np.save("D.npy", six_classes().values + np.eye(6))
    options = ("--similarity", "D.npy", "--predictor", "intra")
    asked = ("report", "my runs.csv", "--out", "r", *options)
    page = Path(cli(*asked, "--json").json["pages"][0])
    (command,) = printed_commands(page)
    assert sorted(command) == sorted(asked)
    before = page.read_bytes()
    page.unlink()
    assert cli(*command).code == 0
    assert page.read_bytes() == before


def test_a_page_names_no_option_that_nobody_gave(cli, few) -> None:
    write(rows(read_runs(few)[0]), "a.csv")
    page = cli("report", "a.csv", "--out", "r", "--json").json["pages"][0]
    assert printed_commands(page) == [["report", "a.csv", "--out", "r"]]


@pytest.mark.parametrize("place", [(), ("--out", "else where")])
def test_the_commands_that_a_page_on_runs_prints_repeat_them(cli, place) -> None:
    save_toy(Path("toy.npz"))
    asked = ("--method", "instant", "--dataset", "toy.npz", "--tasks", 2, "--eval", "random")
    assert cli("run", *asked, "--out", "runs", "--workers", 1).code == 0
    page = cli("report", "runs", *place, "--json").json["pages"][0]
    run, report = printed_commands(page)
    assert cli(*run, "--workers", 1).code == 0
    again = cli(*report, "--json").json["pages"][0]
    assert again != page
    tables = [Path(path).parent / "tables" / "orders.csv" for path in (page, again)]
    assert tables[0].read_bytes() == tables[1].read_bytes()


def test_runs_without_one_accuracy_are_nothing_to_report(cli, few, tmp_path) -> None:
    failed = [replace(run, accuracy=None) for run in rows(read_runs(few)[0])]
    write(failed, "failed.csv")
    answer = cli("report", "failed.csv", "--out", "r")
    assert "has an accuracy" in answer.sentence
    assert not Path("r").exists()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the browser is a shell script")
def test_open_shows_the_page_in_the_browser_without_torch(few, tmp_path) -> None:
    shown, browser = tmp_path / "shown", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" >> {shlex.quote(str(shown))}\n', encoding="utf-8")
    browser.chmod(0o755)
    start = (
        "import sys\n"
        "from edgecil.cli.main import main\n"
        "raise SystemExit(main() or 'torch' in sys.modules)"
    )
    subprocess.run(
        [sys.executable, "-c", start, "report", str(few), "--open"],
        env={**os.environ, "BROWSER": f"{browser} %s"},
        check=True,
        capture_output=True,
    )
    assert shown.read_text(encoding="utf-8").split() == [
        (few / "report" / "index.html").resolve().as_uri()
    ]
