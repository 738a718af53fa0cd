"""The distribution over all class orders that the accuracies of a few orders suggest."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from edgecil.estimation.accuracy_steps import round_to_steps
from edgecil.estimation.distributions import SAME, Distribution
from edgecil.io.arrays import Floats

_KERNEL = 0.9
_CLASS_SHARE = 0.55
_CLASS_WEIGHT = 4.0
_SMOOTHED_FROM = 3


def unbiasing(count: int) -> float:
    """c4(n) = E[s] / σ for the sample standard deviation s of n normal values.

    c4(n) = √(2/(n-1)) Γ(n/2) / Γ((n-1)/2).

    >>> round(unbiasing(3), 4)
    0.8862
    """
    return float(
        np.sqrt(2.0 / (count - 1.0)) * np.exp(gammaln(count / 2.0) - gammaln((count - 1.0) / 2.0))
    )


def independent_variance(class_accuracies: Floats) -> Floats:
    """Return the variance of the mean over classes if classes varied independently, shape (…).

    It is the mean over classes of the variance over n runs (ddof 1), divided by the number of
    classes N. N classes tell more about the spread over orders than their n means alone.

    Args:
        class_accuracies: (…, n, N) final accuracy of every class in every run.
    """
    by_class = class_accuracies.var(axis=-2, ddof=1)
    return np.asarray(by_class.mean(axis=-1) / class_accuracies.shape[-1])


def smooth(values: Floats, class_variance: float | None, space_size: int | None) -> Distribution:
    """Smooth accuracies by a normal kernel, on the accuracies that can occur.

    The result has the mean of the accuracies. Its variance is s² (with ddof 0); where the
    accuracies of single classes are known, it is the mean of s², with weight n-1, and of 0.55
    times the :func:`independent_variance` (with ddof 0, too), with weight 4. The kernel has 0.9
    times Silverman's width, 1.06 σ n^(-1/5), and every run is moved towards the mean, so that the
    variance stays σ². The three constants were chosen leave-one-set-out on the truth tables.

    The result is rounded to the accuracies that the test images allow
    (:mod:`edgecil.estimation.accuracy_steps`), where that matters. If a tenth of all orders or more
    was run, their share of the distribution is what was measured, not what the kernel makes of it.

    Args:
        values: (n,) per cent, one per order.
        class_variance: the :func:`independent_variance` of the same orders; None if it is unknown.
        space_size: |Ω|, the number of all orders; None if it does not matter.
    """
    count, mean, spread = len(values), float(values.mean()), float(values.std())
    scale = spread
    if class_variance is not None:
        expected = _CLASS_SHARE * class_variance * (count - 1) / count
        total = _CLASS_WEIGHT * expected + (count - 1) * spread**2
        scale = float(np.sqrt(total / (_CLASS_WEIGHT + count - 1)))
    if spread > SAME:
        relative = min(_KERNEL * 1.06 * count**-0.2, 1.0)
        inwards = np.sqrt(1.0 - relative**2) * scale / spread
        kernel = Distribution(mean + inwards * (values - mean), np.ones(count), relative * scale)
    else:
        kernel = Distribution.normal(mean, scale)
    share = 0.0 if space_size is None else min(1.0, count / space_size)
    return round_to_steps(kernel, values, measured_share=share)


def default_estimator(runs: int) -> str:
    """Return the name of the estimator that stands for a protocol with this number of runs.

    It is the same for every protocol: `smoothed`, which has the smallest mean W₁ on truth tables;
    below 3 runs the paper's `gaussian`.

    >>> default_estimator(2), default_estimator(3)
    ('gaussian', 'smoothed')
    """
    return "smoothed" if runs >= _SMOOTHED_FROM else "gaussian"


def estimate_distribution(
    values: Floats, class_variance: float | None, space_size: int | None
) -> Distribution:
    """Return the distribution of the :func:`default_estimator`; see :func:`smooth`."""
    if default_estimator(len(values)) == "smoothed":
        return smooth(values, class_variance, space_size)
    return Distribution.normal(float(values.mean()), float(values.std()))
