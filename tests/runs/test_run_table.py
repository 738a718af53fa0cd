"""The table of runs: grouping by order and seed, checked against plain dictionaries."""

from __future__ import annotations

from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, strategies as st

from edgecil.errors import DataError
from edgecil.runs.run_files import read_runs
from edgecil.runs.run_table import Runs, join_tables
from edgecil.sequences import ClassSequence
from tests.analysis.tables import Run, build, rows

ORDERS = [ClassSequence.parse(text) for text in ("0|1|2", "1|0|2", "2|1|0")]


def made(*cells: str) -> Runs:
    """A table of 'method protocol label order seed accuracy' with one class per task."""
    runs = []
    for cell in cells:
        method, protocol, label, order, seed, accuracy = cell.split()
        sequence = ClassSequence.parse("|".join(order))
        value = None if accuracy == "-" else float(accuracy)
        runs.append(Run(method, "d", protocol, label, sequence, int(seed), value))
    return build(runs)


@st.composite
def tables(draw: st.DrawFn) -> Runs:
    run = st.builds(
        Run,
        st.sampled_from("ab"),
        st.just("d"),
        st.sampled_from(["random", "latin"]),
        st.sampled_from(["x", "y"]),
        st.sampled_from(ORDERS),
        st.integers(-1, 2),
        st.sampled_from([None, 10.0, 20.0, 70.0]),
    )
    return build(draw(st.lists(run, min_size=1, max_size=14)))


def grouped(table: Runs, method: str, protocol: str | None) -> dict[object, dict[object, float]]:
    """Different trainings by label and sequence, or by sequence alone, as they appear."""
    groups: dict[object, dict[object, float]] = {}
    for run in rows(table):
        if run.method == method and protocol in (None, run.protocol) and run.accuracy is not None:
            key = ("" if protocol is None else run.label), run.sequence
            groups.setdefault(key, {})[run.seed, run.accuracy] = run.accuracy
    return groups


@given(tables(), st.sampled_from([None, "random", "latin"]))
def test_orders_are_means_over_different_trainings(table: Runs, protocol: str | None) -> None:
    orders, expected = table.orders("a", protocol), grouped(table, "a", protocol)
    assert list(zip(orders.labels, orders.sequences, strict=True)) == list(expected)
    assert orders.accuracies.tolist() == [fmean(it.values()) for it in expected.values()]
    assert orders.counts.tolist() == [len(it) for it in expected.values()]
    for own, seeds, group in zip(orders.rows, orders.seeds, expected.values(), strict=True):
        trainings = [(table.seed[row], table.values[row]) for row in own if row >= 0]
        assert trainings == sorted(group)
        assert seeds[: len(trainings)].tolist() == [seed for seed, _ in trainings]
    sequences = tuple(dict.fromkeys(sequence for _, sequence in expected))
    assert tuple(orders.by_sequence()) == sequences


@given(tables())
def test_parts_of_a_table_make_the_table(table: Runs) -> None:
    half = len(table) // 2
    parts = [part for part in (slice(half), slice(half, None)) if rows(table)[part]]
    joined = join_tables([table.take(np.arange(len(table))[part]) for part in parts])
    assert rows(joined) == rows(table)
    assert (joined.methods, joined.sequences) == (table.methods, table.sequences)


@given(tables())
def test_a_data_frame_holds_the_table(table: Runs) -> None:
    frame = table.to_pandas()
    assert frame["repeat"].max() <= 3
    for (_, _), group in frame.groupby(["method", "sequence"], observed=True):
        seeds = sorted(set(group["seed"]))
        assert [seeds[repeat] for repeat in group["repeat"]] == group["seed"].tolist()
    once = frame.drop_duplicates(["method", "protocol", "label", "sequence", "seed"])
    (back,) = read_runs(once)
    assert rows(back) == [rows(table)[row] for row in once.index]


def test_labels_that_share_a_sequence_are_orders_of_their_own() -> None:
    """At six classes seeds 0 and 42 lead to one sequence; the paper's triple counts it twice."""
    table = made("m random r-0 012 0 40", "m random r-42 012 0 40", "m random r-1993 102 0 70")
    assert table.orders("m", "random").accuracies.tolist() == [40.0, 40.0, 70.0]
    assert table.orders("m").accuracies.tolist() == [40.0, 70.0]


def test_failed_labels_are_listed() -> None:
    table = made("m edge hard 012 0 -", "m edge hard 012 1 40", "m edge easy 102 0 -")
    assert table.failures("m", "edge") == ("easy",)
    assert table.missing == 2


def test_classes_get_the_ids_that_their_names_have_in_a_dataset() -> None:
    by_class = np.array([[10.0, 20.0, 30.0]])
    order, names = ClassSequence([[0, 2], [1]]), ("dog", "ant", "cat")
    table = Runs.of(["m"], [order], [20.0], protocol=["p"], names=names, by_class=by_class)
    renumbered = table.numbered_by(["ant", "bee", "cat", "dog"])
    assert renumbered.sequences == (ClassSequence([[3, 2], [0]]),)
    assert renumbered.names == ("ant", "cat", "dog")
    assert renumbered.by_class.tolist() == [[20.0, 30.0, 10.0]]
    with pytest.raises(DataError, match="all among"):
        table.numbered_by(["ant", "bee"])
