"""An analysis as a DataFrame, as a figure and in a notebook."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from edgecil.estimation.analysis import Analysis, DatasetAnalysis
from edgecil.io.notebook import html_figure, html_table, new_axes

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

MOST_NAMED = 4
"""Methods that a sentence names."""
_COLOUR = "#0072B2"


def analysis_frame(analysis: Analysis) -> pandas.DataFrame:
    """Return a row for each dataset and method."""
    import pandas

    frame: pandas.DataFrame = pandas.DataFrame(
        _row(dataset, name) for dataset in analysis.datasets for name in dataset.methods
    )
    return frame


def _row(dataset: DatasetAnalysis, name: str) -> dict[str, Any]:
    said = dataset.methods[name].answer
    row: dict[str, Any] = {
        "dataset": dataset.dataset,
        "method": name,
        "orders": said.order_count,
        "trainings": said.trainings,
        "chosen by": " + ".join(said.protocols),
    }
    for title, claim in (("mean", said.mean), ("std", said.std), ("next", said.next_run)):
        low, high = claim.interval or (None, None)
        row |= {} if title == "next" else {title: claim.value}
        row |= {f"{title}_low": low, f"{title}_high": high}
    return {**row, "lowest": said.lowest, "highest": said.highest}


def plot_analysis(analysis: Analysis, axes: Axes | None = None) -> Axes:
    """Draw each method's accuracies and the distribution over all orders.

    A grey dot is the accuracy of one class order. A coloured line is the central 90 % of the
    distribution over all orders, estimated or measured, with a dot at its mean.

    Args:
        analysis: what to draw.
        axes: the axes to draw on; new ones by default.
    """
    entries = [(dataset, name) for dataset in analysis.datasets for name in dataset.methods]
    axes = new_axes(_figure_size(analysis)) if axes is None else axes
    labels = []
    for row, (dataset, name) in enumerate(entries):
        accuracies = dataset.table.orders(name).accuracies
        axes.scatter(
            accuracies,
            [row] * len(accuracies),
            s=10,
            color="0.6",
            linewidths=0,
            alpha=0.5,
            label="class orders" if row == 0 else None,
        )
        distribution = dataset.methods[name].answer.distribution
        y = row + 0.35
        axes.plot(distribution.interval(0.9), (y, y), color=_COLOUR, linewidth=2)
        label = "90 % of all orders" if row == 0 else None
        axes.plot([distribution.mean], [y], "o", color=_COLOUR, markersize=4, label=label)
        several = len(analysis.datasets) > 1
        labels.append(f"{name}\n{dataset.dataset}" if several else name)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(entries), -0.5)
    axes.set_xlabel(f"{analysis.options.metric} (%)")
    axes.legend(fontsize="small", frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return axes


def _figure_size(analysis: Analysis) -> tuple[float, float]:
    """Return width and height of the figure in inches."""
    return 6.0, 0.8 + 0.7 * sum(len(dataset.methods) for dataset in analysis.datasets)


def describe_analysis(analysis: Analysis) -> str:
    """Return an analysis in one line."""
    parts = []
    for dataset in analysis.datasets:
        methods, orders = (
            ", ".join(dataset.methods),
            len(dataset.table.sequences),
        )
        parts.append(f"{dataset.dataset or 'dataset'}: {methods} on {orders} class orders")
    return f"Analysis of {analysis.source}: {'; '.join(parts)}"


def list_methods(names: Sequence[str]) -> str:
    """Return names of methods for a sentence; many are counted."""
    return f"{len(names)} methods" if len(names) > MOST_NAMED else ", ".join(names)


def method_warnings(dataset: DatasetAnalysis) -> list[str]:
    """Return the warnings about methods, each once, after the methods that it is about."""
    methods: dict[str, list[str]] = {}
    for name, method in dataset.methods.items():
        for warning in method.warnings:
            methods.setdefault(warning, []).append(name)
    if len(dataset.methods) == 1:
        return list(methods)
    return [f"{list_methods(names)}: {warning}" for warning, names in methods.items()]


def describe_warnings(analysis: Analysis) -> list[str]:
    """Return a line for each distinct warning and note of an analysis."""
    lines = []
    for dataset in analysis.datasets:
        lines += [f"Warning: {warning}" for warning in method_warnings(dataset)]
        lines += [f"Note: {note}" for note in dataset.notes]
    return list(dict.fromkeys(lines))


def analysis_html(analysis: Analysis) -> str:
    """Return an analysis as a table and a figure."""
    titles = ("dataset", "method", "orders", "mean", "std", "lowest", "highest")
    rows: list[tuple[str, ...]] = [titles]
    for dataset in analysis.datasets:
        for name in dataset.methods:
            row = _row(dataset, name)
            numbers = (row[key] for key in titles[3:])
            cells = ("–" if number is None else f"{number:.2f}" for number in numbers)
            rows.append((*(str(row[key]) for key in titles[:3]), *cells))
    title = f"<p>{html.escape(describe_analysis(analysis))}</p>"
    figure = html_figure(
        lambda axes: plot_analysis(analysis, axes),
        "accuracies of each method",
        _figure_size(analysis),
    )
    warnings = "".join(f"<p>{html.escape(line)}</p>" for line in describe_warnings(analysis))
    return title + html_table(rows) + warnings + figure
