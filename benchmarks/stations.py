"""Count the modules that a comparison, an analysis and a report load and call, and their stations.

    python benchmarks/stations.py

Three runs of each of two learners are compared, analysed and reported. A module is called if one of
its functions is; a change of station is a call from a module of one station (the second part of its
name) into a module of another. Imports are no calls. The stations stand in the order in which they
are entered first, each with the number of calls into it from another station.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import edgecil

RUNS = """method,dataset,protocol,label,sequence,seed,accuracy
icarl,quickdraw,random,seed-0,0 1|2 3|4 5,0,61.2
icarl,quickdraw,random,seed-1,4 5|0 1|2 3,1,58.9
icarl,quickdraw,random,seed-2,2 5|1 4|0 3,2,64.0
ewc,quickdraw,random,seed-0,0 1|2 3|4 5,0,41.2
ewc,quickdraw,random,seed-1,4 5|0 1|2 3,1,48.9
ewc,quickdraw,random,seed-2,2 5|1 4|0 3,2,44.0
"""


def count(work: Callable[[], Any]) -> tuple[int, Counter[str]]:
    """Return how many modules some work calls, and how often it enters each station."""
    modules: set[str] = set()
    entries: Counter[str] = Counter()

    def watch(frame: FrameType, event: str, argument: object) -> None:
        if event != "call" or frame.f_code.co_name == "<module>":
            return
        name = frame.f_globals.get("__name__", "")
        if not name.startswith("edgecil."):
            return
        modules.add(name)
        before = frame.f_back
        while before is not None and not _module(before).startswith("edgecil."):
            before = before.f_back
        if before is not None and _station(_module(before)) != _station(name):
            entries[_station(name)] += 1

    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(None)
    return len(modules), entries


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _station(module: str) -> str:
    return module.split(".")[1]


def main() -> None:
    """Print the counts, each after a first call that imports what it requires."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.csv"
        path.write_text(RUNS, encoding="utf-8")
        works = {
            "compare": lambda: edgecil.compare(path),
            "analyze": lambda: edgecil.analyze(path),
            "write_report": lambda: edgecil.write_report(path, out=Path(folder) / "report"),
        }
        for name, work in works.items():
            work()
            loaded = sum(module.startswith("edgecil.") for module in sys.modules)
            called, entries = count(work)
            print(f"{name}: {loaded} modules loaded, {called} called; {entries.total():,} changes")
            print("  " + ", ".join(f"{station} {times}" for station, times in entries.items()))


if __name__ == "__main__":
    main()
