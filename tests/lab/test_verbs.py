from __future__ import annotations

from pathlib import Path

from edgecil.lab import Audit, audit
from edgecil.runs.run_files import write_runs
from tests.analysis.tables import noisy, table_of
from tests.cli.conftest import Cli, cli  # noqa: F401  (a fixture)


def test_an_audit_is_printed_and_its_json_is_the_stored_form(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    runs, stored = tmp_path / "runs.csv", tmp_path / "audit.json"
    write_runs([table_of({"m": noisy(0), "n": noisy(1)})], runs)
    words = ("lab", "audit", runs, "--draws", 2)
    stored.write_text(cli(*words, "--json").out, encoding="utf-8")
    made = audit(runs, draws=2).datasets[0]
    read = Audit.load(stored).datasets[0]
    assert read.methods["m"].averages == made.methods["m"].averages
    assert read.beside_random == made.beside_random
    shown = cli(*words).out
    assert "Protocols compared with random orders" in shown
    assert "Distance from the truth" in shown


def test_normality_is_a_table_of_the_paper(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    runs = tmp_path / "runs.csv"
    write_runs([table_of({"m": noisy(0)}, ("enumerate",))], runs)
    answer = cli("paper", "normality", runs, "--json").json
    assert 0.0 < answer["datasets"]["made-up"]["m"]["shapiro_p"] <= 1.0
    assert "Shapiro-Wilk" in cli("paper", "normality", runs).out
