"""The shares of order and noise are those of the bundled truth tables, and of experiments."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import edgecil
from edgecil import lab
from edgecil.errors import EdgecilWarning
from edgecil.methods.order_share import (
    OrderShare,
    order_shares,
    stored_shares,
    suggest_repeats,
)
from tests.grouped import grouped

ROOT = Path(__file__).parents[2]
TOOL = SimpleNamespace(**runpy.run_path(str(ROOT / "tools" / "order_shares.py")))


def test_the_stored_shares_are_those_of_the_bundled_truth_tables() -> None:
    """If this fails after the truth tables have changed, run `python tools/order_shares.py`."""
    assert stored_shares().methods == TOOL.compute_shares(lab.truths())
    assert not stored_shares().others.keys() & stored_shares().methods.keys()


def test_the_page_shows_the_stored_shares() -> None:
    page = TOOL.PAGE.read_text(encoding="utf-8")
    assert TOOL.replace_table(page, TOOL.render_table(order_shares())) == page


def test_order_and_noise_are_recovered_from_simulated_trainings() -> None:
    """Orders with std 3 and noise with std 4: a share of 9 / 25."""
    rng = np.random.default_rng(0)
    orders = rng.normal(0.0, 3.0, 4000)
    simulated = SimpleNamespace(
        kind="enumerated",
        methods=("a", "once"),
        accuracies=lambda name: orders + rng.normal(0.0, 4.0, (2 if name == "a" else 1, 4000)),
    )
    [(name, result)] = TOOL.compute_shares([simulated, simulated]).items()
    assert (name, result.tables) == ("a", 2)
    assert result.share == pytest.approx(0.36, abs=0.03)
    assert OrderShare(3.0, 4.0, 1).share == 0.36
    assert OrderShare(0.0, 0.0, 1).share == 1.0
    assert (OrderShare(3.0, 4.0, 1).per_cent, OrderShare(0.0, 0.0, 1).per_cent) == (36, None)


def test_shares_of_an_experiment_pair_the_trainings_of_an_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Means 51 and 61, variances 2 and 2: an order variance of 50 - 2 / 2."""
    rows = [(0, "a", 50.0), (0, "b", 62.0), (1, "b", 60.0), (1, "a", 52.0)]
    runs = [
        SimpleNamespace(method="m", seed=seed, sequence=order, accuracy=accuracy)
        for seed, order, accuracy in rows
    ]
    opened = SimpleNamespace(results=lambda: runs)
    monkeypatch.setattr(edgecil.Experiment, "open", lambda _: opened)
    assert TOOL.shares_of_experiment("x") == {"m": OrderShare(7.0, round(2**0.5, 4), 1)}


def test_repeats_are_suggested_for_noisy_learners_trained_once_with_the_measured_recipe() -> None:
    assert suggest_repeats(["ease"], 1, "fast") is None
    assert suggest_repeats(["ranpac"], 2, "fast") is None
    assert suggest_repeats(["ranpac"], 1, "published") is None
    text = suggest_repeats(["ranpac", "ease", "own learner"], 1, "fast")
    assert text is not None
    assert f"ranpac {100 * (1 - order_shares()['ranpac'].share):.0f} %" in text
    assert "ease" not in text
    assert "set 'repeats' to 2" in text


def test_run_suggests_repeats(tmp_path) -> None:
    options = {"dataset": "quickdraw", "classes": 4, "tasks": 2, "protocol": "random"}
    with pytest.warns(EdgecilWarning, match="set 'repeats' to 2"):
        edgecil.run(
            **grouped(method="ranpac", out=tmp_path / "run", budget=2, workers=1, **options)
        )
