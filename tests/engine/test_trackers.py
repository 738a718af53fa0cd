from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from edgecil.engine.results import NodeResult, RunResult
from edgecil.engine.trackers import open_trackers, result_row, run_key, write_all
from edgecil.errors import PrerequisiteError
from edgecil.sequences import ClassSequence


def run(method: str = "icarl", tasks: int = 2) -> RunResult:
    counts = [{"nme": (4,), "head": (3,)}, {"nme": (2, 4), "head": (1, 1)}]
    nodes = tuple(
        NodeResult(dict(correct), (5,) * (place + 1), 0.5, 7)
        for place, correct in enumerate(counts[:tasks])
    )
    return RunResult(method, 1, ClassSequence([[0, 3], [1, 2]][:tasks]), nodes)


def write(results: list[RunResult], **options: Any) -> None:
    trackers = open_trackers(**options)
    write_all(trackers, results)
    for tracker in trackers:
        tracker.close()


def test_one_row_per_result(tmp_path) -> None:
    path = tmp_path / "logs" / "rows.jsonl"
    write([run(), run("ewc", tasks=1), run()], jsonl=path)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert rows[0] == {
        "method": "icarl", "seed": 1, "sequence": "0 3|1 2", "accuracy": 60.0, "last": 60.0,
        "average": 70.0, "forgetting": 40.0, "bwt": -40.0, "accuracy_nme": 60.0,
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


def test_rows_are_plain_values() -> None:
    assert json.loads(json.dumps(result_row(run()), allow_nan=False))


class FakeWandb:
    """Runs by id; a run that exists is resumed, as the service does."""

    def __init__(self) -> None:
        self.runs: dict[str, SimpleNamespace] = {}

    def init(self, *, project: str, id: str, resume: str, **options: Any) -> SimpleNamespace:
        assert (project, resume) == ("orders", "allow")
        if id in self.runs:
            self.runs[id].resumed = True
            return self.runs[id]
        logged: list[tuple[int, dict[str, float]]] = []
        self.runs[id] = SimpleNamespace(
            resumed=False,
            options=options,
            logged=logged,
            log=lambda values, step: logged.append((step, values)),
            summary={},
            finished=0,
        )
        current = self.runs[id]

        def finish() -> None:
            current.finished += 1

        current.finish = finish
        return current


def test_wandb_has_one_run_for_each_run_also_after_a_second_call(monkeypatch) -> None:
    service = FakeWandb()
    monkeypatch.setitem(sys.modules, "wandb", service)
    for _ in range(2):
        write([run(), run("ewc", tasks=1)], wandb="orders")
    assert list(service.runs) == [run_key(run()), run_key(run("ewc", tasks=1))]
    first = service.runs[run_key(run())]
    assert first.finished == 2
    assert first.options["config"]["sequence"] == "0 3|1 2"
    assert first.logged == [
        (0, {"seen/nme": 80.0}),
        (0, {"seen/head": 60.0}),
        (1, {"seen/nme": 60.0}),
        (1, {"seen/head": 20.0}),
    ]
    assert first.summary["final/accuracy"] == 60.0
    assert "final/seed" not in first.summary


class FakeClient:
    """The part of MLflow's client that is used; the server's memory is shared by all clients."""

    runs: dict[str, dict[str, Any]]

    def get_experiment_by_name(self, name: str) -> SimpleNamespace | None:
        return SimpleNamespace(experiment_id="7") if self.runs else None

    def create_experiment(self, name: str) -> str:
        assert name == "orders"
        return "7"

    def search_runs(self, ids: list[str], *, filter_string: str, max_results: int) -> list[str]:
        assert ids == ["7"]
        assert "attributes.status = 'FINISHED'" in filter_string
        return [
            key
            for key, run in self.runs.items()
            if f"= '{run['tags']['edgecil.run']}'" in filter_string and run["ended"]
        ]

    def create_run(self, experiment: str, *, tags: dict[str, str]) -> SimpleNamespace:
        key = f"run{len(self.runs)}"
        self.runs[key] = {"tags": tags, "params": {}, "metrics": [], "ended": False}
        return SimpleNamespace(info=SimpleNamespace(run_id=key))

    def log_param(self, run: str, name: str, value: Any) -> None:
        self.runs[run]["params"][name] = value

    def log_metric(self, run: str, name: str, value: float, step: int | None = None) -> None:
        self.runs[run]["metrics"].append((name, value, step))

    def set_terminated(self, run: str) -> None:
        self.runs[run]["ended"] = True


def test_mlflow_has_one_finished_run_for_each_run(monkeypatch) -> None:
    runs: dict[str, dict[str, Any]] = {}
    client = type("Client", (FakeClient,), {"runs": runs})
    monkeypatch.setitem(sys.modules, "mlflow", SimpleNamespace(MlflowClient=client))
    write([run()], mlflow="orders")
    write([run(), run("ewc", tasks=1)], mlflow="orders")
    assert [entry["params"]["method"] for entry in runs.values()] == ["icarl", "ewc"]
    assert all(entry["ended"] for entry in runs.values())
    assert ("seen/nme", 60.0, 1) in runs["run0"]["metrics"]
    assert ("final/forgetting", 40.0, None) in runs["run0"]["metrics"]


@pytest.mark.parametrize("name", ["tensorboard", "wandb", "mlflow"])
def test_a_missing_package_is_an_error_before_anything_is_trained(monkeypatch, name) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(PrerequisiteError, match=f"pip install {name}"):
        open_trackers(**{name: "orders"})
