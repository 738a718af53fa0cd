"""A predictor against accuracy, one dot per order, one panel per method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.estimation.order_table import OrderRow
from edgecil.io.arrays import Floats
from edgecil.report.figures.panels import Box, draw_panels
from edgecil.report.figures.report_figure import NARROW, WIDE, WIDE_ONLY, ReportFigure
from edgecil.report.scene.marks import Dots, Mark, Scene, Text
from edgecil.report.scene.scale import Scale, x_axis, y_axis
from edgecil.sequences.sequence import ClassSequence

_MOST_DOTS = 800


@dataclass(frozen=True, eq=False)
class Cloud:
    """The orders of one method.

    Attributes:
        z: (n,) the predictor in standard deviations from its mean over all orders.
        accuracies: (n,) per cent.
        orders: n places of the orders in the page's table.
        correlation: the coefficient as text.
    """

    z: Floats
    accuracies: Floats
    orders: tuple[int, ...]
    correlation: str


def build_prediction(
    dataset: DatasetAnalysis,
    orders: Sequence[OrderRow],
    places: Mapping[ClassSequence, int],
    *,
    name: str,
    metric: str,
) -> ReportFigure | None:
    """Accuracies against the predictor; None without a predictor.

    Args:
        dataset: the analysis.
        orders: its orders.
        places: of the orders in the page's table.
        name: stem of its file names.
        metric: what the y-axis shows.
    """
    if dataset.predictor is None:
        return None
    clouds = {}
    for method, analysis in dataset.methods.items():
        own = [order for order in orders if method in order.accuracies and order.z is not None]
        if analysis.predictor is None or not own:
            continue
        own = own[:: -(-len(own) // _MOST_DOTS)]
        correlation = analysis.correlations[analysis.predictor]
        r = correlation.pearson if correlation.stable else None
        clouds[method] = Cloud(
            np.array([order.z for order in own], dtype=np.float64),
            np.array([order.accuracies[method] for order in own]),
            tuple(places[order.sequence] for order in own),
            "no r" if r is None else f"r = {r:+.2f}".replace("-", "−"),
        )
    if not clouds:
        return None
    label = dataset.predictor.label
    caption = (
        f"{label} against the {metric} of each method, one dot per order that was run; r is their "
        "correlation."
    )
    wide, narrow = (
        draw_prediction(clouds, predictor=label, metric=metric, width=width)
        for width in (WIDE, NARROW)
    )
    return ReportFigure(name, caption, wide, narrow, WIDE_ONLY)


def draw_prediction(
    clouds: Mapping[str, Cloud], *, predictor: str, metric: str, width: float = WIDE
) -> Scene:
    """Draw every order as a dot, methods side by side."""
    values = np.concatenate([cloud.z for cloud in clouds.values()])

    def draw(method: str, box: Box) -> list[Mark]:
        cloud = clouds[method]
        across = Scale.around(values.tolist(), box.left + 4.0, box.right - 4.0)
        up = Scale.around(cloud.accuracies.tolist(), box.bottom, box.top)
        marks = y_axis(up, box.left, box.right, most=4, size=11.0)
        marks += x_axis(across, box.bottom, box.bottom, most=5, size=11.0)
        data = {"method": method, "orders": " ".join(map(str, cloud.orders))}
        radius = 3.4 if len(cloud.z) <= 40 else 2.4
        x, y = across.map(cloud.z), up.map(cloud.accuracies)
        marks.append(Dots(x, y, radius, "c0", opacity=0.6, data=data))
        text = Text(box.right, box.top - 8.0, cloud.correlation, 11.5, "end", bold=True)
        return [*marks, text]

    title = f"{predictor}, standard deviations from its mean"
    return draw_panels(list(clouds), draw, width=width, x_title=title, y_title=f"{metric}, %")
