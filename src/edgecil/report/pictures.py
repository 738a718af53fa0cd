"""From a judgement to pictures: what is drawn, and what its caption says."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from edgecil.report.evidence import Evidence, slug
from edgecil.report.figures.canvas import render
from edgecil.report.figures.closeness import draw_closeness
from edgecil.report.figures.distributions import Shape, draw_distributions
from edgecil.report.figures.matrices import draw_matrices
from edgecil.report.figures.prediction import draw_prediction
from edgecil.report.figures.samples import draw_samples
from edgecil.report.words import calibrated, found_range, of_default_estimator

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DRAWN = ("random", "edge")
_MEASURES = {
    "JSD, nats": "jsd",
    "W₁, points": "wasserstein",
    "error of the worst order, points": "min_error",
    "error of the best order, points": "max_error",
}


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure and what it shows.

    Attributes:
        name: of its files.
        caption: what stands below it, or is read out in its place.
        figure: the drawing.
    """

    name: str
    caption: str
    figure: Figure

    @cached_property
    def svg(self) -> bytes:
        """The figure as an SVG file."""
        return render(self.figure, ".svg")


def picture_all_distributions(evidence: Evidence) -> Picture:
    """The one picture: every method's truth and what random and edge make of it."""
    shapes = [_shape(evidence, name) for name in evidence.judgement.methods]
    figure = draw_distributions(shapes, columns=min(2, len(shapes)))
    return Picture("distributions", _caption(evidence), figure)


def picture_distribution(evidence: Evidence, name: str) -> Picture:
    """One method's truth and what random and edge make of it."""
    figure = draw_distributions([_shape(evidence, name)])
    return Picture(f"distribution-{slug(name)}", f"Distribution of the accuracy of {name}.", figure)


def picture_prediction(evidence: Evidence, name: str) -> Picture | None:
    """The predictor against accuracy; None where there is no predictor."""
    method, predictor = evidence.judgement.methods[name], evidence.predictor
    if predictor is None or method.predictor is None:
        return None
    known = evidence.table.orders(name).by_sequence()
    marked = {}
    if evidence.extreme_protocol is not None:
        orders = evidence.table.orders(name, evidence.extreme_protocol)
        for label, sequence, accuracy in zip(
            orders.labels, orders.sequences, orders.accuracies, strict=True
        ):
            if label in ("hard", "median", "easy"):
                z = float(predictor.z([sequence])[0])
                marked[evidence.extreme_protocol, label] = (z, float(accuracy))
    r = method.correlations[method.predictor].pearson
    told = "r is not defined" if r is None else f"r = {r:+.2f}"
    figure = draw_prediction(
        name,
        predictor.z(known),
        np.array(list(known.values())),
        marked,
        predictor=evidence.predictor_name,
        told=told,
    )
    caption = (
        f"Every order that {name} ran: {evidence.predictor_name} against accuracy, with a fitted "
        "line; the dots with names are those of "
        f"{evidence.extreme_protocol or 'no extreme protocol'}."
    )
    return Picture(f"prediction-{slug(name)}", caption, figure)


def picture_matrices(evidence: Evidence, name: str) -> Picture | None:
    """Accuracy matrices of hard, median and easy; None where no run has one."""
    protocol = evidence.extreme_protocol
    if protocol is None:
        return None
    matrices = {}
    orders = evidence.table.orders(name, protocol)
    for label, sequence in zip(orders.labels, orders.sequences, strict=True):
        result = next(
            (
                result
                for (method, _, tasks), result in evidence.journal.results.items()
                if method == name and tasks == sequence.tasks
            ),
            None,
        )
        if result is not None and label in ("hard", "median", "easy"):
            matrix = result.classifier().matrix
            if not np.isnan(matrix[-1]).any():
                matrices[label] = matrix
    if not matrices:
        return None
    caption = (
        f"Accuracy of {name} on each task after each task, per cent, on the sequences of {protocol}"
        "; beside the name the mean of the last row, A(O)."
    )
    return Picture(f"matrices-{slug(name)}", caption, draw_matrices(matrices))


def picture_closeness(evidence: Evidence) -> Picture | None:
    """Every protocol's mean distance from the truth; None without a truth."""
    measures: dict[str, dict[str, dict[str, float]]] = {}
    for title, attribute in _MEASURES.items():
        for name, method in evidence.judgement.methods.items():
            for protocol in method.averages:
                average = of_default_estimator(method.averages, protocol)
                if average is not None:
                    found = measures.setdefault(title, {}).setdefault(protocol, {})
                    found[name] = getattr(average, attribute)
    if not measures:
        return None
    caption = (
        "Distance from the truth of each protocol's Gaussian (with the unbiased standard deviation "
        "for random and latin), averaged over draws of what is random in it. The further left, the "
        "better."
    )
    return Picture("closeness", caption, draw_closeness(measures))


def picture_samples(evidence: Evidence, name: str) -> Picture | None:
    """Distance from the truth as the number of runs grows; None without a truth."""
    curves = {
        protocol: points
        for protocol, points in evidence.judgement.methods[name].by_budget.items()
        if points
    }
    if not curves:
        return None
    caption = f"{name}: mean distance from the truth with more runs, and nine draws of ten."
    return Picture(f"samples-{slug(name)}", caption, draw_samples(name, curves))


def _shape(evidence: Evidence, name: str) -> Shape:
    method = evidence.judgement.methods[name]
    guesses, draws, ends = {}, {}, {}
    for protocol in evidence.protocols:
        found = found_range(method, protocol)
        if found is not None:
            ends[protocol] = found
    for protocol in _DRAWN:
        judged = of_default_estimator(method.estimates, protocol)
        if judged is not None and judged.estimate is not None:
            guesses[protocol] = judged.estimate.distribution
        redrawn = of_default_estimator(method.redraws, protocol)
        if redrawn is not None:
            draws[protocol] = list(redrawn.examples)
            guesses[protocol] = redrawn.typical
    known = np.array(list(evidence.table.orders(name).by_sequence().values()))
    if method.truth is None:
        made = calibrated(evidence, name)
        estimate = None if made is None else (made[0], made[1].distribution)
        return Shape(name, None, guesses, draws, ends, known, estimate)
    sampled = method.truth.kind == "sample"
    return Shape(name, method.truth.accuracies, guesses, draws, ends, sampled=sampled)


def _caption(evidence: Evidence) -> str:
    truths = [method.truth for method in evidence.judgement.methods.values()]
    if not any(truths):
        return (
            "Grey: the estimated distribution over all orders. Curves: the Gaussian that the runs "
            "of random and of edge suggest. Ticks: every accuracy that was measured. Below: the "
            "ends that each protocol found."
        )
    sampled = any(truth is not None and truth.kind == "sample" for truth in truths)
    what = "a random sample in place of the truth" if sampled else "the truth"
    return (
        f"Grey: {what}, how often orders reach an accuracy, with its ends. Thick curves: the "
        "Gaussian that the runs of random and of edge suggest on average; thin ones: what single "
        "draws of their random part suggest. Below: the ends that each protocol finds on average."
    )
