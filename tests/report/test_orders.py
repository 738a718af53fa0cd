"""The numbers of a summary are those of the table and of the estimates."""

from __future__ import annotations

import numpy as np
import pytest

from edgecil.report.order_table import OrderTable, named_orders
from tests.analysis.tables import analysed, noisy, six_classes, table_of

MODELS = {"low": noisy(0), "high": noisy(1, mean=60.0)}


@pytest.fixture(scope="module")
def enumerated():
    return analysed(table_of(MODELS), similarity=six_classes())


@pytest.fixture(scope="module")
def few():
    table = table_of(MODELS, ("random", "edge"))
    return analysed(table, similarity=six_classes())


def test_a_comparison_is_found_in_both_directions(enumerated) -> None:
    forth = enumerated.compare("low", "high")
    assert forth is enumerated.compare("high", "low")
    assert (forth.ahead, forth.better) == ("high", "high")
    assert enumerated.compare("low", "other") is None


def test_constructed_orders_are_named_and_random_ones_are_not(few) -> None:
    named = named_orders(few, "low")
    assert [(one.protocol, one.label) for one in named] == [("edge", "hard"), ("edge", "easy")]
    orders = few.table.orders("low", "edge")
    by_label = dict(zip(orders.labels, orders.accuracies.tolist(), strict=True))
    assert [one.value for one in named] == [by_label["hard"], by_label["easy"]]


def test_every_order_is_listed_once_with_all_who_chose_it(enumerated) -> None:
    orders = OrderTable.of(enumerated)
    assert len(set(orders.sequences)) == len(orders) == 90
    means = np.mean(list(orders.values.values()), axis=0)
    assert (np.diff(means) >= 0.0).all()
    hard = next(i for i, choices in enumerate(orders.choices) if ("edge", "hard") in choices)
    assert "enumerate" in {protocol for protocol, _ in orders.choices[hard]}
    sequence = orders.sequences[hard]
    place = enumerated.table.sequences.index(sequence)
    assert orders.z[hard] == enumerated.predictor.z[place]
    assert orders.values["low"][hard] == enumerated.table.orders("low").by_sequence()[sequence]
    again = orders.by_metric_of(enumerated).values
    assert all((again[name] == orders.values[name]).all() for name in MODELS)
