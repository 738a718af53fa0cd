"""Methods ranked by the truth, by the runs of each protocol, and by redraws of each protocol."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from edgecil.lab.audits import MethodAudit, ProtocolRanking
from edgecil.lab.estimators import ESTIMATORS, Estimate
from edgecil.lab.ranking import (
    AverageRanking,
    Ranking,
    average_ranking,
    rank,
    ranking_error,
)
from edgecil.lab.redraws import AllRedraws

Methods = Mapping[str, MethodAudit]
Numbers = tuple[float, float, float]


def rank_truth(
    methods: Methods, names: Collection[str], *, higher_is_better: bool = True
) -> Ranking | None:
    """Return the true ranking of those methods, if the truth of every one is available."""
    truths = {
        name: truth.accuracies for name in names if (truth := methods[name].truth) is not None
    }
    if not names or len(truths) < len(names):
        return None
    return rank(
        {
            name: _ends(a.min(), a.max(), a.std(), higher_is_better=higher_is_better)
            for name, a in truths.items()
        }
    )


def rank_protocols(
    methods: Methods, redraws: Mapping[str, AllRedraws], *, higher_is_better: bool = True
) -> dict[str, dict[str, ProtocolRanking]]:
    """Return rankings by every protocol and estimator, of the methods that have such an estimate.

    Args:
        methods: by name.
        redraws: by method, the estimates from other draws of each protocol's random part.
        higher_is_better: whether a greater value of the metric is the better one; forgetting is
            better if it is low, and its greatest value is that of the worst order.
    """
    protocols = dict.fromkeys(
        protocol
        for name, method in methods.items()
        for protocol in (*method.estimates, *redraws[name])
    )
    by_protocol = {}
    for protocol in protocols:
        rankings = {
            name: _rank(methods, redraws, protocol, name, higher_is_better=higher_is_better)
            for name in ESTIMATORS
        }
        by_protocol[protocol] = {
            name: ranking for name, ranking in rankings.items() if ranking is not None
        }
    return by_protocol


def _rank(
    methods: Methods,
    redraws: Mapping[str, AllRedraws],
    protocol: str,
    estimator: str,
    *,
    higher_is_better: bool,
) -> ProtocolRanking | None:
    """Return the ranking by one protocol and estimator; None if there is no estimate."""
    estimates: dict[str, Numbers] = {}
    drawn: dict[str, list[Numbers]] = {}
    for name, method in methods.items():
        answer = method.estimates.get(protocol, {}).get(estimator)
        if answer is not None and answer.estimate is not None:
            estimates[name] = _numbers(answer.estimate, higher_is_better=higher_is_better)
        many = redraws[name].get(protocol, {}).get(estimator)
        if many is not None:
            drawn[name] = [
                _numbers(one, higher_is_better=higher_is_better) for one in many.estimates
            ]
    average = _average(methods, drawn, higher_is_better=higher_is_better)
    if not estimates:
        return None if average is None else ProtocolRanking(None, None, average)
    truth = rank_truth(methods, estimates, higher_is_better=higher_is_better)
    ranking = rank(estimates)
    error = None if truth is None else ranking_error(ranking, truth)
    return ProtocolRanking(ranking, error, average)


def _average(
    methods: Methods, drawn: Mapping[str, Sequence[Numbers]], *, higher_is_better: bool
) -> AverageRanking | None:
    """Over the draws; None unless the truths, and so the draws, have the same sequences."""
    truth = rank_truth(methods, drawn, higher_is_better=higher_is_better)
    sequences = {own.sequences for name in drawn if (own := methods[name].truth) is not None}
    if truth is None or len(sequences) != 1:
        return None
    return average_ranking(drawn, truth)


def _numbers(estimate: Estimate, *, higher_is_better: bool) -> Numbers:
    """Return what a method is ranked by."""
    std = estimate.distribution.std
    return _ends(estimate.min, estimate.max, std, higher_is_better=higher_is_better)


def _ends(low: float, high: float, std: float, *, higher_is_better: bool) -> Numbers:
    """Return the worst and the best order's value, greater being better, and the std."""
    return (low, high, std) if higher_is_better else (-high, -low, std)
