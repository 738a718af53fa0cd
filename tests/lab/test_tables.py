"""The tables of an audit hold its numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from edgecil.lab import DatasetAudit, tables
from edgecil.lab._audit import audit_table
from edgecil.lab.section import seen_by_random
from tests.estimation.tables import noisy, six_classes, table_of
from tests.report.test_tables import rows_of


@pytest.fixture(scope="module")
def dataset() -> DatasetAudit:
    table = table_of({"low": noisy(0), "high": noisy(1, mean=60.0)})
    return audit_table(table, similarities={"text": six_classes()}, draws=4)


def test_rankings_have_their_errors_of_the_runs_and_over_draws(dataset) -> None:
    table = tables.rankings_table(dataset)
    protocols = table.headers[3:]
    ranked = [dataset.rankings[name]["gaussian"] for name in protocols]
    assert [row[3:] for row in table.rows[-3:]] == [
        tuple(one.error for one in ranked),
        tuple(one.average.error for one in ranked),
        tuple(100.0 * one.average.correct_share for one in ranked),
    ]


def test_distances_are_the_averages_over_draws(dataset) -> None:
    for row in rows_of(tables.closeness_table(dataset)):
        average = dataset.methods[row["method"]].averages[row["protocol"]][row["estimator"]]
        assert (row["JSD"], row["W₁"]) == (average.jsd, average.wasserstein)
        assert row["± W₁"] == average.standard_errors["wasserstein"]


def test_without_a_truth_there_are_no_distances_and_no_empty_tables() -> None:
    few = audit_table(table_of({"m": noisy(0)}, ("edge",)), draws=4)
    shown = tables.audit_tables(few)
    assert {table.name for table in shown} == {"ranges", "estimates"}


def test_the_least_forgetting_is_the_best_order(dataset) -> None:
    forgetting = replace(dataset, metric="forgetting")
    for table in (tables.estimates_table, tables.closeness_table):
        plain, other = (
            [title for title in table(one).headers if title in ("worst", "best")]
            for one in (dataset, forgetting)
        )
        assert (plain, other) == (["worst", "best"], ["best", "worst"])
        assert table(dataset).rows == table(forgetting).rows  # the columns are lowest and highest


def test_random_orders_show_less_than_the_truth(dataset) -> None:
    truth = max((one.truth for one in dataset.methods.values()), key=lambda it: it.max - it.min)
    name = next(name for name, one in dataset.methods.items() if one.truth is truth)
    low, high = dataset.methods[name].range_of("random")
    assert truth.min < low < high < truth.max
    shown = seen_by_random(dataset)
    for number in (3, f"{low:.1f}", f"{high:.1f}", 90, f"{truth.min:.1f}", f"{truth.max:.1f}"):
        assert str(number) in shown
