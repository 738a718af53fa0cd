"""An experiment: a directory with results, opened for reading."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import numpy as np

from edgecil.entries import Entries
from edgecil.errors import DataError, EdgecilError, unknown_name_error
from edgecil.experiments.chosen_similarity import note_sources, stored_similarity
from edgecil.experiments.config import ExperimentConfig
from edgecil.experiments.config_values import build_config
from edgecil.experiments.goal_status import GoalStatus
from edgecil.experiments.method_runs import MethodRuns, describe_range
from edgecil.experiments.plan import Node
from edgecil.experiments.results import RunResult, Summary
from edgecil.experiments.run_values import class_values, metric_values
from edgecil.experiments.status import (
    Failure,
    LabelledRun,
    Status,
    labelled_runs,
    read_status,
    stored_failures,
)
from edgecil.experiments.store import NoExperimentError, StoreReader
from edgecil.io.arrays import Floats
from edgecil.io.directory import check_path
from edgecil.io.json import to_plain
from edgecil.io.notebook import WithPandas, html_table
from edgecil.runs.identity import MACHINE, ExperimentRecord, Identity, digest_of, meaning
from edgecil.runs.metrics import DEFAULT_METRIC, METRICS
from edgecil.runs.run_table import FAILED, FINISHED, PENDING, Runs
from edgecil.runs.training_seeds import FROM_LOGS, SEEDS, repeat_of
from edgecil.sequences.protocols import REPEATS, LabelledSequence, find_protocol
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.task_orders import TaskOrderSpace, find_task_orders
from edgecil.similarity import Similarity

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

    from edgecil.analysis.answers import Analysis
    from edgecil.analysis.comparison import MethodComparison
    from edgecil.analysis.next_runs import NextRuns
    from edgecil.report.write import Report


MOST_READ = 1_000
"""Runs whose accuracies the repr of an experiment reads."""
ANALYZE = "edgecil.analysis.analysis:analyze"
COMPARE = "edgecil.analysis.comparison:compare"
NEXT_RUNS = "edgecil.analysis.next_runs:next_runs"
WRITE_REPORT = "edgecil.report.write:write_report"
"""Functions that judge an experiment, of stations that build on this one."""


@dataclass(frozen=True, eq=False, repr=False)
class Experiment(WithPandas, Entries[MethodRuns]):
    """A directory with results, by method. Opening and reading it writes nothing.

    `experiment["icarl"]` has the runs of a method, `list(experiment)` names the methods.

    Every call reads the directory as it is at that moment, so that an experiment can be inspected
    while it runs; all calls of a :meth:`snapshot` see the same moment.

    Attributes:
        directory: where the results are.
        summary: the work done by the call of `run` that returned this object; None if it was
            opened.
        goal: the outcome of `until`; None without it.
        renamed: by stored name of a method, the name under which its runs are shown.
    """

    directory: Path
    summary: Summary | None = None
    goal: GoalStatus | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)
    _moment: StoreReader | None = None

    _kind = "method"

    def __post_init__(self) -> None:
        check_path(self.directory)
        object.__setattr__(self, "directory", Path(self.directory))

    @classmethod
    def open(cls, directory: str | Path) -> Experiment:
        """Return the experiment in a directory.

        Args:
            directory: the experiment's directory.
        """
        check_path(directory)
        path = Path(directory)
        if not path.is_dir():
            raise DataError(f"There is no directory {path}; give an experiment directory.")
        with StoreReader(path):
            return cls(path)

    def record(self) -> ExperimentRecord:
        """Return its configurations and what determines its results, as plain values."""
        configs = tuple(to_plain(config) for config in self.configs)
        return ExperimentRecord(str(self.directory), configs, Identity.of(self.identity))

    def snapshot(self) -> Experiment:
        """Return the experiment as it is now, read at once."""
        if self._moment is not None:
            return self
        with StoreReader(self.directory) as store:
            store.read_all()
            return replace(self, _moment=store)

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that determines the results: data, methods, versions."""
        with self._reading() as store:
            return store.identity()

    @property
    def machines(self) -> list[dict[str, str]]:
        """Versions and processors of the machines that trained, each different machine once."""
        with self._reading() as store:
            stored = store.identity()
            differences = store.worker_differences()
        usual = {name: str(stored[name]) for name in MACHINE if name in stored}
        differing = [
            {name: text.partition(" instead of ")[0] for name, text in difference.items()}
            for difference in differences
        ]
        return [usual, *({**usual, **other} for other in differing)]

    @property
    def configs(self) -> tuple[ExperimentConfig, ...]:
        """The distinct configurations of all calls of `run`, in order."""
        with self._reading() as store:
            return tuple(build_config(config) for config in store.configs())

    @property
    def config(self) -> ExperimentConfig | None:
        """The configuration that was added last, but for repeats; None if another tool trained."""
        configs = self.configs
        without_repeats = [config for config in configs if REPEATS not in config.sequences]
        last = without_repeats or configs
        return last[-1] if last else None

    @property
    def dataset(self) -> str:
        """The dataset's name."""
        return str(self.identity.get("dataset", {}).get("name", ""))

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the N classes; class i of a sequence is `names[i]`. None if unknown."""
        names = self.identity.get("dataset", {}).get("classes")
        return None if names is None else tuple(names)

    @property
    def task_orders(self) -> TaskOrderSpace | None:
        """The orders of the tasks that were given; None where classes are arranged."""
        return find_task_orders(self.identity)

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that are trained, in the order in which they were added."""
        stored = [key.removeprefix("method ") for key in self.identity if key.startswith("method ")]
        return tuple(dict.fromkeys(self.renamed.get(name, name) for name in stored))

    def _entries(self) -> Mapping[str, MethodRuns]:
        results = self.results()
        return {
            method: MethodRuns(
                method, tuple(run for run in results if run.method == method), self.analyze
            )
            for method in self.methods
        }

    def __iter__(self) -> Iterator[str]:
        return iter(self.methods)

    def __len__(self) -> int:
        return len(self.methods)

    def __contains__(self, name: object) -> bool:
        return name in self.methods

    def analyze(self, **options: Any) -> Analysis:
        """Return what the results say, as :func:`edgecil.analyze` with these options does."""
        analysis: Analysis = resolve_name(ANALYZE)(self, **options)
        return analysis

    def compare(self, **options: Any) -> MethodComparison:
        """Return which methods are better, as :func:`edgecil.compare` with these options does."""
        comparison: MethodComparison = resolve_name(COMPARE)(self, **options)
        return comparison

    def next_runs(self, **options: Any) -> NextRuns:
        """Return what to run next, as :func:`edgecil.next_runs` with these options does."""
        advice: NextRuns = resolve_name(NEXT_RUNS)(self, **options)
        return advice

    def write_report(self, out: str | Path | None = None, **options: Any) -> Report:
        """Write the page of the results, as :func:`edgecil.write_report` does."""
        report: Report = resolve_name(WRITE_REPORT)(self, out=out, **options)
        return report

    def plot(self, path: str | Path | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw the claims about each method, as the plot of its analysis does."""
        return self.analyze().plot(path, ax=ax)

    def results(self) -> list[RunResult]:
        """Return every finished run."""
        with self._reading() as store:
            runs = store.runs().values()
        if not self.renamed:
            return list(runs)
        return [replace(run, method=self.renamed.get(run.method, run.method)) for run in runs]

    def training_seconds(self) -> dict[str, float]:
        """Return seconds of training and testing by method; a shared task counts once."""
        with self.snapshot()._reading() as store:
            seconds = store.once("seconds", store.training_seconds)
        totals: dict[str, float] = {}
        for stored, of_method in seconds.items():
            method = self.renamed.get(stored, stored)
            totals[method] = totals.get(method, 0.0) + of_method
        return totals

    def sequences(self) -> dict[str, list[LabelledSequence]]:
        """Return the labelled sequences of every protocol."""
        with self._reading() as store:
            return store.sequences()

    def first_orders(self, count: int) -> tuple[ClassSequence, ...]:
        """Return the first orders of the protocol that was run first, whatever was run since."""
        first = self.sequences()[self.configs[0].protocol_names[0]]
        return tuple(dict.fromkeys(run.sequence for run in first))[:count]

    def failures(self) -> list[Failure]:
        """Return every task training that failed and has not succeeded since."""
        with self._reading() as store:
            return stored_failures(store)

    def table(self, metric: str = DEFAULT_METRIC, classifier: str | None = None) -> Runs:
        """Return one metric of every run; a run that failed or is unfinished has no value.

        Args:
            metric: one of `edgecil.runs.METRICS`.
            classifier: the classifier to read; the method's main one by default. Methods without
                it are left out.
        """
        chosen = METRICS.resolve(metric)
        with self.snapshot()._reading() as store:
            shown_names = sorted(self.renamed.items())
            rows, table = store.once(
                f"table of {classifier} with {shown_names}",
                lambda: self._read_rows(store, classifier),
            )
        values = metric_values([result for *_, result in rows], chosen, classifier)
        by_class = None
        if METRICS[chosen].of_classes and table.arranges == "classes":
            # It is the same for every metric.
            name = f"final accuracy by class, {classifier}"
            by_class = store.once(name, lambda: _final_by_class(rows, classifier))
        return replace(table, metric=chosen, values=values, by_class=by_class)

    def _read_rows(
        self, store: StoreReader, classifier: str | None
    ) -> tuple[list[LabelledRun], Runs]:
        """Return every run of the methods with a classifier, and the table without values."""
        stored = store.recorded_identity()
        rows = labelled_runs(store)
        failed = set(store.failures())
        if not rows:
            raise DataError(f"{self.directory} contains no results yet.")
        if classifier is not None:
            rows = _with_classifier(rows, classifier)
        methods, seeds, protocols, labelled, _ = zip(*rows, strict=True)
        sequences = [run.sequence for run in labelled]
        repeats = None
        if stored.get(SEEDS) != FROM_LOGS:
            repeats = [
                repeat_of(sequence.tasks, seed)
                for sequence, seed in zip(sequences, seeds, strict=True)
            ]
        task_orders = find_task_orders(stored)
        if task_orders is not None:
            sequences = [task_orders.collapse(sequence) for sequence in sequences]
        identity = stored.get("dataset", {})
        settings = {method: meaning(stored, method) for method in dict.fromkeys(methods)}
        digests = {method: digest_of(of_method) for method, of_method in settings.items()}
        table = Runs.of(
            [self.renamed.get(method, method) for method in methods],
            sequences,
            np.full(len(rows), np.nan),
            protocol=protocols,
            label=[run.label for run in labelled],
            seed=seeds,
            repeat=repeats,
            status=[_status(row, failed) for row in rows],
            identity=[digests[method] for method in methods],
            settings={digests[method]: of_method for method, of_method in settings.items()},
            dataset=identity.get("name", ""),
            names=_arranged_names(identity, task_orders),
            arranges="classes" if task_orders is None else "tasks",
        )
        return rows, table

    def status(self) -> Status:
        """Return how far the experiment is, by method and protocol, and what is being trained."""
        with self.snapshot()._reading() as store:
            return read_status(store, self.configs)

    def similarity(self) -> Similarity:
        """Return the similarity between the N classes from which the sequences were chosen.

        `run` saves it in the directory. Where no protocol required one, it is computed from the
        class names.
        """
        return stored_similarity(self.directory, self.dataset, self.names)

    def notes(self) -> list[str]:
        """Return one sentence if calls of `run` described another similarity than this one."""
        return note_sources(self.directory, self.configs)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a DataFrame with a row per run and a column per metric (of the main classifier).

        The columns are those that `read_runs` reads, and the other metrics.
        """
        with self.snapshot()._reading() as store:
            results = [result for *_, result in labelled_runs(store)]
        frame = self.table().to_pandas()
        for name in METRICS:
            frame[name] = [None if result is None else result.metric(name) for result in results]
        frame["seconds"] = [None if result is None else result.seconds for result in results]
        return frame

    def __repr__(self) -> str:
        try:
            orders, counts = [*self.sequences().values()], self._run_counts()
            table = self.table() if 0 < sum(counts.values()) <= MOST_READ else None
            dataset = self.dataset
        except EdgecilError:
            return f"<Experiment {str(self.directory)!r}, which cannot be read>"
        methods = []
        for method in counts:
            values = np.array([]) if table is None else table.values[table.rows(method)]
            methods.append(" ".join(filter(None, [method, describe_range(values)])))
        first, runs = orders[0][0].sequence if orders else None, sum(counts.values())
        classes = "" if first is None else f"{len(first.order)} classes in {len(first)} tasks"
        parts = [dataset, classes, ", ".join(methods), f"{runs} run{'s' * (runs != 1)}"]
        return f"<Experiment {str(self.directory)!r}: {'; '.join(filter(None, parts))}>"

    def __str__(self) -> str:
        """Return what it holds, and the runs of each method, a line each."""
        return "\n".join([repr(self)[1:-1], *map(str, self.values())])

    def _run_counts(self) -> dict[str, int]:
        """Return the number of finished runs of each method."""
        with self._reading() as store:
            counts = store.run_counts()
        return {self.renamed.get(method, method): count for method, count in counts.items()}

    def _repr_html_(self) -> str:
        title = f"<p>{html.escape(repr(self)[1:-1])}</p>"
        try:
            table = self.table()
        except EdgecilError:
            return title
        header = ("method", "protocol", "orders", "mean", "std", "min", "max")
        rows: list[tuple[str, ...]] = [header]
        for method in table.methods:
            for protocol in table.protocols:
                values = table.orders(method, protocol).accuracies
                if len(values):
                    numbers = (values.mean(), values.std(), values.min(), values.max())
                    cells = (f"{number:.2f}" for number in numbers)
                    rows.append((method, protocol, str(len(values)), *cells))
        return title + html_table(rows)

    def _reading(self) -> StoreReader:
        return self._moment or StoreReader(self.directory)


class LearnerTraceback(Exception):  # noqa: N818
    """The traceback of a training, which Python shows beside the main process's own."""


class TrainingFailedError(EdgecilError):
    """Some task trainings failed; the results of all others are stored.

    Attributes:
        experiment: with the results and the failures.
    """

    def __init__(self, experiment: Experiment, failures: Sequence[Failure]) -> None:
        self.experiment = experiment
        self.__cause__ = LearnerTraceback(f"\n{failures[0].trace}")
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        stored = "All other results are" if experiment.results() else "This is"
        super().__init__(
            f"A training failed{more}: {str(failures[0]).rstrip('.')}. {stored} stored in "
            f"{experiment.directory}; run the experiment again with the same options to retry."
        )


def stored_answers(directory: str | Path) -> dict[str, dict[str, ClassSequence]]:
    """Return sequences that language models proposed in earlier calls, by protocol and label."""
    try:
        with StoreReader(directory) as store:
            sequences = store.sequences()
    except NoExperimentError:
        return {}
    return {
        name: {run.label: run.sequence for run in runs}
        for name, runs in sequences.items()
        if find_protocol(name).asks_model
    }


def _status(row: LabelledRun, failed: set[Node]) -> int:
    """Return the number of a run's status: one that is neither finished nor failed is pending."""
    method, seed, _, labelled, result = row
    if result is not None:
        return FINISHED
    path = Node(method, seed, labelled.sequence.tasks).path
    return PENDING if failed.isdisjoint(path) else FAILED


def _final_by_class(rows: Sequence[LabelledRun], classifier: str | None) -> Floats | None:
    """Return the final accuracy of every class in every run, (n, N); None if none is known."""
    by_class = np.full((len(rows), len(rows[0][3].sequence.order)), np.nan)
    final = class_values([result for *_, result in rows], DEFAULT_METRIC, classifier)
    for place, of_classes in enumerate(final):
        if of_classes is not None:
            by_class[place] = of_classes
    return None if np.isnan(by_class).all() else by_class


def _arranged_names(
    identity: Mapping[str, Any], task_orders: TaskOrderSpace | None
) -> tuple[str, ...] | None:
    """Return the names of what an order arranges: given tasks, or classes if these are known."""
    if task_orders is not None:
        return task_orders.names
    return tuple(identity["classes"]) if "classes" in identity else None


def _with_classifier(rows: Sequence[LabelledRun], classifier: str) -> list[LabelledRun]:
    """Return the runs of the methods that have a classifier."""
    available: dict[str, tuple[str, ...]] = {}
    for method, *_, result in rows:
        if result is not None:
            available[method] = result.classifiers
    if not any(classifier in names for names in available.values()):
        names = dict.fromkeys(name for of_method in available.values() for name in of_method)
        raise unknown_name_error("classifier", classifier, list(names))
    return [row for row in rows if classifier in available.get(row[0], ())]
