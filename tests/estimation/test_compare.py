"""`compare` and `next_runs` on several sources."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas
import pytest
from IPython.lib.pretty import pretty

import edgecil
from edgecil.errors import UsageError
from edgecil.estimation.next_runs import MOST_ORDERS
from edgecil.sequences import SequenceSpace
from edgecil.sequences.given import given_texts
from tests.estimation.tables import SPACE, Run, build, noisy, runs_of, table_of, write


def test_methods_of_several_files_are_compared(tmp_path: Path) -> None:
    a, b = runs_of("a", "random", noisy(0)), runs_of("b", "random", noisy(1, mean=60.0))
    write(a, tmp_path / "a.csv")
    write(b, tmp_path / "b.csv.gz")
    result = edgecil.compare([tmp_path / "a.csv", tmp_path / "b.csv.gz"])
    (pair,) = result.pairs
    assert (pair.first, pair.second, pair.comparison.n) == ("a", "b", 3)
    assert result["b", "a"].difference == -pair.comparison.difference
    assert result.to_pandas().loc[0, ["first", "n"]].tolist() == ["a", 3]


def test_printing_a_comparison_and_advice_gives_their_sentences() -> None:
    table = table_of({"a": noisy(0), "b": noisy(0, mean=70.0), "c": noisy(2)}, ("latin",))
    result = edgecil.compare(table)
    assert "3 pairs" in repr(result)
    assert "1 pair " in repr(edgecil.compare(table, method=["a", "b"]))
    assert str(result).startswith("b is ")
    assert len(str(result).splitlines()) >= 3
    advice = edgecil.next_runs(table)
    assert f"{len(advice[0].repeat)} to train once more" in repr(advice)
    for shown in (str(advice[0]), pretty(advice)):
        assert all(str(order) in shown for order in advice[0].repeat)
        assert all(f"{name}: " in shown for name in "abc")
    assert pretty(result) == str(result)


def test_chosen_methods_only_and_unknown_ones_are_refused() -> None:
    table = table_of({"a": noisy(0), "b": noisy(1), "c": noisy(2)}, ("latin",))
    assert len(edgecil.compare(table).pairs) == 3
    assert len(edgecil.compare(table, method=["a", "c"]).pairs) == 1
    with pytest.raises(UsageError, match="'d'"):
        edgecil.compare(table, method=["a", "d"])


def test_methods_without_a_common_order_are_refused() -> None:
    runs = [runs_of("a", "latin", noisy(0))[0], runs_of("b", "latin", noisy(0))[1]]
    with pytest.raises(UsageError, match="same protocol"):
        edgecil.compare(build(runs))


def test_less_forgetting_wins() -> None:
    runs = [*runs_of("a", "latin", noisy(0)), *runs_of("b", "latin", noisy(0, mean=70.0))]
    table = build(tuple(runs), metric="forgetting")
    result = edgecil.compare(table, metric="forgetting")["a", "b"]
    assert (result.won, result.difference < 0.0) == (1.0, True)
    assert result.new_run_probability is not None
    assert result.new_run_probability > 0.9


def test_the_next_orders_are_new(tmp_path: Path) -> None:
    latin = runs_of("m", "latin", noisy(0))
    repeated = [replace(run, seed=1, accuracy=noisy(1)(run.sequence)) for run in latin]
    (result,) = edgecil.next_runs(build((*latin, *repeated)), target=2.0)
    step = result.steps["m"]
    assert (step.step, len(result.orders)) == ("orders", step.order_count)
    orders = [run.sequence for run in latin]
    assert not set(orders) & set(result.orders)
    result.save(tmp_path / "next.json")
    assert given_texts(tmp_path / "next.json") == {"next": tuple(map(str, result.orders))}


def test_the_orders_of_next_continue_a_latin_design() -> None:
    runs = runs_of("m", "latin", noisy(0))
    (more,) = edgecil.next_runs(build(runs[:2]))
    new = [
        replace(runs[0], protocol="next", label=str(order), sequence=order, accuracy=51.0)
        for order in more.orders
    ]
    said = edgecil.analyze(build((*runs[:2], *new))).datasets[0].methods["m"].answer
    assert (said.protocols, said.blind, said.order_count) == (("latin", "next"), True, 3)


def test_an_exhausted_space_has_no_further_orders() -> None:
    (result,) = edgecil.next_runs(table_of({"m": noisy(0)}, ("enumerate",)))
    assert (result.orders, len(result.repeat)) == ((), 2)
    assert SPACE.size == 90
    with pytest.raises(UsageError, match="no further orders"):
        result.save("next.json")


def test_a_hundred_orders_are_suggested_at_a_time() -> None:
    """A target of 0.001 points requires more orders than can ever be listed."""
    space, rng = SequenceSpace.equal(10, 5), np.random.default_rng(0)
    runs = [
        Run("m", "d", "random", str(order), order, 0, float(rng.normal(50.0, 2.0)))
        for order in space.sample(5, rng)
    ]
    (result,) = edgecil.next_runs(build(runs), target=0.001)
    assert result.steps["m"].order_count > 50_000
    assert len(set(result.orders)) == MOST_ORDERS
    assert not {run.sequence for run in runs} & set(result.orders)


def test_a_pair_without_an_interval_has_no_decision() -> None:
    """One order says nothing about how many are needed; it does not say that all are too few."""
    runs = [runs_of(name, "random", noisy(seed))[0] for seed, name in enumerate("ab")]
    assert edgecil.next_runs(build(runs))[0].decisions == {}


@pytest.mark.parametrize(("lead", "grade"), [(5.0, "clear"), (1.5, "likely"), (0.0, "cannot tell")])
def test_what_compare_says_already_stands_in_the_advice(lead: float, grade: str) -> None:
    pairs = ((60.0, 1.0), (58.0, -1.0), (62.0, 0.5), (59.0, -0.5))
    runs = {"b": [b for b, _ in pairs], "a": [b + lead + noise for b, noise in pairs]}
    frame = pandas.DataFrame(
        [(name, seed, it) for name, own in runs.items() for seed, it in enumerate(own)],
        columns=["method", "seed", "accuracy"],
    )
    (advice,) = edgecil.next_runs(frame)
    assert edgecil.compare(frame)["a", "b"].grade == advice.grades["b"]["a"] == grade
    [sentence] = [line for line in str(advice).splitlines() if line.startswith("b − a: ")]
    assert sentence.startswith("b − a: clear already") == (grade == "clear")
    assert sentence.startswith("b − a: likely already") == (grade == "likely")


@pytest.mark.parametrize("protocol", ["given", "mine"])
def test_further_orders_continue_orders_chosen_in_an_unknown_way(protocol: str) -> None:
    runs = [replace(run, protocol=protocol) for run in runs_of("m", "latin", noisy(0))]
    (advice,) = edgecil.next_runs(build(runs))
    assert not advice.steps["m"].replaces


@pytest.mark.parametrize(("count", "blind"), [(90, True), (89, False)])
def test_all_orders_count_as_random_whatever_their_protocol_is_called(
    count: int, blind: bool
) -> None:
    runs = [
        replace(run, protocol="given")
        for seed, name in enumerate("ab")
        for run in runs_of(name, "enumerate", noisy(seed))[:count]
    ]
    table = build(runs)
    assert edgecil.compare(table)["a", "b"].blind == blind
    assert any("'given'" in note for note in edgecil.analyze(table).datasets[0].notes) != blind


def test_orders_that_were_not_chosen_blindly_do_not_count_beside_further_ones() -> None:
    runs = runs_of("m", "edge", noisy(0))
    (advice,) = edgecil.next_runs(build(runs))
    step = advice.steps["m"]
    assert (step.step, step.order_count, step.replaces) == ("orders", 3, True)
    assert edgecil.analyze(build(runs)).datasets[0].methods["m"].next_step == step
    further = [
        replace(runs[0], protocol="next", label=str(one), sequence=one, accuracy=noisy(0)(one))
        for one in advice.orders
    ]
    for count, used in ((1, "edge"), (3, "next")):
        table = build((*runs, *further[:count]))
        said = edgecil.analyze(table).datasets[0].methods["m"].answer
        assert (said.protocols, said.order_count) == ((used,), 3)


def test_more_assurance_requires_more_orders() -> None:
    every = runs_of("m", "enumerate", noisy(0))[::15]
    runs = [replace(run, protocol="random", seed=seed) for seed, run in enumerate(every)]
    (advice,) = edgecil.next_runs(build(runs), target=2.0)
    step = advice.steps["m"]
    assert step.sure_count is not None
    assert 0 < step.order_count < step.sure_count


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
    singles = [pair.comparison for pair in result.pairs]
    assert over.datasets == ("d0", "d1")
    assert over.difference == pytest.approx(np.mean([one.difference for one in singles]))
    widths = [one.interval[1] - one.interval[0] for one in singles if one.interval is not None]
    assert over.interval[1] - over.interval[0] < max(widths)
    assert str(result).startswith("Over 2 datasets, b ")
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
    assert one.interval is not None
    assert (one.interval[1] - one.interval[0] < 1.5) == seeds
    (advice,) = edgecil.next_runs(path, target=0.5)
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


def test_what_was_run_is_called_what_it_is() -> None:
    frame = pandas.DataFrame({"seed": range(3), "a": (50.0, 51.0, 52.0), "b": (40.0, 41.0, 43.0)})
    said = str(edgecil.compare(frame, seeds_are="trainings"))
    assert "all 3 trainings" in said
    assert "orders" not in said
    (advice,) = edgecil.next_runs(frame)
    assert f"{advice.steps['a'].order_count} more runs" in repr(advice)
    once = frame.assign(sequence="0 1|2 3").melt(["seed", "sequence"], ["a", "b"], "method", "top1")
    assert "One order" in str(edgecil.compare(once, metric="top1"))


def test_advice_looks_no_further_than_the_orders_that_are_left() -> None:
    table = table_of({"a": noisy(0), "b": noisy(0, mean=50.01)}, ("random",))
    (advice,) = edgecil.next_runs(table)
    assert advice.most == SPACE.size - len(table.sequences)


def test_a_saved_analysis_is_no_table_of_runs(tmp_path: Path) -> None:
    edgecil.analyze(table_of({"a": noisy(0)})).save(tmp_path / "analysis.json")
    for use in (edgecil.compare, edgecil.next_runs):
        with pytest.raises(UsageError, match="saved analysis"):
            use(tmp_path / "analysis.json")


def test_a_dataset_that_disagrees_with_the_mean_over_datasets_is_named(tmp_path: Path) -> None:
    for dataset, mean in (("x", 80.0), ("y", 45.0)):
        runs = [
            run
            for m, p, at in (("a", 0, mean), ("b", 1, 50.0))
            for run in runs_of(m, "random", noisy(p, mean=at))
        ]
        write((replace(run, dataset=dataset) for run in runs), tmp_path / f"{dataset}.csv")
    (over,) = edgecil.compare([tmp_path / "x.csv", tmp_path / "y.csv"]).over_datasets
    assert over.difference > 0.0
    assert over.opposite == ("y",)
