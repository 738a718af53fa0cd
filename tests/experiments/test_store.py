from __future__ import annotations

import gzip
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

import edgecil
from edgecil.errors import DataError, EdgecilError, UsageError
from edgecil.experiments import store as store_module
from edgecil.experiments.plan import Node
from edgecil.experiments.results import NodeResult, Reported, WholeRun
from edgecil.experiments.store import DATABASE, FORMAT, TABLES, Store, StoreReader, checksum_of
from edgecil.io.directory import claim
from edgecil.sequences import ClassSequence
from edgecil.sequences.protocols import LabelledSequence
from edgecil.sequences.sequence import parse_tasks

FIRST = Node("m", 0, ((0, 1),))
SECOND = Node("m", 0, ((0, 1), (2, 3)))
RESULT = NodeResult({"head": (3,)}, (4,), 0.5, 1000)
LATER = NodeResult.per_class(
    {"head": ((1, 0), (2, 2))}, ((2, 2), (2, 2)), 0.5, 1000, {"head": ((0, 0, 3), (0, 0, 0))}
)
IDENTITY = {
    "dataset": {},
    "sizes": [2, 2],
    "method m": {"schedule": {"epochs": 3}, "tasks": (1, 2)},
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "run")
    yield opened
    opened.close()


def labelled(label: str, *tasks: list[int]) -> LabelledSequence:
    return LabelledSequence(label, ClassSequence(tasks))


def test_what_is_recorded_is_on_disk_at_once(store) -> None:
    store.record(FIRST, RESULT)
    with Store(store.directory) as other:  # as another process sees it
        assert other.done() == {FIRST: RESULT}


def test_a_failure_is_kept_until_the_node_succeeds_and_takes_no_result_away(store) -> None:
    """A finished node may have to be trained again for its state, and fail then."""
    store.add_sequences("p", [labelled("x", [0, 1], [2, 3])])
    store.record_failure(FIRST, "ValueError: no", "long story")
    assert (store.done(), store.failures()) == ({}, {FIRST: ("ValueError: no", "long story")})
    store.record(FIRST, RESULT)
    assert (store.done(), store.failures()) == ({FIRST: RESULT}, {})
    store.record(SECOND, LATER)
    store.record_failure(FIRST, "MemoryError", "")
    assert store.done() == {FIRST: RESULT, SECOND: LATER}
    assert list(store.runs()) == [("m", 0, SECOND.prefix)]
    assert FIRST in store.failures()


def test_runs_are_complete_requested_sequences(store) -> None:
    store.record(FIRST, RESULT)
    store.record(SECOND, LATER)
    assert store.runs() == {}
    store.add_sequences("p", [labelled("x", [2, 3], [0, 1]), labelled("y", [0, 1], [2, 3])])
    (run,) = store.runs().values()
    assert run.nodes == (RESULT, LATER)
    assert run.sequence == ClassSequence([[0, 1], [2, 3]])


def test_the_same_identity_is_accepted_again_and_new_names_are_added(store) -> None:
    store.check_identity(IDENTITY)
    store.check_identity(IDENTITY)
    store.check_identity({"sizes": [2, 2], "method n": {"schedule": {}}})
    assert set(store.identity()) == {"dataset", "sizes", "method m", "method n"}
    assert store.identity()["method m"] == {"schedule": {"epochs": 3}, "tasks": [1, 2]}


def test_a_changed_identity_is_refused_with_the_difference(store) -> None:
    store.check_identity(IDENTITY)
    store.record(FIRST, RESULT)
    for schedule, given in (({"epochs": 4}, "4"), ({}, "None")):
        changed = {"sizes": [3, 1], "method m": {"schedule": schedule, "tasks": (1, 2)}, "new": 1}
        with pytest.raises(UsageError) as refused:
            store.check_identity(changed)
        message = str(refused.value)
        assert "'overwrite'" in message
        assert "sizes: [2, 2] stored, [3, 1] given" in message
        assert f"m.schedule.epochs: 3 stored, {given} given" in message
        assert "tasks" not in message
    assert "new" not in store.identity()


def test_a_method_without_a_result_may_change(store) -> None:
    store.check_identity(IDENTITY)
    store.record_failure(FIRST, "ValueError", "")
    changed = {**IDENTITY, "method m": {"schedule": {"epochs": 4}}}
    store.check_identity(changed)
    assert store.identity()["method m"] == {"schedule": {"epochs": 4}}


def test_protocols_add_up_and_keep_their_order(store) -> None:
    runs = [labelled(label, *tasks) for label, tasks in (("b", [[0], [1]]), ("a", [[1], [0]]))]
    store.add_sequences("p", runs)
    store.add_sequences("q", runs[:1])
    store.add_sequences("p", runs)
    assert store.sequences() == {"q": runs[:1], "p": runs}
    store.add_sequences("p", runs[:1])
    assert store.sequences() == {"q": runs[:1], "p": runs[:1]}, "the latest call counts"


def test_a_smaller_budget_hides_no_finished_sequence(store) -> None:
    """Those without a result are no longer planned."""
    runs = [labelled(f"seed-{seed}", [0, seed + 1], [8, 9]) for seed in range(4)]
    store.add_sequences("random", runs)
    store.record(Node("m", 0, runs[2].sequence.tasks[:1]), RESULT)
    store.record(Node("m", 0, runs[2].sequence.tasks), LATER)
    store.add_sequences("random", runs[:1])
    assert store.sequences() == {"random": [runs[0], runs[2]]}
    store.add_sequences("random", runs[:2], keep="all")
    assert store.sequences() == {"random": [runs[0], runs[2], runs[1]]}


def test_a_label_that_meant_another_sequence_is_refused(store) -> None:
    store.add_sequences("edge", [labelled("hard", [0], [1])])
    with pytest.raises(UsageError, match=r"edge.hard.*0.*1"):
        store.add_sequences("edge", [labelled("hard", [1], [0])])
    assert store.sequences() == {"edge": [labelled("hard", [0], [1])]}


def test_another_format_is_refused(store) -> None:
    for number in (1, FORMAT + 1):
        store._database.execute(f"PRAGMA user_version = {number}")
        for kind in (Store, StoreReader):
            with pytest.raises(DataError, match=f"format {number}.* and {FORMAT}"):
                kind(store.directory)


@pytest.mark.parametrize("start", [0, 8192], ids=["no database", "a hole"])
def test_a_damaged_database_is_refused(store, start) -> None:
    for label in range(200):
        store.record(Node("m", 0, ((label,),)), RESULT)
    store.close()
    path = store.directory / "results.sqlite"
    content = bytearray(path.read_bytes())
    content[start:] = b"\xff" * (len(content) - start)
    path.write_bytes(content)
    for kind in (Store, StoreReader):
        with pytest.raises(DataError, match=r"Cannot read .*results.sqlite"):
            kind(store.directory)


def test_a_directory_that_cannot_be_created(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EdgecilError, match="file/run"):
        Store(tmp_path / "file" / "run")


def test_a_full_disk_leaves_the_database_whole(store) -> None:
    store.record(FIRST, RESULT)
    pages = store._database.execute("PRAGMA page_count").fetchone()[0]
    store._database.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(EdgecilError, match=r"full.*run") as full:
        store.record_failure(SECOND, "x", "y" * 100_000)
    assert "overwrite" not in str(full.value), "which would delete what is intact"
    with Store(store.directory) as other:
        assert (other.done(), other.failures()) == ({FIRST: RESULT}, {})
        assert other._database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_database_that_another_process_writes(store) -> None:
    other = sqlite3.connect(store.directory / "results.sqlite")
    other.execute("BEGIN IMMEDIATE")
    store._database.execute("PRAGMA busy_timeout = 1")
    with pytest.raises(EdgecilError, match="database is locked"):
        store.record(FIRST, RESULT)
    other.close()
    store.record(FIRST, RESULT)


def test_states_have_files_of_their_own(store) -> None:
    nodes = [FIRST, SECOND, Node("n", 0, FIRST.prefix), Node("m", 1, FIRST.prefix)]
    assert len({store.state_path(node) for node in nodes}) == 4


def test_a_whole_run_of_another_tool_shares_nothing(store) -> None:
    """Two orders with one first task: each has a result of its own for it."""
    one, other = (Node("m", 0, ((0, 1), task)) for task in ((2, 3), (4, 5)))
    runs = {
        one: WholeRun((RESULT, LATER)),
        other: WholeRun(
            (NodeResult({}, (), 9.0, 1),), {"main": Reported(2, 61.5, rows=((60.0,), (61.0, 62.0)))}
        ),
    }
    store.add_sequences("p", [labelled("x", *map(list, one.prefix))])
    store.add_sequences("q", [labelled("y", *map(list, other.prefix))])
    for node, run in runs.items():
        store.record(node, run)
    assert store.done() == {}
    assert store.whole_runs() == runs
    first, second = (store.runs()["m", 0, node.prefix] for node in runs)
    assert first.nodes == (RESULT, LATER)
    assert (second.accuracy, second.seconds) == (61.5, 9.0)


def test_each_config_is_stored_once_in_order(store) -> None:
    for config in ({"methods": ["b"]}, {"methods": ["a"]}, {"methods": ["b"]}):
        store.add_config(config)
    assert store.configs() == [{"methods": ["b"]}, {"methods": ["a"]}]


def read_only(directory: Path) -> list[str]:
    """Read a directory without write access; the files in it afterwards."""
    directory.chmod(0o555)
    try:
        with StoreReader(directory) as reader:
            assert reader.done() == {FIRST: RESULT}
        return sorted(path.name for path in directory.iterdir())
    finally:
        directory.chmod(0o755)


def test_a_reader_of_a_closed_database_writes_nothing(store) -> None:
    store.record(FIRST, RESULT)
    store.close()
    before = sorted(path.name for path in store.directory.iterdir())
    assert read_only(store.directory) == before == ["results.sqlite", "states"]


def test_a_reader_sees_what_a_running_process_has_written(store) -> None:
    store.record(FIRST, RESULT)
    with StoreReader(store.directory) as reader:
        assert reader.done() == {FIRST: RESULT}
        store.record(SECOND, LATER)
        assert reader.done() == {FIRST: RESULT, SECOND: LATER}


@pytest.mark.parametrize("suffixes", [("", "-wal"), ("", "-shm", "-wal")])
def test_a_reader_of_a_crashed_run_reads_the_write_ahead_log(store, tmp_path, suffixes) -> None:
    """The log of a killed process holds results that are not in the main file yet."""
    store.record(FIRST, RESULT)
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    names = [f"{DATABASE}{suffix}" for suffix in suffixes]
    for name in names:
        shutil.copyfile(store.directory / name, crashed / name)
    assert read_only(crashed) == names


@pytest.mark.parametrize(
    ("table", "column", "text"),
    [
        ("identity", "value", "{"),
        ("nodes", "prefix", "0 x"),
        ("nodes", "result", "[]"),
        ("nodes", "result", '{"correct":{},"totals":[],"seconds":1,"peak_memory":1}'),
    ],
)
def test_rows_that_somebody_else_wrote_are_refused_in_one_sentence(
    store, table, column, text
) -> None:
    """Anyone who can write a row can also write its checksum."""
    store.check_identity(IDENTITY)
    store.record(FIRST, RESULT)
    store.close()
    with sqlite3.connect(store.directory / DATABASE) as database:
        columns = TABLES[table]
        row = list(database.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()[-1])
        row[columns.index(column)] = text
        database.execute(f"DELETE FROM {table} WHERE rowid = (SELECT max(rowid) FROM {table})")
        marks = ", ".join("?" * (len(columns) + 1))
        database.execute(
            f"INSERT INTO {table} ({', '.join(columns)}, checksum) VALUES ({marks})",
            (*row, checksum_of(row)),
        )
    with StoreReader(store.directory) as reader, pytest.raises(DataError, match="is damaged"):
        reader.identity(), reader.done()


def test_the_format_of_one_training_seed_is_read_but_not_continued(tmp_path: Path) -> None:
    claim(tmp_path / "old", "experiment")
    database = tmp_path / "old" / "results.sqlite"
    packed = Path(__file__).parent / "data" / "format-3.sqlite.gz"
    database.write_bytes(gzip.decompress(packed.read_bytes()))
    before = database.read_bytes()
    answer = edgecil.analyze(tmp_path / "old")["simplecil"].claims
    assert (answer.shared_seeds, answer.order_count) == (1, 3)
    assert answer.mean.value == pytest.approx(91.25)
    with pytest.raises(UsageError, match="cannot be continued"):
        Store(tmp_path / "old")
    assert database.read_bytes() == before


def test_all_tables_of_a_moment_are_parsed_once(store, monkeypatch) -> None:
    store.record(FIRST, RESULT)
    parsed: list[str] = []
    monkeypatch.setattr(
        store_module, "parse_tasks", lambda text: parsed.append(text) or parse_tasks(text)
    )
    with StoreReader(store.directory) as reader:
        reader.read_all()
    for _ in range(3):
        assert reader.done() == {FIRST: RESULT}
        assert reader.finished_nodes() == [FIRST]
    assert len(parsed) == 1


def test_a_transaction_is_on_disk_before_it_counts_as_written(tmp_path: Path) -> None:
    """SQLite waits for the disk at every commit: 2 is FULL, which a power failure cannot undo."""
    with Store(tmp_path) as store:
        database = store._database
        assert database.execute("PRAGMA synchronous").fetchone() == (2,)
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
