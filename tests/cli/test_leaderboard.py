from __future__ import annotations

from tests.cli.conftest import Cli

WORDS = (
    "lab", "leaderboard", "--budgets", "3", "--draws", "4", "--estimators",
    "gaussian-c4,smoothed",
)  # fmt: skip


def test_the_leaderboard_is_printed_closest_first(cli: Cli) -> None:
    answer = cli(*WORDS, "--protocol", "latin", "--json").json
    rows = answer["rows"]
    assert {(row["protocol"], row["estimator"]) for row in rows} == {
        (protocol, estimator)
        for protocol in ("random", "latin")
        for estimator in ("gaussian-c4", "smoothed")
    }
    first = [row["wasserstein"]["mean"] for row in rows if row["scale"] == "6 in 3"]
    assert first == sorted(first)
    shown = cli(*WORDS, "--protocol", "latin")
    assert "3 runs" in shown.out


def test_only_own_truths_require_some(cli: Cli) -> None:
    assert "truth table" in cli("lab", "leaderboard", "--own").sentence
