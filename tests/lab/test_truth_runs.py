"""The runs of a bundled truth table, and the paper's figures and tables made of them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from edgecil.errors import UsageError
from edgecil.lab import truths
from edgecil.lab.truth_runs import export_truth, runs_of_truth
from edgecil.sequences.sequence import ClassSequence
from tests.cli.conftest import Cli, cli  # noqa: F401  (a fixture)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two learners of the first table, as a file."""
    folder = tmp_path_factory.mktemp("runs")
    every = pd.read_csv(export_truth("quickdraw-6-first", folder / "all.csv"), dtype=str)
    every[every.method.isin(["ease", "foster"])].to_csv(folder / "runs.csv", index=False)
    return folder / "runs.csv"


def test_each_order_has_the_result_of_the_table(runs: Path) -> None:
    truth = truths()[0]
    frame = pd.read_csv(runs)
    assert frame.groupby(["method", "protocol"]).size().to_dict() == {
        (method, protocol): count
        for method in ("ease", "foster")
        for protocol, count in {"rs": 3, "edge": 3, "enumerate": 90}.items()
    }
    place_of = {sequence: place for place, sequence in enumerate(truth.sequences)}
    for row in frame.itertuples():
        tasks = [tuple(map(int, task.split())) for task in str(row.sequence).split("|")]
        place = place_of[ClassSequence(tasks)]
        assert row.accuracy == pytest.approx(truth.accuracies(row.method)[0, place])
    of_rs = frame[(frame.protocol == "rs") & (frame.method == "foster")].set_index("label")
    assert of_rs.sequence["seed-0"] == of_rs.sequence["seed-42"] != of_rs.sequence["seed-1993"]


def test_a_sample_of_orders_is_random() -> None:
    [truth] = [truth for truth in truths() if truth.name == "quickdraw-20-first"]
    runs = runs_of_truth(truth)
    assert runs.protocols == ("random",)
    assert len(runs) == 300 * len(truth.methods)


def test_an_unknown_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="quickdraw-6-first"):
        export_truth("quickdraw-6-frist", tmp_path / "runs.csv")


@pytest.mark.filterwarnings("ignore::edgecil.errors.EdgecilWarning")
def test_the_twins_of_tables_and_figures_need_no_training(
    cli: Cli,  # noqa: F811
    runs: Path,
    tmp_path: Path,
) -> None:
    figures = cli("paper", "figures", runs, "--encoder", "minilm-bundled", "--out", tmp_path).out
    names = [line.partition(":")[0] for line in figures.splitlines()]
    drawn = ["sampling", "ranges", "correlation", "encoders", "bounds", "estimates", "samples"]
    assert names == drawn
    tables = cli("paper", "tables", runs).out
    lowest = 38.75  # of foster, over all 90 orders
    assert pd.read_csv(runs).query("method == 'foster'").accuracy.min() == lowest
    assert f"{lowest}" in tables
    normality = cli("paper", "normality", runs, "--json").json["datasets"]["quickdraw"]
    assert set(normality) == {"ease", "foster"}
    assert "foster" in cli("lab", "audit", runs, "--draws", 2).out
