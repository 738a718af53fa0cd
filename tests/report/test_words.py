"""The words at the top say what the runs say, figure by figure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from edgecil.engine import ExperimentConfig
from edgecil.estimation import AccuracyTable
from edgecil.report import words
from edgecil.report.evidence import Evidence, Journal
from tests.estimation.tables import six_classes
from tests.report.made_up import evidence_of, varied, write_run


def test_the_headline_counts_learners_classes_and_tasks(evidence) -> None:
    assert words.headline(evidence) == "2 learners on made-up: 6 classes in 3 tasks"
    runs = tuple(replace(run, dataset="CUB-200") for run in evidence.table.runs)
    named = replace(evidence, table=AccuracyTable(runs))
    assert words.headline(named) == "2 learners on CUB-200: 6 classes in 3 tasks"


def test_the_answer_names_the_true_range_and_what_each_protocol_finds(evidence) -> None:
    first, second, third = words.method_answer(evidence, "varied")
    assert first == (
        "Accuracy of varied depends on the class order by 40.0 points "
        "(40.0 to 80.0 over all 90 orders, mean 60.0)."
    )
    method = evidence.judgement.methods["varied"]
    for protocol, whose in (("random", "three random orders"), ("edge", "edge's three")):
        near = method.averages[protocol]["gaussian"]
        assert f"{whose} {near.max - near.min:.1f}" in second
    assert third == f"Correlation with S: r = {method.correlations['adjacent'].pearson:+.2f}."


def test_the_found_range_is_the_mean_over_draws(evidence) -> None:
    low, high = words.found_range(evidence.judgement.methods["varied"], "random")
    assert 40.0 <= low <= high <= 80.0
    assert words.found_range(evidence.judgement.methods["steady"], "edge") == (80.0, 80.0)
    assert words.found_range(evidence.judgement.methods["steady"], "optimal") is None


@pytest.mark.parametrize(
    ("r", "interval", "told"),
    [
        (0.2, (0.1, 0.3), "S predicts accuracy only weakly for varied (r = +0.20)."),
        (
            -0.2,
            (-0.4, 0.1),
            "S cannot be told from no relation with accuracy for varied (r = -0.20).",
        ),
        (
            -0.6,
            (-0.7, -0.4),
            "S points the wrong way (what is called hard tends to be easy) for varied (r = -0.60).",
        ),
    ],
)
def test_a_predictor_not_to_be_trusted_is_named_with_its_learner(
    evidence, r, interval, told
) -> None:
    assert words.caution(predicting(evidence, r, interval)) == [
        told,
        "'Hard' and 'easy' are names of constructions, not of outcomes.",
    ]


def test_a_good_predictor_needs_no_caution(evidence) -> None:
    assert words.caution(predicting(evidence, 0.7, (0.6, 0.8))) == []


def predicting(evidence: Evidence, r: float, interval: tuple[float, float]) -> Evidence:
    """Evidence of one learner with which S correlates like this."""
    method = evidence.judgement.methods["varied"]
    found = replace(method.correlations["adjacent"], pearson=r, pearson_interval=interval)
    judged = replace(method, correlations={**method.correlations, "adjacent": found})
    return replace(evidence, judgement=replace(evidence.judgement, methods={"varied": judged}))


def test_the_names_on_the_page_are_explained(evidence) -> None:
    config = ExperimentConfig(
        ("varied",), "made-up", protocol=("optimal",), objective="generalization"
    )
    judgement = replace(
        evidence.judgement,
        methods={
            name: replace(method, estimates={**method.estimates, "optimal": {}})
            for name, method in evidence.judgement.methods.items()
        },
    )
    runs = (*evidence.table.runs, replace(evidence.table.runs[0], protocol="optimal"))
    found = words.legend(
        replace(
            evidence,
            table=AccuracyTable(runs, evidence.table.names),
            judgement=judgement,
            journal=Journal(configs=(config,)),
            origin="D.npz",
        )
    )
    assert [sentence.split(" – ")[0] for sentence in found] == [
        "random", "edge", "latin", "optimal", "S",
    ]  # fmt: skip
    assert found[3].endswith("(objective: generalization).")
    assert found[4] == "S – similarity between neighbouring tasks, from D.npz."


def test_without_a_truth_the_words_say_so_and_give_the_estimate(tmp_path) -> None:
    found = evidence_of(
        write_run(
            tmp_path / "few", {"forgetful": lambda s, t: 0.3 + 0.1 * s.tasks[0][0]}, ("edge",)
        ),
        six_classes(),
    )
    ranges, estimated = words.method_answer(found, "forgetful")
    runs = found.table.orders("forgetful", "edge").accuracies
    assert f"edge's three {runs.min():.1f} to {runs.max():.1f}" in ranges
    made = found.judgement.methods["forgetful"].estimates["edge"]["regression"].estimate
    low, high = made.mean_interval
    mean = f"their mean at {made.distribution.mean:.1f} (90 % interval {low:.1f} to {high:.1f})."
    assert estimated.endswith(mean)
    assert np.isfinite(made.distribution.mean)


def test_a_protocol_with_more_runs_is_counted(tmp_path) -> None:
    folder = write_run(tmp_path / "ten", {"varied": varied}, ("random", "enumerate"), runs=12)
    found = evidence_of(folder)
    assert words.budget(found.judgement.methods["varied"], "random") == 12
    assert "12 random orders" in words.method_answer(found, "varied")[1]
