"""`edgecil report` turns runs into a page, without torch, and says what it cannot do."""

from __future__ import annotations

import html
import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from edgecil.experiments import Experiment
from tests.analysis.tables import rows, six_classes, write
from tests.report.made_up import varied, write_run
from tests.toys import save_toy
from tests.training import strange

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


def test_the_command_that_a_page_on_a_file_prints_repeats_it_with_every_option(cli, few) -> None:
    runs = [replace(run, dataset="quickdraw") for run in rows(Experiment.open(few).table())]
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
    failed = [replace(run, accuracy=None) for run in rows(Experiment.open(few).table())]
    write(failed, "failed.csv")
    answer = cli("report", "failed.csv", "--out", "r")
    assert "has an accuracy" in answer.sentence
    assert not Path("r").exists()
