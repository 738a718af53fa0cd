"""Tests run as on other machines, which differ from this one in what they say."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
tool = pytest.importorskip("foreign", reason="tools/ is not part of the wheel")

# What a test sees there, by machine.
SEEN = {
    "sse": "os.environ['ATEN_CPU_CAPABILITY'] == 'default'",
    "abroad": "time.localtime(0)[3:5] == (5, 30) and locale.getpreferredencoding(False) != 'UTF-8'",
    "nobody": "not os.access(Path.home(), os.W_OK) and not os.access('.', os.W_OK)",
    "single": "len(os.sched_getaffinity(0)) == 1",
}


@pytest.mark.parametrize("machine", SEEN)
def test_a_test_sees_the_other_machine(machine, tmp_path, monkeypatch, capfd) -> None:
    (tmp_path / "test_machine.py").write_text(
        "import locale, os, time\nfrom pathlib import Path\n\n"
        f"def test_machine():\n    assert {SEEN[machine]}\n"
    )
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    chosen = tool.machines()[machine]
    if chosen.missing:
        pytest.skip(chosen.missing)
    monkeypatch.setattr(tool, "SUITE", ["-p", "no:xdist", "-q"])
    monkeypatch.setattr(sys, "argv", ["foreign.py", machine])
    assert tool.main() == 0, capfd.readouterr().out


def test_a_machine_where_tests_fail_is_named(tmp_path, monkeypatch, capfd) -> None:
    (tmp_path / "test_machine.py").write_text("def test_machine():\n    assert False\n")
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    monkeypatch.setattr(tool, "SUITE", ["-p", "no:xdist", "-q"])
    monkeypatch.setattr(sys, "argv", ["foreign.py", "sse"])
    assert tool.main() == 1
    assert "Tests failed as on: sse" in capfd.readouterr().out


def test_an_unknown_machine_is_refused(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["foreign.py", "mars"])
    with pytest.raises(SystemExit) as caught:
        tool.main()
    assert caught.value.code == 2
    assert "Unknown machine 'mars'. Choose from: sse, avx512, abroad" in capsys.readouterr().err
