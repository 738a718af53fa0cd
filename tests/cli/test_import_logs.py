from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.interop.test_logs import write_log


def test_imported_logs_are_shown_like_any_run(cli: Cli) -> None:
    logs = [write_log(Path(f"{seed}.log"), increment=10, seed=seed) for seed in (0, 1)]
    answer = cli("import-logs", *logs, "--out", "out", "--json").json
    assert (answer["method"], answer["protocol"], answer["found"]) == ("icarl", "logs", 2)
    assert [row["label"] for row in answer["sequences"]] == ["seed-0", "seed-1"]
    assert all(len(row["matrix"][-1]) == 6 for row in answer["sequences"])
    assert "0 sequences trained now, 2 from before" in cli("import-logs", *logs, "--out", "out").out


def test_orders_that_were_drawn_blindly_can_be_said_to_be_random(cli: Cli) -> None:
    logs = [write_log(Path(f"{seed}.log"), increment=10, seed=seed) for seed in range(4)]
    answer = cli("import-logs", *logs, "--protocol", "random", "--out", "out", "--json").json
    assert (answer["protocol"], answer["found"]) == ("random", 4)
    judged = cli("analyze", "out", "--draws", 1, "--json").json["icarl"]["correlation"]
    assert judged["n"] == 4
    cli("import-logs", *logs, "--out", "other")
    unsaid = cli("analyze", "other", "--draws", 1, "--json").json["icarl"]["correlation"]
    assert unsaid["n"] == 0


@pytest.mark.parametrize("name", ["edge", "rnadom"])
def test_orders_of_logs_count_as_drawn_blindly_or_as_nothing(cli: Cli, name: str) -> None:
    log = write_log(Path("a.log"), increment=10)
    answer = cli("import-logs", log, "--protocol", name, "--out", "out")
    assert f"Unknown protocol of logs '{name}'." in answer.sentence
    assert "Known: logs, random, random-legacy, enumerate, latin." in answer.sentence
    assert not Path("out").exists()


def test_a_result_without_a_matrix_is_json_too(cli: Cli) -> None:
    log = write_log(Path("a.log"), init_cls=5, increment=5)
    [row] = cli("import-logs", log, "--out", "out", "--json").json["sequences"]
    assert row["matrix"] == [[] for _ in range(20)]
    assert row["forgetting"] is None
    assert row["accuracy"] == row["a_last"]


def test_what_is_no_log_is_one_sentence(cli: Cli) -> None:
    Path("a.log").write_text("nothing\n")
    assert "is no log of PyCIL or PILOT" in cli("import-logs", "a.log", "--out", "out").sentence
    assert "Cannot read b.log" in cli("import-logs", "b.log", "--out", "out").sentence
    assert not Path("out").exists()
