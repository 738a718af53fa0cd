"""A file of the user's is replaced only on request, by every verb that writes one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.analysis.tables import noisy, runs_of, write
from tests.cli.conftest import Cli

WRITERS = {
    "mine.csv": ("export-runs", "runs.csv", "--out", "mine.csv"),
    "mine.json": ("next", "one.csv", "--out", "mine.json"),
    "mine.npz": ("similarity", "cifar100", "--classes", 4, "--out", "mine.npz"),
    "paper-classic.tex": (*("paper", "tables", "runs.csv", "--protocol", "latin", "--out", "."),),
    "captions.json": ("paper", "captions", "ham10000", "--out", "captions.json"),
}


@pytest.fixture(autouse=True)
def _runs() -> None:
    runs = runs_of("a", "latin", noisy(0, mean=50.0))
    write(runs, "runs.csv")
    write(runs[:1], "one.csv")  # which asks for more


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_is_replaced_only_on_request(cli: Cli, name: str) -> None:
    mine = Path(name)
    mine.write_bytes(b"mine")
    assert f"{name} exists" in cli(*WRITERS[name]).sentence
    assert mine.read_bytes() == b"mine"
    if name != "captions.json":  # which needs a language model
        assert cli(*WRITERS[name], "--overwrite").code == 0
        assert mine.read_bytes() != b"mine"


def test_the_orders_of_an_earlier_call_are_replaced(cli: Cli) -> None:
    for _ in range(2):
        assert cli(*WRITERS["mine.json"]).code == 0


def test_an_empty_file_is_filled(cli: Cli) -> None:
    Path("mine.csv").touch()
    assert cli(*WRITERS["mine.csv"]).code == 0


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_pipe_and_a_folder_stay_what_they_are(cli: Cli, make) -> None:
    make("mine.csv")
    before = Path("mine.csv").stat().st_mode
    for more in ((), ("--overwrite",)):
        assert cli(*WRITERS["mine.csv"], *more).sentence
    assert Path("mine.csv").stat().st_mode == before
