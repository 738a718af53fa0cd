"""Adding a protocol, estimator, method, dataset, metric or table of the report: one file each."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import edgecil
from edgecil.lab.estimators import ESTIMATORS
from edgecil.report import sections
from edgecil.runs.metrics import METRICS
from edgecil.sequences import PROTOCOLS

FILES = {
    "method": """
import torch

class Constant:
    def fit_task(self, images, labels, classes):
        self.answer = int(classes[0])

    def predict(self, images):
        return torch.full((len(images),), self.answer)

    def state_dict(self):
        return {"answer": self.answer}

    def load_state_dict(self, state):
        self.answer = state["answer"]
""",
    "dataset": """
import numpy as np

def load():
    labels = np.repeat(np.arange(4), (10, 20, 30, 40))
    vectors = np.eye(4, dtype=np.float32)[labels]
    return (vectors, labels), (2.0 * vectors, labels)
""",
    "protocol": """
from edgecil import ClassSequence, Protocol, register_protocol
from edgecil.sequences import LabelledSequence

class Ascending(Protocol):
    name = "ascending"
    summary = "the classes as they are numbered"
    default_budget = least_budget = most_budget = 1

    def choose(self, request):
        order = range(request.space.classes)
        yield LabelledSequence("up", ClassSequence.from_order(order, request.space.sizes))

register_protocol(Ascending())
""",
    "metric": """
from edgecil.runs.metrics import metric

@metric("lowest", "lowest task")
def lowest(counts):
    '''After the last task, the lowest accuracy of a task.'''
    return counts.accuracies[..., -1, :].min(axis=-1)
""",
    "estimator": """
from edgecil.statistics.distributions import Distribution
from edgecil.lab.estimators import ESTIMATORS

def wide(runs):
    return [Distribution.normal(float(row.mean()), 50.0) for row in runs.accuracies]

ESTIMATORS["wide"] = wide
""",
    "table": """
from edgecil.report.sections import Part, Section
from edgecil.report.table import make_table

def build(dataset, suffix):
    rows = [(name, "added") for name in dataset.methods]
    table = make_table(("method", "note"), rows, title="Added", name=f"added{suffix}")
    return Section("added", "Added", "", (Part(table=table),))
""",
}


@pytest.fixture
def files(tmp_path: Path) -> Iterator[dict[str, Path]]:
    paths = {name: tmp_path / f"{name}_file.py" for name in FILES}
    for name, path in paths.items():
        path.write_text(FILES[name], encoding="utf-8")
    yield paths
    PROTOCOLS._entries.pop("ascending", None)
    METRICS._entries.pop("lowest", None)
    ESTIMATORS.pop("wide", None)


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("ignore::edgecil.EdgecilWarning")
def test_each_addition_is_one_file_and_works_everywhere(files, tmp_path, monkeypatch) -> None:
    for name in ("protocol", "metric", "estimator"):
        load(files[name])
    point = SimpleNamespace(load=lambda: load(files["table"]).build)
    monkeypatch.setattr(sections, "entry_points", lambda group: [point])
    experiment = edgecil.run(
        method=f"{files['method']}:Constant",
        dataset=f"{files['dataset']}:load",
        tasks=2,
        protocol=["ascending", "enumerate"],
        out=tmp_path / "run",
        execution={"workers": 1},
    )
    runs = experiment.to_pandas()
    assert set(runs["protocol"]) == {"ascending", "enumerate"}
    assert (runs["lowest"] == 0.0).all(), "it never names an old class"
    assert runs["accuracy"].between(10.0, 40.0).all()
    audited = edgecil.lab.audit(experiment, draws=5)
    assert "wide" in str(vars(audited))
    pages = edgecil.write_report(experiment, out=tmp_path / "report").pages
    assert "added" in pages[0].read_text(encoding="utf-8")
    assert edgecil.analyze(experiment, metric="lowest")["Constant"]
