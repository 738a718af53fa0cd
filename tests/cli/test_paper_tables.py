"""`python -m edgecil.paper tables`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.tables import noisy, rows, table_of, write
from tests.cli.conftest import Cli


@pytest.fixture
def accuracies() -> Path:
    table = table_of({"a": noisy(0), "b": noisy(1)}, ("random", "edge", "latin", "enumerate"))
    write(rows(table), "accuracies.csv")
    return Path("accuracies.csv")


def test_tables_in_the_papers_layout(cli: Cli, accuracies: Path) -> None:
    answer = cli("paper", "tables", accuracies, "--out", "tex", "--wasserstein-order", 2, "--bits")
    assert r"$W_2$ EDGE" in answer.out
    assert "bits" in answer.out
    written = {path.stem for path in Path("tex").iterdir()}
    assert written == {"paper-classic", "paper-enumerable", "paper-ranking"}
    tables = cli("paper", "tables", accuracies, "--json").json["tables"]
    assert set(tables) == {"classic", "enumerable", "ranking"}
    chosen = cli("paper", "tables", accuracies, "--protocol", "latin,edge").out
    assert "latin" in chosen
    refused = cli("paper", "tables", accuracies, "--wasserstein-order", 3)
    assert "--wasserstein-order" in refused.sentence
