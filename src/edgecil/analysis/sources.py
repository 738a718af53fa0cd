"""What `analyze` accepts as a source: experiments, files, tables and DataFrames, one or several.

Here the runs of all sources meet. Runs of one method that differ in what gives them their meaning
are never averaged: they are kept apart under names that say what differs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeGuard

import numpy as np
from typing_extensions import Unpack

from edgecil.analysis.plausibility import check_runs
from edgecil.errors import (
    DataError,
    EdgecilError,
    UsageError,
    format_value,
    name_some,
    warn,
    wrong_value_error,
)
from edgecil.io.data_frames import DataFrameLike
from edgecil.io.directory import check_path
from edgecil.io.files import check_new
from edgecil.options import checked
from edgecil.runs.identity import MACHINE, POOLED, remarks
from edgecil.runs.metrics import DEFAULT_METRIC, METRICS
from edgecil.runs.published import PublishedResult
from edgecil.runs.reading.memory_tables import Numbers, is_data_frame, is_numbers, is_records
from edgecil.runs.reading.reading import Reading, TableSource, combine_readings, read_sources
from edgecil.runs.reading.reading_options import ReadingOptions
from edgecil.runs.run_table import Runs, join_tables
from edgecil.runs.training_seeds import SEEDS, SHARED
from edgecil.sequences.protocols import find_protocol
from edgecil.sequences.sequence import ClassSequence

if TYPE_CHECKING:
    from edgecil.experiments.experiment import Experiment

_EXPERIMENT_FILES = ("results.sqlite", ".edgecil")
_SCHEMA = b"edgecil.analysis/"
_HEAD = 200


class ExperimentLike(Protocol):
    """An :class:`~edgecil.experiments.experiment.Experiment`."""

    @property
    def directory(self) -> Path:
        """Where its results are."""

    def snapshot(self) -> Any:
        """Return the experiment as it is now."""


Source: TypeAlias = (
    str
    | Path
    | ExperimentLike
    | Runs
    | DataFrameLike
    | Numbers
    | Mapping[str, DataFrameLike | Numbers]
)


@dataclass(frozen=True, eq=False)
class DatasetRuns:
    """The runs on one dataset, their experiments as of one moment, and notes in sentences.

    Those of a single source also say `where` they are from. `published` are results of which only
    the mean, and perhaps its spread, is known; their methods need not be in the table.
    """

    table: Runs
    experiments: tuple[Experiment, ...] = ()
    notes: tuple[str, ...] = ()
    where: str = ""
    published: tuple[PublishedResult, ...] = ()


@dataclass(frozen=True, eq=False)
class Sources:
    """What a user gives, by kind, and the name of each source.

    Attributes:
        experiments: as they are at one moment.
        tables: tables of runs.
        unread: files, DataFrames and mappings, which are read later.
        names: the name of each source in a few words.
    """

    experiments: list[Experiment]
    tables: list[Runs]
    unread: list[TableSource]
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class CollectedRuns:
    """The runs of all sources, each with its name, by one metric, for each dataset.

    Attributes:
        sources: what was given.
        source_names: the name of each source.
        metric: of all runs.
        datasets: the runs on each dataset.
        reading: how they were understood.
    """

    sources: Sources
    source_names: tuple[str, ...]
    metric: str
    datasets: list[DatasetRuns]
    reading: Reading


def is_saved_analysis(source: object) -> bool:
    """Return whether a source is the JSON file of a saved analysis."""
    if isinstance(source, (list, tuple)) and len(source) == 1:
        source = source[0]
    if not isinstance(source, (str, Path)) or Path(source).suffix != ".json":
        return False
    path = Path(source)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return _SCHEMA in file.read(_HEAD)


def join_sources(source: Any, more: Sequence[Source]) -> Any:
    """Return one source, or the list of several that a call names one by one.

    Several lists of numbers are the runs of `method 1`, `method 2`, …

    >>> join_sources([64.1, 62.8], ([61.9, 62.0],))
    {'method 1': [64.1, 62.8], 'method 2': [61.9, 62.0]}
    """
    if not more:
        return source
    sources = [source, *more]
    if all(is_numbers(entry) for entry in sources):
        return {f"method {number}": values for number, values in enumerate(sources, 1)}
    return sources


def list_sources(source: Source | Sequence[Source] | Sources) -> Sources:
    """Return one source or several by kind; experiments are read as they are now."""
    if isinstance(source, Sources):
        return source
    sources = Sources([], [], [], ())
    names = tuple(_add_source(source, sources))
    return replace(sources, names=names)


def _add_source(source: Any, sources: Sources) -> Iterator[str]:
    """Add a source to the others of its kind, and yield its name in a few words."""
    if isinstance(source, (list, tuple, Mapping)) and not source:
        raise UsageError("`source` must have at least one entry. Got none.")
    if is_records(source):
        sources.unread.append(source)
        yield "a list of rows"
    elif isinstance(source, (list, tuple)) and not is_numbers(source):
        for entry in source:
            yield from _add_source(entry, sources)
    elif isinstance(source, (str, Path)):
        check_path(source)
        if is_saved_analysis(source):
            raise UsageError(
                f"{source} is a saved analysis, without the runs; give what it was made from."
            )
        if _is_directory_of_experiment(Path(source)):
            from edgecil.experiments.experiment import Experiment

            sources.experiments.append(Experiment.open(source).snapshot())
        else:
            sources.unread.append(source)
        yield str(source)
    elif is_experiment(source):
        sources.experiments.append(source.snapshot())
        yield str(source.directory)
    elif isinstance(source, Runs):
        sources.tables.append(source)
        yield f"a table of {source.dataset}"
    elif isinstance(source, Mapping):
        sources.unread.append(source)
        yield from map(str, source)
    elif is_numbers(source) or is_data_frame(source):
        sources.unread.append(source)
        yield "a DataFrame"
    else:
        raise wrong_value_error(
            "source",
            "an experiment, the path of one or of a file, a DataFrame, a list of accuracies, a "
            "list of these, or a dict of DataFrames or accuracies by the name of the method",
            source,
        )


def is_experiment(source: object) -> TypeGuard[Experiment]:
    """Return whether a source is an experiment; the room of experiments is not loaded for it."""
    module = sys.modules.get("edgecil.experiments.experiment")
    return module is not None and isinstance(source, module.Experiment)


def _is_directory_of_experiment(path: Path) -> bool:
    """Return whether a folder is an experiment's, or has no files that could be results."""
    if not path.is_dir():
        return False
    is_marked = any((path / name).exists() for name in _EXPERIMENT_FILES)
    return is_marked or not any(file.is_file() for file in path.rglob("*"))


def default_metric(sources: Sources) -> str | None:
    """Return the metric that experiments and tables name; A(O) if they name several."""
    named = {table.metric for table in sources.tables}
    for experiment in sources.experiments:
        config = experiment.config
        named.add(DEFAULT_METRIC if config is None else METRICS.resolve(config.metric))
    if not named:
        return None
    return named.pop() if len(named) == 1 else DEFAULT_METRIC


def available_metrics(sources: Sources) -> list[str]:
    """Return the metrics of edgecil that every source has; files have them as columns."""
    available = set(METRICS)
    for table in sources.tables:
        available &= {table.metric}
    for experiment in sources.experiments:
        tables = {name: experiment.table(name) for name in METRICS}
        available &= {name for name, table in tables.items() if table.missing < len(table)}
    if sources.unread:
        available &= set(read_sources(sources.unread).metrics)
    return [name for name in METRICS if name in available]


def collect_runs(
    source: Source | Sequence[Source] | Sources,
    *,
    metric: str | None = None,
    classifier: str | None = None,
    published_alone: bool = False,
    **reading: Unpack[ReadingOptions],
) -> CollectedRuns:
    """Read the runs of all sources, join those on the same dataset, and check them.

    Published results are beside the runs on their dataset. Without any run they are an error
    unless they are asked for, with `published_alone`.
    """
    sources = list_sources(source)
    pool = reading.get("pool")
    if pool is not None and not pool.strip():
        raise UsageError("`pool` must be the reason to average runs with different settings.")
    parts: list[DatasetRuns] = []
    metric = default_metric(sources) if metric is None else metric
    read = None
    if sources.unread:
        if classifier is not None:
            raise UsageError(
                f"`classifier` requires experiment directories. Got {format_value(classifier)} "
                f"for {sources.names[-1]}; give the column of that classifier as `metric`."
            )
        read = read_sources(sources.unread, metric=metric, **reading)
        metric = read.runs[0].metric if read.runs else read.metric
        left_out = tuple(f"Not read: {path}: {why}" for path, why in read.left_out.items())
        where = ", ".join(sources.names)
        parts += [DatasetRuns(table, notes=left_out, where=where) for table in read.runs]
    metric = DEFAULT_METRIC if metric is None else metric
    for experiment in sources.experiments:
        table = experiment.table(metric, classifier)
        parts.append(DatasetRuns(table, (experiment,), where=str(experiment.directory)))
    for number, table in enumerate(sources.tables, 1):
        if table.metric != metric:
            raise UsageError(
                f"`metric` must be the table's {table.metric!r}. Got {format_value(metric)}."
            )
        parts.append(DatasetRuns(table, where=f"table {number}"))
    groups: dict[str, list[DatasetRuns]] = {}
    for part in parts:
        groups.setdefault(part.table.dataset, []).append(part)
    joined = [_join(group, pool) for group in groups.values()]
    if read is not None and read.published:
        if not joined and published_alone:
            datasets = dict.fromkeys(result.dataset for result in read.published)
            joined = [DatasetRuns(Runs.without_runs(dataset, metric)) for dataset in datasets]
        joined = _with_published(joined, read.published, sources)
    tables = [part.table for part in joined if part.table.methods]
    whole = combine_readings(read, tables, metric)
    return CollectedRuns(sources, sources.names, metric, joined, whole)


def _with_published(
    parts: Sequence[DatasetRuns], published: Sequence[PublishedResult], sources: Sources
) -> list[DatasetRuns]:
    """Return the runs on each dataset with what was published about it.

    Where all runs are on one dataset, results on a dataset that is unknown or has another name
    belong to it.
    """
    if not parts:
        raise DataError(
            f"{', '.join(sources.names)} has published means alone, which 'compare' judges; give "
            "your own runs beside it, as a second source."
        )
    datasets = {part.table.dataset for part in parts}
    with_published = []
    for part in parts:
        results = tuple(
            result
            for result in published
            if result.dataset == part.table.dataset
            or (len(datasets) == 1 and result.dataset not in datasets)
        )
        with_published.append(replace(part, published=results))
    return with_published


@checked
def export_runs(
    source: Source | Sequence[Source],
    out: str | Path,
    *,
    metric: str | None = None,
    classifier: str | None = None,
    overwrite: bool = False,
    **reading: Unpack[ReadingOptions],
) -> Path:
    """Write runs to a CSV file, with the ids that their classes have in the dataset.

    Args:
        source: experiment directories and CSV files. In Python also experiments, DataFrames and
            accuracy tables.
        out: the file to write, .csv or .csv.gz.
        metric: the metric to write: `accuracy`, `last`, `average`, `forgetting` or `bwt`; by
            default the experiments' metric, as in an analysis.
        classifier: the classifier of the methods, such as `nme`; each method's main one by
            default.
        overwrite: replace the file if it exists.
        reading: see :class:`~edgecil.runs.reading.reading_options.ReadingOptions`.

    Returns:
        The file.
    """
    check_new(out, overwrite=overwrite)
    tables: list[Runs] = []
    for part in collect_runs(source, metric=metric, classifier=classifier, **reading).datasets:
        table = part.table
        if table.names is not None:
            from edgecil.classes import get_classes

            try:
                table = table.numbered_by(get_classes(table.dataset).labels)
            except EdgecilError:
                warn(
                    f"The class ids in {out} are those of the experiment, 0 to "
                    f"{len(table.classes) - 1}, because those of {table.dataset!r} are unknown."
                )
        tables.append(_without_failures(table))
    from edgecil.runs.run_files import write_runs

    write_runs(tables, out)
    return Path(out)


def _without_failures(table: Runs) -> Runs:
    """Return the runs without those that failed here and have a value in another directory."""
    columns = table.method, table.protocol, table.label, table.sequence, table.seed
    keys = list(zip(*(column.tolist() for column in columns), strict=True))
    has_value = (~np.isnan(table.values)).tolist()
    finished = {key for key, is_finished in zip(keys, has_value, strict=True) if is_finished}
    kept = [
        is_finished or key not in finished for key, is_finished in zip(keys, has_value, strict=True)
    ]
    return table if all(kept) else table.take(np.array(kept))


def _join(group: Sequence[DatasetRuns], pool: str | None) -> DatasetRuns:
    """Return the runs of several sources on one dataset as one table, and check them."""
    parts, notes = _keep_apart(group, pool)
    table = _join_renumbered([part.table for part in parts])
    experiments = tuple(experiment for part in parts for experiment in part.experiments)
    notes += [note for part in parts for note in part.notes]
    notes += [*table.notes, *_note_seeds(table, experiments), *_note_machines(experiments)]
    for experiment in experiments:
        notes += remarks(experiment.identity)
    notes += check_runs(table)
    return DatasetRuns(table, experiments, tuple(dict.fromkeys(notes)))


def _keep_apart(
    group: Sequence[DatasetRuns], pool: str | None
) -> tuple[list[DatasetRuns], list[str]]:
    """Return the parts with methods renamed where a name has runs of different meaning."""
    variants: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {}
    contents: dict[str, str] = {}
    for part in group:
        table = part.table
        pairs = dict.fromkeys(zip(table.method.tolist(), table.identity.tolist(), strict=True))
        for code, place in pairs:
            settings = table.settings[place] if table.settings else {}
            key = table.identities[place] or part.where
            variants.setdefault(table.methods[code], {}).setdefault(key, (part.where, settings))
            content = settings.get("dataset", {}).get("sha256")
            if content is not None:
                contents.setdefault(content, part.where)
    if len(contents) > 1 and pool is None:
        first, second, *_ = contents.values()
        raise DataError(
            f"{first} and {second} have different data under the name {group[0].table.dataset!r}, "
            "so their runs cannot be compared; analyse each alone, or give a reason to `pool`."
        )
    names: dict[tuple[str, str], str] = {}
    notes: list[str] = []
    for method, variants_of_method in variants.items():
        if len(variants_of_method) == 1:
            continue
        labels = _label(variants_of_method)
        descriptions = []
        for key, label in labels.items():
            where, _ = variants_of_method[key]
            descriptions.append(label if label in where else f"{label} in {where}")
        differences = ", ".join(descriptions)
        if pool is not None:
            notes.append(f"Runs of {method} that differ ({differences}){POOLED}{pool.strip()}.")
            continue
        names |= {(method, key): f"{method} ({label})" for key, label in labels.items()}
        notes.append(f"Runs of {method} differ and are kept apart: {differences}.")
    return [_renamed(part, names) for part in group] if names else list(group), notes


def _renamed(part: DatasetRuns, names: Mapping[tuple[str, str], str]) -> DatasetRuns:
    table = part.table
    old = [table.methods[code] for code in table.method.tolist()]
    keys = [table.identities[place] or part.where for place in table.identity.tolist()]
    new = [names.get((name, key), name) for name, key in zip(old, keys, strict=True)]
    renamed = dict(zip(old, new, strict=True))
    experiments = tuple(replace(experiment, renamed=renamed) for experiment in part.experiments)
    return replace(part, table=table.with_methods(new), experiments=experiments)


def _label(variants: Mapping[str, tuple[str, dict[str, Any]]]) -> dict[str, str]:
    """Return what tells variants of a method apart: settings that differ, or else their sources."""
    flat_settings = [_leaves("", settings) for _, settings in variants.values()]
    paths = dict.fromkeys(path for settings in flat_settings for path in settings)
    differing = [
        path for path in paths if len({repr(settings.get(path)) for settings in flat_settings}) > 1
    ]
    settings = [_describe_settings(of_variant, differing) for of_variant in flat_settings]
    sources = [where for where, _ in variants.values()]
    for labels in (settings, [Path(where).name for where in sources], sources):
        if len(set(labels)) == len(labels) and all(labels):
            return dict(zip(variants, labels, strict=True))
    return {key: key for key in variants}


def _describe_settings(settings: Mapping[str, Any], differing: Sequence[str]) -> str:
    """Return the first two of the settings that differ, and how many more there are."""
    words = []
    for path in differing[:2]:
        if path in settings:
            name = path.rpartition(".")[2]
            words.append(f"{name} {format_value(settings[path])}")
    if not words:
        return ""
    more = f" and {len(differing) - 2} more" if len(differing) > 2 else ""
    return f"{', '.join(words)}{more}".replace("_", " ").replace("'", "")


def _leaves(path: str, value: Any) -> dict[str, Any]:
    """Return plain values by the path of their names, `schedule.epochs`."""
    if not isinstance(value, dict):
        return {path: value}
    leaves: dict[str, Any] = {}
    for name, inner in value.items():
        leaves |= _leaves(f"{path}.{name}" if path else name, inner)
    return leaves


def _note_seeds(table: Runs, experiments: Sequence[Experiment]) -> list[str]:
    """Return what to do if experiments trained a sample of all orders with one seed."""
    stored = [experiment.identity.get(SEEDS) for experiment in experiments]
    protocols = map(find_protocol, table.protocols)
    shares_on_purpose = any(protocol.exhaustive or protocol.searched for protocol in protocols)
    if shares_on_purpose or SHARED not in stored or not table.shares_seeds:
        return []
    return [
        "All orders were trained with one seed, so claims are about it alone; for claims about "
        "other trainings, run these orders without 'one_seed' in a new directory."
    ]


def _note_machines(experiments: Sequence[Experiment]) -> list[str]:
    """Return a sentence if experiments were trained by other versions or on other processors."""
    machines = [machine for experiment in experiments for machine in experiment.machines]
    differing = []
    for name in MACHINE:
        values = dict.fromkeys(machine[name] for machine in machines if name in machine)
        if len(values) > 1:
            differing.append(f"{name} {' and '.join(values)}")
    return [f"The runs come from different machines: {'; '.join(differing)}."] if differing else []


def _join_renumbered(tables: Sequence[Runs]) -> Runs:
    """Return runs on one dataset as one table, with classes numbered as in the first."""
    if len(tables) == 1:
        return tables[0]
    if len({table.stand_in.replace("run", "seed") for table in tables}) > 1:
        raise DataError(
            "Some sources have class orders (a column 'order_seed' or 'sequence') and others have "
            "not, so their runs cannot be joined; analyse them one by one."
        )
    named = [_with_names(table) for table in tables]
    first = named[0]
    if not first.has_orders:
        return join_tables(_share_stand_ins(named))
    classes = [table.names or table.classes for table in named]
    for classes_of_source in classes:
        if set(classes_of_source) != set(classes[0]):
            first_classes = name_some(list(map(str, classes[0])))
            further_classes = name_some(list(map(str, classes_of_source)))
            raise DataError(
                f"Runs on {first.dataset!r} from several sources must have the same classes, but "
                f"some have {first_classes} and others {further_classes}."
            )
    if first.names is not None:
        named = [first, *(table.numbered_by(first.names) for table in named[1:])]
    return join_tables(named)


def _share_stand_ins(tables: Sequence[Runs]) -> list[Runs]:
    """Return tables without sequences whose stand-ins are the same for the same seed or order.

    Its label names a seed, an order, or a run that no other method shares.
    """
    numbers: dict[object, int] = {}
    apart = []
    for number, table in enumerate(tables):
        stand_ins = list(table.sequences)
        for place, label in dict.fromkeys(zip(table.sequence, table.label, strict=True)):
            text = table.labels[label]
            key = text if text.startswith(("seed ", "order ")) else (number, place)
            stand_ins[place] = ClassSequence([[numbers.setdefault(key, len(numbers))]])
        apart.append(replace(table, sequences=tuple(stand_ins)))
    return apart


def _with_names(table: Runs) -> Runs:
    """Return the table with classes numbered 0 ... N-1 and, if the dataset is registered, named."""
    if table.names is not None:
        return table.renumbered()
    names = registered_names(table)
    return table if names is None else replace(table.renumbered(), names=names)


def registered_names(table: Runs) -> tuple[str, ...] | None:
    """Return the names of a table's classes by their ids; None if they are not registered."""
    if table.names is not None or not table.has_orders:
        return table.names
    from edgecil.classes import get_classes

    try:
        labels = get_classes(table.dataset).labels
    except EdgecilError:
        return None
    return tuple(labels[id_] for id_ in table.classes) if table.classes[-1] < len(labels) else None
