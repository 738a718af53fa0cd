"""What images of each task are taken for after the last task, as stacked bars."""

from __future__ import annotations

from collections.abc import Mapping

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.estimation.details import Confusion
from edgecil.report.figures.panels import Box, draw_panels
from edgecil.report.figures.report_figure import NARROW, WIDE, WIDE_ONLY, ReportFigure
from edgecil.report.scene.layout import Entry
from edgecil.report.scene.marks import Mark, Rect, Scene, Text
from edgecil.report.scene.scale import Scale, y_axis

# From the bottom of a bar to its top: attribute, legend, colour.
_PARTS = (
    ("right", "right", "truth"),
    ("same", "wrong, same task", "c4"),
    ("earlier", "wrong, earlier task", "c0"),
    ("later", "wrong, later task", "c1"),
)


def build_confusion(dataset: DatasetAnalysis, *, name: str = "confusion") -> ReportFigure | None:
    """A panel per method; None if no run stored its confusion."""
    shown = {method: own for method in dataset.methods if (own := dataset.confusion.get(method))}
    if not shown:
        return None
    counts = sorted({own.order_count for own in shown.values()})
    orders = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    caption = (
        "Predictions for the test images of each task after the last task, in per cent of its "
        f"images: mean over {orders} order{'' if counts == [1] else 's'}. A wrong prediction names "
        "a class of the same, an earlier or a later task: an old class taken for a new one is "
        "'wrong, later task'."
    )
    wide, narrow = (draw_confusion(shown, width=width) for width in (WIDE, NARROW))
    return ReportFigure(name, caption, wide, narrow, WIDE_ONLY)


def draw_confusion(methods: Mapping[str, Confusion], *, width: float = WIDE) -> Scene:
    """Draw a bar for each task: right answers, and wrong ones by the task that they name."""
    entries = [Entry(label, colour, "area") for _, label, colour in _PARTS]

    def draw(method: str, box: Box) -> list[Mark]:
        own = methods[method]
        tasks = len(own.right)
        up = Scale(0.0, 100.0, box.bottom, box.top)
        step = (box.right - box.left) / tasks
        gap = min(0.16 * step, 4.0)
        marks = y_axis(up, box.left, box.right, most=4, size=11.0)
        every = -(-tasks // max(int((box.right - box.left) // 22.0), 1))
        for task in range(tasks):
            x = box.left + task * step + gap / 2.0
            if task % every == 0:
                middle = x + (step - gap) / 2.0
                marks.append(Text(middle, box.bottom + 15.0, str(task + 1), 11.0, "middle"))
            below = 0.0
            for part, label, colour in _PARTS:
                share = float(getattr(own, part)[task])
                height = up(below) - up(below + share)
                tip = f"task {task + 1}: {label} {share:.0f} %"
                marks.append(Rect(x, up(below + share), step - gap, height, colour, tip=tip))
                below += share
        return marks

    return draw_panels(
        list(methods), draw, width=width, entries=entries, x_title="task of the image", y_title="%"
    )
