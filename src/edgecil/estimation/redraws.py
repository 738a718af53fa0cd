"""What a protocol might have run: its random part drawn again and again from the truth.

One triple of random orders may be lucky; so may the one median of EDGE, or one Latin design. A
protocol is judged by its average over such draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from edgecil.estimation.accuracies import Orders
from edgecil.estimation.closeness import AverageCloseness, average_closeness
from edgecil.estimation.estimators import ESTIMATORS, Estimate, Runs
from edgecil.estimation.predictors import Predictor
from edgecil.estimation.samples import SamplePoint, draw_runs, sample_curve
from edgecil.estimation.truth import Truth
from edgecil.sequences.latin import latin
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Floats, Ints

Redrawn = dict[str, dict[str, list[Estimate]]]

_EXTREMES = ("hard", "easy")
_RUNS = 3


@dataclass(frozen=True, eq=False)
class Pool:
    """Where runs are drawn from: the truth, then extreme sequences that it lacks.

    Attributes:
        truth: what estimates are held against; random runs come from it alone.
        accuracies: (p,) per cent, the truth's first.
        z: (p,) the predictor; None without one.
        levels: its distribution over Ω; None without one.
        extremes: by protocol, the places of its hard and its easy sequence.
    """

    truth: Truth
    accuracies: Floats
    z: Floats | None
    levels: tuple[Floats, Floats] | None
    extremes: dict[str, list[int]]

    def runs(self, places: Ints) -> Runs:
        """The runs at these places."""
        z = None if self.z is None else self.z[places]
        return Runs(self.accuracies[places], z, self.levels, self.truth.orders)


def build_pool(truth: Truth, ran: Mapping[str, Orders], predictor: Predictor | None) -> Pool:
    """The truth and the hard and easy sequences of every protocol that labels them."""
    place = truth.index()
    values = truth.accuracies.tolist()
    extremes = {}
    for protocol, orders in ran.items():
        found = orders.by_sequence()
        labelled = dict(zip(orders.labels, orders.sequences, strict=True))
        if not all(goal in labelled for goal in _EXTREMES):
            continue
        for goal in _EXTREMES:
            if labelled[goal] not in place:
                place[labelled[goal]] = len(values)
                values.append(found[labelled[goal]])
        extremes[protocol] = sorted({place[labelled[goal]] for goal in _EXTREMES})
    return Pool(
        truth,
        np.array(values),
        None if predictor is None else predictor.z(place),
        None if predictor is None else predictor.levels(),
        extremes,
    )


def redraw_estimates(
    pool: Pool, ran: Mapping[str, Orders], space: SequenceSpace, *, draws: int, seed: int
) -> Redrawn:
    """What protocols might have estimated: by protocol and estimator, one estimate per draw.

    Random is always among them, with three runs unless the table has another number. Protocols
    whose random part is not known are left out, and estimators that some draw is not enough for.
    Methods whose truths hold the same sequences get the same draws.
    """
    budgets = {"random": _RUNS} | {
        name: len(orders) for name, orders in ran.items() if name not in pool.truth.protocols
    }
    found = {}
    for protocol, budget in budgets.items():
        drawn = [
            pool.runs(places) for places in _redraw(pool, protocol, budget, space, draws, seed)
        ]
        able = {
            name: estimator
            for name, estimator in ESTIMATORS.items()
            if all(estimator.obstacle(runs) is None for runs in drawn)
        }
        if drawn and able:
            found[protocol] = {
                name: [estimator(runs) for runs in drawn] for name, estimator in able.items()
            }
    return found


def average_protocols(truth: Truth, redrawn: Redrawn) -> dict[str, dict[str, AverageCloseness]]:
    """Mean closeness to the truth over the draws, by protocol and estimator."""
    return {
        protocol: {
            name: average_closeness(truth.accuracies, estimates)
            for name, estimates in by_estimator.items()
        }
        for protocol, by_estimator in redrawn.items()
    }


def sample_curves(pool: Pool, *, draws: int, seed: int) -> dict[str, list[SamplePoint]]:
    """Closeness of the paper's Gaussian as the budget grows, for random and extreme protocols."""
    return {
        protocol: sample_curve(
            pool.truth.accuracies,
            np.random.default_rng(seed),
            pool=pool.accuracies,
            fixed=fixed,
            draws=draws,
        )
        for protocol, fixed in {"random": [], **pool.extremes}.items()
    }


def _redraw(
    pool: Pool, protocol: str, budget: int, space: SequenceSpace, draws: int, seed: int
) -> Iterator[Ints]:
    """Places in the pool of what a protocol might have run; nothing where that is not known."""
    rng, size = np.random.default_rng(seed), len(pool.truth.sequences)
    fixed = pool.extremes.get(protocol, [])
    if budget > size:
        return
    if fixed or protocol in ("random", "random-legacy"):
        for _ in range(draws):
            yield draw_runs(size, max(budget, len(fixed)), rng, fixed=fixed)
    elif protocol == "latin" and size == pool.truth.orders:
        place = pool.truth.index()
        for _ in range(draws):
            yield np.array([place[sequence] for sequence in latin(space, budget, rng)])
