"""Where code of the user is found; tests/training/test_own_learner.py has what it may be."""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from edgecil.errors import UsageError
from edgecil.io.code import file_use, load_code, locate_file, locate_object

SCRIPT = """
class Above: pass
if Above:
    class Conditional: pass
if __name__ == "__main__":
    class Below: pass
    def make(): return Below()
"""


def test_what_workers_cannot_import_from_a_script_is_one_sentence(tmp_path, monkeypatch) -> None:
    script: Any = ModuleType("__main__")
    script.__file__ = str(tmp_path / "script.py")
    (tmp_path / "script.py").write_text(SCRIPT)
    exec(SCRIPT, vars(script))
    monkeypatch.setitem(sys.modules, "__main__", script)
    for given in (script.Above, script.Conditional):
        assert load_code(locate_object(given)).__name__ == given.__name__
    for given in (script.Below, script.make):
        with pytest.raises(UsageError, match=rf"^{given.__name__} is defined below .*above"):
            locate_object(given)


@pytest.mark.parametrize("by_path", [False, True])
def test_files_that_a_module_read_when_it_was_imported_before_are_seen(
    by_path: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in `from learner import Mine; edgecil.run(method=Mine)`."""
    suffix = "path" if by_path else "name"  # names of modules of this test alone
    for name in ("direct", "indirect", "unread"):
        (tmp_path / f"{name}.txt").write_text("1")
    reading = "import pathlib\nTEXT = pathlib.Path(__file__).with_name('{}.txt').read_text()\n"
    helper = f"{reading.format('indirect')}"
    (tmp_path / f"helper_{suffix}.py").write_text(helper)
    learner = f"import helper_{suffix}\n{reading.format('direct')}class Mine: pass\n"
    (tmp_path / f"learner_{suffix}.py").write_text(learner)
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module(f"learner_{suffix}")
    path = tmp_path / f"learner_{suffix}.py"
    source = locate_file(path, "Mine") if by_path else locate_object(module.Mine)
    loaded = load_code(source)
    assert by_path or loaded is module.Mine
    files = file_use(source).files(besides=source.paths, since=time.time() + 1e6)
    assert list(files.digests) == ["direct.txt", "indirect.txt"]
    assert not [name for name in sys.modules if name.endswith("edgecil_code_copy")]


def test_a_module_that_calls_nothing_is_not_imported_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "COUNT = 1\nclass Mine:\n    def f(self): return open('x')\n"
    (tmp_path / "quiet_learner.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("quiet_learner")
    monkeypatch.setattr("edgecil.io.code._run_copy", lambda module: pytest.fail("imported again"))
    assert load_code(locate_object(module.Mine)) is module.Mine
