from __future__ import annotations

from pathlib import Path

import pytest

from edgecil.errors import EdgecilWarning
from tests.cli.conftest import Cli
from tests.interop.test_logs import write_log


def test_imported_logs_are_shown_like_any_experiment(cli: Cli) -> None:
    logs = [write_log(Path(f"{seed}.log"), increment=10, seed=seed) for seed in (0, 1)]
    [part] = cli("import-logs", *logs, "--out", "out", "--json").json["results"]
    assert (part["method"], part["protocol"], part["finished"]) == ("icarl", "logs", 2)
    assert [run["label"] for run in part["runs"]] == ["seed-0", "seed-1"]
    assert all(len(run["matrix"][-1]) == 6 for run in part["runs"])


def test_the_protocol_of_the_orders_can_be_given(cli: Cli) -> None:
    logs = [write_log(Path(f"{seed}.log"), increment=10, seed=seed) for seed in range(4)]
    answer = cli("import-logs", *logs, "--protocol", "random", "--out", "out", "--json").json
    assert [part["protocol"] for part in answer["results"]] == ["random"]


def test_a_result_without_a_matrix_is_json_too(cli: Cli) -> None:
    log = write_log(Path("a.log"), init_cls=5, increment=5)
    [part] = cli("import-logs", log, "--out", "out", "--json").json["results"]
    [run] = part["runs"]
    assert run["matrix"] == [[] for _ in range(20)]
    assert run["metrics"]["forgetting"] is None
    assert run["metrics"]["accuracy"] == run["metrics"]["last"]


def test_runs_that_are_left_out_are_noted(cli: Cli) -> None:
    whole = write_log(Path("a.log"), increment=10)
    half = write_log(Path("b.log"), increment=10, tasks=3, seed=5)
    with pytest.warns(EdgecilWarning, match="Left out: b.log"):
        assert cli("import-logs", whole, half, "--out", "out").code == 0


def test_a_file_that_is_not_a_log_is_one_sentence(cli: Cli) -> None:
    Path("a.log").write_text("nothing\n")
    assert "a.log" in cli("import-logs", "a.log", "--out", "out").sentence
    assert "b.log" in cli("import-logs", "b.log", "--out", "out").sentence
    assert not Path("out").exists()
