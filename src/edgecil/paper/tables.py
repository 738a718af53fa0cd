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
from typing import TYPE_CHECKING

import numpy as np

from edgecil.engine.metrics import find_metric
from edgecil.engine.runs import Runs
from edgecil.errors import DataError, UsageError, shown
from edgecil.estimation.analysis import Analysis, as_analysis
from edgecil.estimation.distances import jensen_shannon, wasserstein, wasserstein_2
from edgecil.estimation.distributions import Distribution
from edgecil.estimation.truth import Truth, find_truth
from edgecil.io.files import check_new, replace_file
from edgecil.paper.published import Ranking, rank_numbers
from edgecil.report.metrics import metric_words
from edgecil.report.table import escape_latex
from edgecil.sequences.protocols import origin_sentences

if TYPE_CHECKING:
    from edgecil.estimation.sources import Source

_PACKAGES = r"% \usepackage{booktabs,multirow,graphicx} \usepackage[table]{xcolor}"
_SHORT = {"random": "RS", "edge": "EDGE", "adversarial": "AS", "maxcover": "MS"}
_CRITERIA = {"lower": "Lower bound", "upper": "Upper bound", "stability": "Stability"}
_MIN, _MAX = r"$\min_{\mathcal{A}}$", r"$\max_{\mathcal{A}}$"
_MEAN = r"$\mu_{\mathcal{A}} \pm \sigma_{\mathcal{A}}$"
_ABSENT = "--"
_TRUE = "Real"
_TABLES = ("classic", "enumerable", "ranking")


def paper_tables(
    source: Analysis | Source | Sequence[Source],
    *,
    out: str | Path | None = None,
    protocol: Sequence[str] = ("random", "edge"),
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
        protocol: the protocols to compare, in this order.
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
            f"`wasserstein_order` must be 1 (W₁) or 2 (W₂). Got {shown(wasserstein_order)}."
        )
    analysis = as_analysis(source, metric=metric, classifier=classifier)
    ran = {name for dataset in analysis.datasets for name in dataset.table.protocols}
    missing = [name for name in protocol if name not in ran]
    if missing:
        raise DataError(
            f"{analysis.source} has no runs of {', '.join(missing)}; it has {', '.join(ran)}."
        )
    title = escape_latex(metric_words(analysis.datasets[0].metric).title)
    sources = {name: source for it in analysis.datasets for name, source in it.provenance.items()}
    origins = origin_sentences({name: sources[name] for name in protocol if name in sources})
    style = _Style(
        tuple(protocol), wasserstein_order, bits, title, "".join(f" {it}" for it in origins)
    )
    datasets = [
        _Dataset(
            it.dataset, it.table, {name: find_truth(it.table, name) for name in it.table.methods}
        )
        for it in analysis.datasets
    ]
    tables = {"classic": _classic(datasets, style)}
    if any(truth for dataset in datasets for truth in dataset.truths.values()):
        tables["enumerable"] = _enumerable(datasets, style)
    several = [dataset for dataset in datasets if len(dataset.truths) > 1]
    if several:
        tables["ranking"] = _ranking(several, style)
    for name, path in files.items():
        if name in tables:
            with replace_file(path) as file:
                file.write(tables[name].encode())
    return tables


@dataclass(frozen=True)
class _Style:
    protocols: tuple[str, ...]
    order: int
    bits: bool
    metric: str
    origins: str


@dataclass(frozen=True, eq=False)
class _Dataset:
    """The runs on one dataset, and the truth of each method, if it has one."""

    name: str
    table: Runs
    truths: dict[str, Truth | None]


def _numbers(dataset: _Dataset, name: str, protocol: str, style: _Style) -> dict[str, float]:
    """Return what a table prints of one method under one protocol; nothing without runs."""
    if name not in dataset.truths:
        return {}
    accuracies = dataset.table.orders(name, protocol).accuracies
    if not len(accuracies):
        return {}
    numbers = {
        "min": float(accuracies.min()),
        "max": float(accuracies.max()),
        "mean": float(accuracies.mean()),
        "std": float(accuracies.std()),
    }
    truth = dataset.truths[name]
    if truth is not None and protocol not in truth.protocols:
        normal = Distribution.normal(numbers["mean"], numbers["std"])
        nats = jensen_shannon(truth.accuracies, normal)
        numbers["jsd"] = nats / math.log(2.0) if style.bits else nats
        between = wasserstein if style.order == 1 else wasserstein_2
        numbers["wasserstein"] = between(truth.accuracies, normal)
    return numbers


def _enumerable(datasets: Sequence[_Dataset], style: _Style) -> str:
    """The layout of the paper's tables 1 and 2: a column per method, a block per dataset."""
    columns = [
        (dataset, method, truth.accuracies)
        for dataset in datasets
        for method, truth in dataset.truths.items()
        if truth is not None
    ]
    numbers = {
        protocol: [_numbers(dataset, method, protocol, style) for dataset, method, _ in columns]
        for protocol in style.protocols
    }
    rows: list[str] = []
    for title, name in ((_MIN, "min"), (_MAX, "max")):
        true = [float(getattr(accuracies, name)()) for _, _, accuracies in columns]
        rows.append(_row([_grey(title), *(_grey(f"{value:.2f}") for value in true)]))
        rows += [*_compared(numbers, name, true), r"\midrule"]
    for name, symbol in (("jsd", "JSD"), ("wasserstein", f"W_{style.order}")):
        rows += [*_compared(numbers, name, [0.0] * len(columns), f"${symbol}$ "), r"\midrule"]
    rows[-1] = r"\bottomrule"
    spans = Counter(dataset.name for dataset, _, _ in columns)
    head = [
        _row(["", *_spans([*spans.items()])]),
        _rules([*spans.values()]),
        _row(["Metric", *(escape_latex(method) for _, method, _ in columns)]),
        r"\midrule",
    ]
    unit = "bits" if style.bits else "nats"
    caption = (
        f"Lowest and highest {style.metric} over all class orders (grey) and over the orders of "
        f"each protocol, in per cent; distances between the runs' normal distribution and the "
        f"truth (JSD in {unit}, $W_{style.order}$ in points). The best are bold."
        f"{escape_latex(style.origins)}"
    )
    return _float("l" + "c" * len(columns), [*head, *rows], caption, "enumerable")


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


def _classic(datasets: Sequence[_Dataset], style: _Style) -> str:
    """The layout of the paper's large tables: a row per method and protocol."""
    methods = dict.fromkeys(method for dataset in datasets for method in dataset.truths)
    rows = []
    for method in methods:
        for place, protocol in enumerate(style.protocols):
            name = f"\\multirow{{{len(style.protocols)}}}{{*}}{{{escape_latex(method)}}}"
            cells = [name if place == 0 else "", _short(protocol)]
            for dataset in datasets:
                own = _numbers(dataset, method, protocol, style)
                cells += [f"{own[it]:.2f}" if own else _ABSENT for it in ("min", "max")]
                spread = f"{own['mean']:.2f}$_{{\\pm {own['std']:.2f}}}$" if own else _ABSENT
                cells.append(spread)
            rows.append(_row([cells[0], *map(_grey, cells[1:])] if place % 2 else cells))
        rows.append(r"\midrule")
    rows[-1] = r"\bottomrule"
    head = [
        _row(["", "", *_spans([(dataset.name, 3) for dataset in datasets])]),
        _rules([3] * len(datasets), start=3),
        _row(["Method", "Protocol", *[_MIN, _MAX, _MEAN] * len(datasets)]),
        r"\midrule",
    ]
    caption = (
        f"Lowest and highest {style.metric} of the class orders of each protocol, mean and "
        f"standard deviation of these, in per cent.{escape_latex(style.origins)}"
    )
    return _float("ll" + "ccc" * len(datasets), [*head, *rows], caption, "classic")


def _ranking(datasets: Sequence[_Dataset], style: _Style) -> str:
    """The layout of the paper's ranking tables: true rank, and rank by each protocol."""
    columns: list[dict[str, float]] = []
    top, middle, names = [], [], []
    for dataset in datasets:
        rankings = _rankings(dataset, style)
        top.append((dataset.name, len(_CRITERIA) * len(rankings)))
        for criterion, title in _CRITERIA.items():
            middle.append((title, len(rankings)))
            names += list(rankings)
            columns += [ranking[criterion] for ranking in rankings.values()]
    rows = []
    for method in dict.fromkeys(method for ranks in columns for method in ranks):
        texts = [f"{ranks[method]:g}" if method in ranks else _ABSENT for ranks in columns]
        rows.append(_row([escape_latex(method), *map(_true_grey, names, texts)]))
    head = [
        _row(["", *_spans(top)]),
        _rules([width for _, width in top]),
        _row(["", *_spans(middle)]),
        _rules([width for _, width in middle]),
        _row(["Method", *map(_true_grey, names, names)]),
        r"\midrule",
    ]
    caption = (
        "Ranks of the methods (1 is best) on their worst and on their best order and by the "
        "standard deviation; the true ranks are grey."
    )
    body = [*head, *rows, r"\bottomrule"]
    return _float("l" + "c" * len(columns), body, caption, "ranking")


def _rankings(dataset: _Dataset, style: _Style) -> dict[str, Ranking]:
    """Rank methods by worst and best order and standard deviation, in truth and by protocol."""
    accuracies = {
        _short(protocol): {
            name: own
            for name in dataset.truths
            if len(own := dataset.table.orders(name, protocol).accuracies)
        }
        for protocol in style.protocols
    }
    truths = {name: truth.accuracies for name, truth in dataset.truths.items() if truth}
    if len(truths) == len(dataset.truths):
        accuracies = {_TRUE: truths, **accuracies}
    higher = find_metric(dataset.table.metric).higher_is_better  # forgetting is best if low
    rankings = {}
    for protocol, by_method in accuracies.items():
        ends = {name: (own.min(), own.max(), own.std()) for name, own in by_method.items()}
        rankings[protocol] = rank_numbers(
            {name: it if higher else (-it[1], -it[0], it[2]) for name, it in ends.items()}
        )
    return rankings


def _float(columns: str, body: Sequence[str], caption: str, name: str) -> str:
    lines = [
        _PACKAGES,
        *(r"\begin{table}[t]", r"\centering", f"\\caption{{{caption}}}"),
        f"\\label{{tab:paper-{name}}}",
        r"\resizebox{\textwidth}{!}{%",
        f"\\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        *body,
        r"\end{tabular}%",
        *("}", r"\end{table}"),
    ]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _spans(parts: Sequence[tuple[str, int]]) -> list[str]:
    return [
        f"\\multicolumn{{{width}}}{{c}}{{\\textbf{{{escape_latex(title)}}}}}"
        for title, width in parts
    ]


def _rules(widths: Sequence[int], start: int = 2) -> str:
    rules = []
    for width in widths:
        rules.append(f"\\cmidrule(lr){{{start}-{start + width - 1}}}")
        start += width
    return " ".join(rules)


def _grey(text: str) -> str:
    return f"\\cellcolor{{gray!20}}{text}"


def _true_grey(name: str, text: str) -> str:
    return _grey(text) if name == _TRUE else text


def _short(protocol: str) -> str:
    return _SHORT.get(protocol, escape_latex(protocol))
