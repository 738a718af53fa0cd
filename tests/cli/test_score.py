from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Cli


def test_the_profile_is_the_one_that_sequences_gave(cli: Cli, matrix: Path) -> None:
    made = cli("sequences", "--similarity", matrix, "--tasks", 4, "--json")
    Path("all.json").write_text(made.out, encoding="utf-8")
    common = ("paper", "score", "--similarity", matrix, "--json", "--sequence")
    for run in made.json["sequences"]:
        Path("s.json").write_text(json.dumps({"tasks": run["tasks"]}), encoding="utf-8")
        profile = cli(*common, "s.json").json
        assert profile == {"schema": "edgecil.paper-score/1", **run["profile"]}
        assert profile.keys() >= {"score", "z", "objectives"}
        assert cli(*common, "all.json", "--label", run["label"]).json == profile
