"""The example for SLURM: its commands, as a cluster would call them, give the whole experiment."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from edgecil.cli.main import main
from edgecil.experiments.experiment import Experiment
from tests.toys import save_toy

SCRIPT = Path(__file__).parents[1] / "examples" / "slurm_array.sh"
# Takes the options that SLURM has, calls each job of an array at once, and prints the job's number.
SBATCH = """#!/bin/sh
set -eu
last=0
wrapped=
while [ $# != 0 ]; do
  case $1 in
    --parsable|--job-name=*) ;;
    --array=1-*) last=${1#--array=1-} ;;
    --dependency=afterok:71) ;;
    --wrap=*) wrapped=${1#--wrap=} ;;
    -*) echo "sbatch: unknown option $1" >&2; exit 2 ;;
    *) break ;;
  esac
  shift
done
if [ -n "$wrapped" ]; then sh -c "$wrapped"; echo "72;cluster"; exit; fi
for part in $(seq "$last"); do
  SLURM_ARRAY_TASK_ID=$part SLURM_ARRAY_TASK_COUNT=$last sh "$@"
done
echo "71;cluster"
"""
# Writes its arguments to a file, one per line and an empty line at the end; makes its directory.
EDGECIL = """#!/bin/sh
printf '%s\\n' "$@" '' >> "$CALLS"
while [ $# -gt 1 ]; do
  if [ "$1" = --out ]; then mkdir -p "$2"; fi
  shift
done
"""


def call_script(folder: Path, *words: str) -> tuple[int, list[list[str]]]:
    """Return the script's exit code and the arguments of each call of `edgecil`, in order."""
    programs = folder / "bin"
    programs.mkdir()
    for name, text in (("sbatch", SBATCH), ("edgecil", EDGECIL)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    variables = {name: text for name, text in os.environ.items() if "SLURM" not in name}
    variables |= {"PATH": f"{programs}:{os.environ['PATH']}", "CALLS": str(folder / "calls")}
    done = subprocess.run(["sh", SCRIPT, *words], cwd=folder, env=variables, timeout=60)
    calls = folder / "calls"
    blocks = calls.read_text().split("\n\n")[:-1] if calls.exists() else []
    return done.returncode, [block.split("\n") for block in blocks]


def correct_by_run(folder: str) -> dict[object, object]:
    """Return how many test inputs of each task were right after the last task."""
    results = Experiment.open(folder).results()
    return {(run.sequence, run.seed): run.nodes[-1].correct for run in results}


def test_the_parts_of_an_array_are_the_experiment(tmp_path, monkeypatch, capsys) -> None:
    save_toy(tmp_path / "toy.npz")
    text = 'method = "acil"\ndataset = "toy.npz"\ntasks = 2\nprotocol = "random"\nbudget = 4\n'
    (tmp_path / "mine.toml").write_text(text)
    code, calls = call_script(tmp_path, "mine.toml", "3", "results/mine")
    assert code == 0
    assert [call[0] for call in calls] == ["check", "run", "run", "run", "merge"]
    monkeypatch.chdir(tmp_path)
    for call in calls:
        more = ["--workers", "1"] if call[0] == "run" else []
        assert main([*call, *more]) == 0, capsys.readouterr().err
    assert main(["run", "--config", "mine.toml", "--workers", "1", "--out", "whole"]) == 0
    capsys.readouterr()
    merged, whole = (correct_by_run(folder) for folder in ("results/mine", "whole"))
    assert len(whole) == 4
    assert merged == whole


@pytest.mark.parametrize("words", [[], ["mine.toml", "3"]])
def test_the_script_says_what_it_takes(words, tmp_path) -> None:
    assert call_script(tmp_path, *words) == (2, [])
