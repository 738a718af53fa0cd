"""Any width of the terminal, real or claimed, gives a readable answer."""

from __future__ import annotations

import pytest

from edgecil.cli.main import main


@pytest.mark.parametrize("columns", ["0", "-1", "1", "9", "x", "", "1_0", "100000"])
def test_any_width_is_accepted(columns, monkeypatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert main(["list", "protocols"]) == 0
    answer = capsys.readouterr()
    assert "latin" in answer.out.replace("\n", "")
    assert "Traceback" not in answer.err
    with pytest.raises(SystemExit) as ended:
        main(["run", "--help"])
    assert ended.value.code == 0
