"""LaTeX tables in the layout of the EDGE paper, from any analysis.

`enumerable` is laid out like its tables 1 and 2 (true range in grey, the protocols below it, JSD
and Wasserstein distance), `classic` like its large tables in the appendix (two rows per method),
`ranking` like its ranking tables. Numbers are computed from the runs without any correction;
distances are between all orders and the normal distribution with the runs' mean and population
standard deviation.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from edgecil.analysis.analysis import as_analysis
from edgecil.analysis.answers import Analysis
from edgecil.analysis.samples import Truth, find_truth
from edgecil.analysis.sources import Source
from edgecil.errors import DataError, UsageError, format_value
from edgecil.io.arrays import Floats
from edgecil.io.files import check_new, replace_file
from edgecil.options import checked
from edgecil.paper.published_summaries import Ranking, rank_numbers
from edgecil.report.latex import (
    LATEX_BOLD,
    escape_latex,
    latex_row,
    latex_spans,
    latex_table,
    latex_tabular,
)
from edgecil.runs.metrics import find_metric
from edgecil.runs.run_table import Runs
from edgecil.sequences.protocols import origin_sentences
from edgecil.statistics.distances import Target, jensen_shannon, wasserstein
from edgecil.statistics.distributions import Distribution
from edgecil.wording.metric_words import metric_words

_PACKAGES = r"% \usepackage{booktabs,multirow,graphicx} \usepackage[table]{xcolor}"
_SHORT = {
    "rs": "RS",
    "random": "RS",
    "edge": "EDGE",
    "edge-released": "EDGE",
    "adversarial": "AS",
    "maxcover": "MS",
}
_CRITERIA = {"lower": "Lower bound", "upper": "Upper bound", "stability": "Stability"}
_MIN, _MAX = r"$\min_{\mathcal{A}}$", r"$\max_{\mathcal{A}}$"
_MEAN = r"$\mu_{\mathcal{A}} \pm \sigma_{\mathcal{A}}$"
_ABSENT = "--"
_TRUE = "Real"
_DEFAULT_PROTOCOLS = (("rs", "random"), ("edge", "edge-released"))  # with an alternative
_TABLES = ("classic", "enumerable", "ranking")


@checked
def paper_tables(
    source: Analysis | Source | Sequence[Source],
    *,
    out: str | Path | None = None,
    protocol: Sequence[str] | None = None,
    wasserstein_order: int = 1,
    bits: bool = False,
    metric: str | None = None,
    classifier: str | None = None,
    overwrite: bool = False,
) -> dict[str, str]:
    """Return LaTeX tables in the layout of the paper: `enumerable`, `classic` and `ranking`.

    Tables that the runs cannot fill are left out: `enumerable` requires the accuracy of all orders,
    `ranking` two methods.

    Args:
        source: anything that :func:`edgecil.analyze` accepts, or an :class:`Analysis`.
        out: a folder to which each table is also written, as `paper-<name>.tex`.
        protocol: the protocols to compare, in this order; by default `rs` (or `random`) and `edge`
            (or `edge-released`).
        wasserstein_order: 1 for the Wasserstein distance W₁, 2 for W₂.
        bits: give the JSD in bits (at most 1) instead of nats (at most ln 2).
        metric: as for :func:`edgecil.analyze`; an :class:`Analysis` already has it.
        classifier: as for :func:`edgecil.analyze`.
        overwrite: replace files of tables that exist.

    Returns:
        The LaTeX text of each table by its name.
    """
    files: dict[str, Path] = {}
    if out is not None:
        files = {name: Path(out) / f"paper-{name}.tex" for name in _TABLES}
    for path in files.values():
        check_new(path, overwrite=overwrite)
    if wasserstein_order not in (1, 2):
        raise UsageError(
            f"`wasserstein_order` must be 1 (W₁) or 2 (W₂). Got {format_value(wasserstein_order)}."
        )
    analysis = as_analysis(source, metric=metric, classifier=classifier)
    compared = compared_protocols(analysis, protocol)
    sources: dict[str, Mapping[str, Any]] = {}
    runs: dict[str, Runs] = {}
    truths_of_dataset: dict[str, dict[str, Truth | None]] = {}
    for dataset in analysis.datasets:
        sources |= dataset.provenance
        table = dataset.table
        runs[dataset.dataset] = table
        truths_of_dataset[dataset.dataset] = {
            name: find_truth(table, name) for name in table.methods
        }
    origins = origin_sentences({name: sources[name] for name in compared if name in sources})
    layout = _Layout(
        runs,
        truths_of_dataset,
        compared,
        wasserstein_order,
        bits,
        escape_latex(metric_words(analysis.datasets[0].metric).title),
        escape_latex("".join(f" {sentence}" for sentence in origins)),
    )
    tables = {"classic": layout.classic()}
    if layout.methods_with_truth():
        tables["enumerable"] = layout.enumerable()
    if any(len(truths) > 1 for truths in layout.truths.values()):
        tables["ranking"] = layout.ranking()
    for name, path in files.items():
        if name in tables:
            with replace_file(path) as file:
                file.write(tables[name].encode())
    return tables


def compared_protocols(analysis: Analysis, protocols: Sequence[str] | None) -> tuple[str, ...]:
    """Return the protocols to compare, by default a random one and a constructed one."""
    with_runs = dict.fromkeys(
        chain.from_iterable(dataset.table.protocols for dataset in analysis.datasets)
    )
    compared = protocols
    if compared is None:
        compared = []
        for usual, alternative in _DEFAULT_PROTOCOLS:
            is_alternative = usual not in with_runs and alternative in with_runs
            compared.append(alternative if is_alternative else usual)
    missing = [name for name in compared if name not in with_runs]
    if missing:
        raise DataError(
            f"{analysis.source} has no runs of {', '.join(missing)}; it has {', '.join(with_runs)}."
        )
    return tuple(compared)


@dataclass(frozen=True, eq=False)
class _Layout:
    """The content of the tables, and how it is printed.

    Attributes:
        runs: by dataset.
        truths: by dataset and method; None for a method without a truth.
        protocols: that are compared.
        order: of the Wasserstein distance.
        bits: whether the JSD is in bits.
        metric: its name in captions.
        origins: sentences about the similarity of constructed orders, for captions.
    """

    runs: dict[str, Runs]
    truths: dict[str, dict[str, Truth | None]]
    protocols: tuple[str, ...]
    order: int
    bits: bool
    metric: str
    origins: str

    def methods_with_truth(self) -> list[tuple[str, str, Floats]]:
        """Return dataset, method and all accuracies of each method that has a truth."""
        methods = []
        for dataset, truths in self.truths.items():
            for method, truth in truths.items():
                if truth is not None:
                    methods.append((dataset, method, truth.accuracies))
        return methods

    def numbers(self, dataset: str, method: str, protocol: str) -> dict[str, float]:
        """Return the printed numbers of one method under one protocol; empty without runs."""
        if method not in self.truths[dataset]:
            return {}
        accuracies = self.runs[dataset].orders(method, protocol).accuracies
        if not len(accuracies):
            return {}
        statistics = ("min", "max", "mean", "std")
        numbers = {name: float(getattr(accuracies, name)()) for name in statistics}
        truth = self.truths[dataset][method]
        if truth is not None and protocol not in truth.protocols:
            normal = Distribution.normal(numbers["mean"], numbers["std"])
            nats = jensen_shannon(truth.accuracies, normal)
            numbers["jsd"] = nats / math.log(2.0) if self.bits else nats
            distance = wasserstein if self.order == 1 else wasserstein_2
            numbers["wasserstein"] = distance(truth.accuracies, normal)
        return numbers

    def enumerable(self) -> str:
        """Return a table like the paper's 1 and 2: a column per method, a block per dataset."""
        columns = self.methods_with_truth()
        numbers = {}
        for protocol in self.protocols:
            numbers[protocol] = [
                self.numbers(dataset, method, protocol) for dataset, method, _ in columns
            ]
        rows: list[str] = []
        for title, name in ((_MIN, "min"), (_MAX, "max")):
            true_values = [float(getattr(accuracies, name)()) for _, _, accuracies in columns]
            cells = [title, *(f"{value:.2f}" for value in true_values)]
            rows.append(latex_row(list(map(_grey, cells))))
            rows += [*_compared(numbers, name, true_values), r"\midrule"]
        for name, symbol in (("jsd", "JSD"), ("wasserstein", f"W_{self.order}")):
            rows += [*_compared(numbers, name, [0.0] * len(columns), f"${symbol}$ "), r"\midrule"]
        spans = Counter(dataset for dataset, _, _ in columns)
        head = [
            *latex_spans([*spans.items()]),
            latex_row(["Metric", *(escape_latex(method) for _, method, _ in columns)]),
        ]
        unit = "bits" if self.bits else "nats"
        caption = (
            f"Lowest and highest {self.metric} over all class orders (grey) and over the orders of "
            f"each protocol, in per cent; distances between the runs' normal distribution and the "
            f"truth (JSD in {unit}, $W_{self.order}$ in points). The best are bold.{self.origins}"
        )
        return _float("l" + "c" * len(columns), head, rows[:-1], caption, "enumerable")

    def classic(self) -> str:
        """Return a table like the paper's large ones: a row per method and protocol."""
        rows = []
        for method in dict.fromkeys(chain.from_iterable(self.truths.values())):
            for place, protocol in enumerate(self.protocols):
                name = ""
                if place == 0:
                    name = f"\\multirow{{{len(self.protocols)}}}{{*}}{{{escape_latex(method)}}}"
                cells = [_short(protocol)]
                for dataset in self.runs:
                    cells += _range_cells(self.numbers(dataset, method, protocol))
                if place % 2:
                    cells = list(map(_grey, cells))
                rows.append(latex_row([name, *cells]))
            rows.append(r"\midrule")
        count = len(self.runs)
        head = [
            *latex_spans([(dataset, 3) for dataset in self.runs], start=3),
            latex_row(["Method", "Protocol", *[_MIN, _MAX, _MEAN] * count]),
        ]
        caption = (
            f"Lowest and highest {self.metric} of the class orders of each protocol, mean and "
            f"standard deviation of these, in per cent.{self.origins}"
        )
        return _float("ll" + "ccc" * count, head, rows[:-1], caption, "classic")

    def ranking(self) -> str:
        """Return a table like the paper's ranking tables: true rank, and rank by each protocol."""
        columns: list[dict[str, float]] = []
        dataset_spans, criterion_spans, names = [], [], []
        for dataset, truths in self.truths.items():
            if len(truths) < 2:
                continue
            rankings = self.rankings(dataset)
            dataset_spans.append((dataset, len(_CRITERIA) * len(rankings)))
            for criterion, title in _CRITERIA.items():
                criterion_spans.append((title, len(rankings)))
                names += list(rankings)
                columns += [ranking[criterion] for ranking in rankings.values()]
        rows = []
        for method in dict.fromkeys(chain.from_iterable(columns)):
            texts = [f"{ranks[method]:g}" if method in ranks else _ABSENT for ranks in columns]
            rows.append(latex_row([escape_latex(method), *map(_true_grey, names, texts)]))
        titles = latex_row(["Method", *map(_true_grey, names, names)])
        caption = (
            "Ranks of the methods (1 is best) on their worst and on their best order and by the "
            "standard deviation; the true ranks are grey."
        )
        head = [*latex_spans(dataset_spans), *latex_spans(criterion_spans), titles]
        return _float("l" + "c" * len(columns), head, rows, caption, "ranking")

    def rankings(self, dataset: str) -> dict[str, Ranking]:
        """Rank methods by worst and best order and standard deviation, in truth and by protocol."""
        runs = self.runs[dataset]
        truths = self.truths[dataset]
        accuracies: dict[str, dict[str, Floats]] = {}  # by protocol and method
        true = {name: truth.accuracies for name, truth in truths.items() if truth}
        if len(true) == len(truths):
            accuracies[_TRUE] = true
        for protocol in self.protocols:
            by_method = {name: runs.orders(name, protocol).accuracies for name in truths}
            accuracies[_short(protocol)] = {
                name: values for name, values in by_method.items() if len(values)
            }
        higher_is_better = find_metric(runs.metric).higher_is_better  # forgetting is best if low
        rankings = {}
        for protocol, values_of_method in accuracies.items():
            numbers = {}
            for name, values in values_of_method.items():
                low, high = float(values.min()), float(values.max())
                if not higher_is_better:
                    low, high = -high, -low
                numbers[name] = low, high, float(values.std())
            rankings[protocol] = rank_numbers(numbers)
        return rankings


def _range_cells(numbers: Mapping[str, float]) -> list[str]:
    """Return least and greatest accuracy, and mean ± standard deviation."""
    if not numbers:
        return [_ABSENT] * 3
    spread = f"{numbers['mean']:.2f}$_{{\\pm {numbers['std']:.2f}}}$"
    return [f"{numbers['min']:.2f}", f"{numbers['max']:.2f}", spread]


def _compared(
    numbers: Mapping[str, Sequence[Mapping[str, float]]],
    name: str,
    targets: Sequence[float],
    title: str = "",
) -> list[str]:
    """Return a row per protocol with the numbers nearest to the targets in bold.

    Numbers that are equal as printed count as equal.
    """
    values_of_protocol = []
    for numbers_of_columns in numbers.values():
        row = [column.get(name, math.nan) for column in numbers_of_columns]
        values_of_protocol.append([round(value, 2) for value in row])
    values = np.array(values_of_protocol)
    distance = np.abs(values - targets)
    is_best = distance <= np.fmin.reduce(distance, axis=0) + 1e-9
    rows = []
    for protocol, protocol_values, is_bold in zip(numbers, values, is_best, strict=True):
        cells = [title + _short(protocol)]
        for value, bold in zip(protocol_values, is_bold, strict=True):
            text = _ABSENT if math.isnan(value) else f"{value:.2f}"
            cells.append(LATEX_BOLD.format(text) if bold else text)
        rows.append(latex_row(cells))
    return rows


def _float(columns: str, head: Sequence[str], rows: Sequence[str], caption: str, name: str) -> str:
    """Return a table as wide as the page."""
    *tabular, end = latex_tabular(columns, head, rows)
    scaled = [r"\resizebox{\textwidth}{!}{%", *tabular, f"{end}%", "}"]
    return latex_table(scaled, caption, f"paper-{name}", _PACKAGES)


def _grey(text: str) -> str:
    return f"\\cellcolor{{gray!20}}{text}"


def _true_grey(name: str, text: str) -> str:
    return _grey(text) if name == _TRUE else text


def _short(protocol: str) -> str:
    return _SHORT.get(protocol, escape_latex(protocol))


def wasserstein_2(truth: ArrayLike, estimate: Distribution) -> float:
    """Return W₂ = √∫ (F⁻¹ - G⁻¹)² in points, exactly, between n accuracies and a distribution.

    ∫ (F⁻¹ - G⁻¹)² = E[X²] + E[Y²] - 2 ∫ F⁻¹ G⁻¹; F⁻¹ is constant between levels, where the integral
    of G⁻¹ is a partial mean of the estimate, ∫₀ᵖ G⁻¹ = p q - E[(q - Y)₊] with q = G⁻¹(p).

    >>> round(wasserstein_2([1.0, 3.0], Distribution.of([2.0])), 6)
    1.0
    """
    target = Target.of(truth)
    levels = np.concatenate([[0.0], target.reached])
    inner = levels[1:-1]
    points = estimate.quantile(inner) if inner.size else inner
    partial_means = inner * points - estimate.shortfall(points)
    integrals = np.concatenate([[0.0], partial_means, [estimate.mean]])
    mixed_moment = float(target.values @ np.diff(integrals))
    true_square = float(np.diff(levels) @ target.values**2)
    squares = true_square + estimate.mean**2 + estimate.std**2
    return math.sqrt(max(squares - 2.0 * mixed_moment, 0.0))
