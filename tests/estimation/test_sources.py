from __future__ import annotations

from pathlib import Path

from edgecil.engine.run_files import read_runs
from edgecil.estimation.sources import export_runs
from tests.estimation.tables import rows, table_of


def test_a_failed_run_that_finished_elsewhere_is_exported_once(tmp_path: Path) -> None:
    first = table_of({"a": lambda sequence: None, "b": lambda sequence: 40.0}, ("latin",))
    second = table_of({"a": lambda sequence: 50.0}, ("latin",))
    export_runs([first, second], tmp_path / "both.csv", pool="one program")
    (table,) = read_runs(tmp_path / "both.csv")
    assert sorted((run.method, run.accuracy) for run in rows(table)) == [
        *[("a", 50.0)] * 3,
        *[("b", 40.0)] * 3,
    ]
