"""`write_report`: a folder with a page, figures and tables for every dataset."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typing_extensions import Unpack

from edgecil.analysis.analysis import as_analysis
from edgecil.analysis.answers import SCHEMA, Analysis, DatasetAnalysis
from edgecil.analysis.similarities import SimilarityLike
from edgecil.analysis.sources import (
    Source,
    available_metrics,
    is_saved_analysis,
    join_sources,
    list_sources,
)
from edgecil.errors import DataError, EdgecilError, UsageError
from edgecil.experiments.experiment import Experiment
from edgecil.hints import Level
from edgecil.io.directory import check_owner, claim
from edgecil.io.files import replace_files
from edgecil.io.json import checked_json
from edgecil.options import checked
from edgecil.report.page import Origin, Page, compose_page
from edgecil.report.page_text import slug
from edgecil.report.sections import datasets_section
from edgecil.report.table import files_of
from edgecil.runs.reading.reading_options import ReadingOptions
from edgecil.wording.metric_words import OFFERED

_ANALYSIS_FILE = "analysis.json"
_PAGE_FILE = "index.html"


@dataclass(frozen=True, repr=False)
class Report:
    """A written report: the path of each dataset's `index.html`, and the analysis they show."""

    pages: tuple[Path, ...]
    analysis: Analysis = field(compare=False)

    def open(self) -> None:
        """Show the pages in the web browser."""
        import webbrowser

        for page in self.pages:
            webbrowser.open(page.resolve().as_uri())

    def __repr__(self) -> str:
        return f"Report({', '.join(map(str, self.pages))})"


@checked
def write_report(
    source: Analysis | Source | Sequence[Source],
    *more: Source,
    out: str | Path | None = None,
    metric: str | None = None,
    classifier: str | None = None,
    similarity: SimilarityLike | None = None,
    predictor: str | None = None,
    level: Level | None = None,
    live: bool = False,
    open: bool = False,
    **reading: Unpack[ReadingOptions],
) -> Report:
    """Write one HTML page per dataset, with its figures (SVG, PNG, PDF) and tables (CSV, …).

    A page is one file that works offline. The same analysis always gives the same bytes. The page
    of runs can be switched to A(O), A_last, Ā and forgetting, as far as the source has them.

    Args:
        source: an :class:`Analysis`, or anything that :func:`edgecil.analyze` accepts.
        more: further sources.
        out: the folder; by default `report/` in the experiment directory, or for a file
            `<its name>-report/` in the current directory. With several datasets, each has its own
            folder inside.
        metric: as for :func:`edgecil.analyze`, like all further parameters; an :class:`Analysis`
            already has them.
        classifier: as for :func:`edgecil.analyze`.
        similarity: as for :func:`edgecil.analyze`.
        predictor: as for :func:`edgecil.analyze`.
        level: as for :func:`edgecil.analyze`.
        live: write the page alone, without its files; it loads itself again every ten seconds.
        open: open the pages in the web browser.
        reading: see :class:`~edgecil.runs.reading.reading_options.ReadingOptions`.
    """
    for further in more:
        if out is None and isinstance(further, (str, Path)) and not Path(further).exists():
            raise UsageError(f"There is no file {further}; a folder to write is `out`.")
    source = join_sources(source, more)
    options = dict[str, Any](
        reading,
        classifier=classifier,
        similarity=similarity,
        predictor=predictor,
        level=level,
    )
    analysis, by_other_metrics = _analyse(source, metric, options, all_metrics=not live)
    folder = _folder(analysis, out)
    _claim_folder(folder, is_chosen=out is not None)
    all_datasets = datasets_section(analysis)
    has_folders = len(analysis.datasets) > 1
    pages, files = [], dict[Path, bytes]()
    for dataset in analysis.datasets:
        page_folder = folder / slug(dataset.dataset) if has_folders else folder
        origin = Origin(
            analysis.sources,
            None if out is None else str(out),
            str(page_folder),
            analysis.options,
            f"../{_ANALYSIS_FILE}" if has_folders else _ANALYSIS_FILE,
            analysis.version,
            live,
        )
        same_runs = _datasets_named(dataset.dataset, by_other_metrics)
        page = compose_page(dataset, origin, same_runs, all_datasets)
        files |= page_files(page, page_folder, live=live)
        pages.append(page_folder / _PAGE_FILE)
    if not live:
        files[folder / _ANALYSIS_FILE] = checked_json(analysis, SCHEMA)
    replace_files(files.items())
    report = Report(tuple(pages), analysis)
    if open:
        report.open()
    return report


def _analyse(
    source: Any, metric: str | None, options: Mapping[str, Any], *, all_metrics: bool
) -> tuple[Analysis, list[Analysis]]:
    """Return the analysis of a source, and of the same runs by the other metrics of the switch."""
    if isinstance(source, Analysis) or is_saved_analysis(source):
        return as_analysis(source, metric=metric, **options), []
    source = list_sources(source)  # read once, so that all metrics are of one moment
    analysis = as_analysis(source, metric=metric, **options)
    if not all_metrics:
        return analysis, []
    available = {*available_metrics(source)} - {analysis.options.metric}
    names = [name for name in OFFERED if name in available]
    return analysis, [as_analysis(source, metric=name, **options) for name in names]


def _datasets_named(name: str, analyses: Sequence[Analysis]) -> list[DatasetAnalysis]:
    """Return what each of the analyses says about the dataset with a name."""
    datasets = [dataset for analysis in analyses for dataset in analysis.datasets]
    return [dataset for dataset in datasets if dataset.dataset == name]


def _claim_folder(folder: Path, *, is_chosen: bool) -> None:
    """Take a folder for a report; where the user did not choose it, an error says how to."""
    check_owner(folder, "report")
    try:
        claim(folder, "report")
    except EdgecilError as error:
        if is_chosen:
            raise
        raise EdgecilError(
            f"{str(error).rstrip('.')}; to write the report elsewhere, give a folder as `out`."
        ) from error


def watch_report(source: str | Path, *, seconds: float = 10.0, **options: Any) -> Report:
    """Write the page of an experiment every few seconds until no run is under way, then all."""
    experiment = Experiment.open(source)
    shown = options.pop("open", False)
    while experiment.status().alive:
        with suppress(DataError):  # nothing has finished yet
            write_report(source, live=True, open=shown, **options)
            shown = False
        time.sleep(seconds)
    return write_report(source, open=shown, **options)


def _folder(analysis: Analysis, out: str | Path | None) -> Path:
    if out is not None:
        return Path(out)
    source = Path(analysis.source)
    if len(analysis.sources) == 1 and source.is_dir():
        return source / "report"
    if len(analysis.sources) == 1 and source.is_file():
        return Path(f"{source.name.removesuffix('.gz').rpartition('.')[0]}-report")
    raise UsageError(
        f"`out` is required because {analysis.source!r} is neither one experiment "
        "directory nor one file."
    )


def page_files(page: Page, folder: Path, *, live: bool = False) -> dict[Path, bytes]:
    """Return the files beside a page, unless it is live, and the page as the last one."""
    files: dict[Path, bytes] = {}
    if not live:
        for figure, kinds in page.figures:
            for name, content in figure.files(kinds):
                files[folder / "figures" / name] = content
        for table in page.tables:
            for suffix, write in files_of(table).items():
                files[folder / "tables" / f"{table.name}{suffix}"] = write(table).encode()
        files |= {folder / name: text.encode() for name, text in page.configs.items()}
    return {**files, folder / _PAGE_FILE: page.html.encode()}
