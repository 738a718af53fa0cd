"""Where code of the user is found; tests/training/test_own_learner.py has what it may be."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from edgecil.errors import UsageError
from edgecil.io.code import load_code, locate_object

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
