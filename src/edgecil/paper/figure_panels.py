"""The numbers in the figures of the EDGE paper: one panel for each method and dataset.

A panel has the accuracies of a protocol's orders, counted as the paper counts them: an order that
two of RS's seeds give has two marks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from edgecil.analysis.answers import Analysis, DatasetAnalysis
from edgecil.analysis.correlation import correlate
from edgecil.analysis.samples import Truth, find_truth
from edgecil.errors import DataError
from edgecil.io.arrays import Floats
from edgecil.sequences.protocols.draw import protocol as draw_protocol
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity
from edgecil.statistics.distances import Target
from edgecil.statistics.distributions import Distribution

ENUMERATED, SAMPLE = "enumerated", "sample"
_DRAWS = 200
_MOST_SAMPLES = 20


@dataclass(frozen=True, eq=False)
class Panel:
    """One method on one dataset.

    Attributes:
        dataset: its name.
        method: its name.
        truth: accuracies of all orders, or of at least 30 random ones; None without either.
        accuracies: of the orders of each compared protocol, by its name.
    """

    dataset: str
    method: str
    truth: Truth | None
    accuracies: Mapping[str, Floats]

    @property
    def is_enumerated(self) -> bool:
        """Whether (nearly) all class orders were run."""
        return self.truth is not None and self.truth.kind == ENUMERATED

    @property
    def is_sampled(self) -> bool:
        """Whether many random orders stand for all."""
        return self.truth is not None and self.truth.kind == SAMPLE

    def estimate(self, protocol: str) -> Distribution:
        """Return the normal distribution with mean and population std of a protocol's runs."""
        accuracies = self.accuracies[protocol]
        return Distribution.normal(float(accuracies.mean()), float(accuracies.std()))


def collect_panels(analysis: Analysis, protocols: Sequence[str]) -> list[Panel]:
    """Return a panel for each method of each dataset, with the runs of the compared protocols."""
    panels = []
    for dataset in analysis.datasets:
        table = dataset.table
        for method in table.methods:
            accuracies = {}
            for protocol in protocols:
                orders = table.orders(method, protocol)
                if len(orders):
                    accuracies[protocol] = orders.accuracies
            panels.append(Panel(dataset.dataset, method, find_truth(table, method), accuracies))
    return panels


@dataclass(frozen=True, eq=False)
class ScatterPanel:
    """Accuracy against S, for every order of one method.

    Attributes:
        dataset: its name.
        method: its name.
        scores: (n,) S of the orders, in standard deviations from its mean over all orders.
        accuracies: (n,) per cent.
        pearson: their correlation; None if it is not defined.
    """

    dataset: str
    method: str
    scores: Floats
    accuracies: Floats
    pearson: float | None


def collect_scatter(analysis: Analysis) -> list[ScatterPanel]:
    """Return S and accuracy of each method's orders, where the classes have a similarity."""
    panels = []
    for dataset in analysis.datasets:
        if dataset.predictor is None:
            continue
        for method in dataset.table.methods:
            places, accuracies = _orders_of(dataset, method)
            scores = dataset.predictor.z[places]
            pearson = correlate(scores, accuracies).pearson
            panels.append(ScatterPanel(dataset.dataset, method, scores, accuracies, pearson))
    return panels


def _orders_of(dataset: DatasetAnalysis, method: str) -> tuple[list[int], Floats]:
    """Return the numbers of a method's different sequences in the table, and their accuracies."""
    table = dataset.table
    place_of = {sequence: place for place, sequence in enumerate(table.sequences)}
    by_sequence = table.orders(method).by_sequence()
    places = [place_of[sequence] for sequence in by_sequence]
    return places, np.array(list(by_sequence.values()))


@dataclass(frozen=True, eq=False)
class EncoderPanel:
    """The distributions that EDGE estimates with several encoders, beside RS and the truth.

    Attributes:
        panel: truth and RS.
        estimates: by encoder, the accuracies of EDGE's orders: hard, median and easy.
    """

    panel: Panel
    estimates: Mapping[str, Floats]


def collect_encoders(
    analysis: Analysis, panels: Iterable[Panel], similarities: Mapping[str, Similarity]
) -> list[EncoderPanel]:
    """Return the accuracies of EDGE's orders with each similarity, looked up among all orders."""
    tables = {dataset.dataset: dataset.table for dataset in analysis.datasets}
    encoders = []
    for panel in panels:
        if not panel.is_enumerated:
            continue
        table = tables[panel.dataset]
        accuracy_of = table.orders(panel.method).by_sequence()
        space = SequenceSpace(table.sequences[0].sizes)
        estimates = {}
        for name, similarity in similarities.items():
            runs = draw_protocol("edge", space, similarity=similarity)
            values = [accuracy_of.get(run.sequence) for run in runs]
            if None in values:
                raise DataError(
                    f"An order that EDGE chooses with {name} failed for {panel.method}; run the "
                    "experiment again."
                )
            estimates[name] = np.array(values, dtype=np.float64)
        encoders.append(EncoderPanel(panel, estimates))
    return encoders


@dataclass(frozen=True, eq=False)
class SamplesPanel:
    """The distance of two protocols' estimates from the truth, by number of orders.

    Attributes:
        panel: the method's truth, and its runs of both protocols.
        counts: numbers of orders, from 3.
        random: for each, W₁ of as many random orders, averaged over draws.
        edge: the same for the hard order, the easy order and random ones.
    """

    panel: Panel
    counts: tuple[int, ...]
    random: Floats
    edge: Floats


def measure_samples(panel: Panel, extremes: Floats) -> SamplesPanel:
    """Return the distance from the truth by number of orders, for RS and for EDGE.

    Args:
        panel: of an enumerated method.
        extremes: (2,) accuracies of EDGE's hard and easy order.
    """
    assert panel.truth is not None
    truth = panel.truth.accuracies
    target = Target.of(truth)
    rng = np.random.default_rng(0)
    counts = tuple(range(3, min(_MOST_SAMPLES, len(truth) - 2) + 1))
    permutations = np.array([rng.permutation(truth) for _ in range(_DRAWS)])
    random_distances, edge_distances = [], []
    for count in counts:
        samples = permutations[:, :count]
        with_extremes = samples.copy()
        with_extremes[:, :2] = extremes
        random_distances.append(_mean_distance(target, samples))
        edge_distances.append(_mean_distance(target, with_extremes))
    return SamplesPanel(panel, counts, np.array(random_distances), np.array(edge_distances))


def _mean_distance(target: Target, samples: Floats) -> float:
    """Return the mean W₁ between the truth and the normal distributions of samples, (draws, n)."""
    means, stds = samples.mean(axis=1), samples.std(axis=1)
    estimates = [
        Distribution.normal(float(mean), float(std)) for mean, std in zip(means, stds, strict=True)
    ]
    return float(target.distances(estimates)[:, 1].mean())
