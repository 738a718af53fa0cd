"""Methods ranked: by the truth, by the runs of each protocol, and by what it might have run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from edgecil.estimation.analysis import MethodAnalysis, ProtocolRanking
from edgecil.estimation.estimators import ESTIMATORS, Estimate
from edgecil.estimation.ranking import (
    AverageRanking,
    Ranking,
    average_ranking,
    rank,
    ranking_error,
)

Methods = Mapping[str, MethodAnalysis]


def rank_truth(methods: Methods, names: Collection[str]) -> Ranking | None:
    """The true ranking of those methods, if the truth of every one is known."""
    known = {name: truth.accuracies for name in names if (truth := methods[name].truth) is not None}
    if not names or len(known) < len(names):
        return None
    return rank({name: (a.min(), a.max(), a.std()) for name, a in known.items()})


def rank_protocols(methods: Methods) -> dict[str, dict[str, ProtocolRanking]]:
    """Rankings by every protocol and estimator, of the methods that have such an estimate."""
    protocols = dict.fromkeys(
        protocol for judged in methods.values() for protocol in (*judged.estimates, *judged.redrawn)
    )
    found = {}
    for protocol in protocols:
        rankings = {name: _judge(methods, protocol, name) for name in ESTIMATORS}
        found[protocol] = {
            name: ranking for name, ranking in rankings.items() if ranking is not None
        }
    return found


def _judge(methods: Methods, protocol: str, estimator: str) -> ProtocolRanking | None:
    """The ranking by one protocol and estimator; None if they say nothing."""
    made, drawn = {}, {}
    for name, judged in methods.items():
        once = judged.estimates.get(protocol, {}).get(estimator)
        if once is not None and once.estimate is not None:
            made[name] = once.estimate
        often = judged.redrawn.get(protocol, {}).get(estimator)
        if often is not None:
            drawn[name] = often.estimates
    average = _average(methods, drawn)
    if not made:
        return None if average is None else ProtocolRanking(None, None, average)
    truth = rank_truth(methods, made)
    ranking = rank({name: _numbers(estimate) for name, estimate in made.items()})
    error = None if truth is None else ranking_error(ranking, truth)
    return ProtocolRanking(ranking, error, average)


def _average(methods: Methods, drawn: Mapping[str, Sequence[Estimate]]) -> AverageRanking | None:
    """Over the draws; None unless the methods drew from the same sequences, and so the same."""
    truth = rank_truth(methods, drawn)
    sequences = {judged.sequences for name in drawn if (judged := methods[name].truth) is not None}
    if truth is None or len(sequences) != 1:
        return None
    return average_ranking({name: [*map(_numbers, made)] for name, made in drawn.items()}, truth)


def _numbers(made: Estimate) -> tuple[float, float, float]:
    """What a method is ranked by."""
    return made.min, made.max, made.distribution.std
