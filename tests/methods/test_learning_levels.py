"""Learners reach what they reached, up to what another processor changes.

`python tools/learning_levels.py` measures the levels and what rounding changes of them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
tool = pytest.importorskip("learning_levels", reason="tools/ is not part of the wheel")

LEVELS = tool.read_levels()


@pytest.mark.filterwarnings("ignore::edgecil.errors.EdgecilWarning")
@pytest.mark.parametrize("method", LEVELS)
def test_a_learner_reaches_its_level(method: str) -> None:
    level = LEVELS[method]
    assert tool.train(method) == pytest.approx(level.accuracy, abs=level.bound)


def test_every_learner_of_the_tool_has_a_level_that_would_notice_a_loss() -> None:
    assert {method: level.backbone for method, level in LEVELS.items()} == tool.BACKBONES
    assert all(level.bound < 5 for level in LEVELS.values())
    assert len({level.bound for level in LEVELS.values()}) > 1, "rounding changes trained learners"


def test_a_closed_form_is_held_to_half_a_point_and_a_trained_one_to_its_spread() -> None:
    closed = tool.Level("simplecil", "linear", 90.0, 0.0)
    trained = tool.Level("er", "mlp", 90.0, 0.4)
    assert closed.bound == 0.5
    assert trained.bound == pytest.approx(0.5 + 5 * 0.4 * 1.1**0.5)


def test_another_processor_is_imitated_after_every_step() -> None:
    import torch

    parameter = torch.nn.Parameter(torch.ones(1000))
    parameter.grad = torch.zeros_like(parameter)
    optimizer = torch.optim.SGD([parameter], lr=0.1)
    with tool.other_rounding(0):
        optimizer.step()
    changed = parameter.detach().clone()
    assert set(changed.tolist()) == {1 - tool.ROUNDING, 1 + tool.ROUNDING}
    optimizer.step()
    assert torch.equal(parameter.detach(), changed), "no longer"
