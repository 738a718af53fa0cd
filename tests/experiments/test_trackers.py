from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock, call

import pytest

from edgecil.errors import PrerequisiteError
from edgecil.experiments.results import NodeResult, RunResult
from edgecil.experiments.trackers import open_trackers, run_key
from edgecil.sequences import ClassSequence


def run(method: str = "icarl", tasks: int = 2) -> RunResult:
    counts = [{"nme": (4,), "head": (3,)}, {"nme": (2, 4), "head": (1, 1)}]
    nodes = tuple(
        NodeResult(dict(correct), (5,) * (place + 1), 0.5, 7)
        for place, correct in enumerate(counts[:tasks])
    )
    return RunResult(method, 1, ClassSequence([[0, 3], [1, 2]][:tasks]), nodes)


def write(results: list[RunResult], **options: Any) -> None:
    for tracker in open_trackers(**options):
        tracker(results)


def test_one_row_per_result(tmp_path) -> None:
    path = tmp_path / "logs" / "rows.jsonl"
    write([run(), run("ewc", tasks=1), run()], jsonl=path)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert rows[0] == {
        "method": "icarl", "seed": 1, "sequence": "0 3|1 2", "accuracy": 60.0, "last": 60.0,
        "average": 70.0, "forgetting": 40.0, "bwt": -40.0, "learning": 80.0,
        "training_accuracy": None, "accuracy_nme": 60.0,
        "accuracy_head": 20.0, "seconds": 1.0, "peak_memory": 7,
    }  # fmt: skip
    assert rows[1]["method"] == "ewc"
    assert rows[1]["forgetting"] is None
    assert len(rows) == 2


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_event_files_hold_the_accuracy_after_each_task(tmp_path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    write([run(), run("ewc", tasks=1)], tensorboard=tmp_path)
    write([run()], tensorboard=tmp_path)
    other, home = sorted(path.parent for path in tmp_path.rglob("events*"))
    assert other.parent == tmp_path / "ewc" / "seed1"
    assert home.parent == tmp_path / "icarl" / "seed1"
    events = EventAccumulator(str(home)).Reload()
    steps = [(event.step, event.value) for event in events.Scalars("seen/nme")]
    assert steps == [(0, 80.0), (1, 60.0)]
    final = {name: events.Scalars(f"final/{name}")[0].value for name in ("accuracy", "forgetting")}
    assert final == {"accuracy": 60.0, "forgetting": 40.0}


def test_wandb_has_one_run_for_each_run_also_after_a_second_call(monkeypatch) -> None:
    runs: dict[str, MagicMock] = {}

    def init(*, project: str, id: str, resume: str, **options: Any) -> MagicMock:
        """A run that exists is resumed, as the service does."""
        assert (project, resume) == ("orders", "allow")
        current = runs.setdefault(id, MagicMock(summary={}, options=options))
        current.resumed = current.finish.called
        return current

    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=init))
    for _ in range(2):
        write([run(), run("ewc", tasks=1)], wandb="orders")
    assert list(runs) == [run_key(run()), run_key(run("ewc", tasks=1))]
    first = runs[run_key(run())]
    assert first.finish.call_count == 2
    assert first.options["config"]["sequence"] == "0 3|1 2"
    assert first.log.mock_calls == [
        call({"seen/nme": 80.0}, step=0),
        call({"seen/head": 60.0}, step=0),
        call({"seen/nme": 60.0}, step=1),
        call({"seen/head": 20.0}, step=1),
    ]
    assert first.summary["final/accuracy"] == 60.0
    assert "final/seed" not in first.summary


def test_mlflow_has_one_finished_run_for_each_run(monkeypatch) -> None:
    ended: set[str] = set()  # the keys of finished runs
    client = MagicMock()
    client.get_experiment_by_name.return_value = None
    client.create_experiment.return_value = "7"
    client.search_runs.side_effect = lambda ids, *, filter_string, max_results: [
        key
        for key in ended
        if filter_string == f"tags.`edgecil.run` = '{key}' and attributes.status = 'FINISHED'"
    ]
    client.create_run.side_effect = lambda experiment, *, tags: SimpleNamespace(
        info=SimpleNamespace(run_id=tags["edgecil.run"])
    )
    client.set_terminated.side_effect = ended.add
    monkeypatch.setitem(sys.modules, "mlflow", SimpleNamespace(MlflowClient=lambda: client))
    write([run()], mlflow="orders")
    write([run(), run("ewc", tasks=1)], mlflow="orders")
    keys = [run_key(run()), run_key(run("ewc", tasks=1))]
    assert [it.args[0] for it in client.set_terminated.mock_calls] == keys
    assert call(keys[1], "method", "ewc") in client.log_param.mock_calls
    assert call(keys[0], "seen/nme", 60.0, step=1) in client.log_metric.mock_calls
    assert call(keys[0], "final/forgetting", 40.0) in client.log_metric.mock_calls


@pytest.mark.parametrize("name", ["tensorboard", "wandb", "mlflow"])
def test_a_missing_package_is_an_error_before_anything_is_trained(monkeypatch, name) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(PrerequisiteError, match=f"pip install {name}"):
        open_trackers(**{name: "orders"})
