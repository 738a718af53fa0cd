"""How many sequences are enough: |Ω|, the paper's bounds, tighter ones, and what runs miss."""

from edgecil.theory.coverage import (
    expected_share_inside,
    tolerance_confidence,
    tolerance_runs,
    tolerance_share,
    worse_probability,
)
from edgecil.theory.sequential import confidence_interval
from edgecil.theory.tails import (
    chebyshev_tail,
    gaussian_tail,
    miss_probability,
    miss_probability_paper,
    runs_to_hit,
)

__all__ = [
    "chebyshev_tail",
    "confidence_interval",
    "expected_share_inside",
    "gaussian_tail",
    "miss_probability",
    "miss_probability_paper",
    "runs_to_hit",
    "tolerance_confidence",
    "tolerance_runs",
    "tolerance_share",
    "worse_probability",
]
