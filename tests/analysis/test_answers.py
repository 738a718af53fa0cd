"""Analyses as objects of Python: mappings of methods or datasets, with numbers inside."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from edgecil import analyze
from tests.analysis.tables import build, noisy, rows, table_of, write


def test_an_analysis_is_read_like_a_dictionary(tmp_path: Path) -> None:
    runs = rows(table_of({"m": noisy(0), "n": noisy(1)}, ("random",)))
    one = analyze(build(runs))
    assert (list(one), len(one), "m" in one, "x" in one) == (["m", "n"], 2, True, False)
    claims = one["m"].claims
    mean = one["m"].mean
    assert (mean, mean.low, mean.high) == (claims.mean.value, claims.mean.low, claims.mean.high)
    assert f"{mean:.1f}" == f"{claims.mean.value:.1f}"
    assert pickle.loads(pickle.dumps(mean)).high == mean.high
    assert one["m"].next_run.low == claims.next_run.low
    with pytest.raises(KeyError, match="Unknown method 'o'"):
        one["o"]
    write([*runs, *(replace(run, dataset="other") for run in runs)], tmp_path / "a.csv")
    two = analyze(tmp_path / "a.csv")
    assert (list(two), two.methods) == (["made-up", "other"], ("m", "n"))
    assert two["other"]["m"].mean == mean
    with pytest.raises(KeyError, match=r"choose one first, as in analysis\['made-up'\]\['m'\]"):
        two["m"]
    assert {pair.dataset for pair in two.comparisons} == {"made-up", "other"}
    assert two.to_pandas()["low"].tolist()[0] == mean.low
