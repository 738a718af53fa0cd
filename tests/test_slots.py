"""Any model, any data: what users have, in the forms they have it in, from Python and the shell."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import edgecil
from edgecil.backbones import model_slot as slot
from edgecil.cli.main import main
from edgecil.errors import EdgecilError, EdgecilWarning, UsageError
from edgecil.methods import METHODS
from edgecil.training import executors
from tests.backbones.test_slot import Tiny
from tests.grouped import train
from tests.toys import save_toy, toy_dataset, toy_vit
from tests.training.test_own_learner import run_cell
from tests.training.test_resume import finished, wait_for

pytestmark = pytest.mark.filterwarnings("ignore::edgecil.errors.EdgecilWarning")


FILE = """
import numpy as np
import torch
from torch import nn

def make():
    return nn.Sequential(nn.Flatten(), nn.Linear(144, 6))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 6)
    def forward(self, vectors):
        return self.layer(vectors)

def load():
    labels = np.arange(60) % 6
    return np.random.default_rng(0).normal(size=(60, 8)) + labels[:, None], labels

class Loaded:
    '''Reads class names and a loader, and uses a backbone by name.'''
    def __init__(self):
        self.means = {}
    def fit_task(self, loader, names):
        assert all(isinstance(name, str) for name in names)
        images, labels = (torch.cat(parts) for parts in zip(*loader))
        for label in labels.unique().tolist():
            self.means[label] = images[labels == label].float().mean(dim=0).flatten()
    def predict(self, images):
        means = torch.stack(list(self.means.values()))
        nearest = torch.cdist(images.float().flatten(1), means).argmin(dim=1)
        return torch.tensor(list(self.means))[nearest]
    def state_dict(self):
        return {"means": self.means}
    def load_state_dict(self, state):
        self.means = dict(state["means"])
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EDGECIL_CACHE", str(tmp_path / "cache"))
    (tmp_path / "mine.py").write_text(FILE)
    save_toy(tmp_path / "toy.npz")
    torch.manual_seed(0)
    return tmp_path


def run(**options: Any) -> edgecil.Experiment:
    given = {"dataset": "toy.npz", "method": "er", "tasks": 2, "protocol": "random", "budget": 1}
    shared = {"out": "out", "epochs": 1, "progress": False, "workers": 1}
    return train(**{**given, **shared, **options})


def counts(experiment: edgecil.Experiment) -> dict[Any, Any]:
    return {
        (run.method, run.sequence): [node.class_correct for node in run.nodes]
        for run in experiment.results()
    }


def shell(*flags: str) -> int:
    fixed = ("--tasks", "2", "--protocol", "random", "--budget", "1", "--epochs", "1")
    return main(["run", *flags, *fixed, "--out", "out", "--workers", "1", "--no-progress"])


def colour_folder(side: int = 12) -> str:
    rng = np.random.default_rng(0)
    for name in "abcd":
        for index in range(8):
            path = Path("colour") / name / f"{index}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            pixels = rng.integers(0, 100, (side, side, 3)) + 30 * "abcd".index(name)
            Image.fromarray(pixels.astype(np.uint8)).save(path)
    return "./colour"


def hub() -> Any:
    datasets = pytest.importorskip("datasets")
    rows = {"embedding": np.eye(24).tolist(), "label": [label % 4 for label in range(24)]}
    return datasets.Dataset.from_dict(rows)


def pair() -> Any:
    toy = toy_dataset(4)
    return tuple(
        torch.utils.data.TensorDataset(torch.from_numpy(it.inputs), torch.from_numpy(it.labels))
        for it in (toy.train, toy.test)
    )


DATA = {
    "edgecil's own": lambda: toy_dataset(4),
    "a torch Dataset": lambda: pair()[0],
    "a pair": pair,
    "arrays": lambda: (np.eye(24, 5) + np.arange(24)[:, None], np.arange(24) % 4),
    "a Hugging Face dataset": hub,
    "a function": lambda: toy_dataset,
}


@pytest.mark.parametrize("form", DATA)
def test_a_dataset_in_memory_trains(form) -> None:
    (result,) = run(dataset=DATA[form]()).results()
    assert len(result.nodes) == 2


@pytest.mark.parametrize(
    "flags",
    [
        ("--dataset", "mine.py:load"),
        ("--dataset", "./saved"),
        ("--dataset", "toy.npz", "--backbone", "mine.py:make"),
        ("--dataset", "toy.npz", "--backbone", "timm:tiny"),
        ("--dataset", "toy.npz", "--backbone", "timm:tiny", "--method", "simplecil,finetune"),
        ("--dataset", "./colour", "--backbone", toy_vit(3), "--method", "l2p,ease,simplecil"),
        ("--dataset", "mine.py:load", "--method", "mine.py:Loaded"),
    ],
)
def test_data_models_and_learners_by_text(flags, monkeypatch) -> None:
    fake: Any = ModuleType("timm")
    fake.list_models = lambda: ["tiny"]
    fake.create_model = lambda name, **_: Tiny()
    monkeypatch.setitem(sys.modules, "timm", fake)
    # a worker process would import the real one
    monkeypatch.setattr(executors, "suits", lambda _: True)
    slot.model_fingerprint.cache_clear()
    if "./saved" in flags:
        hub().save_to_disk("saved")
    if "./colour" in flags:
        colour_folder()
    given = flags if "--method" in flags else (*flags, "--method", "er")
    assert shell(*given) == 0
    results = edgecil.Experiment.open("out").results()
    assert len(results) == len(given[given.index("--method") + 1].split(","))


@pytest.mark.parametrize(
    ("method", "backbone"),
    [
        ("l2p", "vit-quickdraw"), ("ease", "vit-quickdraw"), ("simplecil", "vit-quickdraw"),
        ("er", "vit_base_patch16_224"), ("er", "resnet50"), ("er", "mlp"), ("er", Tiny()),
        ("l2p", Tiny(3)), ("memo", Tiny(3)), ("ease", "mine.py:make"), ("tagfex", toy_vit(3)),
        ("er", 7), ("er", lambda: Tiny()), ("er", "no_such_module:make"),
        ("simplecil", None),  # the default is 'vit-b16-in21k', whose weights are not here
    ],
)  # fmt: skip
def test_mismatches_are_one_sentence_before_training(method, backbone) -> None:
    with pytest.raises(EdgecilError) as caught:
        run(dataset=colour_folder(), method=method, backbone=backbone)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    assert not Path("out").exists()


def test_a_module_and_a_file_train_alike_here_and_in_workers() -> None:
    options: dict[str, Any] = {
        "method": ["simplecil", "er"],
        "backbone": Tiny(),
        "set": {"er": {"backbone": "mine.py:make"}},
        "budget": 2,
    }
    one, two = (run(out=str(workers), workers=workers, **options) for workers in (1, 2))
    assert counts(one) == counts(two)
    assert len({key[0] for key in counts(one)}) == 2


SCRIPT = """
import sys
import edgecil
{code}
if __name__ == "__main__":
    torch.manual_seed(0)
    edgecil.run(
        method=["simplecil", "er"], dataset=load, tasks=3, protocol="random", budget=3,
        training={{"backbone": nn.Sequential(Net()), "schedule": {{"epochs": int(sys.argv[3])}}}},
        out=sys.argv[1], execution={{"workers": 2, "executor": sys.argv[2], "progress": False}},
    )
"""


def start_script(out: str, executor: str, epochs: int = 5) -> subprocess.Popen[bytes]:
    Path("script.py").write_text(SCRIPT.format(code=FILE))
    command = [sys.executable, "-W", "ignore", "script.py", out, executor, str(epochs)]
    return subprocess.Popen(command, start_new_session=True)


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["local", "ray"])
def test_a_module_of_the_running_script_is_killed_and_resumed(executor) -> None:
    if executor == "ray":
        pytest.importorskip("ray")
    assert start_script("whole", "local").wait(300) == 0
    killed = start_script("out", executor)
    wait_for(lambda: finished(Path("out")) > 0, killed)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    assert 0 < finished(Path("out")) < 18
    assert start_script("out", executor).wait(300) == 0
    whole, resumed = (edgecil.Experiment.open(out) for out in ("whole", "out"))
    assert counts(whole) == counts(resumed)
    assert len(counts(whole)) == 6


@pytest.mark.parametrize("form", ["Net()", "nn.Sequential(Net())", "make_net"])
def test_a_network_of_a_notebook_trains_although_torch_was_used_before(form, monkeypatch) -> None:
    monkeypatch.setattr(executors, "suits", lambda _: False)
    cell = run_cell(f"{FILE}\ndef make_net():\n    return Net()\n\nGIVEN = {form}\n", monkeypatch)
    here, again = (run(dataset=cell.load, backbone=cell.GIVEN) for _ in range(2))
    assert counts(here) == counts(again)
    assert again.summary.trained == 0
    with pytest.raises(UsageError, match="'workers'"):
        run(dataset=cell.load, backbone=cell.GIVEN, workers=2)


def test_another_model_is_refused_in_the_same_directory() -> None:
    model = Tiny()
    run(method="simplecil", backbone=model)
    assert run(method="simplecil", backbone=model).summary.trained == 0
    with pytest.raises(UsageError, match="weights"):
        run(method="simplecil", backbone=Tiny())


def test_class_names_as_a_list() -> None:
    names = ["apple", "bear", "bicycle", "bridge"]
    run(protocol="edge", similarity=None, names=names, budget=None)
    assert edgecil.choose_sequences(similarity={"names": names}, tasks=2)


def test_the_notebook_from_a_model_to_a_comparison() -> None:
    """Fifteen lines: the features of a folder, three learners, a comparison."""
    from edgecil.backbones.extract import features

    model = Tiny(3)  # timm.create_model("vit_base_patch16_224", num_classes=0)
    vectors = features(dataset=colour_folder(), backbone=model, out="features.npz", progress=False)
    experiment = edgecil.run(
        method=["simplecil", "finetune", "er"],
        dataset=vectors,
        tasks=2,
        protocol="random",
        budget=3,
        out="photos",
        execution={"workers": 1, "progress": False},
    )
    comparison = edgecil.compare(experiment.directory)
    assert len(comparison.pairs) == 3
    assert {result.method for result in experiment.results()} == {"simplecil", "finetune", "er"}


def test_learners_say_what_they_need() -> None:
    needs = {name: entry.needs(entry.config()) for name, entry in METHODS.items()}
    needs = {name: need for name, need in needs.items() if METHODS[name].source is None}
    assert {name for name, need in needs.items() if need == "residual"} == {"memo", "tagfex"}
    assert {name for name, need in needs.items() if need == "sockets"} == {
        "l2p", "dualprompt", "coda-prompt", "hide-prompt", "ease", "mos", "aper", "ranpac",
    }  # fmt: skip


def test_a_method_that_is_given_in_another_way_is_refused() -> None:
    for call in (edgecil.run, edgecil.check):
        with pytest.raises(UsageError, match=r"Got 2; name the others, such as method="):
            call("quickdraw", "er")  # type: ignore[misc]
    with pytest.raises(UsageError, match=r"option 'methods'\. Did you mean 'method'"):
        edgecil.run(methods="er", dataset="quickdraw", tasks=2)
    with pytest.raises(UsageError, match="give the class itself"):
        edgecil.run(method=["er", object()], dataset="quickdraw", tasks=2, out="x")  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("network", "features"),
    [
        ("resnet-tiny", "class means of their inputs"),
        ("vit-quickdraw", "features of vit-quickdraw"),
    ],
)
def test_classes_with_unknown_names_are_grouped_by_class_means(network: str, features: str) -> None:
    options: dict[str, Any] = {
        "method": "simplecil" if network == "vit-quickdraw" else "finetune",
        "dataset": "toy.npz",
        "tasks": 2,
    }
    save_toy(Path("toy.npz"))
    assert "class means of the inputs" in str(edgecil.check(**options))
    options["training"] = {"backbone": network, "epochs": 1}
    options["data"] = {"image_size": 28}
    with pytest.warns(EdgecilWarning, match=features):
        experiment = edgecil.run(
            **options, protocol="probes", out="probes", execution={"workers": 1, "progress": False}
        )
    grouped, spread = (run.sequence.tasks for run in experiment.sequences()["probes"])
    assert {*map(frozenset, grouped)} != {*map(frozenset, spread)}
