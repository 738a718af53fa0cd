from __future__ import annotations

from pathlib import Path

import pytest

from edgecil.errors import EdgecilError
from edgecil.io.toml import read_toml


def test_a_file_says_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text('tasks = 3\n[similarities.names]\ntemplate = "{name} – ü"\n', encoding="utf-8")
    assert read_toml(path) == {"tasks": 3, "similarities": {"names": {"template": "{name} – ü"}}}


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(EdgecilError, match=r"gone\.toml"):
        read_toml(tmp_path / "gone.toml")
