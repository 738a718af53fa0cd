"""Truth tables: several methods trained on every class order, or on many random ones.

A protocol or an estimator can be tried on a truth table in seconds, without training. edgecil comes
with some, and a user's own enumerated results can be added. Their files are small `.npz` archives
with a manifest and checksums.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from edgecil.analysis.samples import LEAST_SAMPLE
from edgecil.classes.lists import ClassList
from edgecil.errors import DataError, UsageError, format_value, unknown_name_error
from edgecil.experiments.experiment import Experiment
from edgecil.experiments.results import RunResult
from edgecil.io.arrays import Floats, read_npz
from edgecil.io.data_frames import DataFrameLike
from edgecil.io.files import parse_json, replace_file
from edgecil.runs.metrics import DEFAULT_METRIC, METRICS, Counts
from edgecil.runs.run_files import read_runs
from edgecil.runs.run_table import Runs
from edgecil.runs.training_seeds import repeat_of
from edgecil.sequences.protocols import PROTOCOLS, Protocol, find_protocol
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity import Similarity, text_similarity
from edgecil.statistics.distributions import SAME

_LEAST_STD = 0.1
TRUTH_FORMAT = 1
BUNDLED_TRUTHS = ("truths.npz", "photographs.npz")
_MANIFEST = "manifest"

TruthKind = Literal["enumerated", "sample", "structured"]


@dataclass(frozen=True, eq=False)
class TruthCounts:
    """A method's correct answers per class on every sequence of a table.

    Attributes:
        seeds: R training seeds; numbers of the repeats where each sequence has its own seeds.
        classifiers: C names, the main one first.
        correct: (R, C, K, N, n) correct answers of repeat, classifier, after task, class, sequence;
            0 for classes not seen yet. Sequences come last because that compresses best.
        totals: (N,) test images of each class.
    """

    seeds: tuple[int, ...]
    classifiers: tuple[str, ...]
    correct: NDArray[np.integer[Any]]
    totals: NDArray[np.integer[Any]]

    def metric(self, name: str, sequences: Sequence[ClassSequence]) -> Floats:
        """Return a metric of every repeat and sequence by the main classifier, shape (R, n)."""
        member = membership(sequences)
        totals = member @ self.totals.astype(np.int64)
        future = np.triu(np.ones((member.shape[1],) * 2, dtype=bool), 1)  # tasks not seen yet
        values = np.empty((len(self.seeds), len(sequences)))
        for repeat, counts in enumerate(self.correct[:, 0]):
            correct = np.einsum("tcn,nsc->nts", counts.astype(np.int64), member).astype(float)
            correct[:, future] = np.nan
            values[repeat] = METRICS[name].compute(Counts.of(correct, totals))
        return values


@dataclass(frozen=True, eq=False)
class TruthValues:
    """A method's values of one metric on every sequence of a table.

    Attributes:
        seeds: R training seeds.
        name: the metric.
        values: (R, n), of repeat and sequence.
    """

    seeds: tuple[int, ...]
    name: str
    values: Floats

    def metric(self, name: str, sequences: Sequence[ClassSequence]) -> Floats:
        """Return the values, (R, n); another metric is an error."""
        if name != self.name:
            raise UsageError(
                f"This truth table has the metric {self.name!r} only, because it was read from "
                f"accuracies and not from correct answers. Got {format_value(name)} instead."
            )
        return self.values


@dataclass(frozen=True, eq=False, repr=False)
class TruthTable:
    """Several methods trained on the same sequences of the same classes.

    Attributes:
        name: of the set of classes, unique among tables.
        dataset: the dataset's name.
        classes: names of the N classes; None if unknown.
        kind: `enumerated` if the n sequences are all of Ω, `sample` if they are random ones,
            `structured` if they were made from a similarity.
        sequences: n different sequences.
        results: by method, on every sequence.
        provenance: by method, what determined the results.
        labels: names of structured sequences; none for others.
        structured: the same methods on structured sequences of the same classes; None without any.
    """

    name: str
    dataset: str
    classes: tuple[str, ...] | None
    kind: TruthKind
    sequences: tuple[ClassSequence, ...]
    results: Mapping[str, TruthCounts | TruthValues]
    provenance: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    structured: TruthTable | None = None

    def __repr__(self) -> str:
        orders = f"{len(self.sequences)} orders ({self.kind})"
        classes = f"{self.space.classes} classes in {self.space.tasks} tasks"
        contents = f"{self.dataset}; {classes}; {orders}"
        return f"<TruthTable {self.name!r}: {contents}; {', '.join(self.methods)}>"

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods."""
        return tuple(self.results)

    @cached_property
    def space(self) -> SequenceSpace:
        """Ω, every sequence with these task sizes."""
        return SequenceSpace(self.sequences[0].sizes)

    @cached_property
    def tasks(self) -> NDArray[np.int64]:
        """The task of each class in each sequence, (n, N)."""
        return np.stack([sequence.task_of() for sequence in self.sequences])

    def accuracies(self, method: str, metric: str = DEFAULT_METRIC) -> Floats:
        """Return a metric of every training, in per cent, shape (repeats, n)."""
        if method not in self.results:
            raise unknown_name_error(
                f"method in the truth table {self.name!r}", method, self.results
            )
        return _computed(self, method, METRICS.resolve(metric)).copy()

    def class_accuracies(self, method: str, metric: str = DEFAULT_METRIC) -> Floats | None:
        """Return the final accuracy of every class in every training, shape (repeats, n, N).

        Accuracies are of the main classifier, in per cent; None where they are unknown, or where
        the metric is not a mean of them.
        """
        counts = self.results[method]
        if isinstance(counts, TruthValues) or not METRICS[metric].of_classes:
            return None
        final = counts.correct[:, 0, -1].swapaxes(-1, -2)
        return np.asarray(100.0 * final / counts.totals)

    def similarity(self) -> Similarity:
        """Return the bundled text similarity of the classes; unknown names are an error."""
        if self.classes is None:
            raise UsageError(
                f"The truth table {self.name!r} has no class names, from which a similarity could "
                "be computed."
            )
        return text_similarity(ClassList(self.dataset, self.classes))


@lru_cache(maxsize=1024)
def _computed(table: TruthTable, method: str, metric: str) -> Floats:
    return table.results[method].metric(metric, table.sequences)


TruthSource: TypeAlias = str | Path | DataFrameLike | Experiment | TruthTable


def truths(
    *sources: TruthSource, bundled: bool = True, metric: str = DEFAULT_METRIC
) -> list[TruthTable]:
    """Return the truth tables that come with edgecil, and your own.

    Args:
        sources: your results on every class sequence, or on at least 30 random ones: a CSV file
            or DataFrame as :func:`read_runs` reads it, an experiment or its directory, or an
            `.npz` file of truth tables, or a table itself.
        bundled: include the tables that come with edgecil.
        metric: the column to read from CSV files and DataFrames.

    Returns:
        One table for each set of classes.

    >>> table = truths()[0]
    >>> table.dataset, table.space.sizes, len(table.sequences)
    ('quickdraw', (2, 2, 2), 90)
    >>> table.accuracies("ranpac").shape
    (2, 90)
    """
    tables = list(bundled_tables()) if bundled else []
    for source in sources:
        if isinstance(source, TruthTable):
            tables.append(source)
        elif isinstance(source, Experiment):
            tables.append(experiment_truth(source))
        elif isinstance(source, (str, Path)) and Path(source).is_dir():
            tables.append(experiment_truth(Experiment.open(source)))
        elif isinstance(source, (str, Path)) and Path(source).suffix == ".npz":
            tables += read_truths(source)
        else:
            name = Path(source).name if isinstance(source, (str, Path)) else "DataFrame"
            tables += [accuracy_truth(table, name) for table in read_runs(source, metric=metric)]
    return merge_tables(tables)


def experiment_truth(experiment: Experiment, name: str | None = None) -> TruthTable:
    """Return the truth table in an experiment: every repeat that is finished on all its sequences.

    Sequences are all of them, or else independent random draws; sequences of other protocols are
    structured. Methods whose first repeat is unfinished are left out.
    """
    name = name or experiment.directory.name
    by_protocol = experiment.sequences()
    representative = []
    for protocol, members in by_protocol.items():
        if _represents(find_protocol(protocol)):
            representative += [labelled.sequence for labelled in members]
    sequences = _sorted(representative)
    is_complete = bool(sequences) and len(sequences) == SequenceSpace(sequences[0].sizes).size
    if not is_complete and len(sequences) < LEAST_SAMPLE:
        raise DataError(_no_truth(str(experiment.directory), len(sequences)))
    runs = {
        (run.method, repeat_of(run.sequence.tasks, run.seed), run.sequence): run
        for run in experiment.results()
    }
    kind: TruthKind = "enumerated" if is_complete else "sample"
    table = _counted(experiment, name, kind, sequences, runs)
    label_of_structured: dict[ClassSequence, str] = {}
    for protocol, members in by_protocol.items():
        prefix = f"{protocol} " if protocol in PROTOCOLS else ""
        for labelled in members:
            if labelled.sequence not in sequences:
                label_of_structured[labelled.sequence] = f"{prefix}{labelled.label}"
    if not label_of_structured:
        return table
    structured = _counted(
        experiment, f"{name}-structured", "structured", tuple(label_of_structured), runs
    )
    labels = tuple(label_of_structured.values())
    return replace(table, structured=replace(structured, labels=labels))


def _represents(protocol: Protocol) -> bool:
    return protocol.exhaustive or protocol.independent


def _counted(
    experiment: Experiment,
    name: str,
    kind: TruthKind,
    sequences: tuple[ClassSequence, ...],
    runs: Mapping[tuple[str, int, ClassSequence], RunResult],
) -> TruthTable:
    """Return the methods and repeats of an experiment that are finished on some sequences."""
    results: dict[str, TruthCounts | TruthValues] = {}
    for method in dict.fromkeys(method for method, _, _ in runs):
        complete_repeats = []
        for repeat in sorted({repeat for other, repeat, _ in runs if other == method}):
            keys = [(method, repeat, sequence) for sequence in sequences]
            if all(key in runs for key in keys):
                complete_repeats.append((repeat, [runs[key] for key in keys]))
        if complete_repeats:
            results[method] = _count_runs(complete_repeats)
    if not results:
        raise DataError(
            f"{experiment.directory} is no truth yet: no method has finished all "
            f"{len(sequences)} sequences."
        )
    identity = experiment.identity
    shared = {key: value for key, value in identity.items() if not key.startswith("method ")}
    provenance = {
        method: {**shared, "settings": identity.get(f"method {method}")} for method in results
    }
    return TruthTable(
        name, experiment.dataset, experiment.names, kind, sequences, results, provenance
    )


# The values of a method by sequence and training seed.
_ValuesBySequence: TypeAlias = dict[ClassSequence, dict[int, float]]


def accuracy_truth(table: Runs, name: str) -> TruthTable:
    """Return the truth of methods that ran all of Ω, or the same random sequences.

    All of Ω is a truth, whatever the names of the protocols.
    """
    values_of_method: dict[str, _ValuesBySequence] = {}
    random_values_of_method: dict[str, _ValuesBySequence] = {}
    runs = table.renumbered()
    for row in np.flatnonzero(~np.isnan(runs.values)).tolist():
        method = runs.methods[runs.method[row]]
        sequence = runs.sequences[runs.sequence[row]]
        values = values_of_method.setdefault(method, {})
        value_of_seed = values.setdefault(sequence, {})
        value_of_seed[int(runs.seed[row])] = float(runs.values[row])
        if _represents(find_protocol(runs.protocols[runs.protocol[row]])):
            random_values_of_method.setdefault(method, {})[sequence] = value_of_seed
    size = table.space.size
    complete = {
        method: values for method, values in values_of_method.items() if len(values) == size
    }
    kind: TruthKind = "enumerated" if complete else "sample"
    chosen = complete or random_values_of_method
    common = _sorted(set.intersection(*map(set, chosen.values())) if chosen else ())
    if kind == "sample" and len(common) < LEAST_SAMPLE:
        raise DataError(_no_truth(name, len(common)))
    results: dict[str, TruthCounts | TruthValues] = {}
    for method, values in chosen.items():
        seeds = sorted(set.intersection(*(set(values[sequence]) for sequence in common)))
        rows = []
        for seed in seeds:
            rows.append([values[sequence][seed] for sequence in common])
        if not seeds:  # every sequence has seeds of its own: one repeat, the mean over them
            seeds = [0]
            rows.append([float(np.mean(list(values[sequence].values()))) for sequence in common])
        results[method] = TruthValues(tuple(seeds), table.metric, np.array(rows))
    return TruthTable(name, table.dataset, table.names, kind, common, results)


def merge_tables(tables: Iterable[TruthTable]) -> list[TruthTable]:
    """Join tables of the same classes and sequences; a later method replaces one of its name."""
    merged: dict[object, TruthTable] = {}
    for table in tables:
        names = table.name if table.classes is None else table.classes
        key = table.dataset, names, table.sequences
        first = merged.setdefault(key, table)
        if first is not table:
            parts = [part.structured for part in (first, table) if part.structured is not None]
            merged[key] = replace(
                first,
                results={**first.results, **table.results},
                provenance={**first.provenance, **table.provenance},
                structured=next(iter(merge_tables(parts)), None),
            )
    return list(merged.values())


def _count_runs(repeats: list[tuple[int, list[RunResult]]]) -> TruthCounts | TruthValues:
    """Return the correct answers of R repeats on n sequences, or accuracies without counts."""
    seeds = tuple(seed for seed, _ in repeats)
    first = repeats[0][1][0]
    tasks, classes = len(first.sequence), len(first.sequence.order)
    shape = len(seeds), len(first.classifiers), tasks, classes, len(repeats[0][1])
    correct = np.zeros(shape, dtype=np.int64)
    for repeat, (_, row) in enumerate(repeats):
        for index, run in enumerate(row):
            for number, name in enumerate(first.classifiers):
                counts = run.class_counts(name)
                if counts is None:
                    values = [_accuracies(runs) for _, runs in repeats]
                    return TruthValues(seeds, DEFAULT_METRIC, np.array(values))
                correct[repeat, number, ..., index] = counts.right.T
                totals = counts.images[:, -1].astype(np.int64)
    return TruthCounts(seeds, first.classifiers, correct, totals)


def _accuracies(runs: Iterable[RunResult]) -> list[float]:
    return [run.accuracy for run in runs]


def varies(values: Floats) -> bool:
    """Return whether protocols and claims can be judged on runs with these accuracies.

    They cannot if they vary by less than 0.1 points, or if their quartiles are equal: then draws
    rarely have one of the few other runs, and show no spread.
    """
    quartiles = np.quantile(values, [0.25, 0.75])
    return bool(values.std() > _LEAST_STD and np.ptp(quartiles) > SAME)


def _sorted(sequences: Iterable[ClassSequence]) -> tuple[ClassSequence, ...]:
    """Return the different sequences, in the order in which a space is enumerated."""
    return tuple(sorted(set(sequences), key=lambda sequence: sequence.tasks))


def membership(sequences: Sequence[ClassSequence]) -> NDArray[np.int64]:
    """Return whether a sequence's task has a class, 0 or 1, shape (n, K, N)."""
    task = np.stack([sequence.task_of() for sequence in sequences])
    tasks = np.arange(len(sequences[0]))
    return np.asarray(task[:, None, :] == tasks[None, :, None], dtype=np.int64)


def _no_truth(origin: str, count: int) -> str:
    return (
        f"{origin} contains no truth. This requires runs on every class sequence (protocol "
        f"'enumerate'), or at least {LEAST_SAMPLE} random ones that all methods share. Got {count}."
    )


@cache
def bundled_tables() -> tuple[TruthTable, ...]:
    """Return the tables that come with edgecil, built by `tools/build_truths.py`."""
    with as_file(files("edgecil.lab") / "data") as folder:
        tables: list[TruthTable] = []
        for name in BUNDLED_TRUTHS:
            tables += read_truths(folder / name)
        return tuple(tables)


def write_truths(tables: Iterable[TruthTable], path: str | Path) -> None:
    """Write tables with correct answers to a file; the same tables give the same bytes.

    The manifest has, for each table, the classes, the task sizes and, by method, what determined
    the results and the SHA-256 of the counts. Structured sequences are a table of their own.
    """
    parts: list[TruthTable] = []
    for table in tables:
        parts += [table] if table.structured is None else [table, table.structured]
    entries: list[dict[str, Any]] = []
    arrays: dict[str, NDArray[Any]] = {}
    for table in parts:
        if table.kind != "enumerated":
            orders = [sequence.sorted_order for sequence in table.sequences]
            arrays[f"{table.name}/orders"] = _narrowed(np.array(orders))
        totals, methods = None, {}
        for method, result in table.results.items():
            if isinstance(result, TruthValues):
                raise UsageError(
                    f"Only correct answers can be written; {method!r} in the truth table "
                    f"{table.name!r} has accuracies."
                )
            totals, counts = result.totals.tolist(), _narrowed(result.correct)
            arrays[f"{table.name}/{method}"] = counts
            methods[method] = {
                "seeds": list(result.seeds),
                "classifiers": list(result.classifiers),
                "sha256": _digest(counts),
                "provenance": dict(table.provenance.get(method, {})),
            }
        entries.append(
            {
                "name": table.name,
                "dataset": table.dataset,
                "classes": None if table.classes is None else list(table.classes),
                "sizes": list(table.space.sizes),
                "kind": table.kind,
                "labels": list(table.labels),
                "totals": totals,
                "methods": methods,
            }
        )
    manifest = json.dumps({"format": TRUTH_FORMAT, "tables": entries}, ensure_ascii=False)
    arrays = {_MANIFEST: np.frombuffer(manifest.encode(), dtype=np.uint8), **arrays}
    with replace_file(Path(path)) as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            npy.write_array(buffer, array, version=(1, 0), allow_pickle=False)
            member = zipfile.ZipInfo(f"{name}.npy")  # of 1980, so that the bytes are the same
            archive.writestr(member, buffer.getvalue(), zipfile.ZIP_LZMA)


def read_truths(path: str | Path) -> list[TruthTable]:
    """Return the tables in a file that :func:`write_truths` wrote; checksums are verified."""
    path = Path(path)
    arrays, names = read_npz(path, [_MANIFEST])
    if _MANIFEST not in arrays:
        raise DataError(f"{path} is no file of truth tables: it has no manifest.")
    try:
        manifest = parse_json(bytes(arrays[_MANIFEST]).decode(), f"The manifest of {path}")
        if manifest["format"] != TRUTH_FORMAT:
            raise DataError(
                f"{path} was written by another version of edgecil (format {manifest['format']}, "
                f"this version reads {TRUTH_FORMAT})."
            )
        counts, _ = read_npz(path, names)
        tables: list[TruthTable] = []
        for entry in manifest["tables"]:
            table = _read_table(entry, counts, path)
            if table.kind == "structured":  # it follows the table of the same classes
                tables[-1] = replace(tables[-1], structured=table)
            else:
                tables.append(table)
        return tables
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise DataError(f"{path} is damaged: {error}.") from error


def _read_table(entry: dict[str, Any], arrays: dict[str, NDArray[Any]], path: Path) -> TruthTable:
    space = SequenceSpace(entry["sizes"])
    counted = {arrays[f"{entry['name']}/{method}"].shape[-1] for method in entry["methods"]}
    if entry["kind"] == "enumerated":
        if counted - {space.size}:
            raise DataError(f"{path} is damaged: {entry['name']} does not have all its orders.")
        sequences = tuple(space.enumerate())
    else:
        orders = arrays[f"{entry['name']}/orders"].tolist()
        sequences = tuple(ClassSequence.from_order(order, space.sizes) for order in orders)
    results: dict[str, TruthCounts | TruthValues] = {}
    for method, about in entry["methods"].items():
        correct = arrays[f"{entry['name']}/{method}"]
        runs = len(about["seeds"]), len(about["classifiers"])
        expected = (*runs, space.tasks, space.classes, len(sequences))
        if correct.shape != expected or _digest(correct) != about["sha256"]:
            raise DataError(
                f"{path} is damaged: the counts of {method} on {entry['name']} do not have the "
                "checksum in the manifest."
            )
        seeds, classifiers = tuple(about["seeds"]), tuple(about["classifiers"])
        totals = np.array(entry["totals"], dtype=np.int64)
        results[method] = TruthCounts(seeds, classifiers, correct, totals)
    return TruthTable(
        entry["name"],
        entry["dataset"],
        None if entry["classes"] is None else tuple(entry["classes"]),
        entry["kind"],
        sequences,
        results,
        {method: about["provenance"] for method, about in entry["methods"].items()},
        tuple(entry.get("labels", ())),
    )


def _narrowed(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return integers >= 0 in the smallest type that can have them."""
    largest = int(numbers.max(initial=0))
    return np.ascontiguousarray(numbers, dtype=np.min_scalar_type(largest))


def _digest(counts: NDArray[Any]) -> str:
    return hashlib.sha256(np.ascontiguousarray(counts).tobytes()).hexdigest()
