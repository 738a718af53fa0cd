"""Which of two methods is better."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas
import pytest
from IPython.lib.pretty import pretty
from numpy.typing import ArrayLike
from scipy import stats

import edgecil
from edgecil.analysis import Comparison, compare, compare_tables
from edgecil.analysis.profiles import performance_profile
from edgecil.analysis.samples import posterior_of_values
from edgecil.errors import DataError, UsageError
from tests.analysis.experiments import write_experiment
from tests.analysis.tables import build, compare_two, noisy, runs_of, table_of, write

RNG = np.random.default_rng(0)


A = RNG.normal(50.0, 5.0, 30)


B = A + RNG.normal(1.0, 2.0, 30)


def compared(a: ArrayLike, b: ArrayLike) -> Comparison:
    """Runs that are paired by seed."""
    frame = pandas.DataFrame({"a": np.asarray(a), "b": np.asarray(b)})
    return compare(frame.assign(seed=range(len(frame))))["a", "b"]


def test_with_many_orders_interval_and_test_are_scipys_paired_ones() -> None:
    result, oracle = compared(A, B), stats.ttest_rel(B, A)
    interval = oracle.confidence_interval(0.95)
    assert result.interval == pytest.approx((interval.low, interval.high), abs=0.03)
    assert result.p == pytest.approx(oracle.pvalue, rel=0.3, abs=1e-4)
    assert (result.ahead, result.behind) == ("b", "a")
    assert result.difference == pytest.approx((B - A).mean())


def test_a_seed_that_all_orders_share_widens_the_interval() -> None:
    def interval(own: bool) -> tuple[float, float]:
        runs = [
            replace(run, seed=number if own else 0)
            for method, place in (("a", 0), ("b", 1))
            for number, run in enumerate(runs_of(method, "enumerate", noisy(place)))
        ]
        pair = compare_two(build(runs), "a", "b")
        assert ("one training seed" in pair.population) != own
        return pair.interval

    (low, high), (lowest, highest) = interval(own=True), interval(own=False)
    assert lowest < low < high < highest


def test_the_difference_over_all_orders_is_that_of_the_means_though_some_are_repeated() -> None:
    runs = [run for name in "ab" for run in runs_of(name, "enumerate", noisy(ord(name)))]
    again = [replace(run, seed=1, accuracy=90.0) for run in runs[:10]]
    table = build([*runs, *again])
    first, second = (table.orders(name).accuracies.mean() for name in "ab")
    pair = compare_two(table, "a", "b")
    assert pair.difference == pytest.approx(abs(first - second))
    assert sum(pair.interval) / 2 == pytest.approx(abs(first - second), abs=0.01)


@pytest.mark.parametrize(
    ("gap", "spread", "orders", "expected"),
    [
        (5.0, 1.0, 10, "clear"),
        (1.0, 1.4, 10, "likely"),
        (0.1, 1.0, 10, "cannot tell"),
        (5.0, 1.0, 2, "too few"),
    ],
)
def test_verdicts_have_grades(gap: float, spread: float, orders: int, expected: str) -> None:
    gains = gap + spread * stats.norm.ppf((np.arange(orders) + 0.5) / orders)
    result = compared(50.0 + gains, np.full(orders, 50.0))
    assert result.grade == expected
    assert (result.interval is None) == (expected == "too few")


def test_wins_ties_and_losses_are_those_of_the_method_that_is_ahead() -> None:
    result = compared([1.0, 2.0, 3.0, 4.0], [0.0, 2.0, 3.0 + 1e-13, 4.5])
    assert (result.ahead, result.wins, result.ties, result.losses, result.n) == ("a", 1, 2, 1, 4)
    assert (result.better, result.worse, result.grade) == (None, None, "cannot tell")


def test_a_comparison_is_the_same_whichever_method_comes_first() -> None:
    one, other = compared(A, B), compared(B, A)
    assert (one.better, one.worse) == (other.worse, other.better) == ("b", "a")
    names = ("difference", "low", "high", "probability", "new_run_probability", "p", "wins")
    for name in names:
        assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-12)
    assert one.low > 0.0
    assert one.probability > 0.97


def test_over_learners_of_all_kinds_the_probability_on_a_new_order_is_right() -> None:
    rng = np.random.default_rng(1)
    gains = rng.normal(0.0, 10.0, (2_000, 1)) + rng.normal(0.0, 2.0, (2_000, 6))
    known = (posterior_of_values(own[:5, None], np.arange(5)[:, None], "accuracy") for own in gains)
    claimed = [float(one.above("next", 0.0)) for one in known if one is not None]
    won = gains[:, 5] > 0.0
    confident = np.array(claimed) > 0.8
    assert won[confident].mean() == pytest.approx(np.array(claimed)[confident].mean(), abs=0.05)


def test_pairs_are_compared_on_the_orders_of_blind_protocols() -> None:
    table = table_of({"low": noisy(0), "high": noisy(1, mean=60.0)}, ("latin", "edge"))
    result = compare_two(table, "low", "high")
    assert (result.n, result.random_orders) == (3, True)
    assert result.interval is not None
    assert (result.adjusted_for, result.p) == (1, result.unadjusted_p)
    chosen = table_of({"a": noisy(0), "b": noisy(1)}, ("edge",))
    only = compare_two(chosen, "a", "b")
    assert (only.n, only.random_orders) == (3, False)
    assert (only.chosen_by, result.chosen_by) == (("edge",), ())
    assert only.interval is None, "orders chosen by similarity say nothing about others"


def test_repeats_count_only_if_both_methods_have_their_seed() -> None:
    a, b = noisy(0), noisy(1)
    runs = [
        *runs_of("a", "random", a),
        *runs_of("a", "random", lambda sequence: a(sequence) + 9.0, seed=1),
        *runs_of("b", "random", b),
    ]
    result = compare_two(build(runs), "a", "b")
    orders = {run.sequence for run in runs}
    assert result.difference == pytest.approx(abs(np.mean([a(one) - b(one) for one in orders])))


def test_a_verdict_and_its_interval_follow_one_rule_whatever_the_number_of_pairs() -> None:
    verdicts = set()
    for seed in range(4):
        rng = np.random.default_rng(seed)
        values = {name: noisy(place, mean=50.0 + 2.0 * place) for place, name in enumerate("abcd")}
        runs = [
            replace(run, seed=number, accuracy=(run.accuracy or 0.0) + rng.normal(0.0, 1.0))
            for name, accuracy in values.items()
            for number, run in enumerate(runs_of(name, "random", accuracy))
        ]
        for pair in compare_tables([build(runs)], "abcd").by_table[0]:
            assert (pair.low <= 0.0 <= pair.high) == (pair.grade == "cannot tell")
            assert (pair.better is None) == (pair.grade == "cannot tell")
            verdicts.add(pair.grade)
    assert len(verdicts) > 1


def test_a_difference_stays_within_the_bounds_of_the_metric() -> None:
    low, high = compared([99.0, 100.0, 95.0, 99.9], [0.0, 5.0, 0.0, 0.0]).interval or ()
    assert low < 96.0 < high <= 100.0


def test_performance_profile_is_the_mean_over_datasets() -> None:
    runs = np.array([1.0, 3.0]), np.array([2.0, 2.0, 2.0, 4.0])
    profile = performance_profile(runs, np.array([0.0, 2.5, 5.0]))
    assert profile.share.tolist() == [1.0, (0.5 + 0.25) / 2, 0.0]
    assert (profile.low <= profile.share).all()
    assert (profile.share <= profile.high).all()


def test_methods_of_several_files_are_compared(tmp_path: Path) -> None:
    a, b = runs_of("a", "random", noisy(0)), runs_of("b", "random", noisy(1, mean=60.0))
    write(a, tmp_path / "a.csv")
    write(b, tmp_path / "b.csv.gz")
    result = edgecil.compare([tmp_path / "a.csv", tmp_path / "b.csv.gz"])
    (pair,) = result
    assert (pair.ahead, pair.behind, pair.n) == ("b", "a", 3)
    assert result["b", "a"] is result["a", "b"] is pair
    assert result.to_pandas().loc[0, ["ahead", "n"]].tolist() == ["b", 3]


def test_printing_a_comparison_and_advice_gives_their_sentences() -> None:
    table = table_of({"a": noisy(0), "b": noisy(0, mean=70.0), "c": noisy(2)}, ("latin",))
    result = edgecil.compare(table)
    reading, first, *others = str(result).splitlines()
    assert reading == result.reading
    assert first.startswith("b leads: it is ")
    assert repr(result) == f"<Comparison of a table of made-up: {first}>"
    assert len(others) >= 3
    two = edgecil.compare(table, method=["a", "b"])
    assert str(two) == f"{two.reading}\n{two['a', 'b']}"
    advice = edgecil.next_runs(table)
    for shown in (str(advice), pretty(advice)):
        assert all(str(order) in shown for order in advice.repeat)
        assert all(f"{name}: " in shown for name in "abc")
    assert pretty(result) == str(result)


def test_chosen_methods_only_and_unknown_ones_are_refused() -> None:
    table = table_of({"a": noisy(0), "b": noisy(1), "c": noisy(2)}, ("latin",))
    assert len(edgecil.compare(table)) == 3
    assert len(edgecil.compare(table, method=["a", "c"])) == 1
    with pytest.raises(UsageError, match="'d'"):
        edgecil.compare(table, method=["a", "d"])


def test_methods_without_a_common_order_are_refused() -> None:
    runs = [runs_of("a", "latin", noisy(0))[0], runs_of("b", "latin", noisy(0))[1]]
    with pytest.raises(UsageError, match="same protocol"):
        edgecil.compare(build(runs))


def test_less_forgetting_wins() -> None:
    runs = [*runs_of("a", "latin", noisy(0)), *runs_of("b", "latin", noisy(1, mean=70.0))]
    table = build(tuple(runs), metric="forgetting")
    result = edgecil.compare(table, metric="forgetting")["a", "b"]
    assert (result.ahead, result.wins, result.difference > 0.0) == ("a", result.n, True)
    assert result.new_run_probability > 0.9


@pytest.mark.parametrize("lead", [20.0, 1.5, 0.0])
def test_the_advice_says_decided_where_the_rule_for_looking_again_does(lead: float) -> None:
    """One rule: a verdict for a planned number of runs, as at a lead of 1.5, decides nothing."""
    noise = (1.0, -1.0, 0.5, -0.5, 0.2)
    values = {"b": [60.0, 58.0, 62.0, 59.0, 61.0]}
    values["a"] = [
        value + lead + deviation for value, deviation in zip(values["b"], noise, strict=True)
    ]
    frame = pandas.DataFrame(
        [(name, seed, it) for name, own in values.items() for seed, it in enumerate(own)],
        columns=["method", "seed", "accuracy"],
    )
    (advice,) = edgecil.next_runs(frame).datasets
    planned = edgecil.compare(frame)["a", "b"]
    anytime = edgecil.compare(frame, anytime=True)["a", "b"]
    assert (planned.better is not None) == (lead > 0.0)
    assert (anytime.better is not None) == (lead > 2.0)
    decided_after = advice.decisions[planned.ahead][planned.behind]
    assert (decided_after == 0) == (anytime.better is not None)
    [sentence] = [
        line for line in str(advice).splitlines() if line.startswith(planned.ahead + " −")
    ]
    assert "anytime" in sentence or "not expected" in sentence
    assert "clear" not in sentence
    assert "likely" not in sentence


@pytest.mark.parametrize(("count", "is_random"), [(90, True), (89, False)])
def test_all_orders_count_as_random_whatever_their_protocol_is_called(
    count: int, is_random: bool
) -> None:
    runs = [
        replace(run, protocol="given")
        for seed, name in enumerate("ab")
        for run in runs_of(name, "enumerate", noisy(seed))[:count]
    ]
    table = build(runs)
    assert edgecil.compare(table)["a", "b"].random_orders == is_random
    assert any("'given'" in note for note in edgecil.analyze(table).datasets[0].notes) != is_random


def test_a_single_blind_order_does_not_replace_several_others_in_a_comparison() -> None:
    runs = [run for seed, name in enumerate("ab") for run in runs_of(name, "edge", noisy(seed))]
    blind = [runs_of(name, "latin", noisy(seed))[0] for seed, name in enumerate("ab")]
    assert edgecil.compare(build((*runs, *blind)))["a", "b"].n == 4


def test_every_dataset_weighs_the_same_over_all(tmp_path: Path) -> None:
    files = []
    for place, count in enumerate((3, 6)):
        runs = [
            replace(run, dataset=f"d{place}", protocol="random", seed=number)
            for name, seed, mean in (("a", 0, 50.0), ("b", 1, 53.0 + place))
            for number, run in enumerate(runs_of(name, "enumerate", noisy(seed, mean=mean))[:count])
        ]
        files.append(tmp_path / f"{place}.csv")
        write(runs, files[-1])
    result = edgecil.compare(files)
    (over,) = result.over_datasets
    singles = result.pairs
    assert over.datasets == ("d0", "d1")
    assert over.difference == pytest.approx(np.mean([one.difference for one in singles]))
    alone = edgecil.compare(files[0])["a", "b"]
    assert alone.p == alone.unadjusted_p == singles[0].unadjusted_p <= singles[0].p
    assert {one.adjusted_for for one in (over, *singles)} == {3}
    assert result["a", "b"] is over
    assert result["d1", "b", "a"] is singles[1]
    assert str(result).splitlines()[1].startswith("Over 2 datasets, b ")
    profile = result.profiles["a"]
    assert (np.diff(profile.share) <= 0.0).all()
    assert (profile.low <= profile.share).all()
    analysis = edgecil.analyze(files)
    assert analysis.over_datasets == (over,)
    assert analysis.profiles.keys() == {"a", "b"}


@pytest.mark.parametrize("seeds", [True, False])
def test_runs_without_orders_are_paired_by_seed_or_compared_as_samples(
    tmp_path: Path, seeds: bool
) -> None:
    values = {"a": [61.2, 58.9, 64.0, 60.1], "b": [60.1, 57.8, 62.7, 59.2]}
    rows = [
        f"{name},{seed},{value}" if seeds else f"{name},{value}"
        for name, own in values.items()
        for seed, value in enumerate(own)
    ]
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(["method,seed,accuracy" if seeds else "method,accuracy", *rows]))
    one = edgecil.compare(path)["a", "b"]
    assert (one.n, one.paired, one.population) == (4, seeds, "runs like these")
    assert one.difference == pytest.approx(1.1)
    assert (one.interval[1] - one.interval[0] < 1.5) == seeds
    (advice,) = edgecil.next_runs(path, target=0.5).datasets
    assert (advice.orders, advice.steps["a"].unit) == ((), "run")
    assert advice.steps["a"].order_count > 4
    assert str(edgecil.analyze(path)["a"]).startswith("a reaches ")
    assert advice.decisions.keys() == ({"a"} if seeds else set())


@pytest.mark.parametrize(
    ("seeds", "n", "is_paired"), [(range(4), 4, True), (range(2, 6), 4, False), (range(1), 1, True)]
)
def test_runs_that_share_few_seeds_are_compared_as_samples(
    seeds: range, n: int, is_paired: bool
) -> None:
    rows = [("a", seed, 50.0 + seed) for seed in range(4)]
    rows += [("b", seed, 40.0 + seed % 3) for seed in seeds]
    pair = edgecil.compare(pandas.DataFrame(rows, columns=["method", "seed", "accuracy"]))["a", "b"]
    assert (pair.n, pair.paired) == (n, is_paired)


def test_a_file_that_is_given_twice_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ours.csv"
    path.write_text("method,seed,accuracy\na,0,50\na,1,51\n")
    with pytest.raises(UsageError, match=r"Got a alone, twice from .*ours\.csv\."):
        edgecil.compare([path, path])
    with pytest.raises(UsageError, match=r"Got a alone\."):
        edgecil.compare(path)


def test_what_was_run_is_called_what_it_is() -> None:
    frame = pandas.DataFrame({"seed": range(3), "a": (50.0, 51.0, 52.0), "b": (40.0, 41.0, 43.0)})
    said = str(edgecil.compare(frame, seeds_are="trainings"))
    assert "from 3 unpaired trainings" in said
    assert "orders" not in said.replace("nothing follows about other class orders", "")
    advice = edgecil.next_runs(frame)
    assert f"{advice['a'].order_count} more runs" in repr(advice)
    once = frame.assign(sequence="0 1|2 3").melt(["seed", "sequence"], ["a", "b"], "method", "top1")
    assert "over trainings of this class order" in str(edgecil.compare(once, metric="top1"))


def test_a_dataset_that_disagrees_with_the_mean_over_datasets_is_named(tmp_path: Path) -> None:
    for dataset, mean in (("x", 80.0), ("y", 45.0)):
        runs = [
            run
            for m, p, at in (("a", 0, mean), ("b", 1, 50.0))
            for run in runs_of(m, "random", noisy(p, mean=at))
        ]
        write((replace(run, dataset=dataset) for run in runs), tmp_path / f"{dataset}.csv")
    (over,) = edgecil.compare([tmp_path / "x.csv", tmp_path / "y.csv"]).over_datasets
    assert (over.ahead, over.behind_on) == ("a", ("y",))
    assert over.differences["x"] > over.difference > 0.0 > over.differences["y"]
    assert "ahead on 1 of 2 (behind on y), by −" in str(over)


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1000.0])
def test_verdicts_on_numbers_without_a_unit_do_not_depend_on_their_size(scale: float) -> None:
    values = {"a": [3.1, 2.9, 3.3, 3.0, 3.2], "b": [2.1, 2.3, 2.2, 2.0, 2.4]}
    rows = [
        (name, seed, scale * value)
        for name, own in values.items()
        for seed, value in enumerate(own)
    ]
    frame = pandas.DataFrame(rows, columns=["method", "seed", "loss"])
    pair = edgecil.compare(frame)["a", "b"]
    assert (pair.better, pair.grade) == ("b", "clear")
    assert pair.difference / scale == pytest.approx(0.9)
    assert pair.low / scale == pytest.approx(0.6517, abs=1e-3)
    written = {1e-4: "by 0.000090", 1.0: "by 0.90", 1000.0: "by 900"}[scale]
    assert f"b is clearly better than a: {written} on average" in str(pair)
    mean = {1e-4: "0.00031", 1.0: "3.10", 1000.0: "3100"}[scale]
    assert f"a reaches a loss of {mean}" in str(edgecil.analyze(frame)["a"])


def test_a_comparison_of_trainings_of_one_order_says_that_nothing_follows_about_others() -> None:
    values = {"a": [64.1, 62.8, 65.3, 63.9], "b": [61.9, 62.0, 62.7, 62.3], "c": [50.0, 51.0, 52.0]}
    rows = [
        (name, seed, 1993, value) for name, own in values.items() for seed, value in enumerate(own)
    ]
    frame = pandas.DataFrame(rows, columns=["method", "seed", "order_seed", "accuracy"])
    clause = "nothing follows about other class orders"
    comparison = edgecil.compare(frame)
    assert str(comparison).count(clause) == 1
    pair = comparison["a", "b"]
    assert "over trainings of this class order" in str(pair)
    assert clause in str(pair)
    assert not pair.paired
    random = frame.assign(order_seed=frame["seed"].where(frame["method"] == "a", 1993))
    mixed = edgecil.compare(random, method="a,b")
    assert "trainings of this class order (b)" in str(mixed)
    assert "uniformly random class orders and trainings (a)" in str(mixed)


PUBLISHED = "Accuracy (%), mean ± std over 5 seeds.\n\n| method | accuracy |\n|---|---|\n"
PUBLISHED += "| iCaRL | 57.2 ± 1.1 |\n| DER | 63.4 ± 0.8 |\n"


def test_published_means_are_compared_by_welchs_test(tmp_path: Path) -> None:
    path = tmp_path / "paper.md"
    path.write_text(PUBLISHED)
    comparison = edgecil.compare(path)
    pair = comparison["DER", "iCaRL"]
    scale = np.sqrt(5 / 4)  # NumPy's standard deviation divides by n
    welch = stats.ttest_ind_from_stats(63.4, 0.8 * scale, 5, 57.2, 1.1 * scale, 5, equal_var=False)
    assert (pair.better, pair.difference) == ("DER", pytest.approx(6.2))
    assert pair.p == pytest.approx(welch.pvalue)
    with pytest.raises(DataError, match="compare"):
        edgecil.analyze(path)


def test_an_experiment_is_compared_with_a_published_table(tmp_path: Path) -> None:
    write_experiment(tmp_path / "runs", {"ours": noisy(0, mean=90.0)}, ("random",))
    path = tmp_path / "paper.md"
    path.write_text(PUBLISHED)
    comparison = edgecil.compare([tmp_path / "runs", path], baseline="DER")
    assert set(comparison.methods) == {"ours", "iCaRL", "DER"}
    assert comparison["ours", "DER"].better == "ours"
