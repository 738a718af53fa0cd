from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from edgecil.engine.runs import Runs
from edgecil.errors import DataError
from edgecil.estimation import DatasetAnalysis, find_truth
from edgecil.estimation.plausibility import check_runs
from edgecil.sequences import ClassSequence, profile
from tests.estimation.tables import SPACE, analysed, build, noisy, rows, six_classes, table_of

SIMILARITY = six_classes()


def quick(table: Runs) -> DatasetAnalysis:
    return analysed(table, similarity=SIMILARITY)


ALONG_S = {
    sequence: 50.0 + 4.0 * profile(SIMILARITY, sequence).z + 0.2 * noisy(3, mean=0.0)(sequence)
    for sequence in SPACE.enumerate()
}


def along_s(sequence: ClassSequence) -> float:
    """Accuracy that S decides, but for a little."""
    return ALONG_S[sequence]


def against_s(sequence: ClassSequence) -> float:
    return 100.0 - along_s(sequence)


@pytest.fixture(scope="module")
def whole() -> DatasetAnalysis:
    return quick(table_of({"rises": along_s, "falls": against_s, "noise": noisy(0)}))


def test_the_truth_is_the_population_of_all_orders(whole: DatasetAnalysis) -> None:
    values = np.array([noisy(0)(sequence) for sequence in SPACE.enumerate()])
    truth = whole.methods["noise"].truth
    assert truth is not None
    assert (truth.mean, truth.std) == pytest.approx((values.mean(), values.std(ddof=0)))
    assert (truth.min, truth.max) == (values.min(), values.max())
    assert (len(truth), truth.kind, truth.space_size) == (90, "enumerated", 90)


def test_a_backward_and_a_weak_predictor_are_warned_of(whole: DatasetAnalysis) -> None:
    assert "wrong sign" in whole.methods["falls"].warnings[0]
    assert whole.methods["noise"].warnings


def test_an_enumeration_with_a_few_failures_is_still_the_truth_with_a_warning() -> None:
    table = table_of({"m": noisy(0)}, ("enumerate",))
    holed = build(
        tuple(
            replace(run, accuracy=None) if place < 4 else run
            for place, run in enumerate(rows(table))
        )
    )
    result = quick(holed)
    assert "Only 86 of 90" in result.methods["m"].warnings[0]
    assert check_runs(holed)[0].startswith("4 of 90 runs")
    half = build(rows(holed)[:45])
    assert find_truth(half, "m") is None


def test_one_sequence_is_judged_as_far_as_it_can_be() -> None:
    one = build(rows(table_of({"m": noisy(0)}, ("edge",)))[:1])
    method = quick(one).methods["m"]
    assert method.answer.order_count == 1
    assert method.correlation.pearson is None


def test_a_method_that_failed_throughout_is_left_out_and_told() -> None:
    result = quick(table_of({"m": noisy(0), "broken": lambda sequence: None}, ("random",)))
    assert set(result.methods) == {"m"}
    assert "broken is left out" in " ".join(result.notes)


def test_what_another_method_drew_blindly_says_nothing_of_ones_own_extremes() -> None:
    extreme, whole = table_of({"m": along_s}, ("edge",)), table_of({"w": noisy(1)}, ("enumerate",))
    result = quick(build(rows(extreme) + rows(whole))).methods
    assert (result["m"].correlation.n, result["w"].correlation.n) == (
        0,
        90,
    )
    assert result["m"].correlation.pearson is None


def test_one_training_with_two_accuracies_is_noted_and_counts_as_repeated() -> None:
    table = table_of({"m": noisy(0)}, ("enumerate",))
    wrong = replace(rows(table)[0], protocol="random", label="seed-0", accuracy=12.0)
    both = build((*rows(table), wrong))
    assert any("12" in note for note in check_runs(both))
    result = quick(both)
    assert result.methods["m"].order_effect.repeats == 1


def test_constructed_orders_do_not_enter_the_share_of_the_order() -> None:
    blind = rows(table_of({"m": noisy(0)}, ("random",)))
    probes = rows(table_of({"m": lambda _: 99.0}, ("edge",)))
    twice = [(*some, *(replace(row, seed=1) for row in some)) for some in (blind, blind + probes)]
    alone, beside = (quick(build(some)).methods["m"].order_effect for some in twice)
    assert alone == beside


def test_labels_that_failed_are_warned_of_by_protocol() -> None:
    table = table_of({"m": noisy(0)}, ("edge",))
    holed = tuple(
        replace(run, accuracy=None) if run.label != "easy" else run for run in rows(table)
    )
    (failed, *_) = quick(build(holed)).methods["m"].warnings
    assert failed.startswith("edge: hard and median")
    assert "1 order" in failed


def test_a_table_without_any_accuracy_is_refused() -> None:
    with pytest.raises(DataError, match="made-up"):
        quick(table_of({"m": lambda sequence: None}, ("edge",)))
