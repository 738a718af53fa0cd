from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import torch

from edgecil.errors import DataError, UsageError
from edgecil.methods import Environment, Method, get_method, method_names, resolve_method
from edgecil.methods.memory import MemoryBudget
from edgecil.methods.settings import Schedule
from edgecil.methods.task import Scenario, Task
from edgecil.registry import Registry
from edgecil.testing import Subject, check_method, learn, toy_dataset
from tests.methods.learner_files import write_learner


class Constant(Method):
    """Always predicts one position."""

    def __init__(self, environment: Environment, *, position: int = 0) -> None:
        super().__init__(environment)
        self.position = position

    def learn(self, task: Task) -> None:
        self.seen = task.seen

    def classify(self, pixels: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"head": torch.full((len(pixels),), self.position)}


def spec_of(path: Path) -> str:
    return f"{path}:NearestMean"


def test_a_plain_learner_in_a_file_learns_and_keeps_the_contract(tmp_path) -> None:
    spec = spec_of(write_learner(tmp_path))
    check_method(spec)
    dataset = toy_dataset()
    scenario, method = Scenario(dataset), Subject(get_method(spec)).build(dataset)
    for end in (1, 2):
        learn(method, scenario, ((5, 2), (0, 1))[:end])
    images = scenario.test.only((5, 2, 0, 1))
    assert (method.predict(images.inputs) == images.labels).double().mean() > 0.9


class Untrained(Constant):
    """Has a state only after its first task."""

    def state(self) -> dict[str, object]:
        assert self.seen, "no task was learnt yet"
        return {"seen": list(self.seen)}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.seen = tuple(state["seen"])


def test_the_state_is_not_asked_for_before_the_first_task() -> None:
    check_method(Untrained, learns=False)


class Forgetful:
    """A plain learner without a state."""

    def __init__(self) -> None:
        self.means: dict[int, torch.Tensor] = {}

    def fit_task(self, images: torch.Tensor, labels: torch.Tensor, classes: list[int]) -> None:
        for class_ in classes:
            self.means[class_] = images[labels == class_].float().mean(dim=0).flatten()

    def predict(self, images: torch.Tensor) -> list[int]:
        means = torch.stack(list(self.means.values()))
        ids = list(self.means)
        return [ids[i] for i in torch.cdist(images.float().flatten(1), means).argmin(dim=1)]

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        pass


class Unready(Forgetful):
    """Fails in its second task."""

    def fit_task(self, images: torch.Tensor, labels: torch.Tensor, classes: list[int]) -> None:
        if self.means:
            raise KeyError
        super().fit_task(images, labels, classes)


class Unrestorable(Untrained):
    """An edgecil.Method whose predictions depend on more than its state."""

    def learn(self, task: Task) -> None:
        super().learn(task)
        self.answer = 0

    def classify(self, pixels: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"head": torch.full((len(pixels),), self.answer)}


@pytest.mark.parametrize(
    ("learner", "calls", "cause"),
    [
        (Forgetful, ("predict failed after load_state_dict(state_dict())", "fit_task"), "stack"),
        (Unready, ("fit_task failed on task 2 (KeyError)", "number"), ""),
        (Unrestorable, ("classify failed after restore(state())", "learn creates"), "answer"),
    ],
)
def test_a_failed_call_of_the_learner_is_named(learner, calls, cause) -> None:
    with pytest.raises(AssertionError) as failed:
        check_method(learner)
    assert str(failed.value).startswith(f"{learner.__name__}: {calls[0]}")
    assert calls[1] in str(failed.value)
    assert cause in str(failed.value.__cause__)


def test_settings_are_the_constructor_s_parameters(tmp_path) -> None:
    entry = get_method(spec_of(write_learner(tmp_path)))
    assert (entry.name, entry.summary) == ("NearestMean", "The class with the nearest mean image.")
    assert entry.config().shrink == 0.0
    built = Subject(entry, {"shrink": 0.5}).build(toy_dataset())
    assert built.learner.shrink == 0.5
    with pytest.raises(UsageError, match="'shrnk'"):
        Subject(entry, {"shrnk": 0.5}).build(toy_dataset())


def test_identity_follows_the_module_and_its_local_imports(tmp_path) -> None:
    path = write_learner(tmp_path)
    before = get_method(spec_of(path)).identity
    assert set(before) == {"learner.py", "shapes.py"}
    assert get_method(spec_of(path)).identity == before
    (tmp_path / "unrelated.py").write_text("x = 1\n")
    assert get_method(spec_of(path)).identity == before
    (tmp_path / "shapes.py").write_text(
        (tmp_path / "shapes.py").read_text(encoding="utf-8") + "# changed\n", encoding="utf-8"
    )
    after = get_method(spec_of(path)).identity
    assert after["learner.py"] == before["learner.py"]
    assert after["shapes.py"] != before["shapes.py"]
    assert get_method("icarl").identity == {}


def test_entry_and_configuration_travel_to_another_process(tmp_path) -> None:
    """By path where the file exists, by value where it does not."""
    path = write_learner(tmp_path / "here")
    entry = get_method(spec_of(path))
    data = tmp_path / "entry.pickle"
    data.write_bytes(pickle.dumps((entry.config(shrink=0.25), entry, get_method("ewc"))))
    code = (
        f"import pickle; config, entry, ewc = pickle.load(open({str(data)!r}, 'rb'));"
        "from edgecil.testing import check_predictions, Subject;"
        "check_predictions(Subject(entry)); print(config.shrink, entry.name, ewc.name)"
    )
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.stdout.split() == ["0.25", "NearestMean", "ewc"], done.stderr
        for file in path.parent.glob("*.py"):
            file.unlink()


def test_a_class_a_function_and_a_module_path() -> None:
    entry = resolve_method(Constant)
    assert entry.spec == f"{__name__}:Constant"
    assert get_method(entry.spec) is entry
    assert pickle.loads(pickle.dumps(entry)) is entry
    assert set(entry.identity) >= {"tests/methods/test_resolve.py"}
    with pytest.raises(AssertionError, match="where class means of the pixels have 100 %"):
        check_method(Constant)
    check_method(Constant, learns=False)
    assert resolve_method("iCaRL") is get_method("icarl")
    assert resolve_method(get_method("icarl").build) is get_method("icarl")


def test_entry_points_of_installed_packages(monkeypatch) -> None:
    point = EntryPoint("constant", f"{__name__}:Constant", "edgecil.methods")
    points = Registry("method", {"constant": point})
    monkeypatch.setattr("edgecil.methods.resolve.installed", lambda group: points)
    assert "constant" in method_names()
    assert get_method("Constant") is resolve_method(Constant)


class NoPredict:
    def fit_task(self, images: Any, labels: Any, classes: Any) -> None: ...
    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None: ...


class Wrong(NoPredict):
    def predict(self, images: torch.Tensor) -> list[int]:
        return [99] * len(images)


def needs_width(width: int) -> Any: ...


def test_errors_say_what_to_change(tmp_path) -> None:
    with pytest.raises(UsageError, match="no method 'predict'"):
        resolve_method(NoPredict)
    with pytest.raises(Exception, match=r"99.*classes"):
        check_method(Wrong)
    with pytest.raises(UsageError, match="'width'"):
        resolve_method(needs_width)
    with pytest.raises(DataError, match=r"nothing\.py"):  # as every file that is missing
        get_method(str(tmp_path / "nothing.py:Learner"))
    with pytest.raises(UsageError, match=r"nowhere\.at_all"):
        get_method("nowhere.at_all:Learner")
    with pytest.raises(UsageError, match=r"class or function of .*learner\.py 'NearestMeen'"):
        get_method(f"{write_learner(tmp_path)}:NearestMeen")
    with pytest.raises(UsageError, match=r"learner\.py:NearestMean\."):
        get_method(str(tmp_path / "learner.py"))
    with pytest.raises(UsageError, match="top level"):
        resolve_method(lambda: None)


@pytest.mark.parametrize(("name", "builtin"), [("Replay", "er"), ("ICaRL", "icarl")])
def test_a_learner_named_like_a_built_in_method_is_refused(name, builtin, tmp_path) -> None:
    path = write_learner(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace("NearestMean", name), encoding="utf-8")
    with pytest.raises(UsageError, match=f"'{name}' is .*'{builtin}'"):
        get_method(f"{path}:{name}")


class Hoarder(Constant):
    """Calls a number of images its memory."""

    def __init__(self, environment: Environment, *, memory: int = 20) -> None:
        super().__init__(environment)
        self.memory = memory


def test_a_setting_called_memory_stays_the_learners_own() -> None:
    entry = resolve_method(Hoarder)
    assert entry.configure(Schedule(epochs=3), MemoryBudget(per_class=5)).memory == 20
    own = entry.configure(Schedule(epochs=3), MemoryBudget(per_class=5), {"memory": 7})
    assert own.memory == 7
