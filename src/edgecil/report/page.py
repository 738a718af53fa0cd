"""The page of one dataset: which tables and figures it shows, and how to repeat the experiment."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from markupsafe import Markup

from edgecil.engine.config_values import build_config, config_text
from edgecil.engine.record import Identity
from edgecil.estimation.analysis import AnalysisOptions, DatasetAnalysis
from edgecil.estimation.order_table import OrderRow, list_orders
from edgecil.io.json import to_plain
from edgecil.io.numbers import format_duration
from edgecil.report import narrative
from edgecil.report.citation import bibtex
from edgecil.report.class_names import class_name
from edgecil.report.classes import ClassBlock, build_class_blocks
from edgecil.report.figures.confusion import build_confusion
from edgecil.report.figures.report_figure import ReportFigure
from edgecil.report.page_data import page_data
from edgecil.report.scene.layout import text_width
from edgecil.report.scene.svg import theme_css
from edgecil.report.table import Table, files_of
from edgecil.report.templates import render_template
from edgecil.report.views import MetricView, build_view

_SCRIPTS = ("data", "charts", "orders", "parts")
_STATIC_ROWS = 200  # of the table of orders, for readers without JavaScript
_STATIC_CHIPS = 4000
_NAMED_CLASSES = 24  # beyond, the table of orders shows colours without names
_WIDEST = 1290  # pixels of a screen beyond which the text does not grow
_UPRIGHT_NAMES = 6  # methods; beyond, their names stand on end above their columns


@dataclass(frozen=True, eq=False)
class Page:
    """A page and the files beside it.

    Attributes:
        html: the page, which needs no other file and no network.
        figures: every figure on it.
        tables: every table that has files.
        configs: TOML texts by file name, which repeat the runs.
    """

    html: str
    figures: tuple[ReportFigure, ...]
    tables: tuple[Table, ...]
    configs: Mapping[str, str]


@dataclass(frozen=True)
class Origin:
    """Where the page's numbers come from, for the commands that repeat it.

    Attributes:
        sources: the experiment directories and files, as they were given.
        out: the report's folder, if it was given.
        folder: that of the page and its configurations; by default the report's.
        options: of the analysis.
        metrics: further metrics of the page; None if they were not chosen.
        analysis_file: the saved analysis, relative to the page; None if there is none.
        version: of edgecil.
    """

    sources: tuple[str, ...]
    out: str | None = None
    folder: str = ""
    options: AnalysisOptions = field(default_factory=AnalysisOptions)
    metrics: tuple[str, ...] | None = None
    analysis_file: str | None = None
    version: str = ""


def compose_page(
    dataset: DatasetAnalysis, origin: Origin, others: Sequence[DatasetAnalysis] = ()
) -> Page:
    """Compose the page of one dataset; the same analyses always give the same text.

    Args:
        dataset: the analysis of the metric that the page shows first.
        origin: where it comes from.
        others: analyses of the same runs by other metrics, for the page's switch.
    """
    by_metric = {one.metric: list_orders(one) for one in (dataset, *others)}
    orders = by_metric[dataset.metric]
    places = {order.sequence: place for place, order in enumerate(orders)}
    views = [
        build_view(one, by_metric[one.metric], places, suffix=f"-{one.metric}" if place else "")
        for place, one in enumerate((dataset, *others))
    ]
    order_table = views[0].tables["orders"]
    assert order_table is not None
    class_blocks = build_class_blocks((dataset, *others))
    confusion = build_confusion(dataset) if class_blocks else None
    configs = _configs(dataset)
    texts = {name: text for name, (_, text) in configs.items()}
    html = render_template(
        "report.html.j2",
        theme=Markup(theme_css()),
        style=Markup(_resource("style.css")),
        script=Markup("\n".join(_resource(f"script/{name}.js") for name in _SCRIPTS)),
        title=narrative.headline(dataset),
        about=narrative.about(dataset, len(orders)),
        sections=list(_sections(views, class_blocks)),
        views=views,
        added=_added_titles(views),
        glossary=narrative.glossary(dataset),
        class_blocks=class_blocks,
        confusion=confusion,
        orders_lede=_orders_lede(dataset),
        order_rows=_order_rows(dataset, orders),
        orders_files=list(files_of(order_table)),
        configs=texts,
        repeat=_repeat(configs),
        commands="\n".join(map(shlex.join, _commands(configs, origin))),
        facts=_facts(dataset, origin),
        identity=_identities(dataset),
        citation=bibtex(origin.version),
        absent=""
        if views[0].curves
        else "Curves and classes are not shown: they require the results after each task, which an "
        "experiment directory or a training log has and a table of accuracies does not.",
        analysis_file=origin.analysis_file,
        data=page_data(dataset, orders, by_metric),
    )
    figures = [figure for view in views for figure in view.figures]
    figures += [one.figure for block in class_blocks for one in block.maps]
    figures += [confusion] if confusion else []
    tables = [table for view in views for table in view.tables.values() if table is not None]
    own = {table.name for table in tables}
    sections = [section for view in views for section in view.sections]
    tables += [it for section in sections for it in section.tables if it.name not in own]
    return Page(f"{html}\n", tuple(figures), tuple(tables), texts)


def _sections(
    views: Sequence[MetricView], class_blocks: Sequence[ClassBlock]
) -> Iterator[tuple[str, str]]:
    """Ids and names of the sections that the page has."""
    yield "answer", "Answer"
    if any(view.curves for view in views):
        yield "curves", "Curves"
    if class_blocks:
        yield "classes", "Classes"
    if views[0].pairs:
        yield "compare", "Compare"
    yield "orders", "Orders"
    yield from _added_titles(views).items()
    yield "repeat", "Repeat"


def _added_titles(views: Sequence[MetricView]) -> dict[str, str]:
    """Titles of the sections after those of every page, by id."""
    return {section.id: section.title for view in views for section in view.sections}


def _orders_lede(dataset: DatasetAnalysis) -> str:
    text = "Every class order that was run, with what each method reached on it."
    if dataset.predictor is not None:
        text += f" z is {dataset.predictor.label} in standard deviations from its mean."
    return text


def _order_rows(dataset: DatasetAnalysis, orders: Sequence[OrderRow]) -> dict[str, Any]:
    """The table of orders for readers without JavaScript."""
    classes = dataset.table.classes
    rows = orders[: min(_STATIC_ROWS, max(_STATIC_CHIPS // len(classes), 10))]
    has_z = any(order.z is not None for order in orders)
    repeated = any(max(order.repeats.values()) > 1 for order in orders)
    cells = []
    for order in rows:
        numbers = [_decimal(order.accuracies.get(name)) for name in dataset.methods]
        numbers += [_decimal(order.z, 2)] if has_z else []
        numbers += [str(max(order.repeats.values()))] if repeated else []
        tasks = [
            [(class_name(dataset.table, c), round(330.0 * c / len(classes))) for c in task]
            for task in order.sequence.tasks
        ]
        cells.append({"numbers": numbers, "chosen_by": order.chosen_by, "tasks": tasks})
    left_out = (
        f"The first {len(rows)} of {len(orders):,} orders; sorting, filtering and the others "
        "require JavaScript, and the CSV file has all of them."
    )
    return {
        "methods": list(dataset.methods),
        "more": ["z"] * has_z + ["repeats"] * repeated,
        "rows": cells,
        "named": len(classes) <= _NAMED_CLASSES,
        "many": len(dataset.methods) > _UPRIGHT_NAMES,
        "layout": _order_layout(list(dataset.methods), has_z + repeated),
        "left_out": left_out if len(rows) < len(orders) else "",
    }


def _order_layout(methods: Sequence[str], others: int) -> dict[str, int | str]:
    """Widths of the screen, in pixels, that the table of orders needs for its layouts.

    Below `table` the tasks go to a line of their own; below `lines` every order is a card.
    """
    if len(methods) > _UPRIGHT_NAMES:
        columns = [44.0] * len(methods)
    else:
        columns = [min(max(text_width(name, 14.0) + 24.0, 58.0), 150.0) for name in methods]
    numbers = sum(columns) + 54.0 * others
    table = round(numbers + 150.0 + 330.0 + 60.0)
    return {
        "table": table if table <= _WIDEST else 99_999,
        "lines": round(numbers + 120.0 + 70.0),
        "columns": f"repeat({len(methods) + others}, minmax(0, 1fr)) minmax(6rem, 1.6fr)",
    }


def _decimal(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{value:.{digits}f}".replace("-", "−")


def _resource(name: str) -> str:
    return (files("edgecil.report") / name).read_text(encoding="utf-8").strip()


def _configs(dataset: DatasetAnalysis) -> dict[str, tuple[str, str]]:
    """The directory and the text of each configuration, by file; numbered if there are several."""
    texts = [
        (experiment.directory, config_text(build_config(config)) + "\n")
        for experiment in dataset.experiments
        for config in experiment.configs
    ]
    if len(texts) == 1:
        return {"run.toml": texts[0]}
    return {f"run-{place + 1}.toml": entry for place, entry in enumerate(texts)}


def _repeat(configs: Mapping[str, Any]) -> str:
    if configs:
        return "Run these commands in the same working directory to repeat the runs and the report:"
    return (
        "The configuration of the runs is not recorded: the accuracies come from a file or from "
        "another tool. Run this command in the same working directory to repeat the report:"
    )


def _facts(dataset: DatasetAnalysis, origin: Origin) -> dict[str, str]:
    """Versions, machine and durations, if they are recorded."""
    identities = [experiment.identity.settings for experiment in dataset.experiments]
    recorded = {
        name: ", ".join(dict.fromkeys(str(one[name]) for one in identities if name in one))
        for name in ("edgecil", "torch", "machine", "cpu", "gpu")
    }
    facts = {
        "edgecil": origin.version or recorded["edgecil"],
        "torch": recorded["torch"],
        "machine": " ".join(filter(None, map(recorded.get, ("machine", "cpu", "gpu")))),
    }
    environments = [one["environment"] for one in identities if "environment" in one]
    devices = [str(one["device"]) for one in environments if "device" in one]
    facts["device"] = ", ".join(dict.fromkeys(devices))
    facts["training seeds"] = (
        ", ".join(map(str, sorted(set(dataset.table.seed.tolist()))[:10]))
        if dataset.table.shares_seeds
        else "one for each order"
    )
    seconds = dataset.training_seconds
    if seconds:
        facts["training and tests"] = format_duration(sum(seconds.values()))
    if len(seconds) > 1:
        facts["of which"] = ", ".join(
            f"{name} {format_duration(own)}" for name, own in seconds.items()
        )
    return {name: value for name, value in facts.items() if value}


def _identities(dataset: DatasetAnalysis) -> str:
    """What determines the results of each experiment, as indented JSON."""
    identities = {
        experiment.directory: to_plain(experiment.identity)
        for experiment in dataset.experiments
        if experiment.identity != Identity()
    }
    return json.dumps(identities, indent=1, ensure_ascii=False) if identities else ""


def _commands(configs: Mapping[str, tuple[str, str]], origin: Origin) -> Iterator[list[str]]:
    """The commands that repeat the runs, if they are recorded, and the report.

    New results go to a directory beside the old one of each experiment.
    """
    sources = [name.rstrip("/") for name in origin.sources]
    out = origin.out
    if configs:
        folder = origin.folder or out or f"{sources[0]}/report"
        for name, (directory, _) in configs.items():
            yield ["edgecil", "run", "--config", f"{folder}/{name}", "--out", f"{directory}-again"]
        repeated = {directory for directory, _ in configs.values()}
        sources = [f"{one}-again" if one in repeated else one for one in sources]
        out = None if out is None else f"{out.rstrip('/')}-again"
    place = [] if out is None else ["--out", out]
    yield ["edgecil", "report", *sources, *place, *_options(origin)]


def _options(origin: Origin) -> Iterator[str]:
    """The options that differ from their defaults, as words of a command line."""
    defaults = AnalysisOptions()
    for name, value in vars(origin.options).items():
        is_there = name != "similarity" or Path(str(value)).exists()
        if value != getattr(defaults, name) and is_there:
            yield from (f"--{name.replace('_', '-')}", str(value))
    if origin.metrics is not None:
        yield from ("--metrics", ",".join(origin.metrics))
