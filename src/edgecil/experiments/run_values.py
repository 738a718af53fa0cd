"""Metrics of many runs at once: runs with equal task sizes are computed as one array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from edgecil.experiments.results import RunResult
from edgecil.io.arrays import Floats
from edgecil.runs.metrics import METRICS, Counts

_AT_ONCE = 2_000_000  # numbers in an array


def metric_values(
    results: Sequence[RunResult | None], name: str, classifier: str | None = None
) -> Floats:
    """Return :meth:`RunResult.metric` of each run, (n,); NaN where it is undefined or unknown."""
    values = np.full(len(results), np.nan)
    for place, result in enumerate(results):
        if result is not None and result.reported:
            value = result.metric(name, classifier)
            values[place] = np.nan if value is None else value
    for places, group in _groups(results):
        counts = _task_counts(group, classifier)
        values[places] = METRICS[name].compute(counts)
    return values


def metric_curves(
    results: Sequence[RunResult], name: str, classifier: str | None = None
) -> list[Floats | None]:
    """Return :meth:`RunResult.curve` of each run: a metric after each task, (K,)."""
    curves: list[Floats | None] = [None] * len(results)
    for places, group in _groups(results):
        block = METRICS[name].curve(_task_counts(group, classifier))
        for place, curve in zip(places, block, strict=True):
            curves[place] = curve
    for place, result in enumerate(results):
        curve_so_far = curves[place]
        if curve_so_far is None or np.isnan(curve_so_far[-1]):
            curves[place] = result.curve(name, classifier)
    return curves


def class_values(
    results: Sequence[RunResult | None], name: str, classifier: str | None = None
) -> list[Floats | None]:
    """Return the metric of every class on its own in each run, (N,); None where it is unknown."""
    values: list[Floats | None] = [None] * len(results)
    for places, group in _groups(results):
        counts = [result.class_correct(classifier) for result in group]
        has_all = [place for place, correct in enumerate(counts) if correct is not None]
        if not has_all:
            continue
        chosen = [group[place] for place in has_all]
        block = METRICS[name].compute(_class_counts(chosen, classifier))
        for place, of_classes in zip(has_all, block, strict=True):
            values[places[place]] = of_classes
    return values


def _groups(
    results: Sequence[RunResult | None],
) -> Iterator[tuple[list[int], list[RunResult]]]:
    """Yield runs with equal task sizes and counts, and their places; some thousand at a time."""
    by_sizes: dict[tuple[int, ...], list[int]] = {}
    for place, result in enumerate(results):
        if result is not None and not result.reported:
            by_sizes.setdefault(result.sequence.sizes, []).append(place)
    for sizes, places in by_sizes.items():
        most = max(1, _AT_ONCE // (len(sizes) * sum(sizes)))
        for start in range(0, len(places), most):
            block = places[start : start + most]
            yield block, [run for run in (results[place] for place in block) if run is not None]


def _task_counts(group: Sequence[RunResult], classifier: str | None) -> Counts:
    """Return the counts of runs by task: arrays (n, K, K)."""
    is_tested = np.tri(len(group[0].nodes), dtype=bool)
    correct = np.stack([result.correct_by_task(classifier) for result in group])
    totals = np.array([result.nodes[-1].totals for result in group])
    training = np.array([result.training_accuracies() for result in group])
    return Counts.of(np.where(is_tested, correct, np.nan), totals, training)


def _class_counts(group: Sequence[RunResult], classifier: str | None) -> Counts:
    """Return the counts of runs by class: arrays (n, N, K, 1), classes by id."""
    correct = np.stack([result.correct_by_class(classifier) for result in group])
    sizes = group[0].sequence.sizes
    task_in_order = np.repeat(np.arange(len(sizes)), sizes)
    task_of_class = np.empty((len(group), sum(sizes)), dtype=np.int64)
    totals = np.empty(task_of_class.shape)
    for place, result in enumerate(group):
        by_id = np.argsort(result.sequence.sorted_order)
        task_of_class[place] = task_in_order[by_id]
        totals[place] = np.concatenate(result.nodes[-1].class_totals or ())[by_id]
    is_tested = task_of_class[:, None, :] <= np.arange(len(sizes))[:, None]
    counts = np.where(is_tested, correct, np.nan)
    return Counts.of(counts.transpose(0, 2, 1)[..., None], totals[..., None])
