from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edgecil.engine.plan import Node
from edgecil.engine.results import NodeResult
from edgecil.engine.store import Store
from edgecil.errors import DataError, EdgecilError, UsageError
from edgecil.estimation import AccuracyTable, Run, read_accuracies, write_accuracies
from edgecil.sequences import ClassSequence, LabelledSequence
from tests.estimation.tables import noisy, table_of

HEADER = "method,dataset,protocol,label,sequence,seed,accuracy\n"


def read(tmp_path: Path, rows: str, header: str = HEADER) -> list[AccuracyTable]:
    path = tmp_path / "a.csv"
    path.write_text(header + rows)
    return read_accuracies(path)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    table = table_of({"a": noisy(0), "b": noisy(1)})
    write_accuracies(table.runs, tmp_path / "a.csv")
    assert read_accuracies(tmp_path / "a.csv") == [table]


def test_a_sequence_counts_by_its_mean_over_seeds(tmp_path: Path) -> None:
    rows = (
        "m,d,random,seed-0,0 1|2 3,0,40\nm,d,random,seed-0,0 1|2 3,1,50\nm,d,random,s,2 3|0 1,0,9"
    )
    (table,) = read(tmp_path, rows)
    assert table.orders("m", "random").accuracies.tolist() == [45.0, 9.0]
    assert [group.tolist() for group in table.repeats("m")] == [[40.0, 50.0], [9.0]]


def test_labels_that_share_a_sequence_are_runs_of_their_own(tmp_path: Path) -> None:
    """At six classes seeds 0 and 42 lead to one sequence; the paper's triple counts it twice."""
    rows = "m,d,random,seed-0,0|1,0,40\nm,d,random,seed-42,0|1,0,40\nm,d,random,seed-1993,1|0,0,70"
    (table,) = read(tmp_path, rows)
    assert table.orders("m", "random").accuracies.mean() == pytest.approx(50.0)
    assert len(table.orders("m")) == 2


def test_a_run_that_protocols_share_counts_once(tmp_path: Path) -> None:
    rows = "m,d,random,r,0|1,0,40\nm,d,enumerate,all-1,0|1,0,40\nm,d,enumerate,all-1,0|1,1,70"
    (table,) = read(tmp_path, rows)
    assert table.orders("m").accuracies.tolist() == [55.0]


@pytest.mark.parametrize("accuracy", ["", "nan", "NaN"])
def test_a_failed_run_is_left_out_and_counted(tmp_path: Path, accuracy: str) -> None:
    (table,) = read(tmp_path, f"m,d,edge,hard,0|1,0,{accuracy}\nm,d,edge,easy,1|0,0,50")
    assert table.failed == 1
    assert table.orders("m", "edge").labels == ("easy",)


def test_every_dataset_has_a_table_of_its_own(tmp_path: Path) -> None:
    first, second = read(tmp_path, "m,d,edge,hard,0|1,0,1\nm,e,edge,hard,0 1|2 3,0,2")
    assert (first.dataset, second.dataset) == ("d", "e")
    assert second.space.sizes == (2, 2)


def test_classes_are_renumbered_in_ascending_order(tmp_path: Path) -> None:
    (table,) = read(tmp_path, "m,d,edge,hard,30 7|2 9,0,1")
    assert table.classes == (2, 7, 9, 30)
    assert table.renumbered().runs[0].sequence == ClassSequence([[3, 1], [0, 2]])


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("m,d,edge,hard,0|1,0,101", "Row 2 .* accuracy '101'; .* per cent"),
        ("m,d,edge,hard,0|1,0,-1", "accuracy '-1'"),
        ("m,d,edge,hard,0|1,0,inf", "accuracy 'inf'"),
        ("m,d,edge,hard,0|1,0,high", "accuracy 'high'"),
        ("m,d,edge,hard,0|x,0,5", "sequence '0|x'"),
        ("m,d,edge,hard,0|0,0,5", "more than once"),
        ("m,d,edge,hard,,0,5", "sequence ''"),
        ("m,d,edge,hard,0|1,zero,5", "seed 'zero'"),
        (",d,edge,hard,0|1,0,5", "no method or no protocol"),
        ("m,d,edge,hard,0|1,0", "Row 2 .* 6 cells"),
        ("m,d,edge,hard,0|1,0,5\nm,d,edge,hard,0|1,0,6", "Row 3 .* repeats row 2"),
        ("m,d,edge,hard,0|1,0,5\nm,d,edge,easy,0 1|2,0,6", "same classes and task sizes"),
        ("", "holds no runs"),
    ],
)
def test_a_bad_row_is_told_with_its_number(tmp_path: Path, rows: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        read(tmp_path, rows)


def test_a_missing_column_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no column seed and no accuracy"):
        read(tmp_path, "", "method,dataset,protocol,label,sequence\n")


def test_a_missing_source_is_told_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no file or directory"):
        read_accuracies(tmp_path / "none")
    with pytest.raises(DataError, match="no run directory"):
        read_accuracies(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_different_datasets_are_not_judged_together() -> None:
    runs = [Run("m", name, "edge", "hard", ClassSequence([[0], [1]]), 0, 1.0) for name in "ab"]
    with pytest.raises(UsageError, match="split the table by dataset"):
        AccuracyTable(tuple(runs))


def test_a_run_directory_is_read_with_its_names_and_failures(tmp_path: Path) -> None:
    there, back = ClassSequence([[0], [1]]), ClassSequence([[1], [0]])
    store = Store(tmp_path)
    store.settle({"dataset": {"name": "pets", "classes": ["cat", "dog"]}})
    store.add_sequences("edge", [LabelledSequence("hard", there), LabelledSequence("easy", back)])
    for depth in (1, 2):
        result = NodeResult({"head": (3,) * depth}, (4,) * depth, 1.0, 1)
        store.record(Node("m", 0, there.tasks[:depth]), result)
    store.record_failure(Node("m", 0, back.tasks[:1]), "broken", "trace")
    store.close()
    (table,) = read_accuracies(tmp_path)
    assert (table.dataset, table.names, table.failed) == ("pets", ("cat", "dog"), 1)
    orders = table.orders("m", "edge")
    assert orders.labels == ("hard",)
    np.testing.assert_allclose(orders.accuracies, [75.0])


def test_a_method_that_has_begun_but_ended_no_order_is_not_forgotten(tmp_path: Path) -> None:
    there = ClassSequence([[0], [1]])
    store = Store(tmp_path)
    store.add_sequences("edge", [LabelledSequence("hard", there)])
    result = NodeResult({"head": (3,)}, (4,), 1.0, 1)
    store.record(Node("slow", 0, there.tasks[:1]), result)
    store.close()
    (table,) = read_accuracies(tmp_path)
    assert table.methods == ("slow",)
    assert table.failures("slow", "edge") == ("hard",)


def test_a_directory_without_results_is_told(tmp_path: Path) -> None:
    Store(tmp_path).close()
    with pytest.raises(EdgecilError, match="no results yet"):
        read_accuracies(tmp_path)


def test_one_training_with_two_accuracies_is_found(tmp_path: Path) -> None:
    rows = "m,d,enumerate,all-1,0|1,0,54.9\nm,d,random,seed-0,0|1,0,12\nm,d,random,s,1|0,0,50"
    ((first, other),) = read(tmp_path, rows)[0].contradictions()
    assert (first.accuracy, other.accuracy) == (54.9, 12.0)
    assert not read(tmp_path, rows.replace("0|1,0,12", "0|1,1,12"))[0].contradictions()
    assert not read(tmp_path, rows.replace("0|1,0,12", "0|1,0,"))[0].contradictions()


@pytest.mark.parametrize(
    ("method", "protocol"),
    [("ranking", "edge"), ("comparison", "edge"), ("notes", "edge"), ("m", "truth")],
)
def test_names_that_the_answer_needs_for_itself_are_refused(
    tmp_path: Path, method: str, protocol: str
) -> None:
    word = method if method != "m" else protocol
    with pytest.raises(DataError, match=f"cannot be called '{word}'"):
        read(tmp_path, f"{method},d,{protocol},hard,0|1,0,50")


def test_classes_get_the_ids_that_their_names_have_in_a_dataset() -> None:
    run = Run("m", "d", "edge", "hard", ClassSequence([[0, 2], [1]]), 0, 50.0)
    table = AccuracyTable((run,), ("dog", "ant", "cat"))
    found = table.numbered_by(["ant", "bee", "cat", "dog"])
    assert found.runs[0].sequence == ClassSequence([[3, 2], [0]])
    assert found.names == ("ant", "cat", "dog")
    with pytest.raises(DataError, match="not all among the labels"):
        table.numbered_by(["ant", "bee"])


def test_the_labels_that_failed_are_known(tmp_path: Path) -> None:
    hard, easy = "m,d,edge,hard,0|1,0,\nm,d,edge,hard,0|1,1,40", "m,d,edge,easy,1|0,0,"
    (table,) = read(tmp_path, f"{hard}\n{easy}")
    assert table.failures("m", "edge") == ("easy",)
