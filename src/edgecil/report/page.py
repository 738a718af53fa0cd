"""The page of one dataset: which tables and figures it shows, and how to repeat the experiment."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from edgecil.engine.config_values import build_config, config_text
from edgecil.engine.record import Identity
from edgecil.estimation.analysis import AnalysisOptions, DatasetAnalysis
from edgecil.io.json import to_plain
from edgecil.io.numbers import format_duration
from edgecil.report import narrative
from edgecil.report.charts import build_confusion
from edgecil.report.drawing import text_width
from edgecil.report.figure import ReportFigure
from edgecil.report.metrics import MetricWords
from edgecil.report.orders import OrderTable
from edgecil.report.page_data import page_data
from edgecil.report.sections import Section
from edgecil.report.svg import theme_css
from edgecil.report.table import Table, files_of
from edgecil.report.text import class_names, printable
from edgecil.report.views import MetricView, build_view

if TYPE_CHECKING:
    from jinja2 import Environment

_SCRIPTS = ("data", "charts", "orders", "parts")
_STATIC_ROWS = 200  # of the table of orders, for readers without JavaScript
_STATIC_CHIPS = 4000
_NAMED_CLASSES = 24  # beyond, the table of orders shows colours without names
_WIDEST = 1290  # pixels of a screen beyond which the text does not grow
_ABSENT = (
    "Curves and classes are not shown: they require the results after each task, which an "
    "experiment directory or a training log has and a table of accuracies does not."
)
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
        live: whether the page loads itself again while the runs continue.
    """

    sources: tuple[str, ...]
    out: str | None = None
    folder: str = ""
    options: AnalysisOptions = field(default_factory=AnalysisOptions)
    metrics: tuple[str, ...] | None = None
    analysis_file: str | None = None
    version: str = ""
    live: bool = False


def compose_page(
    dataset: DatasetAnalysis,
    origin: Origin,
    others: Sequence[DatasetAnalysis] = (),
    *,
    together: Section | None = None,
) -> Page:
    """Compose the page of one dataset; the same analyses always give the same text.

    Args:
        dataset: the analysis of the metric that the page shows first.
        origin: where it comes from.
        others: analyses of the same runs by other metrics, for the page's switch.
        together: a section on all datasets; None with one.
    """
    orders = OrderTable.of(dataset)
    values = {dataset.metric: orders.values, **{o.metric: orders.values_of(o) for o in others}}
    views = [
        build_view(one, orders, values[one.metric], suffix=f"-{one.metric}" if place else "")
        for place, one in enumerate((dataset, *others))
    ]
    if together is not None:
        views[0] = replace(views[0], sections=(together, *views[0].sections))
    order_table = views[0].tables["orders"]
    assert order_table is not None
    confusion = build_confusion(dataset) if views[0].maps else None
    configs = _configs(dataset)
    texts = {name: text for name, (_, text) in configs.items()}
    added = {section.id: section.title for view in views for section in view.sections}
    has_orders = dataset.table.has_orders
    html = (
        _environment()
        .get_template("report.html.j2")
        .render(
            live=origin.live,
            moment=narrative.moment(dataset, live=origin.live),
            theme=Markup(theme_css()),
            style=Markup(_resource("style.css")),
            script=Markup("\n".join(_resource(f"script/{name}.js") for name in _SCRIPTS)),
            title=narrative.headline(dataset),
            about=narrative.about(dataset, len(orders)),
            sections=list(_sections(views, added, has_orders)),
            views=views,
            class_ledes=[_class_lede(view.words) for view in views],
            added=added,
            glossary=narrative.glossary(dataset),
            confusion=confusion,
            has_orders=has_orders,
            orders_lede=_orders_lede(dataset),
            order_rows=_order_rows(dataset, orders),
            orders_files=list(files_of(order_table)),
            configs=texts,
            repeat=_repeat(configs),
            commands="\n".join(map(shlex.join, _commands(configs, origin))),
            facts=_facts(dataset, origin),
            identity=_identities(dataset),
            citation=_bibtex(origin.version),
            absent="" if views[0].curves else _ABSENT,
            analysis_file=origin.analysis_file,
            data=page_data(dataset, orders, values),
        )
    )
    figures = [figure for view in views for figure in view.figures]
    figures += [confusion] if confusion else []
    tables = [table for view in views for table in view.tables.values() if table is not None]
    own = {table.name for table in tables}
    sections = [section for view in views for section in view.sections]
    tables += [it for section in sections for it in section.tables if it.name not in own]
    return Page(f"{html}\n", tuple(figures), tuple(tables), texts)


def _sections(
    views: Sequence[MetricView], added: Mapping[str, str], has_orders: bool
) -> Iterator[tuple[str, str]]:
    """Ids and names of the sections that the page has."""
    yield "answer", "Answer"
    if views[0].pairs:
        yield "compare", "Compare"
    if any(view.curves for view in views):
        yield "curves", "Curves"
    if views[0].maps:
        yield "classes", "Classes"
    yield "orders", "Orders" if has_orders else "Runs"
    yield from added.items()
    yield "repeat", "Repeat"


def _class_lede(words: MetricWords) -> str:
    text = (
        f"{words.classes}, by the task in which it came: mean over all orders that were run. The "
        "classes that are worst off in the first task are on top. Yellow is good, and all methods "
        "share one scale."
    )
    return f"{text} Classes of the last task have none." if words.needs_later_tasks else text


def _orders_lede(dataset: DatasetAnalysis) -> str:
    if not dataset.table.has_orders:
        return "Every run, with what each method reached; methods are paired by equal seed."
    text = "Every class order that was run, with what each method reached on it."
    if dataset.predictor is not None:
        text += f" z is {dataset.predictor.label} in standard deviations from its mean."
    return text


def _order_rows(dataset: DatasetAnalysis, orders: OrderTable) -> dict[str, Any]:
    """The table of orders for readers without JavaScript."""
    names = class_names(dataset.table)
    shown = min(len(orders), _STATIC_ROWS, max(_STATIC_CHIPS // max(len(names), 1), 10))
    repeated = bool((orders.repeats > 1).any())
    cells = []
    for place in range(shown):
        numbers = [_decimal(orders.values[name][place]) for name in dataset.methods]
        numbers += [] if orders.z is None else [_decimal(orders.z[place], 2)]
        numbers += [str(orders.repeats[place])] if repeated else []
        tasks = [
            [(names[class_], round(330.0 * class_ / len(names))) for class_ in task]
            for task in (orders.sequences[place].tasks if names else ())
        ]
        cells.append({"numbers": numbers, "chosen_by": orders.chosen_by[place], "tasks": tasks})
    left_out = (
        f"The first {shown} of {len(orders):,} orders; sorting, filtering and the others "
        "require JavaScript, and the CSV file has all of them."
    )
    has_z = orders.z is not None
    return {
        "methods": list(dataset.methods),
        "more": ["z"] * has_z + ["repeats"] * repeated,
        "rows": cells,
        "named": len(names) <= _NAMED_CLASSES,
        "many": len(dataset.methods) > _UPRIGHT_NAMES,
        "layout": _order_layout(list(dataset.methods), has_z + repeated),
        "left_out": left_out if shown < len(orders) else "",
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


def _decimal(value: float, digits: int = 1) -> str:
    return "–" if math.isnan(value) else f"{value:.{digits}f}".replace("-", "−")


@cache
def _environment() -> Environment:
    """The templates: strings are escaped, and their control characters are blanks."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    def finalize(value: object) -> object:
        plain = isinstance(value, str) and not isinstance(value, Markup)
        return printable(str(value)) if plain else value

    return Environment(
        loader=PackageLoader("edgecil.report"),
        autoescape=True,
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


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


def _bibtex(version: str) -> str:
    """How to cite the software and the paper whose evaluation it implements."""
    note = f"  note = {{Version {version}}},\n" if version else ""
    return (
        "@software{edgecil,\n"
        "  title = {edgecil: accuracy of class-incremental learners over all class orders},\n"
        "  author = {{The edgecil developers}},\n"
        f"{note}"
        "}\n\n"
        "@inproceedings{lai2026lie,\n"
        "  title = {The Lie of the Average: How Class Incremental Learning Evaluation Deceives "
        "You?},\n"
        "  author = {Lai, Guannan and Zhou, Da-Wei and Yang, Xin and Ye, Han-Jia},\n"
        "  booktitle = {International Conference on Learning Representations (ICLR)},\n"
        "  year = {2026},\n"
        "}\n"
    )
