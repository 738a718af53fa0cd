"""The whole demo against its stored result. Run by `make attack`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.test_demo import check_demo


@pytest.mark.attack
@pytest.mark.timeout(7200)
def test_all_accuracies_of_the_demo_are_the_stored_ones(tmp_path: Path) -> None:
    check_demo(tmp_path / "demo", runs=360)
