from __future__ import annotations

import pytest

from edgecil.cli.output import print_table


def test_numbers_are_whole_where_space_is_short(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "52")
    titles = ("method", "random finds", "edge finds", "latin finds", "r")
    print_table(titles, [("coda-prompt", "4.3", "6.8", "4.7", "+0.04")], right=titles[1:])
    head, *_, row = (line for line in capsys.readouterr().out.splitlines() if line.strip())
    assert row.split() == ["coda-prompt", "4.3", "6.8", "4.7", "+0.04"]
    assert "random" in head
    assert "finds" not in head
