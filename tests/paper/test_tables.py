from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from edgecil.errors import DataError, UsageError
from edgecil.estimation import Analysis, analyze
from edgecil.lab import DatasetAudit
from edgecil.lab._audit import audit_table
from edgecil.lab.distances import wasserstein, wasserstein_2
from edgecil.paper.tables import paper_tables
from tests.estimation.experiments import write_experiment
from tests.estimation.tables import noisy, six_classes


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    directory = tmp_path_factory.mktemp("run") / "a"
    methods = {"first_one": noisy(0), "second": noisy(1)}
    write_experiment(directory, methods, ("random", "edge", "enumerate"))
    return analyze(directory, similarity=six_classes())


@pytest.fixture(scope="module")
def audited(analysis: Analysis) -> DatasetAudit:
    return audit_table(analysis.datasets[0].table, draws=1)


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.removesuffix(r" \\").split(" & ")]


def rows(text: str) -> list[list[str]]:
    return [cells(line) for line in text.splitlines() if line.endswith(r"\\")]


def plain(cell: str) -> str:
    return re.sub(r"\\textbf\{(.*)\}|\\cellcolor\{gray!20\}", r"\1", cell)


def test_every_row_fills_its_columns(analysis: Analysis) -> None:
    tables = paper_tables(analysis)
    assert set(tables) == {"enumerable", "classic", "ranking"}
    for text in tables.values():
        columns = re.search(r"\\begin\{tabular\}\{(\w+)\}", text)
        assert columns is not None
        assert text.count("{") == text.count("}")
        for row in rows(text):
            spans = sum(
                int(span[1]) if (span := re.match(r"\\multicolumn\{(\d+)\}", cell)) else 1
                for cell in row
            )
            assert spans == len(columns[1]), row


def test_the_captions_name_the_metric(analysis: Analysis) -> None:
    tables = {"accuracy": analysis, "forgetting": analyze_metric(analysis, "forgetting")}
    for name, made in tables.items():
        for layout in ("classic", "enumerable"):
            assert f"highest {name} o" in paper_tables(made)[layout]


def analyze_metric(analysis: Analysis, metric: str) -> Analysis:
    [experiment] = analysis.datasets[0].experiments
    return analyze(experiment.directory, similarity=six_classes(), metric=metric)


def test_the_layout_of_tables_1_and_2(analysis: Analysis, audited: DatasetAudit) -> None:
    _, head, low, random_low, edge_low, *_ = body = rows(paper_tables(analysis)["enumerable"])
    assert head == ["Metric", r"first\_one", "second"]
    truth = analysis["second"].truth
    assert truth is not None
    assert low[2] == rf"\cellcolor{{gray!20}}{truth.accuracies.min():.2f}"
    dataset = analysis.datasets[0]
    ends = [dataset.table.orders("second", name).accuracies.min() for name in ("random", "edge")]
    assert [plain(random_low[2]), plain(edge_low[2])] == [f"{end:.2f}" for end in ends]
    bold = [r"\textbf" in random_low[2], r"\textbf" in edge_low[2]]
    assert bold == [ends[0] <= ends[1], ends[1] <= ends[0]], "the nearer to the truth is bold"
    assert [row[0] for row in body[8:]] == [
        "$JSD$ RS",
        "$JSD$ EDGE",
        "$W_1$ RS",
        "$W_1$ EDGE",
    ]
    closeness = audited.methods["second"].estimates["edge"]["gaussian"].closeness
    assert closeness is not None
    assert plain(body[9][2]) == f"{closeness.jsd:.2f}"
    assert plain(body[11][2]) == f"{closeness.wasserstein:.2f}"


def test_bits_and_w2_on_request(analysis: Analysis, audited: DatasetAudit) -> None:
    body = rows(paper_tables(analysis, wasserstein_order=2, bits=True)["enumerable"])
    own, truth = audited.methods["second"].estimates["edge"]["gaussian"], analysis["second"].truth
    assert own.estimate is not None
    assert own.closeness is not None
    assert truth is not None
    assert plain(body[9][2]) == f"{own.closeness.jsd / math.log(2):.2f}"
    distance = wasserstein_2(truth.accuracies, own.estimate.distribution)
    assert distance >= wasserstein(truth.accuracies, own.estimate.distribution)
    assert (body[11][0], plain(body[11][2])) == ("$W_2$ EDGE", f"{distance:.2f}")


def test_the_layout_of_the_large_tables(analysis: Analysis, audited: DatasetAudit) -> None:
    *_, random, edge = rows(paper_tables(analysis)["classic"])
    assert random[0] == r"\multirow{2}{*}{second}"
    assert edge[:2] == ["", r"\cellcolor{gray!20}EDGE"]
    estimate = audited.methods["second"].estimates["edge"]["gaussian"].estimate
    assert estimate is not None
    spread = estimate.distribution
    assert plain(edge[4]) == rf"{spread.mean:.2f}$_{{\pm {spread.std:.2f}}}$"


def test_the_layout_of_the_ranking_tables(analysis: Analysis, audited: DatasetAudit) -> None:
    _, _, names, first, _ = rows(paper_tables(analysis)["ranking"])
    assert [plain(name) for name in names[1:]] == ["Real", "RS", "EDGE"] * 3
    ranking = audited.true_ranking
    assert ranking is not None
    assert plain(first[1]) == f"{ranking.lower['first_one']:g}"


def test_without_a_truth_the_other_tables_remain(tmp_path: Path) -> None:
    write_experiment(tmp_path / "a", {"m": noisy(0)})
    tables = paper_tables(tmp_path / "a", out=tmp_path / "tex")
    assert set(tables) == {"classic"}
    assert (tmp_path / "tex" / "paper-classic.tex").read_text(encoding="utf-8") == tables["classic"]


def test_what_cannot_be_compared_is_refused(analysis: Analysis) -> None:
    with pytest.raises(DataError, match="latin"):
        paper_tables(analysis, protocol=("random", "latin"))
    with pytest.raises(UsageError, match="3"):
        paper_tables(analysis, wasserstein_order=3)
    with pytest.raises(UsageError, match="magic"):
        paper_tables(analysis, estimator="magic")
    with pytest.raises(UsageError, match="regression"):
        paper_tables(analysis, estimator="regression")
    with pytest.raises(UsageError, match="metric"):
        paper_tables(analysis, metric="last")
