from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from edgecil.engine.plan import Node
from edgecil.engine.results import NodeResult, Reported, WholeRun
from edgecil.engine.store import FORMAT, Store, save_state
from edgecil.errors import DataError, EdgecilError, UsageError
from edgecil.sequences import ClassSequence
from edgecil.sequences.protocols import LabelledSequence

FIRST = Node("m", 0, ((0, 1),))
SECOND = Node("m", 0, ((0, 1), (2, 3)))
RESULT = NodeResult({"head": (3,)}, (4,), 0.5, 1000)
LATER = NodeResult({"head": (1, 4)}, (4, 4), 0.5, 1000)
SETTINGS = {"sizes": [2, 2], "method m": {"recipe": {"epochs": 3}, "tasks": (1, 2)}}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "run")
    yield opened
    opened.close()


def again(store: Store) -> Store:
    """The same directory as a process sees it that comes while the first is still there."""
    return Store(store.directory)


def labelled(label: str, *tasks: list[int]) -> LabelledSequence:
    return LabelledSequence(label, ClassSequence(tasks))


def test_what_is_recorded_is_on_disk_at_once(store: Store) -> None:
    store.record(FIRST, RESULT)
    other = again(store)
    assert other.done() == {FIRST: RESULT}
    other.close()


def test_a_failure_is_kept_until_the_node_succeeds(store: Store) -> None:
    store.record_failure(FIRST, "ValueError: no", "long story")
    assert store.done() == {}
    assert store.failures() == {FIRST: ("ValueError: no", "long story")}
    store.record(FIRST, RESULT)
    assert store.failures() == {}
    assert store.done() == {FIRST: RESULT}


def test_a_later_failure_does_not_take_a_result_away(store: Store) -> None:
    """A finished node may have to be trained again for its state, and fail then."""
    store.add_sequences("p", [labelled("x", [0, 1], [2, 3])])
    store.record(FIRST, RESULT)
    store.record(SECOND, LATER)
    store.record_failure(FIRST, "MemoryError", "")
    assert store.done() == {FIRST: RESULT, SECOND: LATER}
    assert list(store.runs()) == [("m", 0, SECOND.prefix)]
    assert FIRST in store.failures()


def test_runs_are_whole_sequences_that_were_asked_for(store: Store) -> None:
    store.record(FIRST, RESULT)
    store.record(SECOND, LATER)
    assert store.runs() == {}
    store.add_sequences("p", [labelled("x", [2, 3], [0, 1]), labelled("y", [0, 1], [2, 3])])
    (run,) = store.runs().values()
    assert run.nodes == (RESULT, LATER)
    assert run.sequence == ClassSequence([[0, 1], [2, 3]])


def test_the_same_settings_are_welcome_again_and_others_are_added(store: Store) -> None:
    store.settle(SETTINGS)
    store.settle(SETTINGS)
    store.settle({"sizes": [2, 2], "method n": {"recipe": {}}})
    assert set(store.settings()) == {"sizes", "method m", "method n"}
    assert store.settings()["method m"] == {"recipe": {"epochs": 3}, "tasks": [1, 2]}


def test_changed_settings_are_refused_with_the_difference(store: Store) -> None:
    store.settle(SETTINGS)
    changed = {"sizes": [3, 1], "method m": {"recipe": {"epochs": 4}, "tasks": (1, 2)}, "new": 1}
    with pytest.raises(UsageError) as refused:
        store.settle(changed)
    message = str(refused.value)
    assert "--fresh" in message
    assert "sizes: [2, 2] there, [3, 1] now" in message
    assert "method m.recipe.epochs: 3 there, 4 now" in message
    assert "tasks" not in message
    assert "new" not in store.settings()


def test_a_setting_that_is_gone_is_a_difference_too(store: Store) -> None:
    store.settle(SETTINGS)
    with pytest.raises(UsageError, match=r"method m\.recipe\.epochs: 3 there, None now"):
        store.settle({"method m": {"recipe": {}, "tasks": (1, 2)}})


def test_protocols_add_up_and_keep_their_order(store: Store) -> None:
    runs = [labelled(label, *tasks) for label, tasks in (("b", [[0], [1]]), ("a", [[1], [0]]))]
    store.add_sequences("p", runs)
    store.add_sequences("q", runs[:1])
    store.add_sequences("p", runs)
    assert store.sequences() == {"q": runs[:1], "p": runs}


def test_a_protocol_holds_what_was_asked_for_last(store: Store) -> None:
    runs = [labelled(f"seed-{seed}", [seed], [seed + 1]) for seed in range(4)]
    for count in (2, 4, 3):
        store.add_sequences("random", runs[:count])
        assert store.sequences() == {"random": runs[:count]}


def test_a_label_that_meant_another_sequence_is_refused(store: Store) -> None:
    store.add_sequences("edge", [labelled("hard", [0], [1])])
    with pytest.raises(UsageError, match=r"protocol edge.hard: 0\|1 there, 1\|0 now"):
        store.add_sequences("edge", [labelled("hard", [1], [0])])
    assert store.sequences() == {"edge": [labelled("hard", [0], [1])]}


def test_another_format_is_refused(store: Store) -> None:
    store._database.execute(f"PRAGMA user_version = {FORMAT + 1}")
    with pytest.raises(DataError, match=f"format {FORMAT + 1}, this one reads {FORMAT}"):
        again(store)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "results.sqlite").write_bytes(b"not a database at all" * 100)
    with pytest.raises(DataError, match=r"results.sqlite: file is not a database; use --fresh"):
        Store(tmp_path)


def test_a_database_with_a_hole(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for label in range(200):
        store.record(Node("m", 0, ((label,),)), RESULT)
    store.close()
    path = tmp_path / "results.sqlite"
    content = bytearray(path.read_bytes())
    content[8192:] = b"\xff" * (len(content) - 8192)
    path.write_bytes(content)

    def read() -> None:
        broken = Store(tmp_path)
        try:
            broken.done()
        finally:
            broken.close()

    with pytest.raises(DataError, match="malformed; use --fresh"):
        read()


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EdgecilError, match=r"Cannot make .*file/run: Not a directory"):
        Store(tmp_path / "file" / "run")


def test_a_full_disk_leaves_the_database_whole(store: Store) -> None:
    store.record(FIRST, RESULT)
    pages = store._database.execute("PRAGMA page_count").fetchone()[0]
    store._database.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(EdgecilError, match=r"disk is full.*run the same command again"):
        store.record_failure(SECOND, "x", "y" * 100_000)
    other = again(store)
    assert other.done() == {FIRST: RESULT}
    assert other.failures() == {}
    assert other._database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    other.close()


def test_a_database_that_someone_else_is_writing(store: Store) -> None:
    other = sqlite3.connect(store.directory / "results.sqlite")
    other.execute("BEGIN IMMEDIATE")
    store._database.execute("PRAGMA busy_timeout = 1")
    with pytest.raises(EdgecilError, match="database is locked"):
        store.record(FIRST, RESULT)
    other.close()
    store.record(FIRST, RESULT)


def test_states_have_files_of_their_own(store: Store) -> None:
    nodes = [FIRST, SECOND, Node("n", 0, FIRST.prefix), Node("m", 1, FIRST.prefix)]
    assert len({store.state_path(node) for node in nodes}) == 4
    assert again(store).state_path(FIRST) == store.state_path(FIRST)


def test_a_state_that_cannot_be_written_leaves_the_old_one(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store.state_path(FIRST)
    save_state(path, b"old")

    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EdgecilError, match="No space left on device"):
        save_state(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


def test_leftovers_of_a_killed_run_are_removed(store: Store) -> None:
    path = store.state_path(FIRST)
    save_state(path, b"whole")
    (path.parent / f".{path.name}.x7g2").write_bytes(b"ha")
    store.remove_leftovers()
    assert list(path.parent.iterdir()) == [path]


def test_a_whole_run_of_another_tool_shares_nothing(store: Store) -> None:
    """Two orders with one first task: each has a result of its own for it."""
    one, other = (Node("m", 0, ((0, 1), task)) for task in ((2, 3), (4, 5)))
    runs = {
        one: WholeRun((RESULT, LATER)),
        other: WholeRun((NodeResult({}, (), 9.0, 1),), {"main": Reported(2, 61.5)}),
    }
    store.add_sequences("p", [labelled("x", *map(list, one.prefix))])
    store.add_sequences("q", [labelled("y", *map(list, other.prefix))])
    for node, run in runs.items():
        store.record(node, run)
    assert store.done() == {}
    assert store.whole_runs() == runs
    found = store.runs()
    assert found["m", 0, one.prefix].nodes == (RESULT, LATER)
    assert found["m", 0, other.prefix].accuracy == 61.5
    assert found["m", 0, other.prefix].seconds == 9.0


def test_what_was_asked_for_is_remembered_once_each_in_order(store: Store) -> None:
    for config in ({"methods": ["b"]}, {"methods": ["a"]}, {"methods": ["b"]}):
        store.add_config(config)
    assert store.configs() == [{"methods": ["b"]}, {"methods": ["a"]}]
