from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data.painting import WRITERS


@pytest.fixture(scope="session")
def painted(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The directory of a painted dataset by name, written once; not to be changed."""
    written: dict[str, Path] = {}

    def find(name: str) -> Path:
        if name not in written:
            written[name] = tmp_path_factory.mktemp(name)
            WRITERS[name](written[name])
        return written[name]

    return find
