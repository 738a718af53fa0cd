"""The page of one dataset: which tables and figures it shows, and how to repeat the experiment."""

from __future__ import annotations

import json
import math
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from edgecil.analysis.answers import AnalysisOptions, DatasetAnalysis
from edgecil.experiments.config_values import build_config, config_text
from edgecil.io.arrays import Floats
from edgecil.io.json import to_plain
from edgecil.io.numbers import format_duration
from edgecil.report import narrative
from edgecil.report.charts import build_confusion
from edgecil.report.figure import KINDS, SVG_ONLY, ReportFigure, theme_css
from edgecil.report.order_table import OrderTable
from edgecil.report.page_text import class_names, printable
from edgecil.report.sections import Section, build_view
from edgecil.report.table import Table, files_of
from edgecil.runs.identity import Identity, join_distinct
from edgecil.wording.metric_words import metric_words

if TYPE_CHECKING:
    from jinja2 import Template

_SCRIPTS = ("data", "charts", "orders", "parts")
_UPRIGHT_NAMES = 6  # methods; beyond, their names stand on end above their columns


@dataclass(frozen=True, eq=False)
class Page:
    """A page, its figures with the kinds of their files, its tables, and TOML texts by file."""

    html: str
    figures: tuple[tuple[ReportFigure, Mapping[str, str]], ...]
    tables: tuple[Table, ...]
    configs: Mapping[str, str]


@dataclass(frozen=True)
class Origin:
    """Where the page's numbers come from, for the commands that repeat it.

    `out` is the report's folder, if it was given, `folder` is the page's, and `analysis_file`
    is relative to the page. A live page loads itself again while the runs continue.
    """

    sources: tuple[str, ...]
    out: str | None = None
    folder: str = ""
    options: AnalysisOptions = field(default_factory=AnalysisOptions)
    analysis_file: str | None = None
    version: str = ""
    live: bool = False


def compose_page(
    dataset: DatasetAnalysis,
    origin: Origin,
    by_other_metrics: Sequence[DatasetAnalysis] = (),
    all_datasets: Section | None = None,
) -> Page:
    """Compose the page of one dataset, with a switch to analyses of its runs by other metrics.

    `all_datasets` is the section on all datasets of the analysis, if there are several.
    """
    orders = OrderTable.of(dataset)
    by_metric = {dataset.metric: orders}
    views = [build_view(dataset, orders)]
    for analysis in by_other_metrics:
        by_metric[analysis.metric] = orders.by_metric_of(analysis)
        view = build_view(analysis, by_metric[analysis.metric], suffix=f"-{analysis.metric}")
        views.append(view)
    if all_datasets is not None:
        views[0] = replace(views[0], sections=(all_datasets, *views[0].sections))
    order_table = views[0].tables["orders"]
    assert order_table is not None
    confusion = build_confusion(dataset) if views[0].maps else None
    figures = [figure for view in views for figure in view.figures]
    figures += [confusion] if confusion else []
    further = {figure.name for view in views[1:] for figure in view.figures}
    further |= {figure.name for figure in views[0].maps.values()}

    def kinds(figure: ReportFigure) -> Mapping[str, str]:
        return SVG_ONLY if figure.name in further else KINDS

    configs = _configs(dataset)
    texts = {name: text for name, (_, text) in configs.items()}
    added = {section.id: section.title for view in views for section in view.sections}
    identities = {
        experiment.directory: to_plain(experiment.identity)
        for experiment in dataset.experiments
        if experiment.identity != Identity()
    }
    html = _template().render(
        kinds=kinds,
        live=origin.live,
        moment=narrative.describe_moment(dataset, live=origin.live),
        theme=Markup(theme_css()),
        style=Markup(_resource("style.css")),
        script=Markup("\n".join(_resource(f"script/{name}.js") for name in _SCRIPTS)),
        title=narrative.headline(dataset),
        about=narrative.describe_setting(dataset, len(orders)),
        views=views,
        added=added,
        glossary=narrative.glossary(dataset),
        confusion=confusion,
        has_orders=dataset.table.counts_orders,
        predictor="" if dataset.predictor is None else dataset.predictor.label,
        many_methods=len(dataset.methods) > _UPRIGHT_NAMES,
        columns=len(dataset.methods) + (orders.z is not None) + bool((orders.repeats > 1).any()),
        orders_files=list(files_of(order_table)),
        configs=texts,
        commands="\n".join(map(shlex.join, _commands(configs, origin))),
        facts=_facts(dataset, origin),
        identities=json.dumps(identities, indent=1, ensure_ascii=False) if identities else "",
        version=origin.version,
        analysis_file=origin.analysis_file,
        data=_data(dataset, by_metric),
    )
    tables = {table.name: table for view in views for table in view.all_tables}
    shown = tuple((figure, kinds(figure)) for figure in figures)
    return Page(f"{html}\n", shown, tuple(tables.values()), texts)


def _data(dataset: DatasetAnalysis, by_metric: Mapping[str, OrderTable]) -> Markup:
    """What the page's script reads, as JSON that can stand in a script element.

    `tasks` has the task of every class, since the order inside a task does not count.
    """
    orders, has_orders = by_metric[dataset.metric], dataset.table.has_orders
    tasks = []
    if has_orders:
        tasks = [sequence.task_of().tolist() for sequence in orders.sequences]
    metrics = {}
    for name, values_on_orders in by_metric.items():
        words = metric_words(name)
        metrics[name] = {
            "label": words.title,
            "unit": words.unit,
            "up": words.higher_is_better,
            "values": {
                printable(method): _rounded(values)
                for method, values in values_on_orders.values.items()
            },
        }
    data: dict[str, Any] = {
        "classes": list(map(printable, class_names(dataset.table))),
        "count": len(orders),
        "number_of_tasks": dataset.table.space.tasks if has_orders else 0,
        "tasks": tasks,
        "chosen": list(map(printable, orders.chosen_by)),
        "methods": list(map(printable, dataset.methods)),
        "metrics": metrics,
    }
    if orders.z is not None and dataset.predictor is not None:
        data["predictor"] = printable(dataset.predictor.label)
        data["z"] = _rounded(orders.z)
    if (orders.repeats > 1).any():
        data["repeats"] = orders.repeats.tolist()
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def _rounded(column: Floats) -> list[float | None]:
    return [None if math.isnan(value) else round(value, 2) for value in column.tolist()]


@cache
def _template() -> Template:
    """The page's template: strings are escaped, and their control characters are blanks."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    def finalize(value: object) -> object:
        plain = isinstance(value, str) and not isinstance(value, Markup)
        return printable(str(value)) if plain else value

    environment = Environment(
        loader=PackageLoader("edgecil.report"),
        autoescape=True,
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2")


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


def _facts(dataset: DatasetAnalysis, origin: Origin) -> dict[str, str]:
    """Versions, machine and durations, if they are recorded."""
    identities = [experiment.identity.settings for experiment in dataset.experiments]
    recorded = {
        name: join_distinct(settings.get(name) for settings in identities)
        for name in ("edgecil", "torch", "machine", "cpu", "gpu")
    }
    machine = [recorded[name] for name in ("machine", "cpu", "gpu") if recorded[name]]
    facts = {
        "edgecil": origin.version or recorded["edgecil"],
        "torch": recorded["torch"],
        "machine": " ".join(machine),
        "device": join_distinct(
            settings.get("environment", {}).get("device") for settings in identities
        ),
    }
    seeds = ", ".join(map(str, sorted(set(dataset.table.seed.tolist()))[:10]))
    facts["training seeds"] = seeds if dataset.table.shares_seeds else "one for each training"
    seconds = dataset.training_seconds
    if seconds:
        facts["training and tests"] = format_duration(sum(seconds.values()))
    if len(seconds) > 1:
        durations = [f"{name} {format_duration(spent)}" for name, spent in seconds.items()]
        facts["of which"] = ", ".join(durations)
    return {name: value for name, value in facts.items() if value}


def _is_there(source: str) -> bool:
    """Whether a source is a file or a folder; it may be an object of Python."""
    return Path(source).exists()


def _commands(configs: Mapping[str, tuple[str, str]], origin: Origin) -> Iterator[list[str]]:
    """The commands that repeat the runs, if they are recorded, in new directories; the report."""
    sources = [name.rstrip("/") for name in origin.sources]
    out = origin.out
    if configs:
        folder = origin.folder or out or f"{sources[0]}/report"
        for name, (directory, _) in configs.items():
            yield ["edgecil", "run", "--config", f"{folder}/{name}", "--out", f"{directory}-again"]
        repeated = {directory for directory, _ in configs.values()}
        sources = [f"{name}-again" if name in repeated else name for name in sources]
        out = None if out is None else f"{out.rstrip('/')}-again"
    elif origin.analysis_file is not None and not all(map(_is_there, sources)):
        saved = os.path.normpath(f"{origin.folder}/{origin.analysis_file}")
        yield ["edgecil", "report", saved, *([] if out is None else ["--out", f"{out}-again"])]
        return
    words = ["edgecil", "report", *sources, *([] if out is None else ["--out", out])]
    for name, value in vars(origin.options).items():
        is_there = name != "similarity" or Path(str(value)).exists()
        if value != getattr(AnalysisOptions(), name) and is_there:
            words += [f"--{name.replace('_', '-')}", str(value)]
    yield words
