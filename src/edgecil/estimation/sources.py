"""What `analyze` accepts as a source: experiments, files, tables and DataFrames, one or several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from edgecil.classes import get_classes
from edgecil.engine.experiment import Experiment
from edgecil.engine.metrics import DEFAULT_METRIC, METRICS
from edgecil.engine.run_files import DataFrame, read_runs, write_runs
from edgecil.engine.runs import Runs, join_tables
from edgecil.errors import DataError, EdgecilError, UsageError, warn, wrong_value
from edgecil.io.csv_files import iterate_rows
from edgecil.io.files import check_new

Source: TypeAlias = "str | Path | Experiment | Runs | DataFrame"


@dataclass(frozen=True, eq=False)
class DatasetRuns:
    """The runs on one dataset, and the experiments that they come from.

    Attributes:
        table: the runs.
        experiments: empty if they come from files or tables only.
    """

    table: Runs
    experiments: tuple[Experiment, ...] = ()


def is_saved_analysis(source: object) -> bool:
    """Return whether a source is the JSON file of a saved analysis."""
    if isinstance(source, (list, tuple)) and len(source) == 1:
        source = source[0]
    return (
        isinstance(source, (str, Path))
        and Path(source).suffix == ".json"
        and not Path(source).is_dir()
    )


def is_experiment(source: object) -> bool:
    """Return whether a source is a single experiment, or its directory."""
    if isinstance(source, (list, tuple)) and len(source) == 1:
        source = source[0]
    is_directory = isinstance(source, (str, Path)) and Path(source).is_dir()
    return is_directory or isinstance(source, Experiment)


def list_sources(source: Source | Sequence[Source]) -> list[Source]:
    """Return one source or several as a list, with every directory opened as an experiment."""
    if isinstance(source, (list, tuple)):
        if not source:
            raise UsageError("The 'source' parameter must have at least one entry. Got none.")
        return [one for entry in source for one in list_sources(entry)]
    if isinstance(source, (str, Path)) and Path(source).is_dir():
        return [Experiment.open(source)]
    if isinstance(source, (str, Path, Experiment, Runs)) or hasattr(source, "columns"):
        return [source]
    raise wrong_value(
        "source", "an experiment, the path of one or of a file, a DataFrame, or a list", source
    )


def describe_source(source: Source) -> str:
    """Return a source in a few words: its path, if it has one."""
    if isinstance(source, Experiment):
        return str(source.directory)
    if isinstance(source, (str, Path)):
        return str(source)
    return f"a table of {source.dataset}" if isinstance(source, Runs) else "a DataFrame"


def default_metric(sources: Sequence[Source]) -> str:
    """Return the metric that all sources name; A(O) if they name none or several."""
    named = set()
    for source in sources:
        if isinstance(source, Experiment):
            config = source.config
            named.add(DEFAULT_METRIC if config is None else METRICS.resolve(config.metric))
        else:
            named.add(source.metric if isinstance(source, Runs) else DEFAULT_METRIC)
    return named.pop() if len(named) == 1 else DEFAULT_METRIC


def available_metrics(sources: Sequence[Source]) -> list[str]:
    """Return the metrics of edgecil that every source has; files have them as columns."""
    available = list(METRICS)
    for source in sources:
        if isinstance(source, Runs):
            own = [source.metric]
        elif isinstance(source, Experiment):
            tables = {name: source.table(name) for name in METRICS}
            own = [name for name, table in tables.items() if table.missing < len(table)]
        else:
            own = _columns(source)
        available = [name for name in available if name in own]
    return available


def _columns(source: str | Path | DataFrame) -> list[str]:
    """Return the names of the columns of a file or a DataFrame."""
    if not isinstance(source, (str, Path)):
        return [str(name) for name in source.columns]
    return [cell.strip() for cell in next(iterate_rows(Path(source)), [])]


def gather_runs(
    sources: Sequence[Source], metric: str, classifier: str | None = None
) -> list[DatasetRuns]:
    """Read the runs of all sources, and join those on the same dataset into one table."""
    groups: dict[str, list[DatasetRuns]] = {}
    for source in sources:
        for runs in _read(source, metric, classifier):
            groups.setdefault(runs.table.dataset, []).append(runs)
    return [_join(group) for group in groups.values()]


def export_runs(
    source: Source | Sequence[Source],
    out: str | Path,
    *,
    metric: str | None = None,
    classifier: str | None = None,
    overwrite: bool = False,
) -> Path:
    """Write runs to a CSV file, with the ids that their classes have in the dataset.

    Args:
        source: experiment directories and CSV files. In Python also experiments, DataFrames and
            accuracy tables.
        out: the file to write, .csv or .csv.gz.
        metric: the metric to write: `accuracy`, `last`, `average`, `forgetting` or `bwt`; by
            default that of the experiments, as in an analysis.
        classifier: the classifier of the methods, such as `nme`; each method's main one by
            default.
        overwrite: replace the file if it exists.

    Returns:
        The file.
    """
    check_new(out, overwrite=overwrite)
    tables: list[Runs] = []
    sources = list_sources(source)
    metric = default_metric(sources) if metric is None else metric
    for part in gather_runs(sources, metric, classifier):
        table = part.table
        if table.names is not None:
            try:
                table = table.numbered_by(get_classes(table.dataset).labels)
            except EdgecilError as error:
                sentence = (
                    f"The class ids in {out} are those of the experiment, 0 to "
                    f"{len(table.classes) - 1}, because the dataset's are unknown: {error}"
                )
                warn(sentence)
        tables.append(_without_failures(table))
    write_runs(tables, out)
    return Path(out)


def _without_failures(table: Runs) -> Runs:
    """Return the runs without those that failed here and have a value in another directory."""
    columns = table.method, table.protocol, table.label, table.sequence, table.seed
    keys = list(zip(*(column.tolist() for column in columns), strict=True))
    has_value = (~np.isnan(table.values)).tolist()
    finished = {key for key, given in zip(keys, has_value, strict=True) if given}
    kept = [given or key not in finished for key, given in zip(keys, has_value, strict=True)]
    return table if all(kept) else table.take(np.array(kept))


def _read(source: Source, metric: str, classifier: str | None) -> Iterator[DatasetRuns]:
    if isinstance(source, Experiment):
        yield DatasetRuns(source.table(metric, classifier), (source,))
    elif classifier is not None:
        raise UsageError(
            f"The 'classifier' parameter requires experiment directories. Got {classifier!r} for "
            f"{describe_source(source)}; give the column of that classifier as 'metric'."
        )
    elif isinstance(source, Runs):
        if source.metric != metric:
            raise UsageError(
                f"The 'metric' parameter must be the table's {source.metric!r}. Got {metric!r}."
            )
        yield DatasetRuns(source)
    else:
        for table in read_runs(source, metric=metric):
            yield DatasetRuns(table)


def _join(group: Sequence[DatasetRuns]) -> DatasetRuns:
    """Return runs on one dataset as one table, with classes numbered as in the first."""
    if len(group) == 1:
        return group[0]
    tables = [_with_names(runs.table) for runs in group]
    first = tables[0]
    for table in tables[1:]:
        if (table.names is None) != (first.names is None) or set(table.names or table.classes) != (
            set(first.names or first.classes)
        ):
            raise DataError(
                f"Runs on {first.dataset!r} from several sources must have the same classes, but "
                f"some have {_list_classes(first)} and others {_list_classes(table)}."
            )
        if table.space != first.space:
            raise DataError(
                f"Runs on {first.dataset!r} from several sources must have the same task sizes, "
                f"but some have {list(first.space.sizes)} and others {list(table.space.sizes)}."
            )
    if first.names is not None:
        tables = [first, *(table.numbered_by(first.names) for table in tables[1:])]
    experiments = tuple(experiment for runs in group for experiment in runs.experiments)
    return DatasetRuns(join_tables(tables), experiments)


def _with_names(table: Runs) -> Runs:
    """Return the table with classes numbered 0 ... N-1 and, if the dataset is registered, named."""
    if table.names is not None:
        return table.renumbered()
    names = class_names(table)
    return table if names is None else replace(table.renumbered(), names=names)


def class_names(table: Runs) -> tuple[str, ...] | None:
    """Return the names of a table's classes by their ids; None if they are not registered."""
    if table.names is not None:
        return table.names
    try:
        labels = get_classes(table.dataset).labels
    except EdgecilError:
        return None
    return tuple(labels[id_] for id_ in table.classes) if table.classes[-1] < len(labels) else None


def _list_classes(table: Runs) -> str:
    names = [str(name) for name in table.names or table.classes]
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if names[4:] else "")
