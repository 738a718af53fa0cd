from __future__ import annotations

import json
from pathlib import Path

import pytest

from edgecil.engine.results import NodeResult, RunResult
from edgecil.engine.trackers import result_row, write_jsonl, write_tensorboard
from edgecil.sequences import ClassSequence


def run(method: str = "icarl", tasks: int = 2) -> RunResult:
    counts = [{"nme": (4,), "head": (3,)}, {"nme": (2, 4), "head": (1, 1)}]
    nodes = tuple(
        NodeResult(dict(correct), (5,) * (place + 1), 0.5, 7)
        for place, correct in enumerate(counts[:tasks])
    )
    return RunResult(method, 1, ClassSequence([[0, 3], [1, 2]][:tasks]), nodes)


def test_one_row_per_result(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "rows.jsonl"
    write_jsonl([run(), run("ewc", tasks=1)], path)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows[0] == {
        "method": "icarl",
        "seed": 1,
        "sequence": "0 3|1 2",
        "accuracy": 60.0,
        "last": 60.0,
        "average": 70.0,
        "forgetting": 40.0,
        "bwt": -40.0,
        "accuracy_nme": 60.0,
        "accuracy_head": 20.0,
        "seconds": 1.0,
        "peak_memory": 7,
    }
    assert rows[1]["method"] == "ewc"
    assert rows[1]["forgetting"] is None
    assert len(rows) == 2


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_event_files_hold_the_accuracy_after_each_task(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    write_tensorboard([run(), run("ewc", tasks=1)], tmp_path)
    write_tensorboard([run()], tmp_path)
    other, home = sorted(path.parent for path in tmp_path.rglob("events*"))
    assert other.parent == tmp_path / "ewc" / "seed1"
    assert home.parent == tmp_path / "icarl" / "seed1"
    events = EventAccumulator(str(home)).Reload()
    steps = [(event.step, event.value) for event in events.Scalars("seen/nme")]
    assert steps == [(0, 80.0), (1, 60.0)]
    final = {name: events.Scalars(f"final/{name}")[0].value for name in ("accuracy", "forgetting")}
    assert final == {"accuracy": 60.0, "forgetting": 40.0}


def test_rows_are_plain_values() -> None:
    assert json.loads(json.dumps(result_row(run()), allow_nan=False))
