"""An audit compares every protocol and estimator with the truth, and is stored beside the runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edgecil.analysis import analyze
from edgecil.errors import DataError, UsageError
from edgecil.io.json import to_plain
from edgecil.lab import Audit, DatasetAudit, audit
from edgecil.lab._audit import Ratio, _summarize, audit_file, audit_table
from edgecil.lab.section import audit_tables, build_section
from tests.analysis.experiments import write_experiment
from tests.analysis.tables import SPACE, Run, against_s, along_s, build, noisy, runs_of, table_of


@pytest.fixture(scope="module")
def whole() -> DatasetAudit:
    return audit_table(table_of({"rises": along_s, "falls": against_s, "noise": noisy(0)}), draws=8)


def test_every_protocol_has_every_estimate(whole: DatasetAudit) -> None:
    method = whole.methods["rises"]
    for protocol in ("random", "edge", "latin"):
        for estimator in ("gaussian", "gaussian-c4", "smoothed"):
            assert method.averages[protocol][estimator].wasserstein > 0.0
    assert whole.protocols == ("random", "edge", "latin")
    names = {table.name for table in audit_tables(whole)}
    assert names == {"beside-random", "closeness", "budgets"}


def test_where_s_decides_accuracy_edge_comes_nearer_to_both_ends_than_random(
    whole: DatasetAudit,
) -> None:
    method = whole.methods["rises"]
    random, edge = (method.averages[name]["gaussian"] for name in ("random", "edge"))
    assert edge.low < random.low
    assert edge.high > random.high
    assert edge.missed_range < random.missed_range


def test_more_runs_come_closer(whole: DatasetAudit) -> None:
    points = whole.methods["noise"].by_budget["random"]
    assert [point.budget for point in points] == [3, 4, 5, 6, 8, 10, 15, 20, 30]
    assert points[-1].wasserstein < 0.7 * points[0].wasserstein


def test_a_large_random_sample_stands_for_the_truth() -> None:
    runs = [
        Run("m", "d", "random", f"seed-{place}", sequence, 0, along_s(sequence))
        for place, sequence in enumerate(SPACE.sample(40, np.random.default_rng(0)))
    ]
    table = build((*runs, *runs_of("m", "edge", along_s, dataset="d")))
    result = audit_table(table, draws=8).methods["m"]
    assert (result.truth.kind, len(result.truth.sequences)) == ("sample", 40)
    assert set(result.averages) == {"random", "edge"}


def test_without_a_truth_there_is_no_audit() -> None:
    with pytest.raises(DataError, match="enumerate"):
        audit(table_of({"m": noisy(0)}, ("edge",)))
    with pytest.raises(UsageError, match="'draws'"):
        audit(table_of({"m": noisy(0)}), draws=0)


@pytest.mark.parametrize(
    ("ratios", "outcome"),
    [
        ({"a": [0.5, 0.9, 1.1], "b": [0.52, 0.9, 1.1]}, "better"),
        ({"a": [2.0, 0.9, 1.1], "b": [2.1, 0.9, 1.1]}, "worse"),
        ({"a": [0.5, 0.4, 1.1], "b": [0.52, 0.4, 1.1]}, "similar"),
        ({"a": [0.5, 0.9, 1.1]}, "similar"),
    ],
)
def test_a_protocol_is_better_if_neither_interval_nor_placebo_explains_it(
    ratios: dict[str, list[float]], outcome: str
) -> None:
    made = _summarize({name: np.array(values) for name, values in ratios.items()})
    assert isinstance(made, Ratio)
    assert made.outcome == outcome
    assert made.ratio == pytest.approx(np.exp(np.mean(np.log([it[0] for it in ratios.values()]))))


def test_the_audit_of_an_experiment_is_stored_and_shown_in_its_report(tmp_path: Path) -> None:
    experiment = write_experiment(tmp_path / "a", {"m": noisy(0)}, ("enumerate", "random", "edge"))
    made = audit(experiment, draws=4)
    stored = Audit.load(audit_file(experiment.directory, "accuracy"))
    assert to_plain(stored) == to_plain(made)
    (dataset,) = analyze(experiment).datasets
    section = build_section(dataset, "")
    assert section is not None
    assert "random orders show m" in section.lede
    assert section.parts
    assert build_section(analyze(table_of({"m": noisy(0)})).datasets[0], "") is None
