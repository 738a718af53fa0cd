from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import edgecil
from edgecil.errors import DataError, UsageError
from edgecil.experiments.chosen_similarity import SIMILARITY_FILE
from edgecil.experiments.experiment import Experiment, stored_answers
from edgecil.experiments.plan import Node
from edgecil.experiments.results import NodeResult
from edgecil.experiments.store import Store, StoreReader
from edgecil.runs.metrics import METRICS
from edgecil.runs.run_files import read_runs
from edgecil.sequences import ClassSequence, LabelledSequence
from edgecil.similarity import SimilarityMatrix, save_similarity

THERE, BACK = ClassSequence([[0, 3], [1, 2]]), ClassSequence([[1, 2], [0, 3]])
NAMES = ["cat", "dog", "<mouse>", "ant"]


def fill(directory: Path) -> Path:
    """Two methods on two orders; `slow` failed on one and has only begun the other."""
    with Store(directory) as store:
        dataset = {"name": "pets", "classes": NAMES}
        methods = {"method fast": {}, "method slow": {}, "method own": {}}
        store.check_identity({"dataset": dataset, "torch": "2", **methods})
        store.add_sequences(
            "edge", [LabelledSequence("hard", THERE), LabelledSequence("easy", BACK)]
        )
        for sequence, right in ((THERE, 3), (BACK, 2)):
            for depth in (1, 2):
                counts = {"nme": ((right, right),) * depth, "head": ((1, 1),) * depth}
                result = NodeResult.per_class(counts, ((4, 4),) * depth, 1.0, 10)
                store.record(Node("fast", 0, sequence.tasks[:depth]), result)
        store.record(Node("slow", 0, THERE.tasks[:1]), NodeResult({"head": (1,)}, (4,), 1.0, 1))
        store.record_failure(Node("slow", 0, BACK.tasks[:1]), "ValueError: no", "trace")
    return directory


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    return Experiment.open(fill(tmp_path / "run"))


def test_everything_in_the_directory_is_read(experiment) -> None:
    assert (experiment.dataset, experiment.names) == ("pets", tuple(NAMES))
    assert Experiment(str(experiment.directory)).dataset == "pets"  # type: ignore[arg-type]
    assert experiment.identity["torch"] == "2"
    assert experiment.config is None
    assert [run.accuracy for run in experiment.results()] == [75.0, 50.0]
    labels = [labelled.label for labelled in experiment.sequences()["edge"]]
    assert labels == ["hard", "easy"]
    (failure,) = experiment.failures()
    assert (failure.method, failure.tasks, failure.runs) == ("slow", ((1, 2),), ("edge easy",))
    assert "edge easy" in str(failure)


def test_the_table_of_a_metric(experiment) -> None:
    table = experiment.table()
    assert (table.dataset, table.names, table.missing) == ("pets", tuple(NAMES), 2)
    assert table.orders("fast", "edge").accuracies.tolist() == [75.0, 50.0]
    assert table.failures("slow", "edge") == ("hard", "easy")
    assert experiment.table("last").metric == "last"
    assert experiment.table("Forgetting").orders("fast").accuracies.tolist() == [0.0, 0.0]
    assert experiment.table(classifier="head").orders("fast").accuracies.tolist() == [25.0, 25.0]
    with pytest.raises(UsageError, match="metric"):
        experiment.table("speed")
    with pytest.raises(UsageError, match="classifier"):
        experiment.table(classifier="foot")


def test_status_counts_runs(experiment) -> None:
    status = experiment.status()
    fast, slow = status.parts
    assert (fast.planned, fast.finished, fast.failed) == (2, 2, 0)
    assert (slow.planned, slow.finished, slow.failed) == (2, 0, 1)
    assert (status.tasks, status.finished, status.planned) == (5, 2, 4)
    assert not status.complete


def test_directories_that_are_no_experiment(tmp_path) -> None:
    with pytest.raises(DataError, match="no directory"):
        Experiment.open(tmp_path / "none")
    with pytest.raises(DataError, match="not an experiment"):
        Experiment.open(tmp_path)
    Store(tmp_path).close()
    with pytest.raises(DataError, match="no results yet"):
        Experiment.open(tmp_path).table()


def test_a_saved_similarity_is_read_back_bit_for_bit(experiment) -> None:
    values = np.random.default_rng(0).random((4, 4))
    matrix = SimilarityMatrix(
        tuple(NAMES), values + values.T, {"encoder": "e", "template": "{name}"}
    )
    save_similarity(matrix, experiment.directory / SIMILARITY_FILE)
    np.testing.assert_array_equal(experiment.similarity().submatrix(np.arange(4)), matrix.values)


def test_without_a_configuration_the_similarity_is_that_of_the_names(tmp_path) -> None:
    with Store(tmp_path) as store:
        store.check_identity({"dataset": {"name": "quickdraw", "classes": ["cat", "dog"]}})
    assert Experiment.open(tmp_path).similarity().names == ("cat", "dog")


def test_proposed_sequences_of_a_language_model_are_kept(tmp_path) -> None:
    assert stored_answers(tmp_path) == {}
    with Store(tmp_path) as store:
        store.add_sequences("llm-1", [LabelledSequence("hard", THERE)])
        store.add_sequences("edge", [LabelledSequence("hard", THERE)])
    assert stored_answers(tmp_path) == {"llm-1": {"hard": THERE}}


def test_a_data_frame_has_every_metric_and_is_read_back(experiment) -> None:
    frame = experiment.to_pandas()
    assert {*METRICS, "sequence", "seconds"} <= set(frame.columns)
    (table,) = read_runs(frame)
    assert table.values[0] == 75.0
    np.testing.assert_array_equal(table.values, experiment.table().values)
    assert read_runs(frame, metric="bwt")[0].values[0] == 0.0


def test_an_experiment_is_read_like_a_mapping(experiment) -> None:
    assert list(experiment) == ["fast", "slow", "own"]
    assert (len(experiment), "fast" in experiment, "ewc" in experiment) == (3, True, False)
    assert [len(runs) for runs in experiment.values()] == [2, 0, 0]
    runs = experiment["fast"]
    assert runs.accuracies.tolist() == [75.0, 50.0]
    assert [run.accuracy for run in runs] == [75.0, 50.0]
    assert (runs[0].sequence, runs[-1].sequence) == (THERE, BACK)
    assert str(runs) == "fast: 2 runs, accuracy 50.0 to 75.0 %"
    assert str(experiment).splitlines()[1:] == [str(runs), "slow: 0 runs", "own: 0 runs"]
    for name in ("fats", 0):
        with pytest.raises(KeyError):
            experiment[name]
    with pytest.raises(UsageError, match="Did you mean 'fast'"):
        experiment["fats"]
    assert experiment.get("ewc") is None
    assert dict(experiment.items()).keys() == experiment.keys()


def test_an_experiment_is_analysed_and_drawn(experiment) -> None:
    analysis = experiment.analyze(metric="last")
    assert analysis.options.metric == "last"
    assert str(analysis) == str(edgecil.analyze(experiment, metric="last"))
    drawn = experiment.plot(ax=Figure().subplots())
    assert len(drawn.get_yticks()) == 1


def test_reprs_are_short_escaped_and_read_the_runs_of_a_small_experiment_only(
    experiment, monkeypatch
) -> None:
    text, page = repr(experiment), experiment._repr_html_()
    assert "\n" not in text
    assert "pets; 4 classes in 2 tasks; fast 50.0 to 75.0 %; 2 runs" in text
    assert "&lt;" not in page.split("<table>")[1]
    assert page.count("<tr>") == 2
    monkeypatch.setattr("edgecil.experiments.experiment.MOST_READ", 1)
    monkeypatch.setattr(StoreReader, "runs", None)
    assert repr(experiment) == text.replace("fast 50.0 to 75.0 %", "fast")
    experiment.directory.rename(experiment.directory.with_name("gone"))
    assert str(experiment.directory) in repr(experiment)
    assert "<table" not in experiment._repr_html_()
