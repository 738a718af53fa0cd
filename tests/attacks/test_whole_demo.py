"""The whole demos against their stored results. Run by `make attack`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.training.test_demo import check_demo


@pytest.mark.attack
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(
    ("recipe", "runs", "options"),
    [("demo", 432, {}), ("demo-quickdraw", 360, {"one_seed": True})],
)
def test_all_accuracies_are_the_stored_ones(
    recipe: str, runs: int, options: dict[str, Any], tmp_path: Path
) -> None:
    check_demo(recipe, tmp_path / "demo", runs, **options)
