from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas
import pytest

from edgecil import paper
from edgecil.errors import DataError, UsageError
from edgecil.paper.published_summaries import PUBLISHED_TABLES, rank_published, read_published


def test_the_papers_rankings_have_these_footrules() -> None:
    """The paper's text has the same for EDGE, but 12, 10, 12 and 12 for RS."""
    rankings = rank_published("paper-rankings")
    assert [one.errors["edge"] for one in rankings] == [6.0, 2.0, 0.0, 2.0]
    assert [one.errors["random"] for one in rankings] == [10.0, 12.0, 12.0, 14.0]


def test_the_papers_tables_are_complete() -> None:
    rows = {name: read_published(name) for name in PUBLISHED_TABLES}
    assert [len(some) for some in rows.values()] == [69, 72, 72, 36]
    assert rows["paper-classic"]["method"].nunique() == 12


def test_the_papers_mean_and_std_are_those_of_three_runs() -> None:
    """Minimum, maximum and mean of three runs give the third; one published row is impossible."""
    wrong = []
    for row in read_published("paper-classic").itertuples():
        assert not np.isnan([row.min, row.max, row.mean, row.std]).any()
        third = 3 * row.mean - row.min - row.max
        std = np.std([row.min, third, row.max])
        possible = row.min - 0.03 <= third <= row.max + 0.03
        if not possible or abs(std - row.std) > 0.03:
            wrong.append((row.method, row.dataset, row.protocol))
    assert wrong == [("FOSTER", "CIFAR-100", "edge")]


def test_edge_reaches_farther_than_random_in_the_papers_tables() -> None:
    cifar, imagenet = rank_published("paper-enumerable")
    assert (cifar.reach["random"].covered, cifar.reach["edge"].covered) == pytest.approx(
        (0.228, 0.606), abs=1e-3
    )
    assert (imagenet.reach["edge"].lowest, imagenet.reach["random"].lowest) == (10, 4)


def table(**columns: list[object]) -> pandas.DataFrame:
    return pandas.DataFrame({"dataset": "d", **columns})


def test_ranks_errors_and_reach_by_hand(tmp_path: Path) -> None:
    frame = table(
        method=["a", "b"] * 3,
        protocol=["truth"] * 2 + ["edge"] * 2 + ["random"] * 2,
        min=[10.0, 20.0, 12.0, 22.0, 30.0, 25.0],
        max=[40.0, 30.0, 36.0, 30.0, 31.0, 29.0],
        std=[5.0, 2.0, 6.0, 3.0, 0.5, 1.0],
    )
    frame.to_csv(tmp_path / "published.csv", index=False)
    (result,) = paper.rank_published(tmp_path / "published.csv")
    assert result.rankings["truth"]["lower"] == {"a": 2.0, "b": 1.0}
    assert result.errors == {"edge": 0.0, "random": 4.0}
    edge = result.reach["edge"]
    assert (edge.range, edge.lowest, edge.highest) == (16.0, 2, 2)
    assert edge.covered == pytest.approx((24 / 30 + 8 / 10) / 2)
    assert rank_published(frame)[0] == result


def test_methods_without_a_row_for_every_protocol_are_not_ranked() -> None:
    frame = table(
        method=["a", "b", "a", "b", "c"],
        protocol=["edge", "edge", "random", "random", "random"],
        min=[1.0, 2.0, 3.0, 4.0, 5.0],
        max=[5.0, 6.0, 7.0, 8.0, 9.0],
    )
    (result,) = rank_published(frame)
    assert set(result.rankings["random"]["lower"]) == {"a", "b"}
    assert result.errors == {}
    assert result.reach["random"].methods == 3


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"method": ["a"], "protocol": ["edge"], "min": [1.0]}, "min and max"),
        ({"method": ["a"], "protocol": ["edge"], "min": [-1.0], "max": [2.0]}, "per cent"),
        ({"method": ["a", "a"], "protocol": ["e", "e"], "min": [1, 1], "max": [2, 2]}, "repeats"),
        ({"method": [""], "protocol": ["edge"], "min": [1.0], "max": [2.0]}, "no method"),
    ],
)
def test_bad_tables_are_refused(columns: dict[str, list[object]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        rank_published(table(**columns))


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UsageError, match="paper-rankings"):
        rank_published("paper-ranking")
    with pytest.raises(DataError, match=r"nowhere\.csv"):
        rank_published("nowhere.csv")
