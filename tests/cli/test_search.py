from __future__ import annotations

from pathlib import Path

from edgecil.cli.main import verb_parser
from tests.cli.conftest import Cli
from tests.toys import save_toy
from tests.training import strange as strange  # registers its learners


def test_search_prints_the_confirmed_order(cli: Cli, tmp_path: Path) -> None:
    toy = save_toy(tmp_path / "toy.npz", train=4)
    words = ("search", toy, "--method", "instant", "--sizes", "1,1,1,1", "--budget", 6)
    words = (*words, "--confirm", 2, "--workers", 1, "--out", tmp_path / "out")
    shown = cli(*words)
    assert shown.code == 0
    answer = cli(*words, "--json").json
    assert answer["goal"] == "worst"
    assert len(answer["confirmations"]) == 2
    assert answer["sentence"] in shown.out
    assert sorted(class_ for task in answer["tasks"] for class_ in task) == [0, 1, 2, 3]
    assert "orders trained" in shown.err


def test_a_budget_that_is_too_small_is_named_as_an_option(cli: Cli, tmp_path: Path) -> None:
    answer = cli("search", "quickdraw", "--method", "ewc", "--budget", 3, "--out", tmp_path / "x")
    assert answer.code == 2
    assert "--budget" in answer.sentence


def test_search_has_the_groups_of_run_but_chooses_sequences_itself() -> None:
    names = {action.dest for action in verb_parser("search")._actions}
    assert {"data.classes", "training.epochs", "execution.workers", "search.confirm"} <= names
    assert not {"protocol", "repeats", "execution.shard", "training.first_seed"} & names
