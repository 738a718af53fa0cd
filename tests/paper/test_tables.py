from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edgecil.analysis import Analysis, analyze
from edgecil.errors import DataError, UsageError
from edgecil.experiments.experiment import Experiment
from edgecil.experiments.protocol_results import experiment_results
from edgecil.paper.paper_tables import paper_tables, wasserstein_2
from edgecil.sequences import seeded
from edgecil.statistics.distances import jensen_shannon, wasserstein
from edgecil.statistics.distributions import Distribution
from tests.analysis.experiments import write_experiment
from tests.analysis.tables import SPACE, noisy, six_classes

TRUTH = np.random.default_rng(0).normal(50.0, 5.0, 90)


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    directory = tmp_path_factory.mktemp("run") / "a"
    methods = {"first_one": noisy(0), "second": noisy(1)}
    write_experiment(directory, methods, ("random", "edge", "enumerate"))
    return analyze(directory, similarity=six_classes())


def edge(analysis: Analysis) -> tuple[Distribution, Any]:
    """The normal distribution of EDGE's runs of the second method, and the true accuracies."""
    own, truth = analysis.datasets[0].table.orders("second", "edge"), analysis["second"].truth
    assert truth is not None
    normal = Distribution.normal(own.accuracies.mean(), own.accuracies.std())
    return normal, truth.accuracies


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


def test_the_layout_of_tables_1_and_2(analysis: Analysis) -> None:
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
    normal, true = edge(analysis)
    assert plain(body[9][2]) == f"{jensen_shannon(true, normal):.2f}"
    assert plain(body[11][2]) == f"{wasserstein(true, normal):.2f}"


def test_bits_and_w2_on_request(analysis: Analysis) -> None:
    body = rows(paper_tables(analysis, wasserstein_order=2, bits=True)["enumerable"])
    normal, true = edge(analysis)
    assert plain(body[9][2]) == f"{jensen_shannon(true, normal) / math.log(2):.2f}"
    distance = wasserstein_2(true, normal)
    assert distance >= wasserstein(true, normal)
    assert (body[11][0], plain(body[11][2])) == ("$W_2$ EDGE", f"{distance:.2f}")


def test_the_layout_of_the_large_tables(analysis: Analysis) -> None:
    *_, random, last = rows(paper_tables(analysis)["classic"])
    assert random[0] == r"\multirow{2}{*}{second}"
    assert last[:2] == ["", r"\cellcolor{gray!20}EDGE"]
    spread, _ = edge(analysis)
    assert plain(last[4]) == rf"{spread.mean:.2f}$_{{\pm {spread.std:.2f}}}$"


def test_the_layout_of_the_ranking_tables(analysis: Analysis) -> None:
    _, _, names, first, _ = rows(paper_tables(analysis)["ranking"])
    assert [plain(name) for name in names[1:]] == ["Real", "RS", "EDGE"] * 3
    lows = [analysis[name].truth.accuracies.min() for name in ("first_one", "second")]  # type: ignore[union-attr]
    assert plain(first[1]) == ("1" if lows[0] > lows[1] else "2")


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
    with pytest.raises(UsageError, match="metric"):
        paper_tables(analysis, metric="last")


@pytest.mark.parametrize(
    "estimate",
    [
        Distribution.normal(50.0, 5.0),
        Distribution.normal(44.0, 0.0),
        Distribution(np.array([40.0, 55.0]), np.array([0.3, 0.7]), 2.0),
        Distribution(np.array([40.0, 55.0, 61.0]), np.array([0.3, 0.5, 0.2])),
    ],
)
def test_w2_is_the_root_of_the_mean_squared_distance_of_quantiles(estimate: Distribution) -> None:
    levels = (np.arange(400_000) + 0.5) / 400_000
    gaps = Distribution.of(TRUTH).quantile(levels) - estimate.quantile(levels)
    assert wasserstein_2(TRUTH, estimate) == pytest.approx(np.sqrt(np.mean(gaps**2)), rel=1e-4)


def test_w2_of_one_accuracy_is_the_root_mean_square() -> None:
    assert wasserstein_2([50.0], Distribution.normal(47.0, 4.0)) == pytest.approx(5.0)


def test_rs_counts_an_order_twice_where_two_of_its_seeds_give_it(tmp_path: Path) -> None:
    """At six classes; the paper's mean ± std, which is of three runs, and of two trainings."""
    write_experiment(tmp_path, {"m": noisy(0)}, ("rs", "edge", "enumerate"))
    by_seed = {seed: noisy(0)(seeded(SPACE, seed)) for seed in (0, 42, 1993)}
    assert by_seed[0] == by_seed[42] != by_seed[1993]
    values = np.array(list(by_seed.values()))
    table = paper_tables(analyze(tmp_path, similarity=six_classes()))["classic"]
    assert rf"{values.mean():.2f}$_{{\pm {values.std():.2f}}}$" in table
    results = experiment_results(Experiment.open(tmp_path)).results
    [of_rs] = [result for result in results if result.protocol == "rs"]
    assert (of_rs.mean, of_rs.std) == pytest.approx((values.mean(), values.std()))
