"""The answer in words: every sentence is made from the judgement's own figures."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from edgecil.estimation import Distribution, MethodJudgement, Truth
from edgecil.estimation.correlation import WEAK
from edgecil.report.evidence import Evidence

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
# The paper's estimator, by which protocols are compared.
ESTIMATOR = "gaussian"


def found_range(method: MethodJudgement, protocol: str) -> tuple[float, float] | None:
    """Worst and best accuracy that a protocol finds: on average over draws, or in its one run."""
    average = method.averages.get(protocol, {}).get(ESTIMATOR)
    if average is not None and method.truth is not None:
        values = method.truth.accuracies
        return float(values.min()) + average.min_error, float(values.max()) - average.max_error
    made = method.estimates.get(protocol, {}).get(ESTIMATOR)
    if made is None or made.estimate is None:
        return None
    return made.estimate.min, made.estimate.max


def budget(method: MethodJudgement, protocol: str) -> int:
    """How many runs a protocol's figures rest on; random ones are compared by three unless run."""
    sampled = method.truth is not None and protocol in method.truth.protocols
    return 3 if sampled else method.runs.get(protocol, 3)


def calibrated(evidence: Evidence, name: str) -> tuple[str, Distribution] | None:
    """The best guess where there is no truth: how it was made, and the distribution.

    A line through accuracies is best fitted to the extremes of the predictor.
    """
    estimates = evidence.judgement.methods[name].estimates
    protocols = sorted(estimates, key=lambda protocol: protocol != evidence.extreme_protocol)
    for estimator in ("regression", "gaussian-c4"):
        for protocol in protocols:
            estimate = estimates[protocol][estimator].estimate
            if estimate is not None:
                return f"{estimator} from {protocol}", estimate.distribution
    return None


def headline(evidence: Evidence) -> str:
    """What the report is about."""
    table = evidence.table
    methods = _count(len(evidence.judgement.methods), "learner")
    return (
        f"{methods} on {table.dataset or 'your data'}: "
        f"{len(table.classes)} classes in {table.space.tasks} tasks"
    ).capitalize()


def verdict(evidence: Evidence) -> list[str]:
    """What holds over all methods: how much the order matters, how protocols fare beside random."""
    methods = evidence.judgement.methods
    ranges = {
        name: float(np.ptp(method.truth.accuracies))
        for name, method in methods.items()
        if method.truth is not None
    }
    if not ranges:
        return [_no_truth(evidence)]
    least, most = min(ranges, key=ranges.__getitem__), max(ranges, key=ranges.__getitem__)
    between = "" if least == most else f"{ranges[least]:.1f} ({least}) to "
    truth = methods[most].truth
    bound = "at least " if truth is not None and truth.kind == "sample" else ""
    sentences = [
        f"The class order alone moves accuracy by {bound}{between}{ranges[most]:.1f} points "
        f"({most})."
    ]
    rivals = [name for name in evidence.protocols if name not in ("random", "random-legacy")]
    fares = [fare for name in rivals if (fare := _fare(methods, name)) is not None]
    if fares:
        sentences.append(
            "Closer to the truth than as many random orders, by a tenth or more on average over "
            f"many draws: {'; '.join(fares)}."
        )
    return sentences


def _fare(methods: Mapping[str, MethodJudgement], name: str) -> str | None:
    """For how many methods a protocol comes closer than random does; None if nobody can say."""
    pairs = [
        (method.averages[name][ESTIMATOR], method.averages["random"][ESTIMATOR])
        for method in methods.values()
        if ESTIMATOR in method.averages.get(name, {})
        and ESTIMATOR in method.averages.get("random", {})
    ]
    if not pairs:
        return None
    jsd = sum(_clearly(mine.jsd, random.jsd) for mine, random in pairs)
    distance = sum(_clearly(mine.wasserstein, random.wasserstein) for mine, random in pairs)
    ends = sum(
        _clearly(mine.min_error + mine.max_error, random.min_error + random.max_error)
        for mine, random in pairs
    )
    learners = _count(len(pairs), "learner")
    return f"{name} for {jsd} of {learners} by JSD, {distance} by W₁, {ends} by the ends found"


def caution(evidence: Evidence) -> list[str]:
    """What the predictor is worth, method by method, where it is weak or points the wrong way."""
    if evidence.predictor is None:
        return []
    name, sign = evidence.predictor_name, evidence.predictor.sign
    weak, wrong, unknown = [], [], []
    for method, judged in evidence.judgement.methods.items():
        r = None if judged.predictor is None else judged.correlations[judged.predictor].pearson
        if r is None:
            unknown.append(method)
        elif sign is not None and r * sign < 0.0:
            wrong.append(f"{method} (r = {r:+.2f})")
        elif abs(r) < WEAK:
            weak.append(f"{method} (r = {r:+.2f})")
    sentences = []
    if weak:
        sentences.append(f"{name} predicts accuracy only weakly for {', '.join(weak)}.")
    if wrong:
        sentences.append(
            f"{name} has the wrong sign for {', '.join(wrong)}: what is called hard tends to be "
            "easy there."
        )
    if unknown:
        sentences.append(f"Whether {name} predicts accuracy is not known for {', '.join(unknown)}.")
    if sentences:
        sentences.append("'Hard' and 'easy' are names of constructions, not of outcomes.")
    return sentences


def method_answer(evidence: Evidence, name: str) -> list[str]:
    """What is known of one method: how much the order matters, and who finds that out."""
    method = evidence.judgement.methods[name]
    others = (protocol for protocol in evidence.protocols if protocol != "random")
    found = {
        protocol: ends
        for protocol in ("random", *others)
        if (ends := found_range(method, protocol)) is not None
    }
    whose = {protocol: _whose(budget(method, protocol), protocol) for protocol in found}
    if method.truth is None:
        ranges = [f"{whose[key]} {low:.1f} to {high:.1f}" for key, (low, high) in found.items()]
        return [f"Accuracy of {name}: {', '.join(ranges)}.", *_estimated(evidence, name)]
    widths = [f"{whose[key]} {high - low:.1f}" for key, (low, high) in found.items()]
    sentences = [_spread(name, method.truth)]
    if widths:
        sentences.append(f"Of these, found on average: {', '.join(widths)}.")
    r = None if method.predictor is None else method.correlations[method.predictor].pearson
    if r is not None:
        sentences.append(f"Correlation with {evidence.predictor_name}: r = {r:+.2f}.")
    return sentences


def _clearly(mine: float, theirs: float) -> bool:
    """Whether a distance is less by more than the noise of some hundred draws."""
    return mine < 0.9 * theirs


def _spread(name: str, truth: Truth) -> str:
    values = truth.accuracies
    whole = (
        f"all {len(values)} orders"
        if len(values) == truth.orders
        else f"{len(values):,} random orders"
        if truth.kind == "sample"
        else f"{len(values)} of all {truth.orders} orders"
    )
    bound = "at least " if truth.kind == "sample" else ""
    return (
        f"Accuracy of {name} depends on the class order by {bound}{np.ptp(values):.1f} "
        f"points ({values.min():.1f} to {values.max():.1f} over {whole}, mean {values.mean():.1f})."
    )


def _estimated(evidence: Evidence, name: str) -> list[str]:
    found = calibrated(evidence, name)
    if found is None:
        return []
    how, distribution = found
    low, high = distribution.interval(0.9)
    return [
        f"By {how}, nine orders of ten lie between {low:.1f} and {high:.1f}, their mean at "
        f"{distribution.mean:.1f}."
    ]


def _no_truth(evidence: Evidence) -> str:
    return (
        "The truth is not known here (there are about "
        f"10^{evidence.table.space.log10_size:.0f} orders): the figures are estimates, and nothing "
        "says how close they are."
    )


def _whose(runs: int, protocol: str) -> str:
    number = _NUMBERS[runs] if runs < len(_NUMBERS) else str(runs)
    orders = "order" if runs == 1 else "orders"
    return f"{number} random {orders}" if protocol == "random" else f"{protocol}'s {number}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
