"""Who leads among several methods, in numbers and in words."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

import edgecil
from edgecil.analysis import MethodComparison, compare_tables
from edgecil.analysis.sources import collect_runs
from edgecil.analysis.standings import find_standing
from edgecil.errors import UsageError
from edgecil.wording.comparison_sentences import describe_comparisons


def results(
    leads: dict[str, float], datasets: int = 1, runs: int = 5, seed: int = 0
) -> pandas.DataFrame:
    """Return runs of methods whose means differ by known amounts."""
    rng = np.random.default_rng(seed)
    rows = [
        (method, f"d{dataset}", run, 60.0 + lead + rng.normal(0.0, 1.0))
        for dataset in range(datasets)
        for method, lead in leads.items()
        for run in range(runs)
    ]
    return pandas.DataFrame(rows, columns=["method", "dataset", "seed", "accuracy"])


@pytest.fixture(scope="module")
def comparison() -> MethodComparison:
    return edgecil.compare(results({"base": 0.0, "old": -30.0, "ours": 20.0, "twin": 20.3}))


def test_the_first_line_names_the_leader_and_who_cannot_be_told_apart_from_it(comparison) -> None:
    standing = comparison.standing
    leader, twin = standing.reference, ({"ours", "twin"} - {standing.reference}).pop()
    assert standing.leads
    assert standing.methods_of_grade("cannot tell") == [twin]
    assert standing.methods_of_grade("clear") == ["base", "old"]
    reading, first, *lines = str(comparison).splitlines()
    assert reading == "Read: 4 methods × 5 seeds; metric accuracy, higher is better."
    assert first == (
        f"{leader} leads: it is clearly better than base and old, and cannot be told apart from "
        f"{twin}."
    )
    others = (twin, "base", "old")
    for line, other in zip(lines, others, strict=False):
        pair = comparison[leader, other]
        assert line == f"  {pair.brief}"
        assert f"{pair.difference:.1f} points" in line
    assert "adjusted for all 6 of them (Holm)" in lines[3]


def test_others_are_compared_with_the_baseline_that_was_named() -> None:
    frame = results({"base": 0.0, "old": -30.0, "ours": 20.0})
    comparison = edgecil.compare(frame, baseline="base")
    _, *lines = str(comparison).splitlines()
    assert lines[0] == "ours leads: it is clearly better than base and old."
    assert lines[1].startswith("  ours is clearly better than base: by ")
    assert lines[2].startswith("  base is clearly better than old: by ")
    assert comparison.standing.reference == "base"
    assert not comparison.standing.leads
    assert edgecil.analyze(frame, baseline="base")["old"].mean < 40.0
    with pytest.raises(UsageError, match=r"Unknown baseline 'bse'\. Did you mean 'base'\?"):
        edgecil.compare(frame, baseline="bse")


def test_equal_methods_have_no_leader() -> None:
    comparison = edgecil.compare(results(dict.fromkeys("abcd", 0.0)))
    assert {pair.better for pair in comparison} == {None}
    name = comparison.standing.reference
    assert str(comparison).splitlines()[1] == (
        f"{name} has the best mean, but cannot be told apart from any of the other 3."
    )
    few = edgecil.compare(results(dict.fromkeys("abc", 0.0), runs=2))
    assert str(few).splitlines()[1].endswith("has the best mean so far; 3 runs allow a verdict.")


def test_over_datasets_the_range_of_differences_is_said() -> None:
    comparison = edgecil.compare(results({"base": 0.0, "ours": 20.0}, datasets=4))
    (over,) = comparison.over_datasets
    assert over.differences.keys() == {"d0", "d1", "d2", "d3"}
    least, most = min(over.differences.values()), max(over.differences.values())
    _, first, *others = str(comparison).splitlines()
    assert first.startswith("Over 4 datasets, ours is clearly better than base: by 20.")
    assert first.endswith(f", ahead on 4 of 4, by {least:.1f} to {most:.1f}.")
    assert [line[:4] for line in others[:4]] == ["d0: ", "d1: ", "d2: ", "d3: "]
    assert others[0] == f"d0: {comparison['d0', 'base', 'ours']}"


def test_all_verdicts_of_an_answer_are_one_family() -> None:
    comparison = edgecil.compare(results(dict.fromkeys("abc", 0.0), datasets=2))
    family = [*comparison, *comparison.over_datasets]
    assert len(family) == 9
    assert {verdict.adjusted_for for verdict in family} == {9}
    ordered = sorted(family, key=lambda verdict: verdict.unadjusted_p)
    expected = np.maximum.accumulate(
        [min(1.0, verdict.unadjusted_p * (9 - place)) for place, verdict in enumerate(ordered)]
    )
    assert [verdict.p for verdict in ordered] == pytest.approx(expected.tolist())


def test_verdicts_of_equal_methods_are_rare_in_whole_answers() -> None:
    wrong = 0
    for seed in range(20):
        frame = results(dict.fromkeys("abcd", 0.0), datasets=2, seed=seed)
        tables = [part.table for part in collect_runs(frame).datasets]
        judged = compare_tables(tables, "abcd")
        verdicts = [*judged.by_table[0], *judged.by_table[1], *judged.over_datasets]
        assert len(verdicts) == 18
        wrong += any(verdict.better is not None for verdict in verdicts)
    assert wrong <= 3  # more in 1.6 % of cases at 5 %


def test_one_line_for_each_dataset_where_there_are_many_methods() -> None:
    frame = results({"a": -40.0, "b": -20.0, "c": 0.0}, datasets=2)
    comparison = edgecil.compare(frame)
    lines = list(describe_comparisons(comparison.compared_groups))
    starts = ["Over 2 datasets, c leads", "  c is clearly better than b", "  c is clearly better"]
    starts += ["On d0, c leads", "On d1, c leads", "Comparisons are about means over runs like"]
    assert [line[: len(start)] for line, start in zip(lines, starts, strict=True)] == starts
    assert str(edgecil.analyze(frame)).splitlines()[1] == lines[0]


def test_a_standing_names_the_methods_that_were_not_compared_with_its_own() -> None:
    """Two methods have no run in common, so that nothing is said about them."""
    frame = results({"a": 0.0, "b": -5.0, "c": -10.0})
    [verdicts] = edgecil.compare(frame).by_dataset.values()
    without = [verdict for verdict in verdicts if set(verdict.methods) != {"a", "c"}]
    complete, partial = find_standing(verdicts), find_standing(without, "a")
    assert complete is not None
    assert partial is not None
    assert (complete.reference, complete.not_compared) == ("a", ())
    assert (partial.reference, partial.not_compared) == ("a", ("c",))
    assert find_standing(verdicts, "d") is None
