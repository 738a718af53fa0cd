from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from edgecil.errors import DataError
from edgecil.estimation import AccuracyTable, DatasetAnalysis, Run, analyze_table, find_truth
from edgecil.io.json import to_plain
from edgecil.sequences import ClassSequence, profile
from tests.estimation.tables import SPACE, noisy, runs_of, six_classes, table_of

SIMILARITY = six_classes()


ALONG_S = {
    sequence: 50.0 + 4.0 * profile(SIMILARITY, sequence).z + 0.2 * noisy(3, mean=0.0)(sequence)
    for sequence in SPACE.enumerate()
}


def along_s(sequence: ClassSequence) -> float:
    """Accuracy that S decides, but for a little."""
    return ALONG_S[sequence]


def against_s(sequence: ClassSequence) -> float:
    return 100.0 - along_s(sequence)


def analysed(table: AccuracyTable, **options: object) -> DatasetAnalysis:
    return analyze_table(table, similarities={"text": SIMILARITY}, draws=8, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def whole() -> DatasetAnalysis:
    return analysed(table_of({"rises": along_s, "falls": against_s, "noise": noisy(0)}))


def test_every_protocol_has_every_estimate(whole: DatasetAnalysis) -> None:
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
    assert whole.rankings["edge"]["regression"].average is not None


def test_the_truth_is_the_population_of_all_orders(whole: DatasetAnalysis) -> None:
    values = np.array([noisy(0)(sequence) for sequence in SPACE.enumerate()])
    truth = whole.methods["noise"].truth
    assert truth is not None
    assert (truth.mean, truth.std) == pytest.approx((values.mean(), values.std(ddof=0)))
    assert (truth.min, truth.max) == (values.min(), values.max())
    assert (len(truth.sequences), truth.kind, truth.space_size) == (90, "enumerated", 90)


def test_where_s_decides_accuracy_edge_comes_nearer_to_both_ends_than_random(
    whole: DatasetAnalysis,
) -> None:
    averages = whole.methods["rises"].averages
    random, edge = averages["random"]["gaussian"], averages["edge"]["gaussian"]
    assert edge.min_error < random.min_error
    assert edge.max_error < random.max_error
    assert averages["edge"]["regression"].wasserstein < random.wasserstein
    assert whole.methods["rises"].warnings == ()


def test_a_backward_and_a_weak_predictor_are_warned_of(whole: DatasetAnalysis) -> None:
    assert "wrong sign" in whole.methods["falls"].warnings[0]
    assert whole.methods["noise"].warnings


def test_correlations_are_of_every_objective(whole: DatasetAnalysis) -> None:
    result = whole.methods["falls"].correlations
    assert set(result) == {"adjacent", "intra", "to-last", "generalization"}
    assert result["adjacent"].pearson == pytest.approx(-0.97, abs=0.03)


def test_comparisons_pair_the_orders_that_both_ran(whole: DatasetAnalysis) -> None:
    result = whole.comparisons["rises"]["falls"]
    values = np.array([along_s(sequence) for sequence in SPACE.enumerate()])
    assert result.n == 90
    assert result.difference == pytest.approx((2 * values - 100).mean())


def test_the_same_call_gives_the_same_judgement() -> None:
    table = table_of({"m": noisy(0)})
    assert to_plain(analysed(table)) == to_plain(analysed(table))


def test_a_large_random_sample_stands_for_the_truth_and_is_called_so() -> None:
    runs = [
        Run("m", "d", "random", f"seed-{place}", sequence, 0, along_s(sequence))
        for place, sequence in enumerate(SPACE.sample(40, np.random.default_rng(0)))
    ]
    table = AccuracyTable((*runs, *runs_of("m", "edge", along_s, dataset="d")))
    result = analysed(table).methods["m"]
    assert result.truth is not None
    assert (result.truth.kind, len(result.truth.sequences)) == ("sample", 40)
    assert result.estimates["random"]["gaussian"].closeness is None, "it is not analysed by itself"
    assert result.estimates["edge"]["gaussian"].closeness is not None
    assert set(result.averages) == {"random", "edge"}
    average = analyze_table(table, draws=100).methods["m"].averages["edge"]["gaussian"]
    assert not average.exhaustive, "all of a sample is not all of Ω"
    assert average.standard_errors is not None
    assert average.standard_errors["wasserstein"] > 0.0
    ends = result.outside_range["edge"]
    hard, easy = (
        run.accuracy
        for label in ("hard", "easy")
        for run in table.runs
        if (run.protocol, run.label) == ("edge", label)
    )
    assert (ends.low, ends.high) == (min(hard, easy), max(hard, easy)), "not the median order"
    values = result.truth.accuracies
    assert (ends.below, ends.above) == (
        (values < ends.low - 1e-9).sum(),
        (values > ends.high + 1e-9).sum(),
    )


def test_an_enumeration_with_a_few_failures_is_still_the_truth_with_a_warning() -> None:
    table = table_of({"m": noisy(0)}, ("enumerate",))
    holed = AccuracyTable(
        tuple(
            replace(run, accuracy=None) if place < 4 else run
            for place, run in enumerate(table.runs)
        )
    )
    result = analysed(holed)
    assert "Only 86 of 90" in result.methods["m"].warnings[0]
    (note,) = result.notes
    assert note.startswith("4 of 90 runs")
    half = AccuracyTable(holed.runs[:45])
    assert find_truth(half, "m") is None


def test_without_truth_and_similarity_there_are_estimates_and_a_note() -> None:
    result = analyze_table(table_of({"m": noisy(0)}, ("edge",)))
    method = result.methods["m"]
    assert (method.truth, method.averages, method.correlations) == (None, {}, {})
    assert method.estimates["edge"]["gaussian"].closeness is None
    assert "requires a predictor" in str(method.estimates["edge"]["regression"].reason)
    assert "No similarity" in result.notes[0]


@pytest.mark.parametrize("accuracy", [50.0, 0.0, 100.0])
def test_equal_accuracies_everywhere_are_a_point_at_no_distance(accuracy: float) -> None:
    method = analysed(table_of({"m": lambda sequence: accuracy})).methods["m"]
    for answer in (method.estimates["edge"][name] for name in ("gaussian", "regression")):
        assert answer.closeness is not None
        assert answer.closeness.jsd == pytest.approx(0.0)
        assert answer.closeness.wasserstein == pytest.approx(0.0)
    assert method.normality.shapiro_p is None
    assert "accuracy that differs" in str(method.correlations["adjacent"].reason)


def test_one_sequence_is_judged_as_far_as_it_can_be() -> None:
    one = AccuracyTable(table_of({"m": noisy(0)}, ("edge",)).runs[:1])
    method = analysed(one).methods["m"]
    assert method.estimates["edge"]["gaussian"].estimate is not None
    assert "at least 2 runs; got 1" in str(method.estimates["edge"]["gaussian-c4"].reason)
    assert method.correlations["adjacent"].pearson is None


def test_two_values_have_estimates_but_no_normality() -> None:
    method = analysed(
        table_of({"m": lambda sequence: 95.33 if 0 in sequence.tasks[0] else 95.83})
    ).methods["m"]
    assert "got 2" in str(method.normality.reason)
    assert method.estimates["edge"]["gaussian"].closeness is not None


def test_a_method_that_failed_throughout_is_left_out_and_told() -> None:
    result = analysed(table_of({"m": noisy(0), "broken": lambda sequence: None}, ("random",)))
    assert set(result.methods) == {"m"}
    assert "broken is left out" in " ".join(result.notes)


def test_a_method_that_lacks_a_protocol_is_ranked_by_the_others() -> None:
    full, part = table_of({"a": noisy(0)}), table_of({"b": noisy(1)}, ("enumerate", "random"))
    result = analysed(AccuracyTable(full.runs + part.runs))
    assert set(result.rankings["edge"]["gaussian"].ranking.lower) == {"a"}
    assert set(result.rankings["random"]["gaussian"].ranking.lower) == {"a", "b"}


def test_seeds_that_draw_the_same_order_are_told() -> None:
    result = analysed(table_of({"m": noisy(0)}, ("random", "edge")))
    (note,) = result.notes
    assert "seed-0 and seed-42" in note
    assert "0.76" in note  # a handicap beside edge
    alone = analysed(table_of({"m": noisy(0)}, ("random",))).notes[0]
    assert "0.76" not in alone


def test_a_repeated_order_counts_twice_for_the_paper_alone() -> None:
    result = (
        analysed(table_of({"m": noisy(0)}, ("random", "edge"))).methods["m"].estimates["random"]
    )
    assert {name: made.runs for name, made in result.items()} == {
        "gaussian": 3,
        "gaussian-c4": 2,
        "smoothed": 2,
        "regression": 2,
        "stratified": 2,
    }
    twice, once = np.unique([noisy(0)(run.sequence) for run in runs_of("m", "random", noisy(0))])
    made = result["gaussian-c4"].estimate
    assert made is not None
    assert made.distribution.mean == pytest.approx((twice + once) / 2)
    # Two values have s = |a - b| / √2, and c4(2) = √(2 / π).
    assert made.distribution.std == pytest.approx(abs(twice - once) * np.sqrt(np.pi) / 2)


def test_what_another_method_drew_blindly_says_nothing_of_ones_own_extremes() -> None:
    extreme, whole = table_of({"m": along_s}, ("edge",)), table_of({"w": noisy(1)}, ("enumerate",))
    result = analysed(AccuracyTable(extreme.runs + whole.runs)).methods
    assert (result["m"].correlations["adjacent"].n, result["w"].correlations["adjacent"].n) == (
        0,
        90,
    )
    assert result["m"].correlations["adjacent"].pearson is None
    assert "got 0" in str(result["m"].normality.reason)


def test_one_training_with_two_accuracies_is_noted_and_counts_as_repeated() -> None:
    table = table_of({"m": noisy(0)}, ("enumerate",))
    wrong = replace(table.runs[0], protocol="random", label="seed-0", accuracy=12.0)
    result = analysed(AccuracyTable((*table.runs, wrong)))
    assert any("12" in note for note in result.notes)
    assert result.methods["m"].order_effect.repeats == 1


def test_fractions_are_told_from_per_cent() -> None:
    fractions = analysed(table_of({"m": lambda sequence: noisy(0)(sequence) / 100.0}, ("edge",)))
    assert "100" in fractions.notes[0]
    assert analysed(table_of({"m": noisy(0)}, ("edge",))).notes == ()


def test_labels_that_failed_are_warned_of_by_protocol() -> None:
    table = table_of({"m": noisy(0)}, ("edge",))
    holed = tuple(replace(run, accuracy=None) if run.label != "easy" else run for run in table.runs)
    (failed, *_) = analysed(AccuracyTable(holed)).methods["m"].warnings
    assert failed.startswith("edge: hard and median")
    assert "1 order" in failed


def test_a_table_without_any_accuracy_is_refused() -> None:
    with pytest.raises(DataError, match="'made-up'"):
        analysed(table_of({"m": lambda sequence: None}, ("edge",)))


def test_a_pilot_can_be_the_predictor() -> None:
    table = table_of({"m": noisy(0)})
    pilot = table_of({"m": lambda sequence: 0.5 * noisy(0)(sequence)}, ("enumerate",))
    result = analyze_table(table, predictor="pilot", pilot=pilot, draws=2).methods["m"]
    assert result.predictor == "pilot"
    assert result.correlations["pilot"].pearson == pytest.approx(1.0)


def test_repeated_seeds_split_the_variance() -> None:
    twice = [
        replace(run, seed=seed, accuracy=noisy(seed)(run.sequence))
        for run in runs_of("m", "enumerate", noisy(0))
        for seed in (0, 1)
    ]
    result = analysed(AccuracyTable(tuple(twice))).methods["m"].order_effect
    assert result is not None
    assert result.repeated_orders == 90
    assert result.order_share is not None
    assert result.order_share < 0.5
