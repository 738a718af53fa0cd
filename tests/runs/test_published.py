"""A published number is a sample of which mean and standard deviation are known, or a constant."""

import numpy as np
import pytest

from edgecil.errors import DataError
from edgecil.runs.published import PublishedResult

RUNS = [80.1, 79.2, 82.9, 81.4]


@pytest.mark.parametrize("ddof", [0, 1])
def test_either_kind_of_standard_deviation_gives_the_sample_s(ddof: int) -> None:
    std = float(np.std(RUNS, ddof=ddof))
    result = PublishedResult("ours", float(np.mean(RUNS)), std=std, n=4, ddof=ddof)
    assert result.sample_std == pytest.approx(np.std(RUNS, ddof=1))


def test_an_unknown_kind_is_never_taken_for_less_spread() -> None:
    known, unknown = (PublishedResult("a", 80.0, std=1.0, n=5, ddof=ddof) for ddof in (1, None))
    assert unknown.sample_std == pytest.approx(np.sqrt(5 / 4))
    assert known.sample_std == 1.0


def test_a_mean_alone_is_a_constant() -> None:
    result = PublishedResult("theirs", 80.5)
    assert result.is_constant
    assert result.sample_std is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"mean": float("nan")}, "mean"),
        ({"std": -1.0, "n": 3}, "standard deviation"),
        ({"std": 1.0}, "number of runs is unknown"),
        ({"std": 1.0, "n": 0}, "at least one run"),
        ({"std": 1.0, "n": 3, "ddof": 2}, "ddof"),
    ],
)
def test_what_cannot_be_a_result_is_refused(values: dict, message: str) -> None:
    with pytest.raises(DataError, match=message):
        PublishedResult(**{"method": "a", "mean": 80.0, **values})
