"""How many sequences are enough: |Ω|, the paper's bounds, tighter ones, and what runs miss."""

from edgecil.theory.bounds import (
    BOUNDS,
    HOEFFDING_SERFLING,
    THEOREM_1,
    THEOREM_2,
    SampleBound,
)
from edgecil.theory.coverage import (
    expected_share_inside,
    tolerance_confidence,
    tolerance_runs,
    tolerance_share,
    worse_probability,
)
from edgecil.theory.greedy import GreedyBound, greedy_bound
from edgecil.theory.partitions import PAPER_PARTITIONS, PartitionRow, partition_table
from edgecil.theory.sequential import confidence_interval
from edgecil.theory.similarity_error import Theorem3, check_theorem_3
from edgecil.theory.summary import (
    BoundSummary,
    SeenRange,
    SpaceSummary,
    TailSummary,
    space,
)
from edgecil.theory.tails import (
    chebyshev_tail,
    gaussian_tail,
    miss_probability,
    miss_probability_paper,
    runs_to_hit,
)

__all__ = [
    "BOUNDS",
    "HOEFFDING_SERFLING",
    "PAPER_PARTITIONS",
    "THEOREM_1",
    "THEOREM_2",
    "BoundSummary",
    "GreedyBound",
    "PartitionRow",
    "SampleBound",
    "SeenRange",
    "SpaceSummary",
    "TailSummary",
    "Theorem3",
    "chebyshev_tail",
    "check_theorem_3",
    "confidence_interval",
    "expected_share_inside",
    "gaussian_tail",
    "greedy_bound",
    "miss_probability",
    "miss_probability_paper",
    "partition_table",
    "runs_to_hit",
    "space",
    "tolerance_confidence",
    "tolerance_runs",
    "tolerance_share",
    "worse_probability",
]
