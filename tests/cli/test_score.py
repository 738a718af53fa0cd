from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.conftest import Cli

TASKS = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]


def write(name: str, content: Any) -> Path:
    path = Path(name)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_the_profile_is_the_one_that_sequences_gave(cli: Cli, matrix: Path) -> None:
    made = cli("sequences", "--similarity", matrix, "--tasks", 4, "--json")
    write("all.json", made.out)
    common = ("paper", "score", "--similarity", matrix, "--json", "--sequence")
    for run in made.json["sequences"]:
        path = write("s.json", {"tasks": run["tasks"]})
        profile = cli(*common, path).json
        assert profile == {"schema": "edgecil.paper-score/1", **run["profile"]}
        assert profile.keys() >= {"score", "z", "intra", "lag1", "lag2"}
        assert cli(*common, "all.json", "--label", run["label"]).json == profile
