"""The page of one dataset: which tables and figures it shows, and how to repeat the experiment."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from markupsafe import Markup

from edgecil.engine.config import build_config, config_text
from edgecil.estimation.analysis import AnalysisOptions, DatasetAnalysis
from edgecil.report import narrative, tables
from edgecil.report.figures.budgets import build_budgets
from edgecil.report.figures.canvas import SUFFIXES
from edgecil.report.figures.closeness import build_closeness
from edgecil.report.figures.distribution import build_distribution, explain_distribution
from edgecil.report.figures.matrices import build_matrices
from edgecil.report.figures.overview import build_overview
from edgecil.report.figures.prediction import build_prediction
from edgecil.report.figures.report_figure import ReportFigure
from edgecil.report.slug import slug
from edgecil.report.svg import inline_figures
from edgecil.report.table import Table, as_html
from edgecil.report.templates import render_template


@dataclass(frozen=True, eq=False)
class Page:
    """A page and the files beside it.

    Attributes:
        html: the page, which needs no other file and no network.
        figures: every figure on it.
        tables: every table on it.
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
        source: the experiment directory or file, as it was given.
        out: the report's folder, if it was given.
        options: of the analysis.
        analysis_file: the saved analysis, relative to the page; None if there is none.
    """

    source: str
    out: str | None = None
    options: AnalysisOptions = field(default_factory=AnalysisOptions)
    analysis_file: str | None = None


@dataclass(frozen=True)
class _MethodSection:
    """What the page shows about one method."""

    name: str
    id: str
    sentences: list[str]
    distribution: ReportFigure
    prediction: ReportFigure | None
    matrices: ReportFigure | None


def compose_page(dataset: DatasetAnalysis, origin: Origin) -> Page:
    """Compose the page of one dataset; the same analysis always gives the same text."""
    names = list(dataset.methods)
    overview, closeness = build_overview(dataset), build_closeness(dataset)
    methods = [_method_section(dataset, name) for name in names]
    budgets = _present(build_budgets(dataset, name) for name in names)
    figures = [overview]
    for method in methods:
        figures += _present((method.distribution, method.prediction, method.matrices))
    figures += [*_present([closeness]), *budgets]
    shown = {
        "summary": tables.summary_table(dataset),
        "orders": tables.orders_table(dataset),
        "comparisons": tables.comparisons_table(dataset),
        "rankings": tables.rankings_table(dataset),
        "ranges": tables.ranges_table(dataset),
        "beside_random": tables.beside_random_table(dataset),
        "closeness": tables.closeness_table(dataset),
        "outside_range": tables.outside_range_table(dataset),
        "budgets": tables.budgets_table(dataset),
        "correlations": tables.correlations_table(dataset),
        "estimates": tables.estimates_table(dataset),
        "normality": tables.normality_table(dataset),
    }
    if len(names) < 2:
        del shown["comparisons"], shown["rankings"]
    shown = {name: table for name, table in shown.items() if table.rows}
    configs = _configs(dataset)
    letters, drawings = inline_figures(figures)
    html = render_template(
        "report.html.j2",
        style=Markup(_resource("style.css")),
        script=Markup(_resource("report.js")),
        title=narrative.headline(dataset),
        lead=narrative.lead(dataset),
        warnings=narrative.warnings(dataset),
        glossary=narrative.glossary(dataset),
        letters=letters,
        drawings=drawings,
        suffixes=SUFFIXES,
        overview=overview,
        methods=methods,
        distribution_legend=explain_distribution(dataset),
        closeness=closeness,
        budgets=budgets,
        tables={name: as_html(table, links=True) for name, table in shown.items()},
        configs=configs,
        commands="\n".join(map(shlex.join, _commands(configs, origin))),
        identity=json.dumps(dataset.identity, indent=1, ensure_ascii=False, default=str)
        if dataset.identity
        else "",
        analysis_file=origin.analysis_file,
    )
    return Page(f"{html}\n", tuple(figures), tuple(shown.values()), configs)


def _method_section(dataset: DatasetAnalysis, name: str) -> _MethodSection:
    return _MethodSection(
        name,
        f"method-{slug(name)}",
        narrative.method_answer(dataset, name),
        build_distribution(dataset, name),
        build_prediction(dataset, name),
        build_matrices(dataset, name),
    )


def _present(figures: Iterable[ReportFigure | None]) -> list[ReportFigure]:
    return [figure for figure in figures if figure is not None]


def _resource(name: str) -> str:
    return (files("edgecil.report") / name).read_text(encoding="utf-8").strip()


def _configs(dataset: DatasetAnalysis) -> dict[str, str]:
    """The configurations as files, numbered if there are several."""
    texts = [config_text(build_config(config)) + "\n" for config in dataset.configs]
    if len(texts) == 1:
        return {"run.toml": texts[0]}
    return {f"run-{place + 1}.toml": text for place, text in enumerate(texts)}


def _commands(configs: Mapping[str, str], origin: Origin) -> Iterator[list[str]]:
    """The commands that repeat the runs, if they are recorded, and the report.

    New results go to a directory beside the old ones.
    """
    source, out = origin.source.rstrip("/"), origin.out
    if configs:
        folder, again = out or f"{source}/report", f"{source}-again"
        for name in configs:
            yield ["edgecil", "run", "--config", f"{folder}/{name}", "--out", again]
        source, out = again, None if out is None else f"{out.rstrip('/')}-again"
    place = [] if out is None else ["--out", out]
    yield ["edgecil", "report", source, *place, *_options(origin.options)]


def _options(options: AnalysisOptions) -> Iterator[str]:
    """The options that differ from their defaults, as words of a command line."""
    defaults = AnalysisOptions()
    for name in ("metric", "classifier", "predictor", "draws", "pilot", "similarity"):
        value = getattr(options, name)
        is_file = name != "similarity" or (value is not None and Path(value).is_file())
        if value != getattr(defaults, name) and is_file:
            yield from (f"--{name}", str(value))
