"""Claims about one population, judged on the bundled truth tables."""

from __future__ import annotations

from dataclasses import replace

import pytest

from edgecil.lab.calibrate import calibrate, fit_prior, learners
from edgecil.lab.truth_tables import truths
from edgecil.statistics.posterior import measured_prior


@pytest.mark.slow
def test_claims_hold_for_every_learner() -> None:
    """With few draws, so limits are wider than those in the documentation."""
    figures = calibrate(learners(truths()), draws=40, orders=(3, 10, 30)).figures["0.95"]
    for claim in ("mean", "next run", "tail"):
        for figure in figures[claim]["random"].values():
            assert 0.92 <= figure.average <= 0.98
            assert figure.least >= 0.84
            assert figure.small >= 0.9
    for figure in figures["a learner against itself"]["random"].values():
        assert 0.02 <= figure.average <= 0.07
    for figure in figures["estimated std / true std"]["random"].values():
        assert figure.least >= 0.78
        assert figure.greatest <= 1.35
    assert figures["until: a learner against itself"]["random"]["30"].average <= 0.05
    for figure in figures["next: 80 % kept"]["random"].values():
        assert 0.7 <= figure.average <= 0.9


@pytest.mark.slow
def test_calibration_notices_a_prior_that_is_too_sure() -> None:
    sure = replace(measured_prior(), std_range=(0.2, 0.3), std_edge=0.1)
    figures = calibrate(learners(truths())[:12], draws=20, orders=(3,), priors=[sure, sure]).figures
    assert figures["0.95"]["mean"]["random"]["3"].least < 0.6


def test_the_stored_prior_is_the_measured_one() -> None:
    stored = measured_prior()
    measured = fit_prior(learners(truths()), stored, stored.command)
    assert measured == stored
