"""Published means are compared with each other, without any runs beside them."""

from __future__ import annotations

import pytest

import edgecil
from edgecil.errors import DataError

TABLE = """| Method | Accuracy |
|---|---|
| ER | 60.0 ± 1.0 |
| DER | 70.0 ± 1.0 |
| LwF | 60.5 ± 1.0 |
"""


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.md"
    path.write_text(f"# Mean and standard deviation over 5 seeds\n\n{TABLE}")
    return path


def test_published_means_are_compared_by_welch_with_each_other(table) -> None:
    comparison = edgecil.compare(table)
    assert comparison.reading.startswith("Read: 3 published means")
    assert comparison["DER", "ER"].p < 0.01
    assert comparison["LwF", "ER"].p > 0.05


def test_published_means_alone_have_no_analysis(table) -> None:
    with pytest.raises(DataError, match="published means alone"):
        edgecil.analyze(table)
