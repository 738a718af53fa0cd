"""A script without the guard of its main part ends at once, with one sentence."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from pathlib import Path

import pytest

from edgecil.engine.main_guard import UNGUARDED, WORKER, refuse_while_importing
from edgecil.errors import UsageError
from tests.toys import save_toy

SCRIPT = """\
import edgecil

edgecil.{call}(
    out="out", dataset="toy.npz", method="finetune", tasks=2, protocol="enumerate", epochs=1,
    workers=2,
)
"""


@pytest.mark.slow
@pytest.mark.parametrize("call", ["run", "plan_run"])
def test_a_script_without_the_guard_ends_with_one_sentence(call: str, tmp_path: Path) -> None:
    save_toy(tmp_path / "toy.npz", train=4)
    (tmp_path / "script.py").write_text(SCRIPT.format(call=call))
    ran = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 1
    assert ran.stderr.count("Traceback") == 1, "that of the script itself"
    assert ran.stderr.count('if __name__ == "__main__":') == 1
    assert "in use by another process" not in ran.stderr


def test_only_processes_that_import_the_script_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    process = multiprocessing.current_process()
    refuse_while_importing()
    monkeypatch.setattr(process, "_inheriting", True, raising=False)
    with pytest.raises(UsageError, match="__main__"):
        refuse_while_importing()
    monkeypatch.setattr(type(process), "name", WORKER)
    with pytest.raises(SystemExit) as ended:
        refuse_while_importing()
    assert ended.value.code == UNGUARDED
