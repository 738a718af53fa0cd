from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from edgecil.analysis import Analysis
from edgecil.similarity import save_similarity
from tests.analysis.tables import noisy, rows, six_classes, table_of, write
from tests.cli.conftest import Cli

GOLDEN = Path(__file__).parent / "golden" / "analyze.txt"


@pytest.fixture
def accuracies() -> Path:
    table = table_of({"first": noisy(0), "second": noisy(1, mean=60.0)})
    write(rows(table), "a.csv")
    save_similarity(six_classes(), "D.npz")
    return Path("a.csv")


def test_what_is_printed_is_a_saved_analysis(cli: Cli, accuracies: Path) -> None:
    printed = cli("analyze", accuracies, "--json")
    Path("analysis.json").write_text(printed.out, encoding="utf-8")
    assert Analysis.load("analysis.json").datasets[0].dataset == "made-up"
    assert cli("analyze", "analysis.json", "--json").json == printed.json


def test_people_see_the_golden_tables(cli: Cli, accuracies: Path) -> None:
    """Update with: pytest tests/cli/test_analyze.py after deleting golden/analyze.txt."""
    answer = cli("analyze", accuracies, "--similarity", "D.npz")
    assert answer.code == 0
    text = answer.out + "---\n" + answer.err
    if not GOLDEN.exists():
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(text, encoding="utf-8")
        pytest.fail(f"{GOLDEN.name} was missing; it is stored now: read it, and run the test again")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_an_unknown_meaning_of_seeds_is_named_by_its_flag(cli: Cli, accuracies: Path) -> None:
    answer = cli("analyze", accuracies, "--seeds-are", "foo")
    assert "--seeds-are must be one of orders, trainings, both." in answer.sentence


def test_the_runs_can_be_written_as_csv(cli: Cli, accuracies: Path) -> None:
    assert cli("export-runs", accuracies, "--out", "copy.csv", "--json").json["out"] == "copy.csv"
    assert Path("copy.csv").read_text(encoding="utf-8") == accuracies.read_text(encoding="utf-8")


def test_neither_an_analysis_nor_a_report_of_a_file_needs_torch(accuracies: Path) -> None:
    words = [str(accuracies), "--json"]
    script = (
        "import sys\nfrom edgecil.cli.main import main\n"
        f"code = main(['analyze', *{words!r}]) or main(['report', *{words!r}, '--out', 'r'])\n"
        "sys.exit(code or 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_names_cannot_control_the_terminal(cli: Cli, tmp_path: Path) -> None:
    """A method of somebody's file cleared the screen."""
    rows = "".join(f"a\x1b[2Jb,toy,random,o{i},{i}|{1 - i},0,{50 + i}\n" for i in (0, 1))
    path = tmp_path / "runs.csv"
    path.write_text("method,dataset,protocol,label,sequence,seed,accuracy\n" + rows)
    printed = cli("analyze", path)
    assert "a[2Jb" in printed.out
    assert "\x1b" not in set(printed.out + printed.err)
