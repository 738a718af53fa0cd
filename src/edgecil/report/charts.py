"""The figures below the first one: curves, pairs, classes, confusion, predictor, profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from edgecil.analysis.answers import Analysis, DatasetAnalysis
from edgecil.analysis.details import TaskCurve
from edgecil.analysis.pair_verdicts import Comparison
from edgecil.analysis.profiles import PerformanceProfile
from edgecil.io.arrays import Floats, Ints
from edgecil.io.numbers import per_cent
from edgecil.report.drawing import (
    NARROW,
    WIDE,
    Box,
    Cells,
    Dots,
    Entry,
    Line,
    Mark,
    Scale,
    Scene,
    Text,
    bar,
    cut_text,
    dot,
    draw_panels,
    label_width,
    legend,
    text_width,
    tick_text,
    x_axis,
    y_axis,
)
from edgecil.report.figure import ReportFigure
from edgecil.report.order_table import OrderTable
from edgecil.report.page_text import class_names, signed_number, slug
from edgecil.report.pair_tables import paired_units
from edgecil.report.theme import DARK_SHADES, SHADES, category, shade_of
from edgecil.wording.metric_words import MetricWords, metric_words
from edgecil.wording.phrases import count_range

_MOST_BANDS = 6
_LEAST_DOTS = 10  # orders for a chart of a predictor
_MOST_DOTS = 1_000  # in such a chart
_HALF = 620.0  # pixels of a heat map on a desk
_MOST_NAMED = 60  # classes; beyond, names appear on hover only
_MOST_NUMBERED = 20
# Parts of a bar of the confusion from the bottom to the top: column, legend, colour.
_CONFUSED = (
    (0, "right", "truth"),
    (2, "wrong, same task", "c4"),
    (1, "wrong, earlier task", "c0"),
    (3, "wrong, later task", "c1"),
)


def build_curves(dataset: DatasetAnalysis, words: MetricWords, suffix: str) -> ReportFigure | None:
    """A metric after each task; None if no method has it after at least two tasks."""
    curves = {
        name: details.curve
        for name, details in dataset.details.items()
        if details.curve is not None
    }
    if not curves or any(np.isfinite(curve.mean).sum() < 2 for curve in curves.values()):
        return None
    all_claims = (dataset.methods[method].claims for method in curves)
    protocols = " and ".join(dict.fromkeys(" + ".join(claims.protocols) for claims in all_claims))
    counts = [curve.order_count for curve in curves.values()]
    orders = count_range(min(counts), max(counts), "order")
    band = " The bands hold 90 % of these orders." if len(curves) <= _MOST_BANDS else ""
    caption = (
        f"{words.step[0].upper()}{words.step[1:]}, after each task: mean over the {orders} "
        f"behind the answer above ({protocols}).{band} {words.line}"
    ).strip()
    name = f"curves{suffix}"
    return ReportFigure.of(name, caption, lambda width: draw_curves(curves, words, width))


def draw_curves(curves: Mapping[str, TaskCurve], words: MetricWords, width: float = WIDE) -> Scene:
    """Draw the curves of methods; the legend has the value of the metric."""
    tasks = np.flatnonzero(np.isfinite([curve.mean for curve in curves.values()]).all(axis=0))
    lines = {}
    for name, curve in curves.items():
        value = curve.mean.mean() if words.name == "average" else curve.mean[-1]
        label = f"{name} {value:.1f}".replace("-", "−")
        low, high = curve.low[tasks], curve.high[tasks]
        lines[label] = (np.float64(1.0) + tasks, curve.mean[tasks], low, high)
    return _draw_lines(lines, f"{words.step}, {words.unit}", "tasks learned", width)


def build_profiles(profiles: Mapping[str, PerformanceProfile], words: MetricWords) -> ReportFigure:
    """The share of each method's runs above each score, with its band."""
    level = per_cent(next(iter(profiles.values())).level)
    caption = (
        f"Share of each method's runs above a score, a mean over the datasets, with its {level} "
        "band: a higher line is better."
    )
    lines = {
        name: (profile.scores, 100.0 * profile.share, 100.0 * profile.low, 100.0 * profile.high)
        for name, profile in profiles.items()
    }
    titles = ("runs above it, %", f"{words.title}, {words.unit}")
    return ReportFigure.of("profiles", caption, lambda width: _draw_lines(lines, *titles, width))


def _draw_lines(
    lines: Mapping[str, tuple[Floats, Floats, Floats, Floats]],
    y_title: str,
    x_title: str,
    width: float,
) -> Scene:
    """Draw lines through x and y, and bands between two further levels unless there are many."""
    styles = {name: category(place) for place, name in enumerate(lines)}
    entries = [Entry(name, colour, "line", dash) for name, (colour, dash) in styles.items()]
    marks, top = legend(entries, 0.0, 2.0, width, 11.5 if width <= NARROW else 12.5)
    top, right = top + 24.0, width - 8.0
    bottom = top + (230.0 if width <= NARROW else 320.0)
    with_bands = len(lines) <= _MOST_BANDS
    levels = []
    for _, middle, low, high in lines.values():
        levels += [middle, low, high] if with_bands else [middle]
    up = Scale.around(np.concatenate(levels).tolist(), bottom, top, limits=(0.0, 100.0))
    all_x = np.concatenate([x for x, *_ in lines.values()])
    across = Scale(float(all_x.min()), float(all_x.max()) + 1e-9, 44.0, right - 4.0)
    marks += y_axis(up, 40.0, right, title=cut_text(y_title, width - 40.0, 12.0))
    most = min(6 if width <= NARROW else 20, round(np.ptp(all_x)) + 1)
    marks += x_axis(across, bottom, bottom, most=most, title=x_title)
    drawn: list[Mark] = []
    for name, (x, middle, low, high) in lines.items():
        colour, dash = styles[name]
        if with_bands:
            outline = (*_points(across, up, x, low), *_points(across, up, x, high)[::-1])
            marks.append(Line(outline, "", fill=colour, opacity=0.13))
        drawn.append(Line(_points(across, up, x, middle), colour, 2.4, dash=dash, tip=name))
    return Scene(width, bottom + 46.0, (*marks, *drawn))


def _points(across: Scale, up: Scale, x: Floats, y: Floats) -> tuple[tuple[float, float], ...]:
    """Return the positions of n points with coordinates x and y."""
    return tuple(zip(across.map(x).tolist(), up.map(y).tolist(), strict=True))


def draw_intervals(
    rows: Sequence[tuple[str, float, tuple[float, float] | None, str]], width: float = WIDE
) -> Scene:
    """Draw differences with their intervals around zero; rows end with a text for a column."""
    is_narrow = width <= NARROW
    height = 38.0 if is_narrow else 26.0 if len(rows) <= 20 else 19.0
    room = width if is_narrow else label_width((label for label, *_ in rows), 12.5, most=320.0)
    left, right = (8.0, width - 8.0) if is_narrow else (room + 24.0, width - 250.0)
    values = [0.0]
    for _, difference, interval, _ in rows:
        values += [difference, *(interval or ())]
    scale = Scale.around(values, left, right, margin=0.04)
    top = 20.0
    bottom = top + height * len(rows)
    most = 5 if is_narrow else 9
    marks = x_axis(scale, top, bottom, most=most, title="difference, points")
    marks.append(Line(((scale(0.0), top), (scale(0.0), bottom)), "faint", 1.2))
    for place, (label, difference, interval, text) in enumerate(rows):
        upper = top + place * height
        base = upper + (0.72 if is_narrow else 0.5) * height
        low, high = interval or (difference, difference)
        if is_narrow:
            marks.append(Text(0.0, upper + 14.0, cut_text(label, width - 110.0, 12.0), 12.0))
            short = f"{signed_number(difference)}  ·  {text}"
            marks.append(Text(width, upper + 14.0, short, 11.5, "end", colour="faint"))
        else:
            span = "" if interval is None else f" ({signed_number(low)} to {signed_number(high)})"
            marks.append(Text(0.0, base + 4.0, cut_text(label, room, 12.5), 12.5))
            marks.append(
                Text(right + 162.0, base + 4.0, signed_number(difference) + span, 12.0, "end")
            )
            marks.append(Text(width, base + 4.0, text, 12.0, "end", colour="faint"))
        colour = "accent" if low > 0.0 or high < 0.0 else "faint"
        marks.append(Line(((scale(low), base), (scale(high), base)), colour, 3.0))
        marks.append(dot(scale(difference), base, 4.0, colour, "diamond"))
    return Scene(width, bottom + 44.0, tuple(marks))


def build_pairs(pairs: Sequence[Comparison], *, name: str) -> ReportFigure | None:
    """The interval plot of all pairs; None without pairs."""
    if not pairs:
        return None
    units = paired_units(pairs)
    caption = (
        f"By how much the first method of each pair is ahead on average, on the {units} that both "
        f"ran, with its {per_cent(pairs[0].level)} interval and how sure it is; an interval that "
        "does not touch 0 is coloured."
    )
    rows = [
        (f"{pair.ahead} − {pair.behind}", pair.difference, pair.interval, pair.grade)
        for pair in pairs
    ]
    return ReportFigure.of(name, caption, lambda width: draw_intervals(rows, width))


def build_class_map(dataset: DatasetAnalysis, method: str, suffix: str) -> ReportFigure | None:
    """A method's heat map of classes by task; None if no result has counts per class."""
    maps = {
        name: details.by_position
        for name, details in dataset.details.items()
        if details.by_position is not None
    }
    means = maps.get(method)
    if means is None or np.isnan(means).all():
        return None
    words = metric_words(dataset.metric)
    last = np.flatnonzero(~np.isnan(means).all(axis=0))[-1]
    gain = means[:, last] - means[:, 0]
    order = np.argsort(np.nan_to_num(-gain if words.higher_is_better else gain), kind="stable")
    all_means = np.concatenate(list(maps.values()))
    low = float(10.0 * np.floor(np.nanmin(all_means) / 10.0))
    high = max(float(10.0 * np.ceil(np.nanmax(all_means) / 10.0)), low + 10.0)
    limits = (low, high) if words.higher_is_better else (high, low)
    caption = (
        f"{words.classes}, by the task in which it comes: {method}, mean over orders. The classes "
        "that are worst off in the first task are on top."
    )
    names = class_names(dataset.table)
    labels = [names[place] for place in order.tolist()]
    values = means[order]
    return ReportFigure.of(
        f"classes-{slug(method)}{suffix}",
        caption,
        lambda width: draw_class_map(method, labels, values, limits, words.unit, width),
        _HALF,
    )


def draw_class_map(
    method: str,
    labels: Sequence[str],
    values: Floats,
    limits: tuple[float, float],
    unit: str = "%",
    width: float = _HALF,
) -> Scene:
    """Draw values (N, K), a row for each class and a column for each task; NaN is no value."""
    classes, tasks = values.shape
    is_named = classes <= _MOST_NAMED
    size = 12.0 if classes <= 30 else 10.5
    height = 26.0 if classes <= 20 else 15.0 if is_named else max(3.0, 620.0 / classes)
    room = label_width(labels, size, most=150.0 if width > NARROW else 96.0) + 10.0
    left = room if is_named else 26.0
    top, (low, high) = 40.0, limits
    cell = (width - left - 2.0) / tasks
    marks: list[Mark] = [Text(left, 12.0, "the class comes in task", 11.5, colour="faint")]
    for task in range(0, tasks, -(-tasks // max(int((width - left) // 26.0), 1))):
        marks.append(Text(left + (task + 0.5) * cell, 31.0, str(task + 1), 12.0, "middle"))
    numbers = [["" if np.isnan(value) else f"{value:.1f}" for value in row] for row in values]
    data = {
        "method": method,
        "unit": unit,
        "names": "\n".join(labels),
        "values": ";".join(map(",".join, numbers)),
    }
    marks.append(Cells(left, top, cell, height, values, low, high, data))
    if is_named:
        for row, label in enumerate(labels):
            y = top + (row + 0.5) * height + 0.35 * size
            marks.append(Text(left - 8.0, y, cut_text(label, room - 8.0, size), size, "end"))
    if classes <= _MOST_NUMBERED and cell >= 26.0:
        for row, column in np.argwhere(~np.isnan(values)).tolist():
            value = float(values[row, column])
            colour = "on-dark" if shade_of(value, low, high) < DARK_SHADES else "on-light"
            x, y = left + (column + 0.5) * cell, top + (row + 0.5) * height + 4.0
            text = f"{value:.0f}".replace("-", "−")
            marks.append(Text(x, y, text, 11.5, "middle", colour=colour))
    y = top + classes * height + 12.0
    start, end = (tick_text(round(value)) for value in limits)
    room = text_width(start, 11.0) + 8.0
    steps = len(SHADES)
    marks += [
        Text(left, y + 9.5, start, 11.0, colour="faint"),
        Cells(left + room, y, 5.0, 10.0, np.linspace(low, high, steps)[None, :], low, high),
        Text(left + room + 6.0 + 5.0 * steps, y + 9.5, f"{end} {unit}", 11.0, colour="faint"),
    ]
    return Scene(width, y + 28.0, tuple(marks))


def build_confusion(dataset: DatasetAnalysis) -> ReportFigure | None:
    """What images of each task are taken for, a panel per method; None if no run stored it."""
    confusions = {
        name: details.confusion
        for name, details in dataset.details.items()
        if details.confusion is not None
    }
    if not confusions:
        return None
    caption = (
        "Predictions for the test images of each task after the last task, in per cent of its "
        "images: mean over orders. A wrong prediction names a class of the same, an earlier or "
        "a later task: an old class taken for a new one is 'wrong, later task'."
    )
    return ReportFigure.of("confusion", caption, lambda width: draw_confusion(confusions, width))


def draw_confusion(methods: Mapping[str, Floats], width: float = WIDE) -> Scene:
    """Draw a bar for each task: right answers, and wrong ones by the task that they name."""

    def draw(method: str, box: Box) -> list[Mark]:
        shares = methods[method]  # (K, 4)
        tasks = len(shares)
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
            for part, label, colour in _CONFUSED:
                share = float(shares[task, part])
                height = up(below) - up(below + share)
                tip = f"task {task + 1}: {label} {share:.0f} %"
                marks.append(bar(x, up(below + share), step - gap, height, colour, tip))
                below += share
        return marks

    entries = [Entry(label, colour) for _, label, colour in _CONFUSED]
    return draw_panels(
        list(methods), draw, width=width, entries=entries, x_title="task of the image", y_title="%"
    )


def build_prediction(
    dataset: DatasetAnalysis, orders: OrderTable, *, name: str
) -> ReportFigure | None:
    """Accuracy against the predictor, one dot per order; None without one or with few orders."""
    if dataset.predictor is None or orders.z is None or len(orders) < _LEAST_DOTS:
        return None
    words = metric_words(dataset.metric)
    clouds: dict[str, tuple[Floats, Floats, list[int], str]] = {}
    for method, analysis in dataset.methods.items():
        values, correlation = orders.values[method], analysis.correlation
        places = _thin(np.flatnonzero(~np.isnan(orders.z) & ~np.isnan(values)), values)
        if correlation is None or not places.size:
            continue
        r = correlation.pearson if correlation.stable else None
        text = "no r" if r is None else f"r = {signed_number(r, 2)}"
        clouds[method] = (orders.z[places], values[places], places.tolist(), text)
    if not clouds:
        return None
    label = dataset.predictor.label
    selection = ""
    if len(orders) > _MOST_DOTS:
        selection = f" (at most {_MOST_DOTS:,}, evenly from the lowest value to the highest)"
    caption = (
        f"{label} against the {words.title} of each method, one dot per order that was run"
        f"{selection}; r is the correlation over the orders that were not constructed."
    )
    return ReportFigure.of(
        name, caption, lambda width: draw_prediction(clouds, label, words.title, width)
    )


def _thin(places: Ints, values: Floats) -> Ints:
    """Return at most 1,000 places, evenly from the one with the lowest value to the highest."""
    if len(places) <= _MOST_DOTS:
        return places
    by_value = places[np.argsort(values[places], kind="stable")]
    chosen = np.linspace(0, len(places) - 1, _MOST_DOTS).round().astype(np.int64)
    return np.sort(by_value[chosen])


def draw_prediction(
    clouds: Mapping[str, tuple[Floats, Floats, list[int], str]],
    predictor: str,
    metric: str,
    width: float = WIDE,
) -> Scene:
    """Draw every order as a dot, methods side by side.

    Each has (n,) values of the predictor, (n,) accuracies, n places of the orders in the page's
    table, and the coefficient as text.
    """
    all_z = np.concatenate([z for z, *_ in clouds.values()]).tolist()

    def draw(method: str, box: Box) -> list[Mark]:
        z, values, places, correlation = clouds[method]
        across = Scale.around(all_z, box.left + 4.0, box.right - 4.0)
        up = Scale.around(values.tolist(), box.bottom, box.top)
        marks = y_axis(up, box.left, box.right, most=4, size=11.0)
        marks += x_axis(across, box.bottom, box.bottom, most=5, size=11.0)
        data = {"method": method, "orders": " ".join(map(str, places))}
        radius = 3.4 if len(z) <= 40 else 2.4
        marks.append(Dots(across.map(z), up.map(values), radius, "c0", opacity=0.6, data=data))
        return [*marks, Text(box.right, box.top - 8.0, correlation, 11.5, "end", bold=True)]

    title = f"{predictor}, standard deviations from its mean"
    return draw_panels(list(clouds), draw, width=width, x_title=title, y_title=f"{metric}, %")


def build_over_datasets(analysis: Analysis) -> ReportFigure | None:
    """Differences of each pair over all datasets and on each; None with one dataset."""
    rows: list[tuple[str, float, tuple[float, float] | None, str]] = []
    for overall in analysis.over_datasets:
        title = f"{overall.ahead} − {overall.behind}, all datasets"
        rows.append((title, overall.difference, overall.interval, overall.grade))
        for dataset in analysis.datasets:
            pair = dataset.compare(overall.ahead, overall.behind)
            if pair is not None:
                sign = 1.0 if pair.ahead == overall.ahead else -1.0
                ends = None
                if pair.interval is not None:
                    low, high = sorted(sign * end for end in pair.interval)
                    ends = (low, high)
                label = f"… on {dataset.dataset}"
                rows.append((label, sign * pair.difference, ends, pair.grade))
    if not rows:
        return None
    caption = (
        "Mean difference of each pair over all datasets, which weigh the same, and on each of "
        f"them, with its {per_cent(analysis.options.terms.level)} interval and how sure it is."
    )
    return ReportFigure.of("datasets", caption, lambda width: draw_intervals(rows, width))
