from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from edgecil.estimation import write_accuracies
from edgecil.estimation.analyze import analyze
from edgecil.report.table import as_text
from edgecil.report.tables import terminal_tables
from edgecil.similarity import save_similarity
from tests.cli.conftest import Cli
from tests.estimation.tables import noisy, six_classes, table_of


@pytest.fixture
def accuracies() -> Path:
    table = table_of({"first": noisy(0), "second": noisy(1, mean=60.0)})
    write_accuracies(table.runs, "a.csv")
    save_similarity(six_classes(), "D.npz")
    return Path("a.csv")


def test_the_answer_has_methods_and_a_ranking(cli: Cli, accuracies: Path) -> None:
    options = ("--similarity", "D.npz", "--draws", 3, "--json")
    (answer,) = cli("analyze", accuracies, *options).json["datasets"]
    first = answer["methods"]["first"]
    assert len(first["truth"]["accuracies"]) == 90
    assert first["estimates"]["edge"]["regression"]["closeness"]["wasserstein"] > 0.0
    assert first["predictor"] == "adjacent"
    assert answer["true_ranking"]["lower"] == {"first": 2.0, "second": 1.0}


def test_without_a_similarity_it_says_so_and_goes_on(cli: Cli, accuracies: Path) -> None:
    found = cli("analyze", accuracies, "--draws", 2, "--json")
    assert "No similarity of the classes of 'made-up'" in found.err
    first = found.json["datasets"][0]["methods"]["first"]
    assert (first["predictor"], first["correlations"]) == (None, {})
    assert "regression" in first["estimates"]["edge"]


def test_people_see_the_tables_of_the_report_and_warnings(cli: Cli, accuracies: Path) -> None:
    answer = cli("analyze", accuracies, "--similarity", "D.npz", "--draws", 2)
    assert answer.code == 0
    assert "seed-0 and seed-42" in answer.err
    analysis = analyze(accuracies, similarity="D.npz", draws=2)
    for table in terminal_tables(analysis.datasets[0]):
        assert as_text(table, 100) in answer.out


def test_the_bundled_names_of_a_dataset_give_s(cli: Cli) -> None:
    runs = table_of({"m": noisy(0)}, ("random", "enumerate")).runs
    write_accuracies(runs, "a.csv")
    text = Path("a.csv").read_text().replace("made-up", "QuickDraw")
    Path("b.csv").write_text(text)
    (found,) = cli("analyze", "b.csv", "--draws", 2, "--json").json["datasets"]
    correlations = found["methods"]["m"]["correlations"]
    assert {"adjacent", "intra"} <= set(correlations)


def test_several_datasets_are_judged_one_by_one(cli: Cli, accuracies: Path) -> None:
    lines = accuracies.read_text().splitlines()
    other = [line.replace("made-up", "other") for line in lines[1:]]
    Path("both.csv").write_text("\n".join([*lines, *other]))
    answer = cli("analyze", "both.csv", "--draws", 1, "--json").json
    assert [dataset["dataset"] for dataset in answer["datasets"]] == ["made-up", "other"]


def test_a_column_and_a_pilot_can_predict(cli: Cli, accuracies: Path) -> None:
    lines = accuracies.read_text().splitlines()
    rows = [f"{line},{len(line) + place % 7}" for place, line in enumerate(lines[1:])]
    Path("hint.csv").write_text("\n".join([lines[0] + ",hint", *rows]))
    hint = cli("analyze", "hint.csv", "--predictor", "hint", "--draws", 1, "--json").json
    assert hint["datasets"][0]["methods"]["first"]["predictor"] == "hint"
    options = ("--predictor", "pilot", "--pilot", accuracies, "--draws", 1, "--json")
    pilot = cli("analyze", accuracies, *options).json
    first = pilot["datasets"][0]["methods"]["first"]
    assert first["correlations"]["pilot"]["pearson"] == pytest.approx(1.0)


def test_the_runs_can_be_written_as_csv(cli: Cli, accuracies: Path) -> None:
    cli("analyze", accuracies, "--draws", 1, "--json", "--csv", "copy.csv")
    assert Path("copy.csv").read_text() == accuracies.read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--predictor", "hnt"), "no column 'hnt'"),
        (("--predictor", "pilot"), "--pilot"),
        (("--draws", 0), "must be an int >= 1"),
        (("--similarity", "small.npy"), "covers 3 classes but the runs have 6"),
    ],
)
def test_a_command_that_makes_no_sense_is_told(
    cli: Cli, accuracies: Path, options: tuple[object, ...], words: str
) -> None:
    np.save("small.npy", np.ones((3, 3)))
    answer = cli("analyze", accuracies, *options)
    assert answer.code == 2
    assert words in answer.sentence


def test_it_needs_no_torch(accuracies: Path) -> None:
    script = (
        "import sys\n"
        "from edgecil.cli.main import main\n"
        f"code = main(['analyze', '{accuracies}', '--draws', '1', '--json'])\n"
        "sys.exit(code or 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_enumeration_with_failures_is_told_as_what_it_is(cli: Cli, accuracies: Path) -> None:
    lines = accuracies.read_text().splitlines()
    first = [place for place, line in enumerate(lines) if "first,made-up,enumerate" in line][:5]
    holed = [
        line.rsplit(",", 1)[0] + "," if place in first else line for place, line in enumerate(lines)
    ]
    Path("holed.csv").write_text("\n".join(holed))
    answer = cli("analyze", "holed.csv", "--draws", 1)
    assert "of 90 orders" in answer.out
    assert "all 90 orders" in answer.out
