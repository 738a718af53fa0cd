"""The distribution over all class orders that the accuracies of a few orders suggest."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from edgecil.estimation.accuracy_steps import round_to_steps
from edgecil.estimation.distributions import SAME, Distribution
from edgecil.io.arrays import Floats

_KERNEL = 0.9


def unbiasing(count: int) -> float:
    """c4(n) = E[s] / σ for the sample standard deviation s of n normal values.

    c4(n) = √(2/(n-1)) Γ(n/2) / Γ((n-1)/2).

    >>> round(unbiasing(3), 4)
    0.8862
    """
    return float(
        np.sqrt(2.0 / (count - 1.0)) * np.exp(gammaln(count / 2.0) - gammaln((count - 1.0) / 2.0))
    )


def smooth(values: Floats, std: float, space_size: int | None) -> Distribution:
    """Smooth accuracies by a normal kernel to a standard deviation, on accuracies that can occur.

    The result has the mean of the accuracies and a given standard deviation. The kernel has 0.9
    times Silverman's width, 1.06 σ n^(-1/5), and every run is moved towards the mean, so that the
    standard deviation stays σ. The constant was chosen leave-one-set-out on the truth tables.

    The result is rounded to the accuracies that the test images allow
    (:mod:`edgecil.estimation.accuracy_steps`), where that matters. If a tenth of all orders or more
    was run, their share of the distribution is what was measured, not what the kernel makes of it.

    Args:
        values: (n,) per cent, one per order.
        std: of a run, from :attr:`~edgecil.estimation.population.Posterior.std`.
        space_size: |Ω|, the number of all orders; None if it does not matter.
    """
    count, mean, spread = len(values), float(values.mean()), float(values.std())
    if spread > SAME:
        relative = min(_KERNEL * 1.06 * count**-0.2, 1.0)
        inwards = np.sqrt(1.0 - relative**2) * std / spread
        kernel = Distribution(mean + inwards * (values - mean), np.ones(count), relative * std)
    else:
        kernel = Distribution.normal(mean, std)
    share = 0.0 if space_size is None else min(1.0, count / space_size)
    return round_to_steps(kernel, values, measured_share=share)
