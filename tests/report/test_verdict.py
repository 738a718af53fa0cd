"""The first sentences: how much the order matters, and which protocol is worth its runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from edgecil.estimation import AccuracyTable, AverageCloseness, Run, analyze_table, split_variance
from edgecil.report import words
from edgecil.report.evidence import Evidence
from edgecil.report.page import compose
from edgecil.report.verdict import COUNTED, beside_random, verdict
from tests.estimation.tables import SPACE, six_classes
from tests.report.made_up import evidence_of, varied, write_run

ERRORS = ("jsd", "wasserstein", "missed_range")


def average(wasserstein: float, jsd: float, missed: float, noise: float = 0.0) -> AverageCloseness:
    """A protocol's means, each with this standard error."""
    errors = dict.fromkeys(ERRORS, noise)
    return AverageCloseness(
        draws=2000,
        exhaustive=False,
        jsd=jsd,
        wasserstein=wasserstein,
        mean_error=0.0,
        std_error=0.0,
        min_error=0.0,
        max_error=0.0,
        missed_range=missed,
        min=0.0,
        max=0.0,
        standard_errors=errors,
    )


RANDOM = average(1.0, 0.1, 10.0, 0.001)
BETTER = average(0.8, 0.08, 8.0, 0.001)
WORSE = average(1.2, 0.12, 12.0, 0.001)


def fared(
    evidence: Evidence,
    edge: list[AverageCloseness],
    random: AverageCloseness = RANDOM,
    misleading: AverageCloseness = RANDOM,
) -> str:
    """What is said of edge if its means with one learner after the other are these."""
    method = evidence.judgement.methods["varied"]
    methods = {
        f"learner {place}": replace(
            method,
            averages={
                "random": {"gaussian": misleading, "gaussian-c4": random},
                "edge": {"gaussian": mine, "gaussian-c4": misleading},
            },
        )
        for place, mine in enumerate(edge)
    }
    judgement = replace(evidence.judgement, methods=methods)
    (sentence,) = beside_random(replace(evidence, judgement=judgement))
    return sentence


@pytest.mark.parametrize(
    ("edge", "told"),
    [
        (
            [BETTER, BETTER, average(0.8, 0.12, 10.0), WORSE],
            "for 3 of 4 learners by W₁ and for 2 by JSD, is farther for 1 by W₁ and for 2 by JSD; "
            "it finds more of the range for 2, less for 1.",
        ),
        (
            [average(1.0, 0.08, 10.0), RANDOM],
            "for 1 of 2 learners by JSD, is farther for none; it finds about as much of the range.",
        ),
        (
            [RANDOM, WORSE],
            "for none of 2 learners, is farther for 1 by W₁ and for 1 by JSD; it finds more of the "
            "range for none, less for 1.",
        ),
        ([BETTER], "by W₁ and by JSD, is farther by no distance; it finds more of the range."),
        (
            [average(1.2, 0.08, 12.0)],
            "by JSD, is farther by W₁; it finds less of the range.",
        ),
    ],
)
def test_a_sentence_counts_the_learners_for_which_a_protocol_is_closer(
    evidence, edge, told
) -> None:
    assert (
        fared(evidence, edge) == f"edge comes closer to the truth than three random orders {told}"
    )


@pytest.mark.parametrize(
    ("edge", "random"),
    [
        (average(0.8, 0.08, 8.0, 0.0), average(1.0, 0.1, 10.0, 1.1)),  # two standard errors: 2.2
        (average(0.91, 0.091, 9.1), average(1.0, 0.1, 10.0)),  # less than a tenth
        (average(0.88, 0.088, 8.8), average(1.0, 0.1, 10.0, 0.7)),  # more, but by noise
    ],
)
def test_what_may_be_noise_or_matters_little_does_not_count(evidence, edge, random) -> None:
    assert fared(evidence, [edge, edge], random) == (
        "edge comes closer to the truth than three random orders for none of 2 learners, is "
        "farther for none; it finds about as much of the range."
    )


@pytest.mark.parametrize("misleading", [average(0.1, 0.01, 1.0), average(9.0, 0.6, 90.0)])
def test_each_protocol_is_compared_by_the_estimator_that_suits_it(evidence, misleading) -> None:
    told = fared(evidence, [BETTER, BETTER], misleading=misleading)
    assert "for 2 of 2 learners by W₁ and for 2 by JSD, is farther for none" in told


def test_a_protocol_with_more_runs_than_random_says_so(evidence) -> None:
    method = evidence.judgement.methods["varied"]
    more = replace(method, runs={**method.runs, "edge": 5})
    judgement = replace(evidence.judgement, methods={"varied": more})
    told = beside_random(replace(evidence, judgement=judgement))
    assert told[0].startswith("edge with five comes closer to the truth than three random orders ")


def test_every_protocol_but_random_has_its_sentence_and_the_page_says_what_counts(
    evidence, report
) -> None:
    told = beside_random(evidence)
    assert [sentence.split()[0] for sentence in told] == ["edge", "latin"]
    first = report.html.index(told[0])
    assert first < report.html.index(COUNTED) < report.html.index("<figure")


def test_the_verdict_names_the_steadiest_and_the_most_varied_learner(evidence) -> None:
    assert verdict(evidence) == [
        "Between its worst and its best class order a learner's accuracy differs by 0.0 (steady) "
        "to 40.0 points (varied).",
        "Every order was trained once, so that training noise is part of this.",
    ]


def with_variance(evidence: Evidence, *groups: list[list[float]]) -> Evidence:
    """The learners with the accuracies of some orders, one per seed, behind their variance."""
    methods = {
        name: replace(method, variance=split_variance(found))
        for (name, method), found in zip(evidence.judgement.methods.items(), groups, strict=True)
    }
    return replace(evidence, judgement=replace(evidence.judgement, methods=methods))


def test_the_share_of_the_order_is_told_with_the_number_of_repeated_orders(evidence) -> None:
    apart = [[50.0 + place, 52.0 + place] for place in range(12)]
    share = split_variance(apart).order_share
    assert verdict(with_variance(evidence, apart, apart))[1:] == [
        "Of the variance, due to the order and not to the training seed: "
        f"{share:.0%} (varied, from 12 orders trained again), "
        f"{share:.0%} (steady, from 12 orders trained again)."
    ]


def test_too_few_repeats_and_equal_accuracies_are_not_called_trained_once(evidence) -> None:
    few = [[50.0, 52.0], *([60.0 + place] for place in range(20))]
    equal = [[80.0, 80.0] for _ in range(12)]
    found = with_variance(evidence, few, equal)
    reasons = [method.variance.reason for method in found.judgement.methods.values()]
    assert None not in reasons
    assert reasons[0] != reasons[1]
    assert verdict(found)[1:] == [
        "How much of this is training noise cannot be said for "
        f"varied ({reasons[0]}), steady ({reasons[1]})."
    ]


def test_a_learner_without_repeats_is_told_from_one_with(evidence) -> None:
    apart = [[50.0 + place, 52.0 + place] for place in range(12)]
    told = verdict(with_variance(evidence, apart, [[1.0], [2.0]]))
    assert told[1].endswith("(varied, from 12 orders trained again).")
    assert told[2] == (
        "How much of this is training noise cannot be said for steady (every order was trained "
        "once)."
    )


@pytest.fixture(scope="module")
def beyond() -> Evidence:
    """Forty random orders between 45 and 55 for the truth, and an edge that finds 30 and 70."""
    hard, easy, median, *others = SPACE.enumerate()
    runs = [
        Run("m", "made-up", "edge", "hard", hard, 0, 30.0),
        Run("m", "made-up", "edge", "median", median, 0, 50.0),
        Run("m", "made-up", "edge", "easy", easy, 0, 70.0),
    ]
    for place, sequence in enumerate(others[:40]):
        accuracy = 45.0 + 10.0 * place / 39
        runs.append(Run("m", "made-up", "random", f"seed-{place}", sequence, 0, accuracy))
    table = AccuracyTable(tuple(runs))
    return Evidence("a.csv", table, analyze_table(table, draws=20))


def test_ends_outside_a_sample_are_found_and_not_taken_off(beyond) -> None:
    method = beyond.judgement.methods["m"]
    assert method.truth.kind == "sample"
    assert words.found_range(method, "edge") == (30.0, 70.0)
    assert "edge's three 40.0" in words.method_answer(beyond, "m")[1]
    low, high = words.found_range(method, "random")
    assert 45.0 <= low < high <= 55.0


def test_the_least_range_is_that_of_all_runs_not_of_the_sample(beyond) -> None:
    assert "differs by at least 40.0 points (m)." in verdict(beyond)[0]
    assert words.method_answer(beyond, "m")[0] == (
        "Accuracy of m depends on the class order by at least 40.0 points (30.0 to 70.0 over all "
        "runs; 40 random orders stand for the truth, mean 50.0)."
    )


def test_ends_outside_a_sample_are_no_fault_and_the_sample_is_called_so(beyond) -> None:
    assert beside_random(beyond)[0].endswith("; it finds more of the range.")
    found = compose(beyond)
    assert "Grey: a random sample in place of the truth" in found.html
    (legend,) = found.pictures[0].figure.legends
    assert legend.get_texts()[0].get_text() == "sample: 40 orders"
    (table,) = [table for table in found.tables if table.name == "ranges"]
    assert table.rows[0][:4] == ("m", 30.0, 70.0, 40.0)
    assert 40.0 in table.rows[0][4:]


def test_without_a_truth_nothing_is_compared(tmp_path: Path) -> None:
    found = evidence_of(write_run(tmp_path / "few", {"varied": varied}, ("edge",)), six_classes())
    assert beside_random(found) == []
    assert verdict(found)[0].startswith("The truth is not known here (there are 90 orders)")
