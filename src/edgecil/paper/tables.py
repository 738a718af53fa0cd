"""LaTeX tables in the layout of the EDGE paper, from any analysis.

`enumerable` has the layout of its tables 1 and 2 (true range in grey, the protocols below it, JSD
and Wasserstein distance), `classic` that of its large tables in the appendix (two rows per method),
`ranking` that of its ranking tables. All numbers are of the runs as they are; distances are between
all orders and the normal distribution with the runs' mean and population standard deviation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from edgecil.engine.metrics import find_metric
from edgecil.engine.runs import Runs
from edgecil.errors import DataError, UsageError, shown
from edgecil.estimation.analysis import Analysis, DatasetAnalysis
from edgecil.estimation.distances import jensen_shannon, wasserstein, wasserstein_2
from edgecil.estimation.distributions import Distribution
from edgecil.estimation.truth import Truth, find_truth
from edgecil.io.arrays import Floats
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
_TABLES = ("classic", "enumerable", "ranking")


@dataclass(frozen=True)
class RankingBlock:
    """The rankings of one dataset, one block of columns."""

    dataset: str
    truth: Ranking | None
    rankings: Mapping[str, Ranking]


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
    if out is not None:
        for name in _TABLES:
            check_new(_file(out, name), overwrite=overwrite)
    if wasserstein_order not in (1, 2):
        raise UsageError(
            "The 'wasserstein_order' parameter must be 1 (W₁) or 2 (W₂). "
            f"Got {shown(wasserstein_order)}."
        )
    from edgecil.estimation.analysis import as_analysis

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
    datasets = [_Dataset.of(dataset) for dataset in analysis.datasets]
    tables = {"classic": _classic(datasets, style)}
    true = [dataset for dataset in datasets if dataset.has_truth]
    if true:
        tables["enumerable"] = _enumerable(true, style)
    blocks = [_block(dataset, style) for dataset in datasets if len(dataset.methods) > 1]
    if blocks:
        tables["ranking"] = ranking_table(blocks)
    if out is not None:
        for name, text in tables.items():
            with replace_file(_file(out, name)) as file:
                file.write(text.encode())
    return tables


def _file(out: str | Path, name: str) -> Path:
    return Path(out) / f"paper-{name}.tex"


@dataclass(frozen=True)
class _Style:
    protocols: tuple[str, ...]
    order: int
    bits: bool
    metric: str
    origins: str


@dataclass(frozen=True)
class _Numbers:
    """What a table prints of one method under one protocol; None where it does not exist."""

    min: float | None = None
    max: float | None = None
    mean: float | None = None
    std: float | None = None
    jsd: float | None = None
    wasserstein: float | None = None


@dataclass(frozen=True, eq=False)
class _Dataset:
    """The runs on one dataset, and the truth of each method that has one."""

    dataset: str
    table: Runs
    methods: dict[str, Truth | None]

    @classmethod
    def of(cls, analysis: DatasetAnalysis) -> _Dataset:
        table = analysis.table
        return cls(
            analysis.dataset, table, {name: find_truth(table, name) for name in table.methods}
        )

    @property
    def has_truth(self) -> bool:
        return any(truth is not None for truth in self.methods.values())


def _numbers(dataset: _Dataset, name: str, protocol: str, style: _Style) -> _Numbers:
    accuracies = dataset.table.orders(name, protocol).accuracies
    if not len(accuracies):
        return _Numbers()
    mean, std = float(accuracies.mean()), float(accuracies.std())
    jsd = distance = None
    truth = dataset.methods[name]
    if truth is not None and protocol not in truth.protocols:
        normal = Distribution.normal(mean, std)
        jsd = jensen_shannon(truth.accuracies, normal) / (math.log(2.0) if style.bits else 1.0)
        between = wasserstein if style.order == 1 else wasserstein_2
        distance = between(truth.accuracies, normal)
    return _Numbers(float(accuracies.min()), float(accuracies.max()), mean, std, jsd, distance)


def _enumerable(datasets: Sequence[_Dataset], style: _Style) -> str:
    """The layout of the paper's tables 1 and 2: a column per method, a block per dataset."""
    columns = [
        (dataset, method)
        for dataset in datasets
        for method, own in dataset.methods.items()
        if own is not None
    ]
    numbers = {
        protocol: [_numbers(dataset, method, protocol, style) for dataset, method in columns]
        for protocol in style.protocols
    }
    truths = [dataset.methods[method] for dataset, method in columns]
    lows = [float(truth.accuracies.min()) for truth in truths if truth is not None]
    highs = [float(truth.accuracies.max()) for truth in truths if truth is not None]
    rows: list[str] = []
    for title, name, true in ((_MIN, "min", lows), (_MAX, "max", highs)):
        rows.append(_row([_grey(title), *(_grey(f"{value:.2f}") for value in true)]))
        rows += _compared(numbers, name, lambda value, place, true=true: abs(value - true[place]))  # type: ignore[misc]
        rows.append(r"\midrule")
    unit = "bits" if style.bits else "nats"
    for name, symbol in (("jsd", "JSD"), ("wasserstein", f"W_{style.order}")):
        titles = {protocol: f"${symbol}$ {_short(protocol)}" for protocol in style.protocols}
        rows += _compared(numbers, name, lambda value, place: value, titles)
        rows.append(r"\midrule")
    rows[-1] = r"\bottomrule"
    widths = [sum(owner is dataset for owner, _ in columns) for dataset in datasets]
    head = [
        _row(["", *_spans([*zip((dataset.dataset for dataset in datasets), widths, strict=True)])]),
        _rules(widths),
        _row(["Metric", *(escape_latex(method) for _, method in columns)]),
        r"\midrule",
    ]
    caption = (
        f"Lowest and highest {style.metric} over all class orders (grey) and over the orders of "
        f"each protocol, in per cent; distances between the runs' normal distribution and the "
        f"truth (JSD in {unit}, $W_{style.order}$ in points). The best are bold."
        f"{escape_latex(style.origins)}"
    )
    return _float("l" + "c" * len(columns), [r"\toprule", *head, *rows], caption, "enumerable")


def _compared(
    numbers: Mapping[str, Sequence[_Numbers]],
    name: str,
    cost: Callable[[float, int], float],
    titles: Mapping[str, str] | None = None,
) -> list[str]:
    """A row per protocol, the best of each column in bold; equal as printed counts as equal."""
    table = {protocol: [getattr(own, name) for own in row] for protocol, row in numbers.items()}
    count = len(next(iter(table.values())))
    best = []
    for place in range(count):
        costs = [
            cost(round(row[place], 2), place) for row in table.values() if row[place] is not None
        ]
        best.append(min(costs, default=None))
    rows = []
    for protocol, row in table.items():
        cells = []
        for place, value in enumerate(row):
            least = best[place]
            if value is None or least is None:
                cells.append(_ABSENT)
                continue
            text = f"{value:.2f}"
            cells.append(_bold(text) if cost(round(value, 2), place) <= least + 1e-9 else text)
        rows.append(_row([(titles or {}).get(protocol, _short(protocol)), *cells]))
    return rows


def _classic(datasets: Sequence[_Dataset], style: _Style) -> str:
    """The layout of the paper's large tables: a row per method and protocol."""
    methods = dict.fromkeys(method for dataset in datasets for method in dataset.methods)
    rows = []
    for method in methods:
        for place, protocol in enumerate(style.protocols):
            name = f"\\multirow{{{len(style.protocols)}}}{{*}}{{{escape_latex(method)}}}"
            cells = [name if place == 0 else "", _short(protocol)]
            for dataset in datasets:
                own = (
                    _numbers(dataset, method, protocol, style)
                    if method in dataset.methods
                    else _Numbers()
                )
                spread = _ABSENT if own.mean is None else f"{own.mean:.2f}$_{{\\pm {own.std:.2f}}}$"
                cells += [_number(own.min), _number(own.max), spread]
            shaded = [cells[0], *map(_grey, cells[1:])] if place % 2 else cells
            rows.append(_row(shaded))
        rows.append(r"\midrule")
    rows[-1] = r"\bottomrule"
    head = [
        _row(["", "", *_spans([(dataset.dataset, 3) for dataset in datasets])]),
        _rules([3] * len(datasets), start=3),
        _row(["Method", "Protocol", *[_MIN, _MAX, _MEAN] * len(datasets)]),
        r"\midrule",
    ]
    caption = (
        f"Lowest and highest {style.metric} of the class orders of each protocol, mean and "
        f"standard deviation of these, in per cent.{escape_latex(style.origins)}"
    )
    columns = "ll" + "ccc" * len(datasets)
    return _float(columns, [r"\toprule", *head, *rows], caption, "classic")


def _block(dataset: _Dataset, style: _Style) -> RankingBlock:
    rankings = {}
    for protocol in style.protocols:
        ran = {name: dataset.table.orders(name, protocol).accuracies for name in dataset.methods}
        rankings[protocol] = _rank(dataset, {name: own for name, own in ran.items() if len(own)})
    truths = {name: truth.accuracies for name, truth in dataset.methods.items() if truth}
    complete = len(truths) == len(dataset.methods)
    return RankingBlock(dataset.dataset, _rank(dataset, truths) if complete else None, rankings)


def _rank(dataset: _Dataset, accuracies: Mapping[str, Floats]) -> Ranking:
    """Rank methods by worst and best order and standard deviation; forgetting is best if low."""
    higher = find_metric(dataset.table.metric).higher_is_better
    ends = {name: (own.min(), own.max(), own.std()) for name, own in accuracies.items()}
    return rank_numbers(
        {name: it if higher else (-it[1], -it[0], it[2]) for name, it in ends.items()}
    )


def ranking_table(blocks: Sequence[RankingBlock]) -> str:
    """The layout of the paper's ranking tables: true rank, and rank by each protocol."""
    methods = dict.fromkeys(
        method
        for block in blocks
        for ranking in [*([block.truth] if block.truth else []), *block.rankings.values()]
        for method in ranking.lower
    )
    columns: list[tuple[Ranking, str, bool]] = []
    top, middle, names = [], [], []
    for block in blocks:
        own = {"Real": block.truth} if block.truth is not None else {}
        entries = {**own, **{_short(name): value for name, value in block.rankings.items()}}
        top.append((block.dataset, len(_CRITERIA) * len(entries)))
        for criterion, title in _CRITERIA.items():
            middle.append((title, len(entries)))
            for name, ranking in entries.items():
                assert ranking is not None
                columns.append((ranking, criterion, name == "Real"))
                names.append(_grey(name) if name == "Real" else name)
    rows = []
    for method in methods:
        cells = []
        for ranking, criterion, is_true in columns:
            place = getattr(ranking, criterion).get(method)
            text = _ABSENT if place is None else f"{place:g}"
            cells.append(_grey(text) if is_true else text)
        rows.append(_row([escape_latex(method), *cells]))
    head = [
        _row(["", *_spans(top)]),
        _rules([width for _, width in top]),
        _row(["", *_spans(middle)]),
        _rules([width for _, width in middle]),
        _row(["Method", *names]),
        r"\midrule",
    ]
    caption = (
        "Ranks of the methods (1 is best) on their worst and on their best order and by the "
        "standard deviation; the true ranks are grey."
    )
    body = [r"\toprule", *head, *rows, r"\bottomrule"]
    return _float("l" + "c" * len(columns), body, caption, "ranking")


def _float(columns: str, body: Sequence[str], caption: str, name: str) -> str:
    lines = [
        _PACKAGES,
        *(r"\begin{table}[t]", r"\centering", f"\\caption{{{caption}}}"),
        f"\\label{{tab:paper-{name}}}",
        r"\resizebox{\textwidth}{!}{%",
        f"\\begin{{tabular}}{{{columns}}}",
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


def _bold(text: str) -> str:
    return f"\\textbf{{{text}}}"


def _number(value: float | None) -> str:
    return _ABSENT if value is None else f"{value:.2f}"


def _short(protocol: str) -> str:
    return _SHORT.get(protocol, escape_latex(protocol))
