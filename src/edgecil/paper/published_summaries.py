"""Published summaries of accuracy (no sequences): rankings, their errors, protocols compared.

A table has the columns `method`, `dataset` and `protocol`, and some of `min`, `max`, `mean` and
`std` (per cent, over the orders of the protocol); where a paper prints ranks only, `rank_min`,
`rank_max` and `rank_std`. Rows whose protocol is `truth` are over all orders. The tables of the
EDGE paper are bundled: `paper-enumerable` (its tables 1 and 2), `paper-rankings`, `paper-classic`
and `paper-baselines`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.stats import rankdata

from edgecil.errors import DataError, UsageError, unknown_name_error
from edgecil.io.data_frames import DataFrameLike
from edgecil.io.numbers import parse_cell
from edgecil.runs.reading.frames import frames_of, texts_of
from edgecil.runs.reading.reading import table_of_source

if TYPE_CHECKING:
    from pandas import DataFrame

TRUTH = "truth"
PUBLISHED_TABLES = ("paper-enumerable", "paper-rankings", "paper-classic", "paper-baselines")
"""Names of the bundled tables."""

_KEYS = ["method", "dataset", "protocol"]
_ENDS = ["min", "max"]
_RANKS = ["rank_min", "rank_max", "rank_std"]

CRITERIA = ("lower", "upper", "stability")

Ranking: TypeAlias = dict[str, dict[str, float]]
"""Ranks of methods by criterion, 1 is best; ties get the mean of their ranks.

`lower` is by the worst order's accuracy, high first, `upper` by the best order's, high first, and
`stability` by the standard deviation, low first.
"""


def rank_numbers(methods: Mapping[str, tuple[float, float, float]]) -> Ranking:
    """Rank methods by the least and greatest accuracy and the standard deviation of each.

    >>> rank_numbers({"a": (40.0, 50.0, 3.0), "b": (30.0, 60.0, 9.0)})["lower"]
    {'a': 1.0, 'b': 2.0}
    """
    numbers = np.array(list(methods.values()), dtype=np.float64).reshape(-1, 3)
    places = rankdata(numbers.round(9) * [-1.0, -1.0, 1.0], axis=0)
    ranking = {}
    for criterion, ranks in zip(CRITERIA, places.T.tolist(), strict=True):
        ranking[criterion] = dict(zip(methods, ranks, strict=True))
    return ranking


@dataclass(frozen=True)
class ProtocolReach:
    """The range of a protocol's orders, compared with the other protocols of a dataset.

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
    """Rankings of the methods of one dataset, by the numbers of each protocol.

    Attributes:
        dataset: its name.
        rankings: by protocol, of the methods that every ranked protocol has; `truth` is the true
            one. Stability is ranked by `max` minus `min` where no std is published.
        errors: by protocol, the footrule Σ |rank - true rank| over methods and the three criteria;
            empty without a truth.
        reach: by protocol, the range that its orders cover.
    """

    dataset: str
    rankings: dict[str, Ranking]
    errors: dict[str, float]
    reach: dict[str, ProtocolReach]

    def __repr__(self) -> str:
        errors = ", ".join(f"{name} {error:g}" for name, error in self.errors.items())
        contents = f"ranking errors: {errors}" if errors else ", ".join(self.rankings)
        return f"<PublishedRanking {self.dataset!r}: {contents}>"


def rank_published(source: str | Path | DataFrameLike) -> list[PublishedRanking]:
    """Rank methods by published summaries, and compare the protocols behind them.

    Args:
        source: CSV file with the columns `method`, `dataset`, `protocol` and some of `min`, `max`,
            `mean`, `std`, `rank_min`, `rank_max`, `rank_std`, or the name of a bundled table:
            `paper-enumerable`, `paper-rankings`, `paper-classic` or `paper-baselines`. In Python
            also a DataFrame.

    Returns:
        One entry for each dataset.

    >>> rank_published("paper-rankings")[0].errors
    {'edge': 6.0, 'random': 10.0}
    """
    rankings = []
    for dataset, rows in read_published(source).groupby("dataset", sort=False):
        rankings.append(_rank_dataset(str(dataset), rows))
    return rankings


def read_published(source: str | Path | DataFrameLike) -> DataFrame:
    """Return a table of published summaries; missing numbers are NaN."""
    import pandas

    if isinstance(source, (str, Path)) and not Path(source).suffix and not Path(source).exists():
        if str(source) not in PUBLISHED_TABLES:
            raise unknown_name_error("published table", str(source), PUBLISHED_TABLES)
        source = Path(str(files("edgecil.paper") / "published_tables" / f"{source}.csv"))
    frame = frames_of([table_of_source(source)])[0]
    rows = [frame.place_of(row) for row in range(len(frame))]
    columns = {name: texts_of(cells) for name, cells in frame.columns.items()}
    table = pandas.DataFrame(index=rows)
    for name in _KEYS:
        table[name] = [text.strip() for text in columns.get(name, [""] * len(rows))]
        for row in table.index[table[name] == ""]:
            raise DataError(f"{row} has no {name}; the table requires {', '.join(_KEYS)}.")
    for name in (*_ENDS, "mean", "std", *_RANKS):
        texts = columns.get(name, [""] * len(rows))
        cells = [_number(text, name, row) for row, text in zip(rows, texts, strict=True)]
        table[name] = np.array(cells, dtype=np.float64)
    stated = table.notna()
    complete = stated[_ENDS].all(axis=1) | stated[_RANKS].all(axis=1)
    for row in table.index[~complete]:
        raise DataError(f"{row} must have min and max, or rank_min, rank_max and rank_std.")
    for row in table.index[table.duplicated(_KEYS)]:
        raise DataError(
            f"{row} repeats {', '.join(table.loc[row, _KEYS])}; give each method one row for each "
            "dataset and protocol."
        )
    return table


def _number(text: str, name: str, row: str) -> float:
    value = parse_cell(text.strip())
    if value is None:
        return math.nan
    highest = math.inf if name in _RANKS else 100.0
    if not 0.0 <= value <= highest or not math.isfinite(value):
        raise DataError(f"{row} has {name} {text!r}; accuracies are per cent in [0, 100].")
    return value


def _rank_dataset(dataset: str, rows: DataFrame) -> PublishedRanking:
    import pandas

    rows_of_protocol = {}
    for protocol, protocol_rows in rows.groupby("protocol", sort=False):
        rows_of_protocol[str(protocol)] = protocol_rows.set_index("method")
    counts = rows.groupby("method", sort=False).size()
    shared = counts.index[counts == len(rows_of_protocol)]
    if shared.empty:
        raise UsageError(
            f"No method of {dataset!r} has a row for every protocol "
            f"({', '.join(rows_of_protocol)}), so there are no rankings to compare."
        )
    rankings = {}
    for protocol, protocol_rows in rows_of_protocol.items():
        rankings[protocol] = _rank_rows(protocol_rows.loc[shared])
    errors = {}
    if TRUTH in rankings:
        truth = pandas.DataFrame(rankings[TRUTH])
        for protocol, ranking in rankings.items():
            if protocol != TRUTH:
                differences = pandas.DataFrame(ranking) - truth
                errors[protocol] = float(differences.abs().to_numpy().sum())
    return PublishedRanking(dataset, rankings, errors, _reach(rows))


def _rank_rows(rows: DataFrame) -> Ranking:
    if rows[_RANKS].notna().all(axis=None):
        columns = zip(CRITERIA, _RANKS, strict=True)
        return {criterion: rows[column].to_dict() for criterion, column in columns}
    if rows[_ENDS].isna().any(axis=None):
        raise DataError(
            f"The rows of {rows['protocol'].iloc[0]!r} on {rows['dataset'].iloc[0]!r} state ranks "
            "for some methods, min and max for others; give every row the same columns."
        )
    spread = rows["std"] if rows["std"].notna().all() else rows["max"] - rows["min"]
    numbers = zip(rows["min"], rows["max"], spread, strict=True)
    return rank_numbers(dict(zip(rows.index, numbers, strict=True)))


def _reach(rows: DataFrame) -> dict[str, ProtocolReach]:
    is_true = rows["protocol"] == TRUTH
    by_method = rows[~is_true].groupby("method")
    lowest = by_method["min"].min()
    highest = by_method["max"].max()
    with_ends = rows.dropna(subset=_ENDS).set_index("method")
    has_truth = with_ends["protocol"] == TRUTH
    truth = with_ends.loc[has_truth, _ENDS]
    reach = {}
    for protocol, members in with_ends[~has_truth].groupby("protocol", sort=False):
        beside_truth = members[_ENDS].join(truth.add_suffix("_true"), how="inner")
        true_range = beside_truth["max_true"] - beside_truth["min_true"]
        inner_max = beside_truth[["max", "max_true"]].min(axis=1)
        inner_min = beside_truth[["min", "min_true"]].max(axis=1)
        overlap = (inner_max - inner_min).clip(lower=0.0)
        shares = (overlap / true_range).where(true_range > 0.0, 1.0)
        reach[str(protocol)] = ProtocolReach(
            len(members),
            math.fsum(members["max"] - members["min"]) / len(members),
            int((members["min"] <= lowest[members.index]).sum()),
            int((members["max"] >= highest[members.index]).sum()),
            math.fsum(shares) / len(shares) if len(shares) else None,
        )
    return reach
