"""What the gate for runs refuses and notes, at its borders."""

from __future__ import annotations

import pandas
import pytest

import edgecil
from edgecil.analysis.plausibility import check_runs
from edgecil.errors import DataError
from edgecil.runs.run_table import Runs
from tests.analysis.tables import SPACE, Run, build

USUAL = (60.0, 65.0, 70.0)


def table(*accuracies: float, method: str = "m") -> Runs:
    orders = list(SPACE.enumerate())
    return build(
        Run(method, "made-up", "random", f"seed-{index}", orders[index], 0, accuracy)
        for index, accuracy in enumerate(accuracies)
    )


@pytest.mark.parametrize("fraction", [0.501, 0.65, 0.799])
def test_a_fraction_near_other_runs_in_per_cent_is_refused(fraction: float) -> None:
    with pytest.raises(DataError, match=f"{fraction:g} .* other runs have 60 to 70"):
        check_runs(table(*USUAL, fraction))


@pytest.mark.parametrize("value", [0.01, 0.3, 0.499, 0.801, 0.99, 0.0])
def test_a_small_value_far_from_other_runs_is_a_bad_run(value: float) -> None:
    assert check_runs(table(*USUAL, value)) is not None


def test_chance_is_no_fraction() -> None:
    """A sixth of one per cent is what a guess among 600 classes gives; here it is 16.7 %."""
    assert check_runs(table(10.0, 12.0, 20.0, 16.7)) is not None
    with pytest.raises(DataError, match=r"0\.167"):
        check_runs(table(10.0, 12.0, 20.0, 0.167))


@pytest.mark.parametrize(("value", "is_possible"), [(100.0, True), (100.1, False), (-0.1, False)])
def test_an_accuracy_lies_between_0_and_100(value: float, is_possible: bool) -> None:
    if is_possible:
        assert check_runs(table(*USUAL, value)) is not None
        return
    with pytest.raises(DataError, match="between 0 and 100"):
        check_runs(table(*USUAL, value))


@pytest.mark.parametrize(("gap", "is_noted"), [(0.0, True), (0.5, False)])
def test_trainings_of_an_order_that_never_differ_are_noted(gap: float, is_noted: bool) -> None:
    rows = [
        ("a", order, seed, 60.0 + order + gap * seed) for order in range(4) for seed in range(2)
    ]
    frame = pandas.DataFrame(rows, columns=["method", "order_seed", "seed", "accuracy"])
    notes = edgecil.analyze(frame).datasets[0].notes
    assert any("equal whatever the seed" in note for note in notes) == is_noted
