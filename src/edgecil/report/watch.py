"""A page that stays current while an experiment runs."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from edgecil.engine.experiment import Experiment
from edgecil.errors import DataError
from edgecil.report.write import Report, write_report


def watch_report(source: str | Path, *, seconds: float = 10.0, **options: Any) -> Report:
    """Write the page of an experiment again and again until no run is under way.

    The page loads itself again meanwhile. At the end the whole report is written.

    Args:
        source: the experiment directory.
        seconds: between two pages.
        options: as for :func:`~edgecil.report.write.write_report`.
    """
    experiment = Experiment.open(source)
    shown = options.pop("open", False)
    while experiment.status().alive:
        with suppress(DataError):  # nothing has finished yet
            write_report(source, live=True, open=shown, **options)
            shown = False
        time.sleep(seconds)
    return write_report(source, open=shown, **options)
