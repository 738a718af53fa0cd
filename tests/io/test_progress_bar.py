from __future__ import annotations

import sys

from edgecil.io.progress_bar import Progress


def test_one_line_per_minute_with_the_time_left(capsys) -> None:
    now = [0.0]
    with Progress("tasks", lambda: now[0]) as progress:
        progress.start(14, done=4)
        for step in range(4, 10):
            now[0] += 25.0
            progress.advance("icarl" if step == 6 else "")
    lines = ["7 of 14 tasks, 0:02:55 left, icarl", "10 of 14 tasks, 0:01:40 left"]
    assert capsys.readouterr().err.splitlines() == lines


def test_an_estimate_replaces_the_mean(capsys) -> None:
    now, measured = [0.0], [None, 5.0]
    with Progress("tasks", lambda: now[0], estimate=lambda: measured.pop(0)) as progress:
        progress.start(3)
        for _ in range(2):
            now[0] += 70.0
            progress.advance()
    assert capsys.readouterr().err.splitlines() == ["1 of 3 tasks", "2 of 3 tasks, 0:00:05 left"]


def test_a_bar_on_a_terminal(capsys, monkeypatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with Progress("classes") as progress:
        for done in range(1, 4):
            progress.update(done, 3)
        first = progress._bar
        assert first.tasks[0].completed == 3
        progress.start(4, done=1)
        progress.advance()
        assert first.live.is_started is False
        assert progress._bar.tasks[0].completed == 2
    assert "3/3" in capsys.readouterr().err
