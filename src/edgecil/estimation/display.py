"""An analysis as a DataFrame, as a figure and in a notebook."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from edgecil.estimation.analysis import Analysis, DatasetAnalysis, MethodAnalysis
from edgecil.estimation.estimators import Estimate, default_estimator
from edgecil.estimation.summary import of_default_estimator
from edgecil.io.notebook import html_figure, html_table, new_axes, require_pandas

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

MOST_NAMED = 4
"""Methods that a sentence names."""
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def analysis_frame(analysis: Analysis) -> pandas.DataFrame:
    """Return a row for each dataset, method, protocol and estimator, and for each truth."""
    frame: pandas.DataFrame = require_pandas().DataFrame(
        row
        for dataset in analysis.datasets
        for name, method in dataset.methods.items()
        for row in _rows(dataset, name, method)
    )
    return frame


def _rows(dataset: DatasetAnalysis, name: str, method: MethodAnalysis) -> list[dict[str, Any]]:
    about = {"dataset": dataset.dataset, "method": name}
    rows = []
    if method.truth is not None:
        truth = method.truth
        rows.append(
            {
                **about,
                "protocol": "truth",
                "estimator": truth.kind,
                "runs": len(truth.sequences),
                "mean": truth.mean,
                "std": truth.std,
                "min": truth.min,
                "max": truth.max,
            }
        )
    for protocol, answers in method.estimates.items():
        for estimator, answer in answers.items():
            if answer.estimate is None:
                continue
            average = method.averages.get(protocol, {}).get(estimator)
            rows.append(
                {
                    **about,
                    "protocol": protocol,
                    "estimator": estimator,
                    "runs": answer.runs,
                    **_numbers(answer.estimate),
                    "jsd": None if answer.closeness is None else answer.closeness.jsd,
                    "wasserstein": None
                    if answer.closeness is None
                    else answer.closeness.wasserstein,
                    "average_jsd": None if average is None else average.jsd,
                    "average_wasserstein": None if average is None else average.wasserstein,
                }
            )
    return rows


def _numbers(estimate: Estimate) -> dict[str, float | None]:
    low, high = estimate.mean_interval or (None, None)
    least, most = estimate.std_interval or (None, None)
    return {
        "mean": estimate.distribution.mean,
        "mean_low": low,
        "mean_high": high,
        "std": estimate.distribution.std,
        "std_low": least,
        "std_high": most,
        "min": estimate.min,
        "max": estimate.max,
    }


def plot_analysis(analysis: Analysis, axes: Axes | None = None) -> Axes:
    """Draw each method's accuracies and what each protocol estimates.

    A grey dot is the accuracy of one class order. A coloured line is the central 90 % of the
    distribution that a protocol's default estimator gives, with a dot at its mean.

    Args:
        analysis: what to draw.
        axes: the axes to draw on; new ones by default.
    """
    entries = [(dataset, name) for dataset in analysis.datasets for name in dataset.methods]
    axes = new_axes(_figure_size(analysis)) if axes is None else axes
    protocols = list(dict.fromkeys(name for entry in analysis.datasets for name in entry.protocols))
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
        for place, protocol in enumerate(protocols):
            method = dataset.methods[name]
            result = of_default_estimator(method, method.estimates, protocol)
            if result is None or result.estimate is None:
                continue
            estimate = result.estimate
            y = row + 0.12 + 0.6 * (place + 1) / (len(protocols) + 1)
            colour = _COLOURS[place % len(_COLOURS)]
            axes.plot(estimate.distribution.interval(0.9), (y, y), color=colour, linewidth=2)
            axes.plot(
                [estimate.distribution.mean],
                [y],
                "o",
                color=colour,
                markersize=4,
                label=protocol if row == 0 else None,
            )
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
            len({run.sequence for run in dataset.table.runs}),
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
    rows: list[tuple[str, ...]] = [
        ("dataset", "method", "protocol", "estimator", "runs", "mean", "std", "min", "max")
    ]
    for dataset in analysis.datasets:
        for name, method in dataset.methods.items():
            for row in _rows(dataset, name, method):
                is_truth = row["protocol"] == "truth"
                if is_truth or row["estimator"] == default_estimator(row["runs"]):
                    numbers = (f"{row[key]:.2f}" for key in ("mean", "std", "min", "max"))
                    words = (str(row[key]) for key in rows[0][:5])
                    rows.append((*words, *numbers))
    title = f"<p>{html.escape(describe_analysis(analysis))}</p>"
    figure = html_figure(
        lambda axes: plot_analysis(analysis, axes),
        "accuracies and estimates of each method",
        _figure_size(analysis),
    )
    warnings = "".join(f"<p>{html.escape(line)}</p>" for line in describe_warnings(analysis))
    return title + html_table(rows) + warnings + figure
