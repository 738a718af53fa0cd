"""Published summaries of accuracy (no sequences): rankings, their errors, protocols compared.

A table has the columns `method`, `dataset` and `protocol`, and some of `min`, `max`, `mean` and
`std` (per cent, over the orders of the protocol); where a paper prints ranks only, `rank_min`,
`rank_max` and `rank_std`. Rows whose protocol is `truth` are over all orders. The tables of the
EDGE paper are bundled: `paper-enumerable` (its tables 1 and 2), `paper-rankings`, `paper-classic`
and `paper-baselines`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from edgecil.engine.run_files import DataFrame
from edgecil.errors import DataError, UsageError, unknown
from edgecil.io.csv_files import check_header, read_rows
from edgecil.io.numbers import parse_cell

TRUTH = "truth"
PUBLISHED = ("paper-enumerable", "paper-rankings", "paper-classic", "paper-baselines")
"""Names of the bundled tables."""

_KEYS = ("method", "dataset", "protocol")
_NUMBERS = ("min", "max", "mean", "std", "rank_min", "rank_max", "rank_std")
_RANKS = {"lower": "rank_min", "upper": "rank_max", "stability": "rank_std"}

CRITERIA = ("lower", "upper", "stability")


@dataclass(frozen=True)
class Ranking:
    """Ranks of methods, 1 is best; ties get the mean of their ranks.

    Attributes:
        lower: by the worst order's accuracy, high first.
        upper: by the best order's accuracy, high first.
        stability: by the standard deviation, low first.
    """

    lower: dict[str, float]
    upper: dict[str, float]
    stability: dict[str, float]


def rank_numbers(methods: Mapping[str, tuple[float, float, float]]) -> Ranking:
    """Rank methods by the least and greatest accuracy and the standard deviation of each.

    >>> rank_numbers({"a": (40.0, 50.0, 3.0), "b": (30.0, 60.0, 9.0)}).lower
    {'a': 1.0, 'b': 2.0}
    """
    numbers = np.array(list(methods.values()), dtype=np.float64).reshape(-1, 3)
    places = rankdata(numbers.round(9) * [-1.0, -1.0, 1.0], axis=0)
    by = [dict(zip(methods, column, strict=True)) for column in places.T.tolist()]
    return Ranking(*by)


def ranking_error(estimated: Ranking, truth: Ranking) -> float:
    """Spearman's footrule Σ |rank - true rank| over methods and the three criteria."""
    if set(estimated.lower) != set(truth.lower):
        raise UsageError("Rankings to compare must rank the same methods.")
    return float(
        sum(
            abs(place - getattr(truth, criterion)[name])
            for criterion in CRITERIA
            for name, place in getattr(estimated, criterion).items()
        )
    )


@dataclass(frozen=True)
class PublishedSummary:
    """What a publication says of one method under one protocol; None where it says nothing."""

    method: str
    dataset: str
    protocol: str
    min: float | None = None
    max: float | None = None
    mean: float | None = None
    std: float | None = None
    ranks: dict[str, float] | None = None


@dataclass(frozen=True)
class ProtocolReach:
    """How far a protocol's orders reach, compared with the other protocols of a dataset.

    Attributes:
        methods: number of methods whose `min` and `max` are published.
        range: mean over them of `max` minus `min`, in points.
        lowest: number of methods for which no other protocol has a lower `min`.
        highest: number of methods for which no other protocol has a higher `max`.
        covered: mean share of the true range between `min` and `max`; None without a truth.
    """

    methods: int
    range: float
    lowest: int
    highest: int
    covered: float | None


@dataclass(frozen=True, repr=False)
class PublishedRanking:
    """Rankings of the methods of one dataset, by what each protocol reports.

    Attributes:
        dataset: its name.
        summaries: the rows of the table.
        rankings: by protocol, of the methods that every ranked protocol has; `truth` is the true
            one.
        stability_by: by protocol, what stability is ranked by: `std`, `range` (`max` minus `min`,
            where no std is published) or `rank` (a published rank).
        errors: by protocol, the footrule Σ |rank - true rank| over methods and the three criteria;
            empty without a truth.
        distances: by pair of protocols, the footrule between their rankings.
        reach: by protocol, the range that its orders cover.
    """

    dataset: str
    summaries: tuple[PublishedSummary, ...]
    rankings: dict[str, Ranking]
    stability_by: dict[str, str]
    errors: dict[str, float]
    distances: dict[str, dict[str, float]]
    reach: dict[str, ProtocolReach]

    def __repr__(self) -> str:
        errors = ", ".join(f"{name} {error:g}" for name, error in self.errors.items())
        methods = len({summary.method for summary in self.summaries})
        about = f"ranking errors: {errors}" if errors else ", ".join(self.rankings)
        return f"<PublishedRanking {self.dataset!r}: {methods} methods; {about}>"


def rank(source: str | Path | DataFrame) -> list[PublishedRanking]:
    """Rank methods by published summaries, and compare the protocols behind them.

    Args:
        source: CSV file with the columns `method`, `dataset`, `protocol` and some of `min`, `max`,
            `mean`, `std`, `rank_min`, `rank_max`, `rank_std`, or the name of a bundled table:
            `paper-enumerable`, `paper-rankings`, `paper-classic` or `paper-baselines`. In Python
            also a DataFrame.

    Returns:
        One entry for each dataset.

    >>> [one.errors for one in rank("paper-rankings")][0]
    {'edge': 6.0, 'random': 10.0}
    """
    groups: dict[str, list[PublishedSummary]] = {}
    for summary in read_published(source):
        groups.setdefault(summary.dataset, []).append(summary)
    return [_rank_dataset(name, group) for name, group in groups.items()]


def read_published(source: str | Path | DataFrame) -> list[PublishedSummary]:
    """Return the rows of a table of published summaries; see :func:`rank`."""
    origin, rows = _read(source)
    summaries: list[PublishedSummary] = []
    places: dict[tuple[str, str, str], int] = {}
    for number, row in enumerate(rows, start=2):
        summary = _parse(row, f"Row {number} of {origin}")
        key = (summary.method, summary.dataset, summary.protocol)
        if key in places:
            raise DataError(
                f"Row {number} of {origin} repeats row {places[key]}: {', '.join(key)}; give each "
                "method one row for each dataset and protocol."
            )
        places[key] = number
        summaries.append(summary)
    if not summaries:
        raise DataError(f"{origin} has no rows.")
    return summaries


def _read(source: str | Path | DataFrame) -> tuple[str, list[dict[str, str]]]:
    if hasattr(source, "columns") and hasattr(source, "to_dict"):
        records = source.to_dict("records")
        return "the DataFrame", [
            {str(name): _text(value) for name, value in record.items()} for record in records
        ]
    path = Path(source)
    if not path.exists() and path.suffix == "":
        if str(source) not in PUBLISHED:
            raise unknown("published table", str(source), PUBLISHED)
        path = Path(str(files("edgecil.paper") / "published_tables" / f"{source}.csv"))
    if not path.is_file():
        bundled = ", ".join(PUBLISHED)
        raise DataError(f"There is no file {path}; give a CSV file or one of {bundled}.")
    header, *rows = read_rows(path) or [[]]
    names = [name.strip() for name in header]
    check_header(names, str(source))
    for number, cells in enumerate(rows, start=2):
        if len(cells) != len(names):
            raise DataError(
                f"Row {number} of {source} has {len(cells)} cells, the header has {len(names)}."
            )
    return str(source), [
        dict(zip(names, (cell.strip() for cell in row), strict=True)) for row in rows
    ]


def _text(value: object) -> str:
    return "" if value is None or value != value else str(value).strip()


def _parse(row: Mapping[str, str], where: str) -> PublishedSummary:
    missing = [key for key in _KEYS if not row.get(key)]
    if missing:
        raise DataError(f"{where} has no {' and no '.join(missing)}; the table requires them.")
    numbers = {name: _number(row.get(name, ""), name, where) for name in _NUMBERS}
    low, high = numbers["min"], numbers["max"]
    ranks = {
        criterion: place
        for criterion, name in _RANKS.items()
        if (place := numbers[name]) is not None
    }
    complete = (low is not None and high is not None) or len(ranks) == len(_RANKS)
    if not complete:
        raise DataError(f"{where} must have min and max, or rank_min, rank_max and rank_std.")
    return PublishedSummary(
        row["method"],
        row["dataset"],
        row["protocol"],
        low,
        high,
        numbers["mean"],
        numbers["std"],
        ranks if len(ranks) == len(_RANKS) else None,
    )


def _number(text: str, name: str, where: str) -> float | None:
    value = parse_cell(text)
    if value is None:
        return None
    highest = math.inf if name.startswith("rank") else 100.0
    if not 0.0 <= value <= highest or not math.isfinite(value):
        raise DataError(f"{where} has {name} {text!r}; accuracies are per cent in [0, 100].")
    return value


def _rank_dataset(dataset: str, summaries: Sequence[PublishedSummary]) -> PublishedRanking:
    by_protocol: dict[str, dict[str, PublishedSummary]] = {}
    for summary in summaries:
        by_protocol.setdefault(summary.protocol, {})[summary.method] = summary
    shared = [
        method
        for method in dict.fromkeys(summary.method for summary in summaries)
        if all(method in rows for rows in by_protocol.values())
    ]
    if not shared:
        raise UsageError(
            f"No method of {dataset!r} has a row for every protocol ({', '.join(by_protocol)}), so "
            "there are no rankings to compare."
        )
    rankings, stability_by = {}, {}
    for protocol, rows in by_protocol.items():
        chosen = {method: rows[method] for method in shared}
        rankings[protocol], stability_by[protocol] = _rank_rows(chosen)
    truth = rankings.get(TRUTH)
    others = [protocol for protocol in rankings if protocol != TRUTH]
    distances: dict[str, dict[str, float]] = {}
    for first, second in combinations(others, 2):
        distances.setdefault(first, {})[second] = ranking_error(rankings[first], rankings[second])
    return PublishedRanking(
        dataset,
        tuple(summaries),
        rankings,
        stability_by,
        {}
        if truth is None
        else {protocol: ranking_error(rankings[protocol], truth) for protocol in others},
        distances,
        _reach({protocol: by_protocol[protocol] for protocol in others}, by_protocol.get(TRUTH)),
    )


def _rank_rows(rows: Mapping[str, PublishedSummary]) -> tuple[Ranking, str]:
    """Return the ranking of methods, and what their stability is ranked by."""
    published = {method: row.ranks for method, row in rows.items() if row.ranks is not None}
    if len(published) == len(rows):
        lower, upper, stability = (
            {method: ranks[criterion] for method, ranks in published.items()}
            for criterion in CRITERIA
        )
        return Ranking(lower, upper, stability), "rank"
    ends = {method: _ends(row) for method, row in rows.items()}
    if all(row.std is not None for row in rows.values()):
        spread = {method: float(row.std or 0.0) for method, row in rows.items()}
        by = "std"
    else:
        spread, by = {method: high - low for method, (low, high) in ends.items()}, "range"
    return rank_numbers({method: (*ends[method], spread[method]) for method in rows}), by


def _ends(row: PublishedSummary) -> tuple[float, float]:
    if row.min is None or row.max is None:
        raise DataError(
            f"{row.method!r} under {row.protocol!r} on {row.dataset!r} has ranks while others have "
            "min and max; give every row of a protocol the same columns."
        )
    return row.min, row.max


def _reach(
    by_protocol: Mapping[str, Mapping[str, PublishedSummary]],
    truth: Mapping[str, PublishedSummary] | None,
) -> dict[str, ProtocolReach]:
    lowest = _extremes(by_protocol.values(), "min")
    highest = _extremes(by_protocol.values(), "max")
    reach = {}
    for protocol, rows in by_protocol.items():
        ends = {
            name: (row.min, row.max)
            for name, row in rows.items()
            if row.min is not None and row.max is not None
        }
        if not ends:
            continue
        shares = [
            _share(low, high, true.min, true.max)
            for name, (low, high) in ends.items()
            if truth is not None
            and (true := truth.get(name)) is not None
            and true.min is not None
            and true.max is not None
        ]
        reach[protocol] = ProtocolReach(
            len(ends),
            math.fsum(high - low for low, high in ends.values()) / len(ends),
            sum(low <= min(lowest[name]) for name, (low, _) in ends.items()),
            sum(high >= max(highest[name]) for name, (_, high) in ends.items()),
            math.fsum(shares) / len(shares) if shares else None,
        )
    return reach


def _extremes(
    tables: Iterable[Mapping[str, PublishedSummary]], name: str
) -> dict[str, list[float]]:
    """By method, the published values of one number under all protocols."""
    values: dict[str, list[float]] = {}
    for rows in tables:
        for method, row in rows.items():
            if getattr(row, name) is not None:
                values.setdefault(method, []).append(getattr(row, name))
    return values


def _share(low: float, high: float, true_low: float, true_high: float) -> float:
    """Return the share of the true range that lies between two accuracies."""
    if true_high == true_low:
        return 1.0
    inside = min(high, true_high) - max(low, true_low)
    return max(inside, 0.0) / (true_high - true_low)
