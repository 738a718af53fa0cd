"""Methods ranked by the truth, by the runs of each protocol, and by redraws of each protocol."""

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
from edgecil.estimation.redraws import AllRedraws

Methods = Mapping[str, MethodAnalysis]


def rank_truth(methods: Methods, names: Collection[str]) -> Ranking | None:
    """The true ranking of those methods, if the truth of every one is available."""
    truths = {
        name: truth.accuracies for name in names if (truth := methods[name].truth) is not None
    }
    if not names or len(truths) < len(names):
        return None
    return rank({name: (a.min(), a.max(), a.std()) for name, a in truths.items()})


def rank_protocols(
    methods: Methods, redraws: Mapping[str, AllRedraws]
) -> dict[str, dict[str, ProtocolRanking]]:
    """Rankings by every protocol and estimator, of the methods that have such an estimate.

    Args:
        methods: by name.
        redraws: by method, the estimates from other draws of each protocol's random part.
    """
    protocols = dict.fromkeys(
        protocol
        for name, method in methods.items()
        for protocol in (*method.estimates, *redraws[name])
    )
    by_protocol = {}
    for protocol in protocols:
        rankings = {name: _rank(methods, redraws, protocol, name) for name in ESTIMATORS}
        by_protocol[protocol] = {
            name: ranking for name, ranking in rankings.items() if ranking is not None
        }
    return by_protocol


def _rank(
    methods: Methods, redraws: Mapping[str, AllRedraws], protocol: str, estimator: str
) -> ProtocolRanking | None:
    """The ranking by one protocol and estimator; None if there is no estimate."""
    estimates, drawn = {}, {}
    for name, method in methods.items():
        answer = method.estimates.get(protocol, {}).get(estimator)
        if answer is not None and answer.estimate is not None:
            estimates[name] = answer.estimate
        many = redraws[name].get(protocol, {}).get(estimator)
        if many is not None:
            drawn[name] = many.estimates
    average = _average(methods, drawn)
    if not estimates:
        return None if average is None else ProtocolRanking(None, None, average)
    truth = rank_truth(methods, estimates)
    ranking = rank({name: _numbers(estimate) for name, estimate in estimates.items()})
    error = None if truth is None else ranking_error(ranking, truth)
    return ProtocolRanking(ranking, error, average)


def _average(methods: Methods, drawn: Mapping[str, Sequence[Estimate]]) -> AverageRanking | None:
    """Over the draws; None unless the truths, and so the draws, have the same sequences."""
    truth = rank_truth(methods, drawn)
    sequences = {own.sequences for name in drawn if (own := methods[name].truth) is not None}
    if truth is None or len(sequences) != 1:
        return None
    return average_ranking({name: [*map(_numbers, some)] for name, some in drawn.items()}, truth)


def _numbers(estimate: Estimate) -> tuple[float, float, float]:
    """What a method is ranked by."""
    return estimate.min, estimate.max, estimate.distribution.std
