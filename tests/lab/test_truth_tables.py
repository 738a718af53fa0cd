"""Truth tables: the bundled ones, files of them, and a user's own."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas
import pytest

import edgecil
from edgecil import lab
from edgecil.errors import DataError, UsageError
from edgecil.experiments import Node, NodeResult, Store
from edgecil.lab.truth_tables import bundled_tables, experiment_truth, read_truths, write_truths
from edgecil.runs import METRICS, read_runs
from edgecil.runs.training_seeds import training_seed
from edgecil.sequences import LabelledSequence, SequenceSpace, protocol
from tests.analysis.experiments import write_experiment
from tests.analysis.tables import SPACE, Run, noisy, rows, table_of, write

DEMO = Path(__file__).parents[1] / "demo" / "accuracies.csv"


def counted_experiment(
    directory: Path, *, runs: int, space: SequenceSpace = SPACE, own: int = 0
) -> edgecil.Experiment:
    """The first runs on classes of ten test images; a seeded draw says what is correct.

    All orders of six classes; of other spaces 40 random ones, and the user's own.
    """
    rng = np.random.default_rng(1000)  # of no seed that `random` draws with
    sizes = space.sizes
    with closing(Store(directory)) as store:
        names = [chr(ord("a") + place) for place in range(space.classes)]
        store.check_identity(
            {"dataset": {"name": "drawn", "classes": names}, "method m": {"epochs": 2}}
        )
        name = "enumerate" if space == SPACE else "random"
        labelled = protocol(name, space, budget=None if space == SPACE else 40)
        mine = [LabelledSequence(f"mine {n}", it) for n, it in enumerate(space.sample(own, rng))]
        store.add_sequences(name, labelled)
        if mine:
            store.add_sequences("mine", mine)
        pairs = [(repeat, run.sequence) for repeat in (0, 1) for run in (*labelled, *mine)][:runs]
        for node in dict.fromkeys(
            node
            for repeat, it in pairs
            for node in Node(
                "m", training_seed(it.tasks, repeat, shared=space == SPACE), it.tasks
            ).path
        ):
            draws = [rng.integers(11, size=size).tolist() for size in sizes[: len(node.prefix)]]
            correct = {"head": tuple(map(tuple, draws))}
            totals = tuple((10,) * size for size in sizes[: len(node.prefix)])
            store.record(node, NodeResult.per_class(correct, totals, 1.0, 1))
    return edgecil.Experiment.open(directory)


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> edgecil.Experiment:
    return counted_experiment(tmp_path_factory.mktemp("counted"), runs=180)


def test_the_bundled_tables_have_sets_of_six_classes() -> None:
    tables = [table for table in lab.truths() if table.space == SPACE]
    assert len({table.classes for table in tables}) == len(tables) >= 6
    for table in tables:
        if table.dataset == "quickdraw":
            assert table.kind == "enumerated"
            assert table.sequences == tuple(SPACE.enumerate())
        else:
            assert table.kind == "sample"
            assert set(table.sequences) < set(SPACE.enumerate())
        values = table.accuracies("ranpac")
        assert values.shape == (2, len(table.sequences))
        assert 100 / 6 < values.min() < values.max() <= 100


def test_the_bundled_tables_agree_with_the_stored_demo_as_two_trainings_do() -> None:
    """Each of its orders, within five standard deviations between the seeds of a bundled table."""
    demo = read_runs(DEMO)[0]
    stored = {
        (run.method, run.sequence): run.accuracy
        for run in rows(demo)
        if run.protocol == "enumerate" and run.seed == 0
    }
    table = next(table for table in lab.truths() if table.name == "quickdraw-6-first")
    shared = [method for method in demo.methods if method in table.methods]
    assert "ranpac" in shared
    for method in shared:
        accuracies = table.accuracies(method)  # (repeats, orders)
        expected = np.array([stored[method, sequence] for sequence in table.sequences])
        deviation = np.sqrt(accuracies.var(axis=0, ddof=1).mean())
        assert np.abs(accuracies[0] - expected).max() <= 0.5 + 5.0 * deviation


def test_bundled_results_say_what_determined_them() -> None:
    for table in bundled_tables():
        for method in table.methods:
            about = table.provenance[method]
            assert len(about["commit"]) == 40
            assert about["torch"]
            assert "settings" in about


def test_every_metric_of_counts_is_that_of_the_experiment(counted: edgecil.Experiment) -> None:
    table = experiment_truth(counted)
    runs = {(run.seed, run.sequence): run for run in counted.results()}
    for metric in METRICS:
        expected = [
            [runs[seed, sequence].metric(metric) for sequence in table.sequences] for seed in (0, 1)
        ]
        # None where the metric needs what a run does not have, which is no number in the table
        values = np.array(expected, dtype=float)
        np.testing.assert_array_equal(table.accuracies("m", metric), values)


def test_an_unfinished_repeat_is_left_out_and_an_unfinished_method_is_an_error(
    tmp_path: Path,
) -> None:
    table = experiment_truth(counted_experiment(tmp_path / "two", runs=91))
    assert table.results["m"].seeds == (0,)
    with pytest.raises(DataError, match=r"90.*sequences"):
        experiment_truth(counted_experiment(tmp_path / "one", runs=3))


def test_a_file_holds_the_same_tables_in_the_same_bytes(
    counted: edgecil.Experiment, tmp_path: Path
) -> None:
    table = experiment_truth(counted, "drawn")
    sample = replace(table, name="some", kind="sample", sequences=table.sequences[::-1])
    for name in ("one.npz", "two.npz"):
        write_truths([table, sample], tmp_path / name)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    for written, back in zip([table, sample], read_truths(tmp_path / "one.npz"), strict=True):
        assert back.sequences == written.sequences
        assert back.classes == ("a", "b", "c", "d", "e", "f")
        assert back.provenance["m"]["settings"] == {"epochs": 2}
        np.testing.assert_array_equal(back.accuracies("m"), written.accuracies("m"))


def test_structured_orders_hang_on_the_random_ones_with_their_labels(tmp_path: Path) -> None:
    space = SequenceSpace.equal(20, 10)
    experiment = counted_experiment(tmp_path / "runs", runs=84, space=space, own=2)
    table = experiment_truth(experiment, "drawn")
    assert (table.kind, len(table.sequences), table.results["m"].seeds) == ("sample", 40, (0, 1))
    write_truths([table], tmp_path / "truths.npz")
    (back,) = read_truths(tmp_path / "truths.npz")
    assert back.structured is not None
    assert (back.structured.kind, back.structured.labels) == ("structured", ("mine 0", "mine 1"))
    mine = experiment.sequences()["mine"]
    seeds = [training_seed(run.sequence.tasks, 1) for run in mine]
    runs = {(run.seed, run.sequence): run.accuracy for run in experiment.results()}
    expected = [runs[seed, run.sequence] for seed, run in zip(seeds, mine, strict=True)]
    assert back.structured.accuracies("m")[1].tolist() == expected


def test_a_file_whose_counts_changed_is_refused(
    counted: edgecil.Experiment, tmp_path: Path
) -> None:
    table = experiment_truth(counted, "drawn")
    path = tmp_path / "truths.npz"
    write_truths([table], path)
    with np.load(path) as archive:
        arrays = dict(archive)
    arrays["drawn/m"][0, 0, 0, 0, 0] ^= 1
    np.savez(path, **arrays)
    with pytest.raises(DataError, match="checksum"):
        read_truths(path)
    path.write_bytes(b"PK")
    with pytest.raises(DataError, match=r"Cannot read .*truths\.npz"):
        read_truths(path)


def test_own_results_are_added_from_a_csv_file_and_from_a_directory(tmp_path: Path) -> None:
    runs = rows(table_of({"a": noisy(1), "b": noisy(2)}, ("enumerate", "random")))
    write(runs, tmp_path / "own.csv.gz")
    own = lab.truths(tmp_path / "own.csv.gz", bundled=False)[0]
    assert own.methods == ("a", "b")
    assert own.accuracies("a")[0].tolist() == [noisy(1)(sequence) for sequence in own.sequences]
    with pytest.raises(UsageError, match="'accuracy' only"):
        own.accuracies("a", "last")
    write_experiment(tmp_path / "runs", {"c": noisy(4)}, ("enumerate",))
    both = lab.truths(tmp_path / "own.csv.gz", tmp_path / "runs")
    assert [table.methods for table in both[-2:]] == [("a", "b"), ("c",)]
    assert len(both) == len(lab.truths()) + 2


@pytest.mark.parametrize("name", ["", "given", "latin"])
def test_every_order_is_a_truth_whatever_its_protocol(name: str, tmp_path: Path) -> None:
    """Without the column 'protocol', for one."""
    write(rows(table_of({"a": noisy(1)}, ("enumerate",))), tmp_path / "own.csv")
    frame = pandas.read_csv(tmp_path / "own.csv", dtype=str)
    frame = frame.assign(protocol=name) if name else frame.drop(columns="protocol")
    frame.to_csv(tmp_path / "own.csv", index=False)
    (own,) = lab.truths(tmp_path / "own.csv", bundled=False)
    assert own.kind == "enumerated"
    assert own.accuracies("a")[0].tolist() == [noisy(1)(sequence) for sequence in own.sequences]


def test_directories_of_the_same_classes_are_one_table(tmp_path: Path) -> None:
    for name, seed in (("x", 1), ("y", 2)):
        write_experiment(tmp_path / name, {name: noisy(seed)}, ("enumerate",))
    (table,) = lab.truths(tmp_path / "x", tmp_path / "y", bundled=False)
    assert table.methods == ("x", "y")
    assert table.accuracies("y").mean() == pytest.approx(
        np.mean([noisy(2)(sequence) for sequence in SPACE.enumerate()])
    )


def test_a_few_runs_are_no_truth(tmp_path: Path) -> None:
    write(rows(table_of({"a": noisy(1)}, ("latin",))), tmp_path / "few.csv")
    with pytest.raises(DataError, match=r"few\.csv.*Got 0"):
        lab.truths(tmp_path / "few.csv")


def test_thirty_shared_random_orders_are_a_sample(tmp_path: Path) -> None:
    space = SequenceSpace.equal(20, 10)
    values = np.random.default_rng(0).normal(60, 2, 40).tolist()
    drawn = zip(protocol("random", space, budget=40), values, strict=True)
    runs = [Run("a", "d", "random", run.label, run.sequence, 0, value) for run, value in drawn]
    write(runs, tmp_path / "sample.csv")
    (table,) = lab.truths(tmp_path / "sample.csv", bundled=False)
    assert table.kind == "sample"
    assert sorted(table.accuracies("a")[0]) == sorted(values)


def test_tables_name_an_unknown_method() -> None:
    with pytest.raises(UsageError, match="truth table"):
        lab.truths()[0].accuracies("nobody")
