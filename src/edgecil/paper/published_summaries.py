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
PUBLISHED = ("paper-enumerable", "paper-rankings", "paper-classic", "paper-baselines")
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
    by = (dict(zip(methods, column, strict=True)) for column in places.T.tolist())
    return dict(zip(CRITERIA, by, strict=True))


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
        about = f"ranking errors: {errors}" if errors else ", ".join(self.rankings)
        return f"<PublishedRanking {self.dataset!r}: {about}>"


def rank(source: str | Path | DataFrameLike) -> list[PublishedRanking]:
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
    rows = read_published(source)
    return [_rank_dataset(str(name), own) for name, own in rows.groupby("dataset", sort=False)]


def read_published(source: str | Path | DataFrameLike) -> DataFrame:
    """Return a table of published summaries; numbers that it does not state are NaN."""
    import pandas

    if isinstance(source, (str, Path)) and not Path(source).suffix and not Path(source).exists():
        if str(source) not in PUBLISHED:
            raise unknown_name_error("published table", str(source), PUBLISHED)
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

    by_protocol = {
        str(name): own.set_index("method") for name, own in rows.groupby("protocol", sort=False)
    }
    counts = rows.groupby("method", sort=False).size()
    shared = counts.index[counts == len(by_protocol)]
    if shared.empty:
        raise UsageError(
            f"No method of {dataset!r} has a row for every protocol ({', '.join(by_protocol)}), so "
            "there are no rankings to compare."
        )
    rankings = {name: _rank_rows(own.loc[shared]) for name, own in by_protocol.items()}
    errors = {}
    if (truth := rankings.get(TRUTH)) is not None:
        for name in [name for name in rankings if name != TRUTH]:
            differences = pandas.DataFrame(rankings[name]) - pandas.DataFrame(truth)
            errors[name] = float(differences.abs().to_numpy().sum())
    return PublishedRanking(dataset, rankings, errors, _reach(rows))


def _rank_rows(rows: DataFrame) -> Ranking:
    if rows[_RANKS].notna().all(axis=None):
        return {by: rows[name].to_dict() for by, name in zip(CRITERIA, _RANKS, strict=True)}
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
    lowest, highest = (rows[~is_true].groupby("method")[name].agg(name) for name in _ENDS)
    stated = rows.dropna(subset=_ENDS).set_index("method")
    truth = stated.loc[stated["protocol"] == TRUTH, _ENDS]
    reach = {}
    for protocol, own in stated[stated["protocol"] != TRUTH].groupby("protocol", sort=False):
        both = own[_ENDS].join(truth.add_suffix("_true"), how="inner")
        width = both["max_true"] - both["min_true"]
        inside = both[["max", "max_true"]].min(axis=1) - both[["min", "min_true"]].max(axis=1)
        shares = (inside.clip(lower=0.0) / width).where(width > 0.0, 1.0)
        reach[str(protocol)] = ProtocolReach(
            len(own),
            math.fsum(own["max"] - own["min"]) / len(own),
            int((own["min"] <= lowest[own.index]).sum()),
            int((own["max"] >= highest[own.index]).sum()),
            math.fsum(shares) / len(shares) if len(shares) else None,
        )
    return reach
