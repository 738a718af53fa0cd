"""`compare`: methods on the same class orders; which one is better, by how much, how surely."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, overload

from typing_extensions import Unpack

from edgecil.analysis.pair_verdicts import (
    Comparison,
    OverallComparison,
    Verdict,
    compare_tables,
)
from edgecil.analysis.pairs import published_names
from edgecil.analysis.plausibility import warn_of_failures
from edgecil.analysis.plots import COMPARISON_HEIGHT, draw_comparisons
from edgecil.analysis.profiles import PerformanceProfile, profile_methods
from edgecil.analysis.sources import CollectedRuns, Source, collect_runs, join_sources
from edgecil.analysis.standings import ComparedGroup, Standing, group_comparisons
from edgecil.analysis.terms import IntervalKind, Terms
from edgecil.errors import UnknownNameError, UsageError, name_parameters, unknown_name_error
from edgecil.hints import Level
from edgecil.io.json import checked_json, read_typed_json, save_json
from edgecil.io.notebook import (
    WithPandas,
    html_figure,
    html_table,
    new_axes,
    save_figure,
    show_printed,
)
from edgecil.options import checked
from edgecil.runs.published import PublishedResult
from edgecil.runs.reading.reading_options import ReadingOptions
from edgecil.statistics.verdicts import Grade
from edgecil.wording.comparison_sentences import describe_comparisons
from edgecil.wording.published_sentences import describe_published

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

LATEX_ROWS = "edgecil.report.pair_tables:latex_rows"
"""Function that prints a comparison, of a station that builds on this one."""

# Name and version of the JSON form of a comparison.
SCHEMA = "edgecil.comparison/1"


@dataclass(frozen=True, eq=False, repr=False)
class MethodComparison(WithPandas, Sequence[Comparison]):
    """All pairs of methods: a sequence of comparisons, which names of methods find, too.

    `comparison["a", "b"]` is the comparison of two methods, whatever their order: on the dataset,
    or over all datasets if there are several, where `comparison["cub", "a", "b"]` is that on one.
    `comparison["a"]` has all comparisons of one method. Where two methods alone were compared, the
    whole has the attributes of their comparison: `comparison.better`, `comparison.difference`, …

    Attributes:
        source: the experiments or files, as they were given.
        metric: that was compared.
        pairs: by dataset, in the order of the methods.
        over_datasets: pairs over all datasets; empty with one dataset.
        profiles: performance profiles by method, of methods that ran every dataset; empty with
            one dataset.
        notes: a sentence for each method and protocol with orders that have no result, and on the
            table.
        baseline: the method that the others are compared with first; None for the leader.
        reading: how the sources were understood, in one line.
    """

    source: str
    metric: str
    pairs: tuple[Comparison, ...]
    over_datasets: tuple[OverallComparison, ...] = ()
    profiles: dict[str, PerformanceProfile] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    baseline: str | None = None
    reading: str = ""

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that were compared."""
        names = [name for pair in self.pairs for name in (pair.ahead, pair.behind)]
        return tuple(dict.fromkeys(sorted(names)))

    @property
    def by_dataset(self) -> dict[str, tuple[Comparison, ...]]:
        """The comparisons on each dataset, by its name."""
        groups: dict[str, list[Comparison]] = {}
        for pair in self.pairs:
            groups.setdefault(pair.dataset, []).append(pair)
        return {dataset: tuple(pairs) for dataset, pairs in groups.items()}

    @property
    def compared_groups(self) -> tuple[ComparedGroup, ...]:
        """The pairs over all datasets and on each, and how the leader or the baseline stands."""
        return group_comparisons(self.by_dataset, self.over_datasets, self.baseline)

    @property
    def standing(self) -> Standing:
        """The leader, or the baseline, against all others; over all datasets if several."""
        group = self.compared_groups[0]
        return group.against or group.leader

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The pairs over all datasets if there are several, else those on the dataset."""
        return self.over_datasets or self.pairs

    @property
    def verdict(self) -> Verdict:
        """What is said about the two methods, where no others were compared."""
        if len(self.verdicts) == 1:
            return self.verdicts[0]
        first = self.verdicts[0]
        raise UsageError(
            f"There are {len(self.verdicts)} pairs; choose one first, as in "
            f"comparison[{first.ahead!r}, {first.behind!r}]."
        )

    @property
    def better(self) -> str | None:
        """The better one of two methods; None where they cannot be told apart."""
        return self.verdict.better

    @property
    def worse(self) -> str | None:
        """The other one; None there, too."""
        return self.verdict.worse

    @property
    def difference(self) -> float:
        """By how much one of two methods is ahead, at least 0."""
        return self.verdict.difference

    @property
    def low(self) -> float | None:
        """The lower end of the interval of the difference."""
        return self.verdict.low

    @property
    def high(self) -> float | None:
        """The upper end of the interval of the difference."""
        return self.verdict.high

    @property
    def probability(self) -> float | None:
        """The probability that the method that is ahead is better on average.

        That it is better in a new run, which the sentence says, is `new_run_probability`.
        """
        return self.verdict.probability

    @property
    def new_run_probability(self) -> float | None:
        """The probability that the method that is ahead is better in a new run.

        It is the one that the sentence says; None without an interval, and over several datasets.
        """
        return getattr(self.verdict, "new_run_probability", None)

    @property
    def grade(self) -> Grade:
        """How sure it is which of two methods is better."""
        return self.verdict.grade

    @property
    def p(self) -> float | None:
        """Two-sided, of no mean difference."""
        return self.verdict.p

    @overload
    def __getitem__(self, index: int) -> Comparison: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Comparison, ...]: ...

    @overload
    def __getitem__(self, index: str | tuple[str, ...]) -> Any: ...

    def __getitem__(self, index: int | slice | str | tuple[str, ...]) -> Any:
        if isinstance(index, (int, slice)):
            return self.pairs[index]
        if isinstance(index, str):
            return self._about(index)
        *datasets, first, second = index if len(index) > 1 else (*index, "")
        verdicts: Sequence[Verdict] = self.verdicts
        if datasets:
            verdicts = self.by_dataset.get(datasets[0], ())
        for verdict in verdicts:
            if verdict.methods == {first, second}:
                return verdict
        for name in (first, second):
            if name not in self.methods:
                raise UnknownNameError(*unknown_name_error("method", name, self.methods).args)
        if datasets and datasets[0] not in self.by_dataset:
            error = unknown_name_error("dataset", datasets[0], self.by_dataset)
            raise UnknownNameError(*error.args)
        raise UnknownNameError(f"{first!r} and {second!r} were not compared: no run in common.")

    def _about(self, name: str) -> tuple[Verdict, ...]:
        """Return the verdicts on one method, or on one dataset."""
        if name in self.methods:
            return tuple(verdict for verdict in self.verdicts if name in verdict.methods)
        if name in self.by_dataset:
            return self.by_dataset[name]
        raise UnknownNameError(*unknown_name_error("method", name, self.methods).args)

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.pairs)

    def __contains__(self, item: object) -> bool:
        """Whether a pair of names, the name of a method or a comparison is in it."""
        if isinstance(item, tuple):
            return any(pair.methods == set(item) for pair in self.pairs)
        return item in self.methods or any(item is pair for pair in self.pairs)

    def plot(self, path: str | Path | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw the difference of each pair with its interval; at 0 both methods are equal.

        Args:
            path: the file to save the figure to, such as `figure.png` or `figure.pdf`.
            ax: the axes to draw on; new ones by default.
        """
        verdicts = self._drawn()
        if ax is None:
            ax = new_axes((7.0, 0.8 + COMPARISON_HEIGHT * len(verdicts)))
        axes = draw_comparisons(verdicts, ax)
        if path is not None:
            save_figure(axes, path)
        return axes

    def _drawn(self) -> list[Verdict]:
        """Return what is drawn: all pairs of few, else the leader or baseline against the rest."""
        if self.over_datasets:
            return [*self.standing.against, *(self.pairs if len(self.methods) == 2 else ())]
        return [*self.pairs] if len(self.methods) < 4 else [*self.standing.against]

    def to_pandas(self) -> pandas.DataFrame:
        """Return one row for each pair of methods and dataset."""
        import pandas

        return pandas.DataFrame([vars(pair) for pair in self.pairs])

    def to_latex(self) -> str:
        """Return a header and the row of each pair in LaTeX."""
        lines: list[str] = resolve_name(LATEX_ROWS)(self.pairs)
        return "\n".join(lines)

    def save(self, path: str | Path) -> None:
        """Write the comparison as a JSON file that :meth:`load` reads."""
        save_json(path, checked_json(self, SCHEMA))

    @classmethod
    def load(cls, path: str | Path) -> MethodComparison:
        """Return the comparison in a JSON file that :meth:`save` wrote."""
        return read_typed_json(path, cls, SCHEMA)

    def __repr__(self) -> str:
        first, *_ = describe_comparisons(self.compared_groups)
        return f"<Comparison of {self.source}: {first}>"

    def __str__(self) -> str:
        """Return who is better, a line each, and what limits it."""
        sentences = describe_comparisons(self.compared_groups)
        reading = [self.reading] if self.reading else []
        notes = map(name_parameters, self.notes)
        return "\n".join(dict.fromkeys([*reading, *sentences, *notes]))

    _repr_pretty_ = show_printed

    def _repr_html_(self) -> str:
        text = "".join(f"<p>{html.escape(line)}</p>" for line in str(self).splitlines())
        rows: list[tuple[str, ...]] = [
            ("ahead", "behind", "difference", "low", "high", "p", "grade")
        ]
        for verdict in self._drawn():
            numbers = (verdict.difference, verdict.low, verdict.high)
            cells = ["–" if number is None else f"{number:.2f}" for number in numbers]
            cells.append("–" if verdict.p is None else f"{verdict.p:.4f}")
            rows.append((verdict.ahead, verdict.behind, *cells, verdict.grade))
        size = (7.0, 0.8 + COMPARISON_HEIGHT * (len(rows) - 1))
        figure = html_figure(lambda axes: self.plot(ax=axes), "differences of methods", size)
        return text + html_table(rows) + figure


@checked
def compare(
    source: Source | Sequence[Source],
    *more: Source,
    method: Sequence[str] | str | None = None,
    metric: str | None = None,
    classifier: str | None = None,
    level: Level | None = None,
    interval: IntervalKind | None = None,
    anytime: bool = False,
    **reading: Unpack[ReadingOptions],
) -> MethodComparison:
    """Compare methods on the class orders, and the training seeds, that they share.

    Args:
        source: experiment directories and CSV files. Runs on the same dataset are joined, so that
            methods may come from different sources. In Python also experiments, DataFrames and
            accuracy tables.
        more: further sources.
        method: the methods to compare; all by default.
        metric: metric to compare; by default the experiment's.
        classifier: classifier of the methods, such as `nme`; each method's main one by default.
        level: probability with which an interval contains what it is about; 0.95 by default.
        interval: `t` for Student's (or Welch's) interval whatever the spread is; by default the
            measured model's, which is nearly always the same.
        anytime: whether verdicts and intervals stay valid if one compares again after every run. By
            default they are for a number of runs that was chosen beforehand.
        reading: see :class:`~edgecil.runs.reading.reading_options.ReadingOptions`.
    """
    collected = collect_runs(
        join_sources(source, more),
        metric=metric,
        classifier=classifier,
        published_alone=True,
        **reading,
    )
    baseline = reading.get("baseline")
    published = [published_names(part.table, part.published) for part in collected.datasets]
    compared = _choose_methods(collected, published, method, baseline)
    terms = Terms.of(level=level, interval=interval, anytime=anytime)
    tables = [part.table for part in collected.datasets]
    judged = compare_tables(tables, compared, terms, published)
    pairs = tuple(pair for pairs in judged.by_table for pair in pairs)
    if not pairs:
        raise UsageError(
            "A comparison requires two methods that ran the same class orders. "
            f"Got {', '.join(compared)}, without a common order. "
            "Train both on the same protocol with the same order seed."
        )
    notes = [note for part in collected.datasets for note in part.notes]
    for table, results in zip(tables, published, strict=True):
        for name in compared:
            if name in table.methods:
                failures = warn_of_failures(table, name, None)
                notes += [f"{name}, {failure}" for failure in failures]
            elif name in results:
                notes.append(describe_published(name, results[name]))
    return MethodComparison(
        ", ".join(collected.source_names),
        collected.metric,
        pairs,
        judged.over_datasets,
        profile_methods(tables, compared, terms),
        tuple(notes),
        baseline,
        collected.reading.line,
    )


def _choose_methods(
    collected: CollectedRuns,
    published: Sequence[Mapping[str, PublishedResult]],
    method: Sequence[str] | str | None,
    baseline: str | None,
) -> tuple[str, ...]:
    """Return the methods to compare, at least two; published ones come last."""
    names = [name for part in collected.datasets for name in part.table.methods]
    available = dict.fromkeys([*names, *(name for results in published for name in results)])
    if isinstance(method, str):
        method = [name.strip() for name in method.split(",")]
    chosen = dict.fromkeys(method or available)
    for name in chosen:
        if name not in available:
            raise unknown_name_error("method", name, available)
    if baseline is not None and baseline not in available:
        raise unknown_name_error("baseline", baseline, available)
    if baseline is not None:
        chosen.setdefault(baseline)
    if len(chosen) < 2:
        sources = collected.source_names
        twice = [f", twice from {name}" for name in sources if sources.count(name) > 1]
        raise UsageError(
            "A comparison requires at least two methods. "
            f"Got {', '.join(chosen)} alone{twice[0] if twice else ''}."
        )
    return tuple(chosen)
