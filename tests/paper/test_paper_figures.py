from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm, pearsonr, wasserstein_distance

from edgecil.analysis import Analysis, analyze
from edgecil.errors import DataError, UsageError
from edgecil.paper.figure_panels import (
    collect_encoders,
    collect_panels,
    collect_scatter,
    measure_samples,
)
from edgecil.paper.paper_figures import draw_figures, figure_bytes, paper_figures
from edgecil.sequences.protocols.draw import protocol
from edgecil.sequences.space import SequenceSpace
from tests.analysis.experiments import write_experiment
from tests.analysis.tables import noisy, six_classes

PROTOCOLS = ("random", "edge")


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    directory = tmp_path_factory.mktemp("run") / "a"
    methods = {"first": noisy(0), "second": noisy(1)}
    write_experiment(directory, methods, (*PROTOCOLS, "enumerate"))
    return analyze(directory, similarity=six_classes())


def test_a_panel_has_the_truth_and_the_runs_of_each_protocol(analysis: Analysis) -> None:
    table = analysis.datasets[0].table
    first, second = collect_panels(analysis, PROTOCOLS)
    assert (first.method, second.method) == ("first", "second")
    assert first.is_enumerated
    assert first.truth is not None
    assert len(first.truth) == 90
    for name in PROTOCOLS:
        expected = table.orders("first", name).accuracies
        assert first.accuracies[name].tolist() == expected.tolist()
        assert first.estimate(name).mean == pytest.approx(expected.mean())
        assert first.estimate(name).std == pytest.approx(expected.std())


def test_the_correlation_is_scipys_over_all_orders(analysis: Analysis) -> None:
    panel = collect_scatter(analysis)[0]
    assert len(panel.scores) == len(panel.accuracies) == 90
    assert panel.pearson == pytest.approx(pearsonr(panel.scores, panel.accuracies).statistic)


def test_the_same_encoder_finds_the_orders_of_edge(analysis: Analysis) -> None:
    panels = collect_panels(analysis, PROTOCOLS)
    collected = collect_encoders(analysis, panels, {"same": six_classes()})
    space = SequenceSpace.equal(6, 3)
    chosen = protocol("edge", space, similarity=six_classes())
    accuracy_of = analysis.datasets[0].table.orders("first").by_sequence()
    assert [run.label for run in chosen] == ["hard", "median", "easy"]
    expected = [accuracy_of[run.sequence] for run in chosen]
    assert collected[0].estimates["same"].tolist() == expected


def test_distances_by_number_of_orders_end_where_a_normal_fit_of_all_does(
    analysis: Analysis,
) -> None:
    panel = collect_panels(analysis, PROTOCOLS)[0]
    assert panel.truth is not None
    truth = panel.truth.accuracies
    samples = measure_samples(panel, np.array([truth.min(), truth.max()]))
    assert samples.counts == tuple(range(3, 21))
    assert samples.random[0] > samples.random[-1] > 0.0
    levels = (np.arange(20_000) + 0.5) / 20_000
    normal = norm.ppf(levels, truth.mean(), truth.std())
    assert samples.random[-1] > wasserstein_distance(truth, normal)


def test_the_figures_are_those_that_the_runs_can_fill(analysis: Analysis) -> None:
    figures = draw_figures(analysis, PROTOCOLS)
    assert list(figures) == ["sampling", "ranges", "correlation", "bounds", "estimates", "samples"]
    sampling = figures["sampling"].axes[0]
    marked = [line.get_xdata()[0] for line in sampling.lines[1:]]
    accuracies = collect_panels(analysis, PROTOCOLS)[0].accuracies["random"]
    different, counts = np.unique(accuracies, return_counts=True)
    assert marked == pytest.approx([*different, accuracies.mean()])
    assert [line.get_linewidth() for line in sampling.lines[1:-1]] == counts.tolist()
    bars = figures["bounds"].axes[0].patches
    assert [set(bar.get_hatch()) for bar in bars[:2]] == [{"."}, {"/"}]
    assert bars[0].get_y() == pytest.approx(accuracies.min())
    assert bars[0].get_height() == pytest.approx(np.ptp(accuracies))


def test_thirty_random_orders_are_a_histogram_with_the_orders_of_edge(tmp_path: Path) -> None:
    rows = ["method,protocol,label,sequence,accuracy"]
    space = SequenceSpace.equal(8, 4)
    for number, sequence in enumerate(space.sample(40, np.random.default_rng(0))):
        rows.append(f"a,random,seed-{number},{sequence},{50 + number / 10}")
    rows.append("a,edge,hard,0 1|2 3|4 5|6 7,45.0")
    rows.append("a,edge,easy,0 7|1 6|2 5|3 4,58.0")
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    axes = draw_figures(analyze(path), PROTOCOLS)["histogram"].axes[0]
    assert sum(patch.get_height() for patch in axes.patches) == 40
    assert [line.get_xdata()[0] for line in axes.lines] == [45.0, 58.0]


def test_files_have_the_same_bytes_each_time(analysis: Analysis) -> None:
    contents = [figure_bytes(draw_figures(analysis, PROTOCOLS)["bounds"], "pdf") for _ in range(2)]
    assert contents[0] == contents[1]
    assert contents[0].startswith(b"%PDF")


def test_files_are_written_and_not_replaced_unasked(analysis: Analysis, tmp_path: Path) -> None:
    written = paper_figures(analysis, out=tmp_path / "figures")
    assert written["ranges"] == [
        tmp_path / "figures" / "paper-ranges.png",
        tmp_path / "figures" / "paper-ranges.pdf",
    ]
    assert all(path.stat().st_size > 1000 for paths in written.values() for path in paths)
    with pytest.raises(UsageError, match="exists"):
        paper_figures(analysis, out=tmp_path / "figures")


def test_one_protocol_is_refused(analysis: Analysis, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="constructed"):
        paper_figures(analysis, out=tmp_path, protocol=["edge"])


def test_protocols_without_runs_are_refused(analysis: Analysis, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="maxcover"):
        paper_figures(analysis, out=tmp_path, protocol=["random", "maxcover"])
