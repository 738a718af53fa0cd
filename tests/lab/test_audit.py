"""An audit compares every protocol and estimator with the truth, and is stored beside the runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edgecil.engine.runs import Runs
from edgecil.errors import DataError, UsageError
from edgecil.estimation import analyze
from edgecil.io.json import to_plain
from edgecil.lab import Audit, DatasetAudit, _audit as module, audit
from edgecil.lab._audit import audit_table
from edgecil.lab.section import build_section
from tests.estimation.experiments import write_experiment
from tests.estimation.tables import (
    SPACE,
    Run,
    build,
    noisy,
    rows,
    runs_of,
    six_classes,
    table_of,
    two_hard_orders,
)
from tests.estimation.test_analyze_table import SIMILARITY, against_s, along_s

EVERY = ("enumerate", "random", "edge", "latin")


def audited(table: Runs, **options: Any) -> DatasetAudit:
    return audit_table(table, similarities={"text": SIMILARITY}, **{"draws": 8, **options})


@pytest.fixture(scope="module")
def whole() -> DatasetAudit:
    return audited(table_of({"rises": along_s, "falls": against_s, "noise": noisy(0)}))


def test_every_protocol_has_every_estimate(whole: DatasetAudit) -> None:
    method = whole.methods["rises"]
    for protocol in ("random", "edge", "latin"):
        for estimator in ("gaussian", "gaussian-c4", "regression"):
            answer = method.estimates[protocol][estimator]
            assert answer.estimate is not None
            assert answer.closeness is not None
            assert list(answer.quantiles) == ["0.05", "0.25", "0.5", "0.75", "0.95"]
        assert method.averages[protocol]["gaussian-c4"].draws == 8
        assert len(method.redraws[protocol]["gaussian"].examples) == 8
    assert set(whole.rankings) == {"random", "edge", "latin"}
    assert whole.compared_protocols == ("random", "edge", "latin")
    assert whole.rankings["edge"]["regression"].average is not None


def test_where_s_decides_accuracy_edge_comes_nearer_to_both_ends_than_random(
    whole: DatasetAudit,
) -> None:
    averages = whole.methods["rises"].averages
    random, edge = averages["random"]["gaussian"], averages["edge"]["gaussian"]
    assert edge.min_error < random.min_error
    assert edge.max_error < random.max_error
    assert averages["edge"]["regression"].wasserstein < random.wasserstein


def test_the_same_call_gives_the_same_judgement() -> None:
    table = table_of({"m": noisy(0)})
    assert to_plain(audited(table)) == to_plain(audited(table))


def test_a_large_random_sample_stands_for_the_truth_and_is_called_so() -> None:
    runs = [
        Run("m", "d", "random", f"seed-{place}", sequence, 0, along_s(sequence))
        for place, sequence in enumerate(SPACE.sample(40, np.random.default_rng(0)))
    ]
    table = build((*runs, *runs_of("m", "edge", along_s, dataset="d")))
    result = audited(table).methods["m"]
    assert result.truth is not None
    assert (result.truth.kind, len(result.truth.sequences)) == ("sample", 40)
    assert result.estimates["random"]["gaussian"].closeness is None, (
        "it is not compared with itself"
    )
    assert result.estimates["edge"]["gaussian"].closeness is not None
    assert set(result.averages) == {"random", "edge"}
    average = audit_table(table, draws=100).methods["m"].averages["edge"]["gaussian"]
    assert not average.exhaustive, "all of a sample is not all of Ω"
    assert average.standard_errors is not None
    assert average.standard_errors["wasserstein"] > 0.0
    ends = result.outside_range["edge"]
    hard, easy = (
        run.accuracy
        for label in ("hard", "easy")
        for run in rows(table)
        if (run.protocol, run.label) == ("edge", label)
    )
    assert (ends.low, ends.high) == (min(hard, easy), max(hard, easy)), "not the median order"
    values = result.truth.accuracies
    assert (ends.below, ends.above) == (
        (values < ends.low - 1e-9).sum(),
        (values > ends.high + 1e-9).sum(),
    )


def test_without_a_truth_there_are_estimates_and_no_distances() -> None:
    table = table_of({"m": noisy(0)}, ("edge",))
    method = audit_table(table).methods["m"]
    assert (method.truth, method.averages, method.by_budget) == (None, {}, {})
    assert method.estimates["edge"]["gaussian"].closeness is None
    assert "requires a predictor" in str(method.estimates["edge"]["regression"].reason)
    with pytest.raises(DataError, match="enumerate"):
        audit(table)


@pytest.mark.parametrize("accuracy", [50.0, 0.0, 100.0])
def test_equal_accuracies_everywhere_are_a_point_at_no_distance(accuracy: float) -> None:
    method = audited(table_of({"m": lambda sequence: accuracy})).methods["m"]
    for answer in (method.estimates["edge"][name] for name in ("gaussian", "regression")):
        assert answer.closeness is not None
        assert answer.closeness.jsd == pytest.approx(0.0)
        assert answer.closeness.wasserstein == pytest.approx(0.0)


def test_one_order_is_judged_as_far_as_it_can_be() -> None:
    one = build(rows(table_of({"m": noisy(0)}, ("edge",)))[:1])
    estimates = audited(one).methods["m"].estimates["edge"]
    assert estimates["gaussian"].estimate is not None
    assert "at least 2 runs; got 1" in str(estimates["gaussian-c4"].reason)


def test_a_method_that_lacks_a_protocol_is_ranked_by_the_others() -> None:
    full, part = table_of({"a": noisy(0)}), table_of({"b": noisy(1)}, ("enumerate", "random"))
    result = audited(build(rows(full) + rows(part)))
    assert set(result.rankings["edge"]["gaussian"].ranking.lower) == {"a"}  # type: ignore[union-attr]
    assert set(result.rankings["random"]["gaussian"].ranking.lower) == {"a", "b"}  # type: ignore[union-attr]


def test_a_pilot_can_be_the_predictor() -> None:
    table = table_of({"m": noisy(0)})
    pilot = table_of({"m": lambda sequence: 0.5 * noisy(0)(sequence)}, ("enumerate",))
    piloted = audit(table, predictor="pilot", pilot=pilot, draws=2)["m"].estimates["latin"]
    blind = audit(table, similarity=six_classes(), draws=2)["m"].estimates["latin"]
    near, far = (one["regression"].closeness for one in (piloted, blind))
    assert near is not None
    assert far is not None
    assert near.wasserstein < far.wasserstein


def test_the_range_of_a_protocol_is_the_mean_over_draws_or_that_of_its_runs() -> None:
    method = audited(table_of({"low": noisy(0)})).methods["low"]
    drawn = method.averages["edge"]["gaussian"]
    assert method.range_of("edge") == (drawn.min, drawn.max)
    table = table_of({"low": noisy(0)}, ("random", "edge"))
    few, runs = audited(table).methods["low"], table.orders("low", "edge").accuracies
    assert few.range_of("edge") == (runs.min(), runs.max())
    assert few.range_of("latin") is None


def test_random_counts_three_runs_if_it_was_not_run(whole: DatasetAudit) -> None:
    method = whole.methods["noise"]
    assert method.budget_of("edge") == 3
    assert replace(method, runs={}).budget_of("random") == 3


@pytest.mark.parametrize("method", ["m", "n"])
def test_a_method_with_two_hard_orders_has_no_ends_to_compare(method: str) -> None:
    table = table_of({"m": noisy(0)})
    alone = audited(table).methods["m"].outside_range
    both = audited(two_hard_orders(table, method)).methods["m"].outside_range
    assert "edge" in alone
    assert both.get("edge") == (alone["edge"] if method == "n" else None)


def test_an_audit_is_a_data_frame() -> None:
    result = audit(table_of({"m": noisy(0), "n": noisy(1)}), similarity=six_classes(), draws=2)
    frame = result.to_pandas()
    truth = frame[(frame.method == "m") & (frame.protocol == "truth")].iloc[0]
    assert truth["mean"] == result["m"].truth.mean  # type: ignore[union-attr]
    row = frame.set_index(["method", "protocol", "estimator"]).loc[("n", "edge", "gaussian-c4")]
    estimate = result["n"].estimates["edge"]["gaussian-c4"].estimate
    assert estimate is not None
    assert (row["mean_low"], row["mean_high"]) == estimate.mean_interval
    assert row["average_jsd"] == result["n"].averages["edge"]["gaussian-c4"].jsd


@pytest.mark.parametrize(
    "options", [{"draws": 0}, {"predictor": "pilot"}, {"predictor": "nothing"}]
)
def test_bad_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(options.values())) or "draws"):
        audit(table_of({"m": noisy(0)}), **options)


def test_the_audit_of_an_experiment_is_stored_and_made_again_only_for_other_runs_or_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    compute = module.audit_table

    def count(table: Runs, **options: Any) -> DatasetAudit:
        made.append(table.dataset)
        return compute(table, **options)

    monkeypatch.setattr(module, "audit_table", count)
    experiment = write_experiment(tmp_path / "a", {"m": noisy(0)}, EVERY)
    first, second = audit(experiment, draws=2), audit(tmp_path / "a", draws=2)
    assert made == ["made-up"]
    assert to_plain(first) == to_plain(second)
    assert to_plain(Audit.load(tmp_path / "a" / "audits" / "accuracy.json")) == to_plain(first)
    audit(experiment, draws=3)
    assert len(made) == 2
    moved = (tmp_path / "a").rename(tmp_path / "b")
    assert audit(moved, draws=3).sources == (str(moved),)
    assert len(made) == 2


def test_the_page_has_a_section_where_an_audit_of_its_runs_is_stored(tmp_path: Path) -> None:
    experiment = write_experiment(tmp_path / "a", {"m": noisy(0), "n": noisy(1)}, EVERY)
    (dataset,) = analyze(experiment).datasets
    assert build_section(dataset, "") is None
    audit(experiment, draws=2)
    section = build_section(dataset, "-x")
    assert section is not None
    assert [figure.name for figure in section.figures] == ["closeness-x", "budgets-x"]
    assert {table.name for table in section.tables} == {
        f"{name}-x"
        for name in (
            *("beside-random", "closeness", "ranges", "outside-range"),
            *("budgets", "estimates", "rankings"),
        )
    }
    fewer = replace(dataset, table=dataset.table.take(np.arange(1, len(dataset.table))))
    stale = build_section(fewer, "")
    assert stale is not None
    assert stale.parts == ()
    assert "edgecil lab audit" in stale.lede
