"""The figures of the EDGE paper in its layout, from any analysis, drawn by Matplotlib.

| name | figure of the paper | what it requires |
|---|---|---|
| `sampling` | A1 and A2: RS's orders in the true distribution | all orders |
| `ranges` | 2 (a, b): lowest and highest of all orders, RS as error bars | all orders |
| `correlation` | 2 (c): accuracy against S | a similarity of the classes |
| `encoders` | 4: EDGE's estimate with several text encoders | all orders, `encoder` |
| `bounds` | 5: lowest and highest of each protocol | runs of the protocols |
| `estimates` | 1, A4, A5: the truth beside the normal distributions of RS and EDGE | all orders |
| `samples` | A6: distance from the truth by number of orders | all orders, EDGE |
| `histogram` | A7: random orders with EDGE's hard and easy one | 30 random orders and EDGE |
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from edgecil.analysis.analysis import as_analysis
from edgecil.analysis.answers import Analysis
from edgecil.analysis.sources import Source
from edgecil.classes import ClassList
from edgecil.errors import DataError, UsageError
from edgecil.io.arrays import Floats
from edgecil.io.files import check_new, replace_file
from edgecil.paper.figure_panels import (
    EncoderPanel,
    Panel,
    SamplesPanel,
    ScatterPanel,
    collect_encoders,
    collect_panels,
    collect_scatter,
    measure_samples,
)
from edgecil.paper.paper_tables import compared_protocols
from edgecil.similarity import Similarity, align, read_similarity, text_similarity
from edgecil.statistics.distributions import Distribution
from edgecil.wording.metric_words import metric_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIGURES = (
    "sampling",
    "ranges",
    "correlation",
    "encoders",
    "bounds",
    "estimates",
    "samples",
    "histogram",
)
_COLUMNS = 4  # panels beside each other
_THINNEST_BAR = 0.05  # points, so that equal accuracies are visible
_LEAST_SPREAD = 0.1  # points, of a learner whose accuracy is the same on every order
_PANEL_INCHES = 2.6, 2.2
_TRUTH, _RANDOM, _EDGE, _BEST = "black", "#1f77b4", "#d62728", "#2ca02c"
_RANDOM_HATCH, _EDGE_HATCH = "....", "////"  # as in figure 5 of the paper
_NAMES = {"rs": "RS", "random": "random orders", "edge": "EDGE", "edge-released": "released EDGE"}
_FIXED_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def paper_figures(
    source: Analysis | Source | Sequence[Source],
    *,
    out: str | Path,
    protocol: Sequence[str] | None = None,
    encoder: Sequence[str] | None = None,
    metric: str | None = None,
    classifier: str | None = None,
    overwrite: bool = False,
) -> dict[str, list[Path]]:
    """Draw the figures of the paper that the runs can fill.

    Args:
        source: anything that :func:`edgecil.analyze` accepts, or an :class:`Analysis`.
        out: a folder to which each figure is written, as `paper-<name>.png` and `.pdf`.
        protocol: the random protocol and the constructed one to compare; by default `rs` (or
            `random`) and `edge` (or `edge-released`).
        encoder: text encoders, or files with similarities, with which EDGE's orders are chosen in
            the figure `encoders`; it is left out without them.
        metric: as for :func:`edgecil.analyze`; an :class:`Analysis` already has it.
        classifier: as for :func:`edgecil.analyze`.
        overwrite: replace files of figures that exist.

    Returns:
        The files of each figure by its name.
    """
    folder = Path(out)
    files: dict[str, list[Path]] = {}
    for name in FIGURES:
        files[name] = [folder / f"paper-{name}.{kind}" for kind in _FIXED_METADATA]
        for path in files[name]:
            check_new(path, overwrite=overwrite)
    analysis = as_analysis(source, metric=metric, classifier=classifier)
    compared = compared_protocols(analysis, protocol)
    if len(compared) != 2:
        raise UsageError(
            f"`protocol` must name a random protocol and a constructed one, such as 'rs' and "
            f"'edge'. Got {len(compared)}: {', '.join(compared)}."
        )
    figures = draw_figures(analysis, compared, encoder or ())
    if not figures:
        raise DataError(f"{analysis.source} has no runs that fill a figure of the paper.")
    written = {}
    for name, figure in figures.items():
        for path in files[name]:
            with replace_file(path) as file:
                file.write(figure_bytes(figure, path.suffix[1:]))
        written[name] = files[name]
    return written


def draw_figures(
    analysis: Analysis, protocols: Sequence[str], encoders: Sequence[str] = ()
) -> dict[str, Figure]:
    """Return the figures that the runs can fill, by name.

    Args:
        analysis: of the runs.
        protocols: the random one and the constructed one.
        encoders: text encoders or files with similarities.
    """
    random, constructed = protocols
    title = metric_words(analysis.datasets[0].metric).title
    panels = collect_panels(analysis, protocols)
    with_random = [panel for panel in panels if random in panel.accuracies]
    with_both = [panel for panel in with_random if constructed in panel.accuracies]
    enumerated = [panel for panel in with_random if panel.is_enumerated]
    figures: dict[str, Figure | None] = {
        "sampling": _grid(
            [panel for panel in with_random if panel.truth is not None and not panel.is_sampled],
            lambda axes, panel: _draw_sampling(axes, panel, random, title),
        ),
        "ranges": _ranges(enumerated, random, title),
        "correlation": _grid(
            collect_scatter(analysis), lambda axes, panel: _draw_scatter(axes, panel, title)
        ),
        "bounds": _bounds(with_both, protocols, title),
        "estimates": _grid(
            [panel for panel in with_both if panel.is_enumerated],
            lambda axes, panel: _draw_estimates(axes, panel, protocols, title),
        ),
        "samples": _grid(_measure_all(analysis, with_both, constructed), _draw_samples),
        "histogram": _grid(
            [panel for panel in panels if panel.is_sampled and constructed in panel.accuracies],
            lambda axes, panel: _draw_histogram(axes, panel, constructed, title),
        ),
    }
    if encoders:
        collected = collect_encoders(analysis, enumerated, _similarities(analysis, encoders))
        figures["encoders"] = _grid(
            collected, lambda axes, panel: _draw_encoders(axes, panel, random, title)
        )
    drawn = {}
    for name in FIGURES:
        figure = figures.get(name)
        if figure is not None:
            drawn[name] = figure
    return drawn


def _similarities(analysis: Analysis, encoders: Sequence[str]) -> dict[str, Similarity]:
    """Return the similarity of the classes by each encoder or file; datasets must share classes."""
    names = {dataset.table.names for dataset in analysis.datasets}
    if len(names) != 1 or None in names:
        raise UsageError(
            "The figure 'encoders' requires runs on one dataset whose class names are known; give "
            "one experiment."
        )
    table = analysis.datasets[0].table
    classes = ClassList(table.dataset, tuple(table.names or ()))
    similarities: dict[str, Similarity] = {}
    for name in encoders:
        if Path(name).suffix:
            similarities[Path(name).stem] = align(read_similarity(name), classes.labels, name)
        else:
            similarities[name] = text_similarity(classes, encoder=name)
    return similarities


def _measure_all(
    analysis: Analysis, panels: Sequence[Panel], constructed: str
) -> list[SamplesPanel]:
    """Return the distances by number of orders, where all orders, hard and easy were run."""
    tables = {dataset.dataset: dataset.table for dataset in analysis.datasets}
    measured = []
    for panel in panels:
        orders = tables[panel.dataset].orders(panel.method, constructed)
        value_of = dict(zip(orders.labels, orders.accuracies.tolist(), strict=True))
        if panel.is_enumerated and {"hard", "easy"} <= value_of.keys():
            measured.append(measure_samples(panel, np.array([value_of["hard"], value_of["easy"]])))
    return measured


def figure_bytes(figure: Figure, kind: str) -> bytes:
    """Return a figure as the content of a `png` or `pdf` file; the same bytes each time."""
    import matplotlib

    content = io.BytesIO()
    with matplotlib.rc_context({"pdf.fonttype": 42, "text.parse_math": False}):
        figure.savefig(content, format=kind, dpi=200, metadata=_FIXED_METADATA[kind])
    return content.getvalue()


def _new_figure(rows: int, columns: int, inches: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(columns * inches[0], rows * inches[1]), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    return figure, list(axes.flat)


def _grid(panels: Sequence[Any], draw: Callable[[Axes, Any], None]) -> Figure | None:
    """Return a figure with a small drawing for each panel; None without panels."""
    if not panels:
        return None
    columns = min(_COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    figure, every_axes = _new_figure(rows, columns, _PANEL_INCHES)
    for axes, panel in zip(every_axes, panels, strict=False):
        draw(axes, panel)
    for axes in every_axes[len(panels) :]:
        axes.set_axis_off()
    handles, labels = every_axes[0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=len(handles), fontsize=7)
    return figure


def _draw_truth(axes: Axes, panel: Panel, title: str) -> None:
    """Draw the true distribution as a smooth black curve."""
    assert panel.truth is not None
    accuracies = panel.truth.accuracies
    _draw_density(axes, _smoothed(accuracies), accuracies, "all orders", _TRUTH)
    axes.set_title(f"{panel.method}, {panel.dataset}", fontsize=8)
    axes.set_xlabel(f"{title} (%)", fontsize=7)
    axes.set_yticks([])
    axes.tick_params(labelsize=7)


def _smoothed(accuracies: Floats) -> Distribution:
    """Return a kernel density estimate with Silverman's bandwidth."""
    spread = float(accuracies.std())
    bandwidth = 1.06 * max(spread, _LEAST_SPREAD) * len(accuracies) ** -0.2
    weights = np.full(len(accuracies), 1.0 / len(accuracies))
    return Distribution(accuracies, weights, bandwidth)


def _draw_density(
    axes: Axes, distribution: Distribution, around: Floats, label: str, colour: str
) -> None:
    """Draw the density of a distribution as a curve, beyond the accuracies on both sides."""
    reach = 3.5 * max(distribution.std, float(np.std(around)), _LEAST_SPREAD)
    middle = float(np.mean(around))
    points = np.linspace(middle - reach, middle + reach, 400)
    steps = np.diff(distribution.cdf(points)) / np.diff(points)
    centres = (points[:-1] + points[1:]) / 2.0
    axes.plot(centres, steps, color=colour, label=label, linewidth=1.2)


def _draw_sampling(axes: Axes, panel: Panel, random: str, title: str) -> None:
    """Draw the truth, the random orders in it, and their mean; equal accuracies as a thick line."""
    _draw_truth(axes, panel, title)
    accuracies = panel.accuracies[random]
    different, counts = np.unique(accuracies, return_counts=True)
    for place, (accuracy, count) in enumerate(zip(different, counts, strict=True)):
        label = "random orders" if place == counts.argmin() else None
        axes.axvline(accuracy, color=_RANDOM, linewidth=float(count), label=label)
    axes.axvline(
        float(accuracies.mean()), color=_RANDOM, linestyle=":", linewidth=1.5, label="their mean"
    )


def _name(protocol: str) -> str:
    """Return the name of a protocol in a legend."""
    return _NAMES.get(protocol, protocol)


def _draw_estimates(axes: Axes, panel: Panel, protocols: Sequence[str], title: str) -> None:
    """Draw the truth beside the normal distribution that each protocol's runs give."""
    _draw_truth(axes, panel, title)
    assert panel.truth is not None
    truth = panel.truth.accuracies
    for protocol, colour in zip(protocols, (_RANDOM, _EDGE), strict=True):
        _draw_density(axes, panel.estimate(protocol), truth, _name(protocol), colour)


def _draw_scatter(axes: Axes, panel: ScatterPanel, title: str) -> None:
    """Draw accuracy against S, with Pearson's correlation and the least-squares line."""
    axes.scatter(panel.scores, panel.accuracies, s=5, color=_RANDOM)
    correlation = "not defined" if panel.pearson is None else _signed(panel.pearson)
    if panel.pearson is not None:
        slope, start = np.polyfit(panel.scores, panel.accuracies, 1)
        ends = np.array([panel.scores.min(), panel.scores.max()])
        axes.plot(ends, start + slope * ends, color=_TRUTH, linewidth=1.0)
    axes.set_title(f"{panel.method}, {panel.dataset}: R = {correlation}", fontsize=8)
    axes.set_xlabel("S (standard deviations from its mean)", fontsize=7)
    axes.set_ylabel(f"{title} (%)", fontsize=7)
    axes.tick_params(labelsize=7)


def _signed(number: float) -> str:
    """Return a number with two decimals and a minus sign; zero has none."""
    without_negative_zero = round(number, 2) + 0.0
    return f"{without_negative_zero:.2f}".replace("-", "−")


def _draw_encoders(axes: Axes, panel: EncoderPanel, random: str, title: str) -> None:
    """Draw the truth, RS's estimate, and EDGE's estimate with each encoder."""
    import matplotlib

    _draw_truth(axes, panel.panel, title)
    assert panel.panel.truth is not None
    truth = panel.panel.truth.accuracies
    _draw_density(axes, panel.panel.estimate(random), truth, _name(random), _RANDOM)
    shades = matplotlib.colormaps["autumn"](np.linspace(0.0, 0.8, len(panel.estimates)))
    for (name, accuracies), shade in zip(panel.estimates.items(), shades, strict=True):
        normal = Distribution.normal(float(accuracies.mean()), float(accuracies.std()))
        _draw_density(axes, normal, truth, f"EDGE, {name}", shade)


def _draw_histogram(axes: Axes, panel: Panel, constructed: str, title: str) -> None:
    """Draw the histogram of random orders with lines at the orders of EDGE."""
    assert panel.truth is not None
    axes.hist(panel.truth.accuracies, bins="fd", color=_RANDOM, label="random orders")
    for place, accuracy in enumerate(panel.accuracies[constructed]):
        label = _name(constructed) if place == 0 else None
        axes.axvline(accuracy, color=_TRUTH, linewidth=1.2, label=label)
    axes.set_title(f"{panel.method}, {panel.dataset}: {len(panel.truth)} random orders", fontsize=8)
    axes.set_xlabel(f"{title} (%)", fontsize=7)
    axes.set_ylabel("number of orders", fontsize=7)
    axes.tick_params(labelsize=7)


def _by_dataset(panels: Sequence[Panel]) -> Mapping[str, list[Panel]]:
    grouped: dict[str, list[Panel]] = {}
    for panel in panels:
        grouped.setdefault(panel.dataset, []).append(panel)
    return grouped


def _ranges(panels: Sequence[Panel], random: str, title: str) -> Figure | None:
    """Return, for each dataset, lowest and highest of all orders with RS's mean ± std."""

    def draw(axes: Axes, dataset_panels: list[Panel]) -> None:
        for place, panel in enumerate(dataset_panels):
            assert panel.truth is not None
            accuracies = panel.accuracies[random]
            lowest, highest = panel.truth.accuracies.min(), panel.truth.accuracies.max()
            ends = [place - 0.3, place + 0.3]
            (best,) = axes.plot(ends, [highest] * 2, color=_BEST, linewidth=2.0)
            (worst,) = axes.plot(ends, [lowest] * 2, color=_EDGE, linewidth=2.0)
            sample = axes.errorbar(
                place,
                accuracies.mean(),
                accuracies.std(),
                color=_RANDOM,
                fmt="o",
                markersize=4,
                capsize=3,
            )
        _label_methods(axes, dataset_panels, title)
        labels = ["highest of all orders", f"{_name(random)}: mean ± std", "lowest of all orders"]
        axes.legend([best, sample, worst], labels, fontsize=7)

    return _wide_grid(list(_by_dataset(panels).values()), draw)


def _bounds(panels: Sequence[Panel], protocols: Sequence[str], title: str) -> Figure | None:
    """Return, for each dataset, a bar from lowest to highest accuracy of each protocol."""

    def draw(axes: Axes, dataset_panels: list[Panel]) -> None:
        for place, panel in enumerate(dataset_panels):
            styles = ((_RANDOM, _RANDOM_HATCH, -0.2), (_EDGE, _EDGE_HATCH, 0.2))
            for protocol, (colour, hatch, offset) in zip(protocols, styles, strict=True):
                accuracies = panel.accuracies[protocol]
                axes.bar(
                    place + offset,
                    max(float(np.ptp(accuracies)), _THINNEST_BAR),
                    bottom=accuracies.min(),
                    width=0.36,
                    facecolor=colour,
                    edgecolor="white",
                    linewidth=0.0,
                    hatch=hatch,
                    label=_name(protocol) if place == 0 else None,
                )
        _label_methods(axes, dataset_panels, title)
        axes.legend(fontsize=7)

    return _wide_grid(list(_by_dataset(panels).values()), draw)


def _label_methods(axes: Axes, panels: Sequence[Panel], title: str) -> None:
    names = [panel.method for panel in panels]
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right", fontsize=7)
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.use_sticky_edges = False  # leave room below the lowest bar
    axes.margins(y=0.08)
    axes.set_ylabel(f"{title} (%)", fontsize=7)
    axes.set_title(panels[0].dataset, fontsize=8)
    axes.tick_params(labelsize=7)


def _wide_grid(panels: Sequence[Any], draw: Callable[[Axes, Any], None]) -> Figure | None:
    """Return a figure with a wide drawing for each dataset below each other; None without any."""
    if not panels:
        return None
    figure, every_axes = _new_figure(len(panels), 1, (6.0, 2.6))
    for axes, dataset_panels in zip(every_axes, panels, strict=True):
        draw(axes, dataset_panels)
    return figure


def _draw_samples(axes: Axes, samples: SamplesPanel) -> None:
    """Draw the distance from the truth by number of orders, with EDGE's extremes and without."""
    from matplotlib.ticker import MaxNLocator

    lines = (
        (samples.random, "o", _RANDOM, "random orders"),
        (samples.edge, "^", _EDGE, "EDGE's hard and easy order, and random ones"),
    )
    for distances, marker, colour, label in lines:
        axes.plot(
            samples.counts,
            distances,
            marker=marker,
            markersize=2.5,
            color=colour,
            linewidth=0.8,
            label=label,
        )
    axes.set_ylim(bottom=0.0)
    axes.set_title(f"{samples.panel.method}, {samples.panel.dataset}", fontsize=8)
    axes.set_xlabel("number of orders", fontsize=7)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylabel("W₁ from the truth (points)", fontsize=7)
    axes.tick_params(labelsize=7)
