from __future__ import annotations

import shutil
import subprocess

import pytest

from edgecil.cli.completion import script
from edgecil.cli.main import SHELLS, build_parser

# Reads commands, one per line, and prints what bash offers for the last word of each.
ASK = """
source "$1"
while read -r line; do
  read -ra COMP_WORDS <<< "$line"
  [[ $line == *" _" ]] && COMP_WORDS[-1]=""
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
  _shtab_edgecil
  echo "${COMPREPLY[*]}"
done
"""
ASKED = {
    "edgecil an": "analyze",
    "edgecil analyze --met": "--metric",
    "edgecil run --nor": "--normalisation --normalization",
    "edgecil sequences cifar100 --tas": "--tasks",
    "edgecil export p": "pilot pycil",
    "edgecil --comp": "--completion",
    "edgecil run --config ow": "own.toml",
    "edgecil run --root ol": "older",
    "edgecil search --goal w": "worst",
    "edgecil analyze old": "older old.csv",
    "edgecil merge older ne": "newer",
    "edgecil paper space --classes 100 --t": "--tasks",
    "edgecil run --classes _": "",
}


@pytest.fixture(scope="module")
def scripts() -> dict[str, str]:
    return {shell: script(build_parser(), shell) for shell in SHELLS}


@pytest.mark.skipif(shutil.which("bash") is None, reason="requires bash")
def test_bash_completes_verbs_options_choices_and_files(scripts, tmp_path) -> None:
    for name in ("older", "newer"):
        (tmp_path / name).mkdir()
    for name in ("old.csv", "own.toml"):
        (tmp_path / name).touch()
    (tmp_path / "script").write_text(scripts["bash"], encoding="utf-8")
    answer = subprocess.run(
        ["bash", "-c", ASK, "bash", "./script"],
        input="\n".join([*ASKED, ""]),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stderr == ""
    offered = dict(zip(ASKED, answer.stdout.splitlines(), strict=True))
    assert {line: set(words.split()) for line, words in offered.items()} == {
        line: set(words.split()) for line, words in ASKED.items()
    }


@pytest.mark.parametrize("shell", ["zsh", "tcsh"])
def test_the_script_is_valid(scripts, shell, tmp_path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"requires {shell}")
    (tmp_path / "script").write_text(scripts[shell], encoding="utf-8")
    subprocess.run([shell, "-n", tmp_path / "script"], check=True)
