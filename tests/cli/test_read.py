"""`edgecil read`, and that what is printed as advice can be followed as it stands."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest

import edgecil
from edgecil.io.files import read_toml
from edgecil.runs.reading import ReadingQuestion
from tests.cli.conftest import Cli

READINGS = Path(__file__).parents[1] / "runs" / "readings"
EXPECTED: dict[str, dict[str, Any]] = read_toml(READINGS / "readings.toml")
ASKING = [name for name, expected in EXPECTED.items() if isinstance(expected.get("asks"), dict)]
MOST_ANSWERS = 6


def flags_of(answer: dict[str, Any]) -> list[str]:
    """Return answers to a question as words of the command line."""
    words: list[str] = []
    for name, value in answer.items():
        if name == "higher_is_better":
            words.append("--higher-is-better" if value else "--lower-is-better")
        else:
            words += [f"--{name.replace('_', '-')}", str(value)]
    return words


@pytest.mark.parametrize("name", ASKING)
def test_every_printed_advice_can_be_followed(name: str, cli: Cli) -> None:
    path = READINGS / "files" / name
    asked = cli("read", path)
    assert asked.code == 2
    printed = set(re.findall(r"--[a-z][a-z-]*", asked.sentence))
    with pytest.raises(ReadingQuestion) as caught:
        edgecil.read(path)
    options = caught.value.options
    answers = itertools.product(*options.values())
    for values in itertools.islice(answers, MOST_ANSWERS):
        words = flags_of(dict(zip(options, values, strict=True)))
        assert {word for word in words if word.startswith("--")} <= printed
        followed = cli("read", path, *words)
        assert followed.code == 0, followed.err
        assert followed.out.startswith("Read: ")


def test_a_reading_is_shown_as_a_line_as_json_and_saved(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("method,graine,accuracy\ner,0,61\ner,1,62\n")
    saved = tmp_path / "reading.toml"
    words = ("--columns", "seed=graine")
    answer = cli("read", path, *words, "--save", saved)
    assert answer.out.startswith("Read: 1 method × 2 seeds; metric accuracy, higher is better.")
    plain = cli("read", path, *words, "--json").json
    assert (plain["methods"], plain["runs"], plain["higher_is_better"]) == (["er"], 2, True)
    assert cli("read", path, "--reading", saved).out == answer.out


@pytest.mark.parametrize("verb", ["analyze", "compare", "next"])
def test_the_reading_stands_above_every_answer(verb: str, cli: Cli, tmp_path: Path) -> None:
    rows = [f"{name},{seed},{60 + seed}.{len(name)}" for name in ("er", "der") for seed in range(4)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["method,seed,accuracy", *rows]))
    answer = cli(verb, path)
    assert answer.code == 0, answer.err
    assert "Read: 2 methods × 4 seeds; metric accuracy, higher is better." in answer.out
