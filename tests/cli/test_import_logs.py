from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Cli
from tests.interop.test_logs import write_log


def test_further_orders_of_logs_are_exported_or_drawn_by_the_toolbox(cli: Cli) -> None:
    for method in ("icarl", "wa"):
        for seed in (0, 1, 2):
            write_log(Path(f"{method}{seed}.log"), increment=10, seed=seed, model_name=method)
        cli("import-logs", *Path().glob(f"{method}*.log"), "--out", method)
    for given in (("icarl",), ("icarl", "wa")):
        advice = cli("next", *given, "--out", "next.json").out
        assert "give --sequences next.json to 'edgecil export'" in advice
        assert "further seeds" in advice
        assert "edgecil run" not in advice
