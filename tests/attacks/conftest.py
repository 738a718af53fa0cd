from __future__ import annotations

import os
import random

import pytest

LONG = bool(os.environ.get("EDGECIL_ATTACK"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long attacks run by `make attack` only."""
    for item in items:
        if item.get_closest_marker("attack") and not LONG:
            item.add_marker(pytest.mark.skip(reason="long: run by make attack"))


def strength(fast: int, long: int) -> int:
    """How often to attack: less in `make test`, more in `make attack`."""
    return long if LONG else fast


def attack_rng(name: str) -> random.Random:
    """Chance of an attack: the same in every `make test`, new (and printed) in `make attack`."""
    seed = f"{name} {random.SystemRandom().randrange(10**6)}" if LONG else name
    print(f"seed: {seed!r}")
    return random.Random(seed)
