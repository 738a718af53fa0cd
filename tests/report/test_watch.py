from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from edgecil.engine.experiment import Experiment
from edgecil.errors import DataError
from edgecil.report import watch


def test_the_page_is_written_until_the_run_ends_and_then_whole(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
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
    assert watch.watch_report(tmp_path, seconds=0.0, open=True) == "report"  # type: ignore[comparison-overlap]
    assert [(it.get("live", False), it["open"]) for it in written] == [
        (True, True),
        (True, True),
        (True, False),
        (False, False),
    ]
