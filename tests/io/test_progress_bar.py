from __future__ import annotations

import sys

import pytest

from edgecil.io.progress_bar import Progress


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("counts", "seconds", "lines"),
    [
        ((4, 10, 14), 25.0, ["7 of 14 tasks, 0:02:55 left", "10 of 14 tasks, 0:01:40 left"]),
        ((0, 3, 3), 45.0, ["2 of 3 tasks, 0:00:45 left", "3 of 3 tasks"]),
    ],
)
def test_one_line_per_minute_with_the_time_left(counts, seconds, lines, capsys) -> None:
    clock, (before, end, total) = Clock(), counts
    with Progress("tasks", clock) as progress:
        progress.start(total, done=before)
        for step in range(before, end):
            clock.now += seconds
            progress.advance("icarl" if step == 6 else "")
    shown = capsys.readouterr().err.splitlines()
    assert [line.removesuffix(", icarl") for line in shown] == lines
    assert sum(line.endswith(", icarl") for line in shown) == (end > 6)


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
