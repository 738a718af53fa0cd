from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.toys import save_toy
from tests.training import strange as strange  # registers its learners


@pytest.fixture
def toy(tmp_path: Path) -> dict[str, Any]:
    """Options of a run that takes no time: four classes in two tasks."""
    dataset = save_toy(tmp_path / "toy.npz", train=4)
    out = tmp_path / "out"
    return {"method": "instant", "dataset": dataset, "tasks": 2, "workers": 1, "out": out}
