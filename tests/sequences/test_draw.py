"""What every protocol promises, and what each promises by name."""

from __future__ import annotations

import re

import numpy as np
import pytest

from edgecil.errors import UsageError
from edgecil.sequences import (
    PROTOCOLS,
    SequenceSpace,
    find_optimum,
    get_objective,
    moments,
    protocol,
    seeded,
)
from edgecil.sequences.protocols import describe_duplicates, draw_protocols
from edgecil.similarity import SimilarityMatrix
from tests.sequences.oracles import matrix, symmetric

EXTREMES = ["edge", "optimal", "adversarial", "maxcover"]
OFFLINE = [name for name, entry in PROTOCOLS.items() if not entry.asks_model]
WITH_BUDGET = [name for name in OFFLINE if PROTOCOLS[name].takes_budget]
SIX = SequenceSpace((2, 2, 2))


def similarity_for(space: SequenceSpace) -> SimilarityMatrix:
    return SimilarityMatrix.of(matrix("signed", space.classes))


def runs_of(name: str, space: SequenceSpace = SIX, **options):
    return protocol(name, space, similarity=similarity_for(space), **options)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_only_what_looks_at_the_classes_needs_a_similarity(name) -> None:
    if PROTOCOLS[name].needs_similarity:
        with pytest.raises(UsageError, match=r"similarity.*use"):
            protocol(name, SIX)
    else:
        assert protocol(name, SIX) == runs_of(name)


@pytest.mark.parametrize("name", EXTREMES)
def test_hard_comes_first_easy_last_and_random_ones_between(name) -> None:
    assert [run.label for run in runs_of(name)] == ["hard", "median", "easy"]
    assert [run.label for run in runs_of(name, budget=2)] == ["hard", "easy"]
    labels = [run.label for run in runs_of(name, budget=5)]
    assert labels == ["hard", "random-1", "random-2", "random-3", "easy"]
    with pytest.raises(UsageError, match=f"'{name}'.*'budget' >= 2"):
        runs_of(name, budget=1)


@pytest.mark.parametrize("name", EXTREMES)
def test_the_ends_do_not_depend_on_the_budget(name) -> None:
    few, many = runs_of(name, budget=3), runs_of(name, budget=6)
    assert few[0] == many[0]
    assert few[-1] == many[-1]


@pytest.mark.parametrize("name", EXTREMES)
def test_the_seed_is_that_of_what_is_random(name) -> None:
    space = SequenceSpace.equal(30, 5)
    medians = {runs_of(name, space, order_seed=seed)[1].sequence for seed in range(4)}
    assert len(medians) == 4
    assert runs_of(name, space) == runs_of(name, space, order_seed=0)


@pytest.mark.parametrize("name", ["edge", "optimal"])
def test_the_median_is_none_of_the_random_protocols_and_no_extreme(name) -> None:
    of_random = {
        run.sequence for random in ("random", "random-legacy") for run in protocol(random, SIX)
    }
    medians = set()
    for seed in range(150):
        hard, median, easy = runs_of(name, order_seed=seed)
        assert median.sequence not in of_random | {hard.sequence, easy.sequence}
        medians.add(median.sequence)
    assert len(medians) > 30


def test_a_space_too_small_for_three_different_runs_still_gives_three() -> None:
    pair = SequenceSpace((1, 1))
    for name in EXTREMES:
        runs = runs_of(name, pair)
        assert {run.sequence for run in runs} <= set(pair.enumerate())
        assert len(runs) == 3


@pytest.mark.parametrize("name", WITH_BUDGET)
@pytest.mark.parametrize(
    ("sizes", "limit"), [((2, 2, 2), 90), ((10,) * 10, 1_000_000)], ids=["small", "large"]
)
def test_a_budget_beyond_all_sequences_is_refused_at_once(name, sizes, limit) -> None:
    """It took gigabytes."""
    for budget in (limit + 1, 10**9):
        with pytest.raises(UsageError, match=rf"\b{limit}\b.*\b{budget}\b"):
            runs_of(name, SequenceSpace(sizes), budget=budget)


@pytest.mark.parametrize("name", EXTREMES)
def test_a_budget_of_all_sequences_takes_each_once(name) -> None:
    space = SequenceSpace((1, 1, 2))
    runs = runs_of(name, space, budget=space.size)
    extremes = {run.sequence for run in runs if run.label in ("hard", "easy")}
    assert len({run.sequence for run in runs}) == space.size - (2 - len(extremes))


def test_random_is_the_papers_three_seeds_then_others() -> None:
    runs = protocol("random", SIX, budget=6)
    # Seed 42 draws the order of seed 0.
    assert [run.label for run in runs] == [f"seed-{seed}" for seed in (0, 1993, 1, 2, 3, 4)]
    assert [run.sequence for run in runs] == [seeded(SIX, int(run.label[5:])) for run in runs]


def test_random_orders_differ_but_seeds_of_other_tools_stay() -> None:
    runs = protocol("random", SIX, budget=60)
    assert len({run.sequence for run in runs}) == 60
    assert "seed-42" not in [run.label for run in runs], "it draws the order of seed 0"
    legacy = [run.label for run in protocol("random-legacy", SIX, budget=60)]
    assert legacy[:4] == ["seed-0", "seed-42", "seed-1993", "seed-1"]
    for run in protocol("random-legacy", SIX):
        assert run.sequence == seeded(SIX, int(run.label[5:]), legacy=True)


def test_a_given_seed_is_counted_on_from() -> None:
    runs = [(run.label, run.sequence) for run in protocol("random", SIX, order_seed=7, budget=4)]
    assert runs == [(f"seed-{seed}", seeded(SIX, seed)) for seed in (7, 8, 9, 10)]


def test_enumerating_too_much_is_refused_before_it_begins() -> None:
    with pytest.raises(UsageError, match=r"about 10\^92 sequences, too many"):
        protocol("enumerate", SequenceSpace.equal(100, 10))
    with pytest.raises(UsageError, match="'budget'"):
        protocol("enumerate", SIX, budget=3)


@pytest.mark.parametrize("objective", ["generalization", "intra", symmetric(3)], ids=str)
def test_optimal_optimises_what_it_is_asked_to(objective) -> None:
    hard, _, easy = runs_of("optimal", objective=objective)
    for run, goal in ((hard, "hard"), (easy, "easy")):
        expected = find_optimum(similarity_for(SIX), SIX, goal, objective=objective)
        assert run.optimum.value == expected.value


@pytest.mark.parametrize("name", WITH_BUDGET)
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"budget": 0}, "'budget'.*1.*0"),
        ({"budget": -2}, "Got -2"),
        ({"order_seed": -1}, "'order_seed'.*0.*-1"),
    ],
    ids=str,
)
def test_budgets_and_seeds_out_of_range_are_refused(name, options, sentence) -> None:
    with pytest.raises(UsageError, match=sentence):
        runs_of(name, **options)


def test_labels_that_share_a_sequence_are_told_and_counted() -> None:
    runs = [(f"seed-{seed}", seeded(SIX, seed)) for seed in (0, 42, 1993)]
    sentence = describe_duplicates("random", runs) or ""
    assert "seed-0 and seed-42" in sentence
    assert re.findall(r"\d+", sentence) == ["3", "2", "0", "42"]
    assert describe_duplicates("random", runs[1:]) is None
    assert "one order" in (describe_duplicates("random", runs[:2]) or "")


def test_probes_group_similar_classes_and_spread_them() -> None:
    # Classes 0 and 1, 2 and 3, 4 and 5 are alike.
    values = np.kron(np.eye(3), np.ones((2, 2))) + 0.01 * matrix("signed", 6)
    grouped, spread = protocol("probes", SIX, similarity=SimilarityMatrix.of(values))
    assert (grouped.label, spread.label) == ("grouped", "spread")
    assert sorted(grouped.sequence.tasks) == [(0, 1), (2, 3), (4, 5)]
    assert not set(grouped.sequence.tasks) & set(spread.sequence.tasks)
    assert {PROTOCOLS["probes"].role(run.label) for run in (grouped, spread)} == {"constructed"}
    for run, sign in ((grouped, 1), (spread, -1)):
        assert run.optimum.exact
        assert sign * run.optimum.z > 0.7
        limits = moments(SimilarityMatrix.of(values), SIX, get_objective("generalization", SIX))
        assert run.optimum.z == limits.z(run.optimum.value)


def test_probes_are_one_pair_for_every_seed_and_prefer_the_inputs() -> None:
    space = SequenceSpace.equal(30, 5)
    names, means = (SimilarityMatrix.of(matrix("signed", 30, seed)) for seed in (0, 1))
    of_means = protocol("probes", space, similarity=means)
    assert of_means == protocol("probes", space, similarity=means, order_seed=7)
    drawn = draw_protocols(
        {"probes": None, "edge": None}, space, similarity=names, class_means=means
    )
    assert drawn["probes"] == of_means
    assert drawn["edge"] == protocol("edge", space, similarity=names)
