from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edgecil.cli.main import MODULES, main


@dataclass(frozen=True)
class Answer:
    """What one command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Stdout as one JSON object; anything else on stdout, or NaN, is an error."""
        assert self.code == 0, self.err

        def refuse(word: str) -> None:
            raise AssertionError(f"{word} is not JSON")

        answer = json.loads(self.out, parse_constant=refuse)
        assert isinstance(answer, dict)
        assert next(iter(answer)) == "schema"
        return answer

    @property
    def sentence(self) -> str:
        """The one line on stderr that says what was wrong; nothing is on stdout."""
        assert self.code in (1, 2)
        assert self.out == ""
        assert self.err.startswith("edgecil: ")
        assert self.err.count("\n") == 1
        assert self.err.endswith(".\n")
        assert "--debug" not in self.err, "an error that nobody foresaw"
        assert "Traceback" not in self.err
        return self.err


Cli = Callable[..., Answer]


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A width of 100, an empty cache, and a working directory that is thrown away."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("EDGECIL_CACHE", str(tmp_path / "cache"))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run `edgecil …` in this process; `cli("lab", …)` is `python -m edgecil.lab …`."""

    def run(*arguments: object) -> Answer:
        capsys.readouterr()
        try:
            words = [str(argument) for argument in arguments]
            module = words.pop(0) if words and words[0] in MODULES else ""
            code = main(words, module)
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    return run


@pytest.fixture
def matrix() -> Path:
    """A random symmetric 12 x 12 matrix, saved as D.npy."""
    values = np.random.default_rng(0).random((12, 12))
    np.save("D.npy", (values + values.T) / 2)
    return Path("D.npy")
