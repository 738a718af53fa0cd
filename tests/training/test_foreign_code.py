"""Code of the user that runs inside a run can neither end it, nor see, nor forget too much."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edgecil import TrainingFailedError
from edgecil.analysis.sources import collect_runs
from edgecil.cli.main import main
from edgecil.data.dataset import Dataset
from edgecil.data.load import load_dataset
from edgecil.errors import EdgecilWarning, UsageError
from edgecil.experiments.experiment import Experiment
from edgecil.experiments.merge import merge
from edgecil.experiments.plan import Node
from edgecil.io.code import ForeignExitError, load_code, locate_code
from edgecil.methods import MethodEntry, get_method
from edgecil.methods.task import Scenario
from edgecil.testing import check_method
from edgecil.training.learner_records import unchecked_learners
from edgecil.training.node_training import WorkerContext, score_classes
from tests.grouped import train
from tests.methods.learner_files import LEARNER, write_learner
from tests.toys import save_toy, toy_dataset, toy_environment

EXIT = "raise SystemExit(0)"


def learner_that_exits(folder: Path, call: str) -> str:
    """Write a learner one of whose calls ends the process, as `sys.exit(0)` does."""
    path = write_learner(folder)
    start = LEARNER.index(f"def {call}(")
    end_of_line = LEARNER.index(":\n", start) + 2
    text = f"{LEARNER[:end_of_line]}        {EXIT}\n{LEARNER[end_of_line:]}"
    path.write_text(text, encoding="utf-8")
    return f"{path}:NearestMean"


@pytest.mark.parametrize(
    ("call", "workers"),
    [
        ("fit_task", 1),
        ("predict", 1),
        ("state_dict", 1),
        ("__init__", 1),
        pytest.param("fit_task", 2, marks=pytest.mark.slow),
    ],
)
def test_a_learner_that_exits_is_a_failed_training(call: str, workers: int, tmp_path: Path) -> None:
    method = learner_that_exits(tmp_path / "code", call)
    options: dict[str, Any] = {"dataset": str(save_toy(tmp_path / "toy.npz")), "tasks": 2}
    with pytest.raises(TrainingFailedError, match=r"sys\.exit\(0\).*\(learner\.py, line"):
        train(method=method, out=tmp_path / "run", protocol="random", workers=workers, **options)
    failures = Experiment.open(tmp_path / "run").failures()
    assert len(failures) == 3
    assert {failure.node.method for failure in failures} == {"NearestMean"}


def test_the_command_line_reports_a_learner_that_exits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    method = learner_that_exits(tmp_path / "code", "fit_task")
    words = ["run", str(save_toy(tmp_path / "toy.npz")), "--method", method, "--tasks", "2"]
    words += ["--protocol", "random"]
    assert main([*words, "--workers", "1", "--out", str(tmp_path / "run")]) == 1
    assert "NearestMean called sys.exit(0)" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "import sys\ndef load():\n    sys.exit(0)\n",
        "import sys\nsys.exit(0)\ndef load(): ...\n",
        "class Items(list):\n    def __getitem__(self, index):\n        raise SystemExit(0)\n"
        "def load():\n    return Items([1, 2]), Items([1, 2])\n",
    ],
)
def test_a_dataset_function_that_exits_is_an_error(text: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ForeignExitError, match=r"called sys\.exit\(0\)"):
        load_dataset(f"{path}:load")


def test_a_file_that_exits_while_it_is_imported_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("class Mine: ...\nraise SystemExit('done')\n", encoding="utf-8")
    with pytest.raises(ForeignExitError, match=r"mine\.py called sys\.exit\('done'\)"):
        load_code(locate_code(f"{path}:Mine"))


NEIGHBOURS = """
    def predict(self, images):
        answers = NearestMean.nearest(self, images)
        rows = range(len(answers))
        groups = [answers[max(0, row - 10) : row + 10] for row in rows]
        return torch.stack([group.mode().values for group in groups])
"""
BATCH_NORM = """
    def predict(self, images):
        distances = torch.cdist(scale(images), torch.stack(list(self.means.values())))
        normal = torch.nn.BatchNorm1d(distances.shape[1], affine=False)  # in training mode
        return torch.tensor(list(self.means))[normal(distances).argmin(dim=1)]
"""
RANDOM = """
    def predict(self, images):
        answers = self.nearest(images)
        chance = np.random.default_rng().random(len(images)) < 0.5
        return torch.where(torch.tensor(chance), answers, int(answers[0]))
"""
EMPTY_STATE = """
    def predict(self, images):
        return self.nearest(images) if self.means else torch.full((len(images),), self.first)

    def state_dict(self):
        return {"first": next(iter(self.means))}

    def load_state_dict(self, state):
        self.first = state["first"]
"""
HONEST = ""


def variant(folder: Path, methods: str, *, adapts: bool = False) -> str:
    """Write a nearest-mean learner with other methods."""
    folder.parent.mkdir(exist_ok=True)
    path = write_learner(folder)
    text = LEARNER.replace("import torch\n", "import numpy as np\nimport torch\n")
    text = text.replace("def predict", "def nearest")
    text += "\n    def predict(self, images):\n        return self.nearest(images)\n"
    text += f"\n\nclass Variant(NearestMean):\n    adapts = {adapts}\n{methods}"
    path.write_text(text, encoding="utf-8")
    return f"{path}:Variant"


def run_variant(
    tmp_path: Path, methods: str, *, adapts: bool = False, contrast: int = 100, **more: Any
) -> Experiment:
    method = variant(tmp_path / "code", methods, adapts=adapts)
    data = str(save_toy(tmp_path / "toy.npz", contrast=contrast))
    options = {"protocol": "random", "budget": 2, "workers": 1, "tasks": 2, **more}
    return train(method=method, dataset=data, out=tmp_path / "run", **options)


@pytest.mark.parametrize(
    ("methods", "reason"),
    [
        (NEIGHBOURS, r"gave other labels to \d+ of 16 inputs in another order"),
        (BATCH_NORM, r"gave other labels to \d+ of 16 inputs in another order"),
        (RANDOM, r"gave other labels to \d+ of 16 inputs when it was asked twice"),
        (EMPTY_STATE, r"gave other labels to \d+ of 16 inputs after its state was restored"),
    ],
)
def test_a_learner_that_sees_or_forgets_too_much_is_refused_in_one_sentence(
    methods: str, reason: str, tmp_path: Path
) -> None:
    with pytest.raises(TrainingFailedError, match=reason):
        run_variant(tmp_path, methods, contrast=30)
    experiment = Experiment.open(tmp_path / "run")
    assert experiment.results() == []
    failures = experiment.failures()
    assert len(failures) == 2
    assert len({failure.error for failure in failures}) == 1, "one reason, without training again"


def test_a_learner_may_declare_that_it_adapts_to_test_inputs(tmp_path: Path) -> None:
    with pytest.warns(EdgecilWarning, match="depend on the other test inputs, as it declares"):
        experiment = run_variant(tmp_path, BATCH_NORM, adapts=True)
    assert len(experiment.results()) == 2
    [note] = [it for it in collect_runs(experiment).datasets[0].notes if "adapts" in it]
    assert note.startswith("Predictions of Variant depend")


def test_that_a_learner_was_checked_is_stored_with_its_code(tmp_path: Path) -> None:
    experiment = run_variant(tmp_path, HONEST)
    remark = experiment.identity["remark on Variant"]
    assert remark == {"code": remark["code"], "inputs": 16, "sentences": []}
    assert unchecked(tmp_path) == frozenset()
    variant(tmp_path / "code", "    more = 1\n")
    assert unchecked(tmp_path) == {"Variant"}


def unchecked(tmp_path: Path) -> frozenset[str]:
    entry = get_method(f"{tmp_path / 'code' / 'learner.py'}:Variant")
    return unchecked_learners(tmp_path / "run", {"Variant": entry})


def test_test_inputs_arrive_in_a_random_order_and_nothing_of_them_is_kept(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    spy = f"""
    def predict(self, images):
        answers = self.nearest(images)
        with open({str(log)!r}, "a") as file:
            print(*answers.tolist(), file=file)
        self.means.clear()  # the next task continues from the state before the test
        return answers
"""
    logs = []
    for name in ("one", "two"):
        with pytest.warns(EdgecilWarning, match="as it declares"):
            experiment = run_variant(tmp_path / name, spy, adapts=True, budget=1)
        [run] = experiment.results()
        assert all(node.class_correct["head"] == node.class_totals for node in run.nodes)
        answers = [list(map(int, line.split())) for line in log.read_text().splitlines()]
        calls = [16, 16, 24, 32, 24]
        assert [len(each) for each in answers] == calls, (
            "inputs of test, check and training after the first task, of test and training next"
        )
        assert sorted(answers[2]) != answers[2], "training inputs are in a random order, too"
        assert sorted(answers[0]) != answers[0]
        assert sorted(answers[0]) == [
            class_ for class_ in sorted(set(answers[0])) for _ in range(8)
        ]
        logs.append(answers)
        log.unlink()
    assert logs[0] == logs[1], "the order depends on the seed alone"


def test_scores_of_an_order_free_learner_are_put_back(tmp_path: Path) -> None:
    """Rows of scores are in the order of the dataset, whatever the learner saw."""
    dataset = toy_dataset(4, contrast=200)
    path = write_learner(tmp_path / "code")
    path.write_text(ORDER_FREE, encoding="utf-8")
    entry = get_method(f"{path}:Brightness")
    context = context_of(dataset, {"Brightness": entry})
    outcome = score_classes(context, Node("Brightness", 3, ((0, 1), (2, 3))))
    assert outcome.error is None
    assert outcome.scores is not None
    brightness = dataset.test.inputs.reshape(len(dataset.test), -1).astype(float).sum(axis=1)
    np.testing.assert_array_equal(outcome.scores[:, 0], brightness)
    assert (outcome.scores[:, 1] == 0.0).all(), "test labels are hidden"
    places = outcome.scores[:, 2].astype(int)
    assert sorted(places) == list(range(len(places)))
    assert list(places) != list(range(len(places))), "the learner saw another order"


ORDER_FREE = """
import torch
from edgecil import Method


class Brightness(Method):
    order_free = True

    def learn(self, task): ...

    def classify(self, inputs): ...

    def scores(self, scenario):
        inputs = scenario.test.inputs.flatten(1).double().sum(1)
        places = torch.arange(len(inputs)).double()
        return torch.stack([inputs, scenario.test.labels.double(), places, places], dim=1)
"""


def context_of(dataset: Dataset, methods: dict[str, MethodEntry]) -> WorkerContext:
    configs = {name: entry.config() for name, entry in methods.items()}
    return WorkerContext(Scenario(dataset), toy_environment(dataset), configs, methods=methods)


READS = """
    def fit_task(self, images, labels, classes):
        import pathlib
        super().fit_task(images, labels, classes)
        weights = pathlib.Path(__file__).with_name("weights.txt")
        self.weight = float(weights.read_text())
"""
IMPORTS = """
    def fit_task(self, images, labels, classes):
        import importlib.util, pathlib
        super().fit_task(images, labels, classes)
        path = pathlib.Path(__file__).with_name("weights.py")
        spec = importlib.util.spec_from_file_location("weights", path)
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
"""
AT_IMPORT = """
    import pathlib
    weights = pathlib.Path(__file__).with_name("weights.txt").read_text()
"""


@pytest.mark.parametrize(
    ("methods", "file"),
    [(READS, "weights.txt"), (IMPORTS, "weights.py"), (AT_IMPORT, "weights.txt")],
)
def test_a_file_that_a_learner_reads_may_not_change_between_two_calls(
    methods: str, file: str, tmp_path: Path
) -> None:
    weights = tmp_path / "code" / file
    weights.parent.mkdir()
    weights.write_text("1.0\n")
    experiment = run_variant(tmp_path, methods, budget=1)
    digest = hashlib.sha256(b"1.0\n").hexdigest()[:32]
    assert experiment.identity["files of Variant"] == {file: digest}
    assert run_variant(tmp_path, methods, budget=2).summary is not None
    weights.write_text("2.0\n")
    with pytest.raises(UsageError, match=rf"files of Variant\.{file}: {digest} stored"):
        run_variant(tmp_path, methods, budget=3)
    weights.unlink()
    with pytest.raises(UsageError, match=f"{digest} stored, missing given"):
        run_variant(tmp_path, methods, budget=3)
    weights.write_text("1.0\n")
    assert len(run_variant(tmp_path, methods, budget=3).results()) == 3


def test_a_file_that_a_learner_writes_is_named_in_a_note(tmp_path: Path) -> None:
    methods = READS.replace("self.weight", "weights.write_text('1.0')\n        self.weight")
    with pytest.warns(EdgecilWarning, match=r"because they change while it trains .*weights\.txt"):
        experiment = run_variant(tmp_path, methods, budget=1)
    assert "files of Variant" not in experiment.identity
    [note] = [it for it in collect_runs(experiment).datasets[0].notes if "identity" in it]
    assert "weights.txt" in note


def test_runs_that_read_different_files_are_kept_apart(tmp_path: Path) -> None:
    for name in ("one", "two"):
        weights = tmp_path / name / "code" / "weights.txt"
        weights.parent.mkdir(parents=True)
        weights.write_text(str(len(name) + ord(name[0])))
        run_variant(tmp_path / name, READS, budget=1)
    [dataset] = collect_runs([tmp_path / name / "run" for name in ("one", "two")]).datasets
    assert len(dataset.table.methods) == 2
    merged = {"directories": [tmp_path / "one" / "run", tmp_path / "two" / "run"]}
    with pytest.raises(UsageError, match="files of Variant"):
        merge(**merged, out=tmp_path / "both")


def test_merged_shards_keep_the_files_and_remarks_of_each(tmp_path: Path) -> None:
    weights = tmp_path / "code" / "weights.txt"
    weights.parent.mkdir()
    weights.write_text("1.0")
    shards = []
    for number in (1, 2):
        run_variant(tmp_path, READS, shard=f"{number}/2")
        shards.append((tmp_path / "run").rename(tmp_path / f"shard{number}"))
    merged = merge(shards, out=tmp_path / "all")
    assert len(merged.results()) == 2
    assert list(merged.identity["files of Variant"]) == ["weights.txt"]
    assert merged.identity["remark on Variant"]["inputs"] == 16


def test_check_method_asks_the_same_questions(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="in another order and other batches"):
        check_method(variant(tmp_path / "code", BATCH_NORM))
    check_method(variant(tmp_path / "adapts", BATCH_NORM, adapts=True))


CENTROIDS = """
import pathlib
import torch
from edgecil import Method


class Centroids(Method):
    order_free = True
    kept = ("means",)

    def __init__(self, environment):
        super().__init__(environment)
        self.means = {}

    def learn(self, task):
        pathlib.Path(__file__).with_name("note.txt").read_text()
        self.seen = task.seen
        for class_ in task.classes:
            rows = task.inputs[task.labels == task.seen.index(class_)]
            self.means[class_] = rows.flatten(1).double().mean(0)

    def distances(self, inputs, means):
        return torch.cdist(inputs.flatten(1).double(), torch.stack(means))

    def classify(self, inputs):
        return {"head": self.distances(inputs, [self.means[it] for it in self.seen]).argmin(1)}

    def scores(self, scenario):
        means = []
        for class_ in range(scenario.classes):
            rows = scenario.train.only((class_,)).inputs
            means.append(rows.flatten(1).double().mean(0))
        return SIGN * self.distances(scenario.test.inputs, means)
"""


def run_centroids(tmp_path: Path, sign: str) -> Experiment:
    path = tmp_path / "code" / "centroids.py"
    path.parent.mkdir()
    path.with_name("note.txt").write_text("x")
    path.write_text(CENTROIDS.replace("SIGN", sign), encoding="utf-8")
    data = str(save_toy(tmp_path / "toy.npz", contrast=200))
    options = {"protocol": "random", "budget": 2, "workers": 1, "tasks": 2}
    method = f"{path}:Centroids"
    return train(method=method, dataset=data, out=tmp_path / "run", **options)


def test_an_order_free_learner_is_checked_by_its_first_task(tmp_path: Path) -> None:
    experiment = run_centroids(tmp_path, "-1")
    assert experiment.identity["remark on Centroids"]["inputs"] == 16
    assert list(experiment.identity["files of Centroids"]) == ["note.txt"]
    assert all(run.accuracy == 100.0 for run in experiment.results())


def test_scores_that_are_not_what_a_learner_predicts_are_not_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    experiment = run_centroids(tmp_path, "+1")
    assert "give 0 right answers on the 16 test inputs of the first task" in caplog.text
    assert all(run.accuracy == 100.0 for run in experiment.results()), "trained order by order"
