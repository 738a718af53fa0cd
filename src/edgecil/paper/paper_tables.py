"""LaTeX tables in the layout of the EDGE paper, from any analysis.

`enumerable` has the layout of its tables 1 and 2 (true range in grey, the protocols below it, JSD
and Wasserstein distance), `classic` that of its large tables in the appendix (two rows per method),
`ranking` that of its ranking tables. All numbers are of the runs as they are; distances are between
all orders and the normal distribution with the runs' mean and population standard deviation.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from edgecil.analysis.analysis import as_analysis
from edgecil.analysis.answers import Analysis
from edgecil.analysis.samples import Truth, find_truth
from edgecil.analysis.sources import Source
from edgecil.errors import DataError, UsageError, format_value
from edgecil.io.files import check_new, replace_file
from edgecil.options import checked
from edgecil.paper.published_summaries import Ranking, rank_numbers
from edgecil.report.table import escape_latex
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
_OF_THE_PAPER = (("rs", "random"), ("edge", "edge-released"))  # the first that has runs
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
    """LaTeX tables in the layout of the paper: `enumerable`, `classic` and `ranking`.

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
    files = {name: Path(out) / f"paper-{name}.tex" for name in _TABLES} if out is not None else {}
    for path in files.values():
        check_new(path, overwrite=overwrite)
    if wasserstein_order not in (1, 2):
        raise UsageError(
            f"`wasserstein_order` must be 1 (W₁) or 2 (W₂). Got {format_value(wasserstein_order)}."
        )
    analysis = as_analysis(source, metric=metric, classifier=classifier)
    compared = compared_protocols(analysis, protocol)
    sources = {name: source for it in analysis.datasets for name, source in it.provenance.items()}
    origins = origin_sentences({name: sources[name] for name in compared if name in sources})
    layout = _Layout(
        {it.dataset: it.table for it in analysis.datasets},
        {
            it.dataset: {name: find_truth(it.table, name) for name in it.table.methods}
            for it in analysis.datasets
        },
        compared,
        wasserstein_order,
        bits,
        escape_latex(metric_words(analysis.datasets[0].metric).title),
        escape_latex("".join(f" {sentence}" for sentence in origins)),
    )
    tables = {"classic": layout.classic()}
    if any(truth for truths in layout.truths.values() for truth in truths.values()):
        tables["enumerable"] = layout.enumerable()
    if any(len(truths) > 1 for truths in layout.truths.values()):
        tables["ranking"] = layout.ranking()
    for name, path in files.items():
        if name in tables:
            with replace_file(path) as file:
                file.write(tables[name].encode())
    return tables


def compared_protocols(analysis: Analysis, asked: Sequence[str] | None) -> tuple[str, ...]:
    """Return the protocols that are compared; those of the paper if none are asked for."""
    ran = dict.fromkeys(name for it in analysis.datasets for name in it.table.protocols)
    compared = asked
    if compared is None:
        compared = [next((it for it in names if it in ran), names[0]) for names in _OF_THE_PAPER]
    missing = [name for name in compared if name not in ran]
    if missing:
        raise DataError(
            f"{analysis.source} has no runs of {', '.join(missing)}; it has {', '.join(ran)}."
        )
    return tuple(compared)


@dataclass(frozen=True, eq=False)
class _Layout:
    """The runs by dataset, the truth of each method, if it has one, and how both are printed."""

    runs: dict[str, Runs]
    truths: dict[str, dict[str, Truth | None]]
    protocols: tuple[str, ...]
    order: int
    bits: bool
    metric: str
    origins: str

    def numbers(self, dataset: str, method: str, protocol: str) -> dict[str, float]:
        """Return what a table prints of one method under one protocol; nothing without runs."""
        if method not in self.truths[dataset]:
            return {}
        accuracies = self.runs[dataset].orders(method, protocol).accuracies
        if not len(accuracies):
            return {}
        printed = ("min", "max", "mean", "std")
        numbers = {name: float(getattr(accuracies, name)()) for name in printed}
        truth = self.truths[dataset][method]
        if truth is not None and protocol not in truth.protocols:
            normal = Distribution.normal(numbers["mean"], numbers["std"])
            nats = jensen_shannon(truth.accuracies, normal)
            numbers["jsd"] = nats / math.log(2.0) if self.bits else nats
            between = wasserstein if self.order == 1 else wasserstein_2
            numbers["wasserstein"] = between(truth.accuracies, normal)
        return numbers

    def enumerable(self) -> str:
        """The layout of the paper's tables 1 and 2: a column per method, a block per dataset."""
        columns = [
            (dataset, method, truth.accuracies)
            for dataset, truths in self.truths.items()
            for method, truth in truths.items()
            if truth is not None
        ]
        numbers = {
            protocol: [self.numbers(dataset, method, protocol) for dataset, method, _ in columns]
            for protocol in self.protocols
        }
        rows: list[str] = []
        for title, name in ((_MIN, "min"), (_MAX, "max")):
            true = [float(getattr(accuracies, name)()) for _, _, accuracies in columns]
            rows.append(_row([_grey(title), *(_grey(f"{value:.2f}") for value in true)]))
            rows += [*_compared(numbers, name, true), r"\midrule"]
        for name, symbol in (("jsd", "JSD"), ("wasserstein", f"W_{self.order}")):
            rows += [*_compared(numbers, name, [0.0] * len(columns), f"${symbol}$ "), r"\midrule"]
        spans = Counter(dataset for dataset, _, _ in columns)
        head = [
            *_spans([*spans.items()]),
            _row(["Metric", *(escape_latex(method) for _, method, _ in columns)]),
        ]
        unit = "bits" if self.bits else "nats"
        caption = (
            f"Lowest and highest {self.metric} over all class orders (grey) and over the orders of "
            f"each protocol, in per cent; distances between the runs' normal distribution and the "
            f"truth (JSD in {unit}, $W_{self.order}$ in points). The best are bold.{self.origins}"
        )
        return _float("l" + "c" * len(columns), head, rows[:-1], caption, "enumerable")

    def classic(self) -> str:
        """The layout of the paper's large tables: a row per method and protocol."""
        rows = []
        for method in dict.fromkeys(name for truths in self.truths.values() for name in truths):
            for place, protocol in enumerate(self.protocols):
                name = f"\\multirow{{{len(self.protocols)}}}{{*}}{{{escape_latex(method)}}}"
                cells = [name if place == 0 else "", _short(protocol)]
                for dataset in self.runs:
                    own = self.numbers(dataset, method, protocol)
                    cells += [f"{own[it]:.2f}" if own else _ABSENT for it in ("min", "max")]
                    spread = f"{own['mean']:.2f}$_{{\\pm {own['std']:.2f}}}$" if own else _ABSENT
                    cells.append(spread)
                rows.append(_row([cells[0], *map(_grey, cells[1:])] if place % 2 else cells))
            rows.append(r"\midrule")
        count = len(self.runs)
        head = [
            *_spans([(dataset, 3) for dataset in self.runs], start=3),
            _row(["Method", "Protocol", *[_MIN, _MAX, _MEAN] * count]),
        ]
        caption = (
            f"Lowest and highest {self.metric} of the class orders of each protocol, mean and "
            f"standard deviation of these, in per cent.{self.origins}"
        )
        return _float("ll" + "ccc" * count, head, rows[:-1], caption, "classic")

    def ranking(self) -> str:
        """The layout of the paper's ranking tables: true rank, and rank by each protocol."""
        columns: list[dict[str, float]] = []
        top, middle, names = [], [], []
        for dataset in (name for name, truths in self.truths.items() if len(truths) > 1):
            rankings = self.rankings(dataset)
            top.append((dataset, len(_CRITERIA) * len(rankings)))
            for criterion, title in _CRITERIA.items():
                middle.append((title, len(rankings)))
                names += list(rankings)
                columns += [ranking[criterion] for ranking in rankings.values()]
        rows = []
        for method in dict.fromkeys(method for ranks in columns for method in ranks):
            texts = [f"{ranks[method]:g}" if method in ranks else _ABSENT for ranks in columns]
            rows.append(_row([escape_latex(method), *map(_true_grey, names, texts)]))
        titles = _row(["Method", *map(_true_grey, names, names)])
        caption = (
            "Ranks of the methods (1 is best) on their worst and on their best order and by the "
            "standard deviation; the true ranks are grey."
        )
        head = [*_spans(top), *_spans(middle), titles]
        return _float("l" + "c" * len(columns), head, rows, caption, "ranking")

    def rankings(self, dataset: str) -> dict[str, Ranking]:
        """Rank methods by worst and best order and standard deviation, in truth and by protocol."""
        runs, truths = self.runs[dataset], self.truths[dataset]
        accuracies = {
            _short(protocol): {
                name: own for name in truths if len(own := runs.orders(name, protocol).accuracies)
            }
            for protocol in self.protocols
        }
        true = {name: truth.accuracies for name, truth in truths.items() if truth}
        if len(true) == len(truths):
            accuracies = {_TRUE: true, **accuracies}
        higher = find_metric(runs.metric).higher_is_better  # forgetting is best if low
        rankings = {}
        for protocol, by_method in accuracies.items():
            ends = {name: (own.min(), own.max(), own.std()) for name, own in by_method.items()}
            rankings[protocol] = rank_numbers(
                {name: it if higher else (-it[1], -it[0], it[2]) for name, it in ends.items()}
            )
        return rankings


def _compared(
    numbers: Mapping[str, Sequence[Mapping[str, float]]],
    name: str,
    targets: Sequence[float],
    title: str = "",
) -> list[str]:
    """A row per protocol, the nearest to the target in bold; equal as printed counts as equal."""
    values = np.array(
        [[round(own.get(name, math.nan), 2) for own in row] for row in numbers.values()]
    )
    distance = np.abs(values - targets)
    best = distance <= np.fmin.reduce(distance, axis=0) + 1e-9
    rows = []
    for protocol, row, bold in zip(numbers, values, best, strict=True):
        texts = [_ABSENT if math.isnan(value) else f"{value:.2f}" for value in row]
        cells = [
            f"\\textbf{{{text}}}" if own else text for text, own in zip(texts, bold, strict=True)
        ]
        rows.append(_row([title + _short(protocol), *cells]))
    return rows


def _float(columns: str, head: Sequence[str], rows: Sequence[str], caption: str, name: str) -> str:
    lines = [
        _PACKAGES,
        *(r"\begin{table}[t]", r"\centering", f"\\caption{{{caption}}}"),
        f"\\label{{tab:paper-{name}}}",
        r"\resizebox{\textwidth}{!}{%",
        f"\\begin{{tabular}}{{{columns}}}",
        *(r"\toprule", *head, r"\midrule", *rows, r"\bottomrule"),
        *(r"\end{tabular}%", "}", r"\end{table}"),
    ]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _spans(parts: Sequence[tuple[str, int]], start: int = 2) -> list[str]:
    """A row of titles over several columns each, the first one at `start`, and rules below them."""
    titles, rules = [""] * (start - 1), []
    for title, width in parts:
        titles.append(f"\\multicolumn{{{width}}}{{c}}{{\\textbf{{{escape_latex(title)}}}}}")
        rules.append(f"\\cmidrule(lr){{{start}-{start + width - 1}}}")
        start += width
    return [_row(titles), " ".join(rules)]


def _grey(text: str) -> str:
    return f"\\cellcolor{{gray!20}}{text}"


def _true_grey(name: str, text: str) -> str:
    return _grey(text) if name == _TRUE else text


def _short(protocol: str) -> str:
    return _SHORT.get(protocol, escape_latex(protocol))


def wasserstein_2(truth: ArrayLike, estimate: Distribution) -> float:
    """W₂ = √∫ (F⁻¹ - G⁻¹)² in accuracy points, exactly, between n accuracies and a distribution.

    ∫ (F⁻¹ - G⁻¹)² = E[X²] + E[Y²] - 2 ∫ F⁻¹ G⁻¹; F⁻¹ is constant between levels, where the integral
    of G⁻¹ is a partial mean of the estimate, ∫₀ᵖ G⁻¹ = p q - E[(q - Y)₊] with q = G⁻¹(p).

    >>> round(wasserstein_2([1.0, 3.0], Distribution.of([2.0])), 6)
    1.0
    """
    target = Target.of(truth)
    level = np.concatenate([[0.0], target.reached])
    inner = level[1:-1]
    points = estimate.quantile(inner) if inner.size else inner
    partial = np.concatenate([[0.0], inner * points - estimate.shortfall(points), [estimate.mean]])
    mixed = float(target.values @ np.diff(partial))
    squares = float(np.diff(level) @ target.values**2) + estimate.mean**2 + estimate.std**2
    return math.sqrt(max(squares - 2.0 * mixed, 0.0))
