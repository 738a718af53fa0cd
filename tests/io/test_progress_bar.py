from __future__ import annotations

import sys

import pytest

from edgecil.io import progress_bar
from edgecil.io.progress_bar import Progress


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_one_line_per_minute_with_the_time_left(capsys) -> None:
    clock = Clock()
    with Progress("tasks", clock) as progress:
        progress.start(14, done=4)
        for _ in range(6):
            clock.now += 25.0
            progress.advance("icarl")
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["7 of 14 tasks, 0:02:55 left, icarl", "10 of 14 tasks, 0:01:40 left, icarl"]


def test_the_time_left_may_be_estimated_otherwise(capsys) -> None:
    clock, left = Clock(), {70.0: None, 140.0: 5.0}
    with Progress("tasks", clock, estimate=left.__getitem__) as progress:
        progress.start(9)
        for _ in range(2):
            clock.now += 70.0
            progress.advance()
    assert capsys.readouterr().err.splitlines() == ["1 of 9 tasks", "2 of 9 tasks, 0:00:05 left"]


def test_the_last_line_says_that_all_is_done(capsys) -> None:
    clock = Clock()
    with Progress("tasks", clock) as progress:
        progress.start(3)
        for _ in range(3):
            clock.now += 45.0
            progress.advance()
    assert capsys.readouterr().err.splitlines() == ["2 of 3 tasks, 0:00:45 left", "3 of 3 tasks"]


@pytest.mark.parametrize(("shown", "lines"), [(True, ["0 of 2 tasks"]), (False, [])])
def test_the_first_line_does_not_wait_for_a_finished_task(
    shown, lines, capsys, monkeypatch
) -> None:
    monkeypatch.setattr(progress_bar, "_FIRST", 0.0)
    with Progress("tasks", Clock(), shown=shown) as progress:
        progress.start(2)
        if progress._first is not None:
            progress._first.join()
        progress.advance()
    assert capsys.readouterr().err.splitlines() == lines


def test_a_second_count_replaces_the_first(monkeypatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with Progress("tasks") as progress:
        progress.start(3)
        progress.advance()
        first = progress._bar
        progress.start(4, done=1)
        progress.advance()
        assert first.live.is_started is False
        assert progress._bar.tasks[0].completed == 2


def test_a_bar_on_a_terminal(capsys, monkeypatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with Progress("classes") as progress:
        for done in range(1, 4):
            progress.update(done, 3)
        assert progress._bar.tasks[0].completed == 3
    assert "3/3" in capsys.readouterr().err
