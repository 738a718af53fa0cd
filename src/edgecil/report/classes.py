"""The section on classes: heat maps by method for every metric, and the confusion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from edgecil.estimation.analysis import DatasetAnalysis
from edgecil.report.figures.class_positions import build_class_positions
from edgecil.report.figures.report_figure import SVG_ONLY, ReportFigure
from edgecil.report.metrics import metric_words
from edgecil.report.table import Table
from edgecil.report.tables import early_classes_table
from edgecil.report.views import rank

_PAPER_MAPS = 4  # methods whose heat maps have PNG and PDF files; beyond, they have SVG files


@dataclass(frozen=True)
class ClassMap:
    """What the page shows about the classes of one method.

    Attributes:
        method: the method.
        figure: its heat map.
        table: which classes are worst off in the first task.
    """

    method: str
    figure: ReportFigure
    table: Table


@dataclass(frozen=True)
class ClassBlock:
    """The heat maps that some metrics share.

    Attributes:
        places: of these metrics in the page's switch.
        lede: what the maps show.
        maps: one for each method; empty if no class has a value.
    """

    places: tuple[int, ...]
    lede: str
    maps: tuple[ClassMap, ...]

    @property
    def css_class(self) -> str:
        """The classes that show the block for its metrics."""
        return " ".join(["of-metric", *(f"m-{place}" for place in self.places)])


def build_class_blocks(datasets: Sequence[DatasetAnalysis]) -> list[ClassBlock]:
    """A block for each metric; metrics with equal numbers, such as A(O) and A_last, share one.

    Args:
        datasets: an analysis for each metric of the page, in the order of its switch.
    """
    if not any(dataset.class_positions for dataset in datasets):
        return []
    groups: dict[str, list[int]] = {}
    for place, dataset in enumerate(datasets):
        groups.setdefault(metric_words(dataset.metric).classes, []).append(place)
    blocks = []
    for classes, places in groups.items():
        dataset = datasets[places[0]]
        suffix = f"-{dataset.metric}" if places[0] else ""
        lede = _lede(datasets, classes, places)
        blocks.append(ClassBlock(tuple(places), lede, tuple(_maps(dataset, suffix))))
    return blocks


def _lede(datasets: Sequence[DatasetAnalysis], classes: str, places: Sequence[int]) -> str:
    text = f"{classes}, by the task in which it came: mean over all orders that were run."
    if len(places) > 1:
        labels = [metric_words(datasets[place].metric).label for place in places]
        text += f" {' and '.join(labels)} are means of these numbers."
    text += " Yellow is good, and all methods share one scale."
    if datasets[places[0]].metric in ("forgetting", "bwt"):
        text += " Classes of the last task have none."
    return text


def _maps(dataset: DatasetAnalysis, suffix: str) -> list[ClassMap]:
    maps = []
    for method in (summary.name for summary in rank(dataset, metric_words(dataset.metric))):
        figure = build_class_positions(dataset, method, suffix=suffix)
        if figure is not None:
            if suffix or len(dataset.methods) > _PAPER_MAPS:
                figure = replace(figure, kinds=SVG_ONLY)
            maps.append(ClassMap(method, figure, early_classes_table(dataset, method)))
    return maps
