"""Which sequences a search trains: within its limit, cheap ones, and towards its goal."""

from __future__ import annotations

import numpy as np
import pytest

from edgecil.search.strategy import Strategy, first_sequences, trainings
from edgecil.sequences import ClassSequence, SequenceSpace, latin
from tests.search.test_surrogate import position_effects

SPACE = SequenceSpace.equal(6, 3)
SEQUENCES = list(SPACE.enumerate())
PLACE = {sequence: index for index, sequence in enumerate(SEQUENCES)}


def first(strategy: Strategy) -> list[ClassSequence]:
    count = first_sequences(strategy.limit // strategy.space.tasks)
    return latin(strategy.space, count, np.random.default_rng(strategy.seed))


def simulate(strategy: Strategy, truth: np.ndarray) -> tuple[list[ClassSequence], int]:
    """The sequences that are trained, and the place of the chosen one."""
    sequences = first(strategy)
    while True:
        values = [float(truth[PLACE[sequence]]) for sequence in sequences]
        proposed = strategy.propose(sequences, values)
        if not proposed:
            return sequences, PLACE[sequences[strategy.choose(sequences, values)]]
        sequences += proposed


def test_prefixes_count_each_task_training_once() -> None:
    one, other = ClassSequence([[0, 1], [2, 3], [4, 5]]), ClassSequence([[0, 1], [4, 5], [2, 3]])
    counts = [len(trainings(*some)) for some in ((), (one,), (one, other), (one, one))]
    assert counts == [0, 3, 5, 3]


@pytest.mark.parametrize("goal", ["worst", "best"])
def test_a_search_comes_closer_to_the_extreme_than_random_orders_of_the_same_cost(goal) -> None:
    ranks, limit = [], 30
    for seed in range(6):
        truth = position_effects(SPACE, seed)
        sequences, place = simulate(Strategy(SPACE, goal, limit, seed), truth)
        assert len(trainings(*sequences)) <= limit
        assert len(set(sequences)) == len(sequences) > limit // 3, "shared tasks buy more orders"
        better = truth < truth[place] if goal == "worst" else truth > truth[place]
        ranks.append(better.sum())
    # Of 11 random orders the extreme one has rank 90 / 12 = 7.5 on average.
    assert np.mean(ranks) < 3.5


def test_sequences_that_share_trained_tasks_are_preferred() -> None:
    def trained(seed: int, per_training: bool) -> int:
        strategy = Strategy(SPACE, "worst", 30, seed, per_training=per_training)
        return len(simulate(strategy, position_effects(SPACE, seed))[0])

    cheap, any_cost = (np.mean([trained(seed, it) for seed in range(4)]) for it in (True, False))
    assert cheap > any_cost > 10.0


def test_the_same_results_lead_to_the_same_proposals() -> None:
    truth = position_effects(SPACE, 3)
    one, other = (simulate(Strategy(SPACE, "worst", 30, 4), truth) for _ in range(2))
    assert one == other


def test_a_large_space_is_searched_near_trained_orders() -> None:
    space = SequenceSpace.equal(20, 10)
    rng = np.random.default_rng(0)
    strategy = Strategy(space, "best", 400, 1)
    sequences = first(strategy)
    proposed = strategy.propose(sequences, rng.normal(60, 2, len(sequences)).tolist())
    assert len(proposed) == strategy.batch
    assert all(sequence in space for sequence in proposed)
    assert not set(proposed) & set(sequences)
    trained = trainings(*sequences)
    assert min(len(trainings(sequence) - trained) for sequence in proposed) < 10


def test_the_share_beyond_an_extreme_value_is_near_one() -> None:
    truth = position_effects(SPACE, 3)
    strategy = Strategy(SPACE, "worst", 60, 0)
    sequences, _ = simulate(strategy, truth)
    values = [float(truth[PLACE[sequence]]) for sequence in sequences]
    for quantile in (0.1, 0.5, 0.9):
        share = strategy.share_beyond(sequences, values, float(np.quantile(truth, quantile)), 0.0)
        assert share == pytest.approx(1.0 - quantile, abs=0.12)
