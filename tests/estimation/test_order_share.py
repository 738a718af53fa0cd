"""The shares of order and noise are those of the bundled truth tables."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import edgecil
from edgecil.methods.order_share import MEASURED, suggest_repeats


@pytest.mark.parametrize("method", MEASURED)
def test_the_stored_shares_are_those_of_the_truth_tables(method: str) -> None:
    orders, noises = [], []
    for table in edgecil.truths():
        if table.kind != "enumerated" or method not in table.methods:
            continue
        accuracies = table.accuracies(method)
        repeats = len(accuracies)
        if repeats < 2:
            continue
        noise = accuracies.var(axis=0, ddof=1).mean()
        orders.append(max(0.0, accuracies.mean(axis=0).var(ddof=1) - noise / repeats))
        noises.append(noise)
    assert len(noises) >= MEASURED[method].tables
    share = np.mean(orders) / (np.mean(orders) + np.mean(noises))
    assert MEASURED[method].share == pytest.approx(share, abs=0.05)
    assert MEASURED[method].noise_std == pytest.approx(np.mean(noises) ** 0.5, rel=0.1)


def test_repeats_are_suggested_for_noisy_learners_trained_once() -> None:
    assert suggest_repeats(["ease"], 1) is None
    assert suggest_repeats(["ranpac"], 2) is None
    text = suggest_repeats(["ranpac", "ease", "own learner"], 1)
    assert text is not None
    assert "ranpac 89 %" in text
    assert "ease" not in text


def test_run_suggests_repeats(tmp_path, caplog: pytest.LogCaptureFixture) -> None:
    options = {"dataset": "quickdraw", "classes": 4, "tasks": 2, "protocol": "random"}
    with caplog.at_level(logging.INFO):
        edgecil.run(method="ranpac", out=tmp_path / "run", budget=2, workers=1, **options)
    assert "'repeats'" in caplog.text
