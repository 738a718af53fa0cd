from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from edgecil.engine.experiment import Experiment
from edgecil.errors import DataError
from edgecil.report import watch


def test_the_page_is_written_until_the_run_ends_and_then_whole(monkeypatch, tmp_path) -> None:
    alive = iter([True, True, True, False])
    written: list[dict[str, Any]] = []

    def write(source: Any, **options: Any) -> str:
        written.append(options)
        if len(written) == 1:
            raise DataError("There are no results yet.")
        return "report"

    experiment = SimpleNamespace(status=lambda: SimpleNamespace(alive=next(alive)))
    monkeypatch.setattr(Experiment, "open", lambda source: experiment)
    monkeypatch.setattr(watch, "write_report", write)
    assert watch.watch_report(tmp_path, seconds=0.0, open=True) == "report"
    assert [(it.get("live", False), it["open"]) for it in written] == [
        (True, True),
        (True, True),
        (True, False),
        (False, False),
    ]
