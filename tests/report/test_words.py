"""The words at the top say what the runs say, figure by figure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from edgecil.report import words
from tests.estimation.tables import six_classes
from tests.report.made_up import evidence_of, varied, write_run


def test_the_headline_counts_learners_classes_and_tasks(evidence) -> None:
    assert words.headline(evidence) == "2 learners on made-up: 6 classes in 3 tasks"


def test_the_answer_names_the_true_range_and_what_each_protocol_finds(evidence) -> None:
    first, second, third = words.method_answer(evidence, "varied")
    assert first == (
        "Accuracy of varied depends on the class order by 40.0 points "
        "(40.0 to 80.0 over all 90 orders, mean 60.0)."
    )
    method = evidence.judgement.methods["varied"]
    for protocol, whose in (("random", "three random orders"), ("edge", "edge's three")):
        near = method.averages[protocol]["gaussian"]
        assert f"{whose} {40.0 - near.min_error - near.max_error:.1f}" in second
    assert third == f"Correlation with S: r = {method.correlations['adjacent'].pearson:+.2f}."


def test_the_found_range_is_the_mean_over_draws(evidence) -> None:
    low, high = words.found_range(evidence.judgement.methods["varied"], "random")
    assert 40.0 <= low <= high <= 80.0
    assert words.found_range(evidence.judgement.methods["steady"], "edge") == (80.0, 80.0)
    assert words.found_range(evidence.judgement.methods["steady"], "optimal") is None


def test_the_verdict_counts_for_how_many_learners_a_protocol_is_closer(evidence) -> None:
    moves, fares = words.verdict(evidence)
    assert moves == "The class order alone moves accuracy by 0.0 (steady) to 40.0 points (varied)."
    counts = {}
    for name in ("edge", "latin"):
        pairs = [
            (method.averages[name]["gaussian"], method.averages["random"]["gaussian"])
            for method in evidence.judgement.methods.values()
        ]
        counts[name] = sum(mine.jsd < 0.9 * theirs.jsd for mine, theirs in pairs)
    for name, count in counts.items():
        assert f"{name} for {count} of 2 learners by JSD" in fares


@pytest.mark.parametrize(
    ("r", "told"),
    [
        (0.1, "S predicts accuracy only weakly for varied (r = +0.10)."),
        (-0.6, "S has the wrong sign for varied (r = -0.60): what is called hard tends to be"),
    ],
)
def test_a_weak_or_wrong_predictor_is_named_with_its_learner(evidence, r, told) -> None:
    method = evidence.judgement.methods["varied"]
    found = replace(method.correlations["adjacent"], pearson=r)
    judged = replace(method, correlations={**method.correlations, "adjacent": found})
    judgement = replace(evidence.judgement, methods={"varied": judged})
    sentences = words.caution(replace(evidence, judgement=judgement))
    assert sentences[0].startswith(told)
    assert sentences[-1] == "'Hard' and 'easy' are names of constructions, not of outcomes."


def test_a_good_predictor_needs_no_caution(evidence) -> None:
    method = evidence.judgement.methods["varied"]
    found = replace(method.correlations["adjacent"], pearson=0.7)
    judged = replace(method, correlations={**method.correlations, "adjacent": found})
    judgement = replace(evidence.judgement, methods={"varied": judged})
    assert words.caution(replace(evidence, judgement=judgement)) == []


def test_without_a_truth_the_words_say_so_and_give_the_estimate(tmp_path) -> None:
    found = evidence_of(
        write_run(
            tmp_path / "few", {"forgetful": lambda s, t: 0.3 + 0.1 * (0 in s.tasks[-1])}, ("edge",)
        ),
        six_classes(),
    )
    assert words.verdict(found)[0].startswith("The truth is not known here (there are about 10^2")
    ranges, estimated = words.method_answer(found, "forgetful")
    runs = found.table.orders("forgetful", "edge").accuracies
    assert f"edge's three {runs.min():.1f} to {runs.max():.1f}" in ranges
    made = found.judgement.methods["forgetful"].estimates["edge"]["regression"].estimate
    assert f"their mean at {made.distribution.mean:.1f}" in estimated
    assert np.isfinite(made.distribution.mean)


def test_a_protocol_with_more_runs_is_counted(tmp_path) -> None:
    folder = write_run(tmp_path / "ten", {"varied": varied}, ("random", "enumerate"), runs=12)
    found = evidence_of(folder)
    assert words.budget(found.judgement.methods["varied"], "random") == 12
    assert "12 random orders" in words.method_answer(found, "varied")[1]
