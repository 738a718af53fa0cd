"""The names of this station, which `lazy_loader` imports at their first use."""

from .coverage import (
    expected_share_inside as expected_share_inside,
    gaussian_tail as gaussian_tail,
    miss_probability as miss_probability,
    miss_probability_paper as miss_probability_paper,
    runs_to_hit as runs_to_hit,
    tolerance_runs as tolerance_runs,
    tolerance_share as tolerance_share,
    worse_probability as worse_probability,
)
from .distributions import Distribution as Distribution
from .sequential import confidence_interval as confidence_interval
from .variance import OrderEffect as OrderEffect, split_variance as split_variance
