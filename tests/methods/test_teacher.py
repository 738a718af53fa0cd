from __future__ import annotations

from math import log

import pytest
import torch

from edgecil.methods.teacher import distil


def test_by_hand() -> None:
    """Teacher (2 ln 3, 0) at T = 2 wants (3/4, 1/4); student (0, 0) says (1/2, 1/2)."""
    teacher = torch.tensor([[2 * log(3.0), 0.0]])
    assert distil(torch.zeros(1, 2), teacher, 2.0).item() == pytest.approx(log(2.0))
    student = torch.tensor([[2 * log(4.0), 0.0]])
    expected = -(0.75 * log(4 / 5) + 0.25 * log(1 / 5))
    assert distil(student, teacher, 2.0).item() == pytest.approx(expected)


def test_rows_are_averaged() -> None:
    teacher = torch.tensor([[0.0, 0.0], [200.0, 0.0]])
    student = torch.tensor([[0.0, 0.0], [log(3.0), 0.0]])
    expected = (log(2.0) - log(0.75)) / 2
    assert distil(student, teacher, 1.0).item() == pytest.approx(expected)


def test_weights_by_hand() -> None:
    """Teacher (3/4, 1/4) weighed by (1, 3) wants (1/2, 1/2)."""
    teacher = torch.tensor([[log(3.0), 0.0]])
    student = torch.tensor([[log(4.0), 0.0]])
    expected = -(0.5 * log(4 / 5) + 0.5 * log(1 / 5))
    actual = distil(student, teacher, 1.0, torch.tensor([1.0, 3.0]))
    assert actual.item() == pytest.approx(expected)
