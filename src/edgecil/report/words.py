"""The answer in words: every sentence is made from the judgement's own figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from edgecil.estimation import AverageCloseness, Estimate, MethodJudgement, Truth
from edgecil.estimation.correlation import Trust, trust_in
from edgecil.report.evidence import Evidence
from edgecil.sequences.counting import count_text
from edgecil.sequences.protocols import PROTOCOLS

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


def calibrated(evidence: Evidence, name: str) -> tuple[str, Estimate] | None:
    """The best guess where there is no truth: how it was made, and what it is.

    A line through accuracies is best fitted to the extremes of the predictor.
    """
    estimates = evidence.judgement.methods[name].estimates
    protocols = sorted(estimates, key=lambda protocol: protocol != evidence.extreme_protocol)
    for estimator in ("regression", "gaussian-c4"):
        for protocol in protocols:
            estimate = estimates[protocol][estimator].estimate
            if estimate is not None:
                return f"{estimator} from {protocol}", estimate
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
        f"Between its worst and its best class order a learner's accuracy differs by {bound}"
        f"{between}{ranges[most]:.1f} points ({most}).",
        _noise(methods),
    ]
    rivals = [name for name in evidence.protocols if name not in ("random", "random-legacy")]
    fares = [fare for name in rivals if (fare := _fare(methods, name)) is not None]
    if fares:
        sentences.append(
            "Closer to the truth than as many random orders, by a tenth or more on average over "
            f"draws (in brackets: farther by as much): {'; '.join(fares)}."
        )
    return sentences


def _noise(methods: Mapping[str, MethodJudgement]) -> str:
    """How much of the differences between orders is not due to the order."""
    shares = {
        name: method.variance.order_share
        for name, method in methods.items()
        if method.variance is not None and method.variance.order_share is not None
    }
    if not shares:
        return "Every order was trained once, so that training noise is part of this."
    told = ", ".join(f"{share:.0%} ({name})" for name, share in shares.items())
    return f"Of the variance, due to the order and not to the training seed: {told}."


def _fare(methods: Mapping[str, MethodJudgement], name: str) -> str | None:
    """For how many methods a protocol is closer or farther than random; None if none can say."""
    pairs = [
        (method.averages[name][ESTIMATOR], method.averages["random"][ESTIMATOR])
        for method in methods.values()
        if ESTIMATOR in method.averages.get(name, {})
        and ESTIMATOR in method.averages.get("random", {})
    ]
    if not pairs:
        return None
    measures: dict[str, Callable[[AverageCloseness], float]] = {
        "JSD": lambda found: found.jsd,
        "W₁": lambda found: found.wasserstein,
        "the ends found": lambda found: found.min_error + found.max_error,
    }
    told: list[str] = []
    for title, measure in measures.items():
        mine, random = zip(*((measure(a), measure(b)) for a, b in pairs), strict=True)
        closer, farther = sum(map(_clearly, mine, random)), sum(map(_clearly, random, mine))
        of = "" if told else f" of {_count(len(pairs), 'learner')}"
        told.append(f"{closer} ({farther}){of} by {title}")
    return f"{name} for {', '.join(told)}"


def caution(evidence: Evidence) -> list[str]:
    """What the predictor is worth, method by method, where it may not be trusted."""
    if evidence.predictor is None:
        return []
    name, sign = evidence.predictor_name, evidence.predictor.sign
    found: dict[Trust, list[str]] = {}
    for method, judged in evidence.judgement.methods.items():
        if judged.predictor is not None:
            correlation = judged.correlations[judged.predictor]
            r = correlation.pearson
            told = method if r is None else f"{method} (r = {r:+.2f})"
            found.setdefault(trust_in(sign, correlation), []).append(told)
    begins: dict[Trust, str] = {
        "weak": f"{name} predicts accuracy only weakly",
        "undecided": f"{name} cannot be told from no relation with accuracy",
        "backward": f"{name} points the wrong way (what is called hard tends to be easy)",
        "unknown": f"Whether {name} predicts accuracy is not known",
    }
    sentences = [
        f"{begin} for {', '.join(found[trust])}."
        for trust, begin in begins.items()
        if trust in found
    ]
    if sentences:
        sentences.append("'Hard' and 'easy' are names of constructions, not of outcomes.")
    return sentences


def legend(evidence: Evidence) -> list[str]:
    """What the names on the page stand for: every protocol that edgecil knows, and S."""
    sentences = []
    for name in evidence.compared:
        if name in PROTOCOLS:
            asked = (config for config in evidence.journal.configs if name in config.protocols)
            config = next(asked, None) if name == "optimal" else None
            of = "" if config is None else f" (objective: {config.objective})"
            sentences.append(f"{name} – {PROTOCOLS[name].summary}{of}.")
    if evidence.origin is not None:
        sentences.append(f"S – similarity between neighbouring tasks, from {evidence.origin}.")
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
    how, estimate = found
    low, high = estimate.distribution.interval(0.9)
    told = f"nine orders of ten between {low:.1f} and {high:.1f}"
    mean = f"their mean at {estimate.distribution.mean:.1f}"
    if estimate.mean_interval is not None:
        least, most = estimate.mean_interval
        mean += f" (90 % interval {least:.1f} to {most:.1f})"
    return [f"Estimated, by {how}: {told}, {mean}."]


def _no_truth(evidence: Evidence) -> str:
    return (
        f"The truth is not known here (there are {count_text(evidence.table.space.size)} orders): "
        "the figures are estimates, and nothing says how close they are."
    )


def _whose(runs: int, protocol: str) -> str:
    number = _NUMBERS[runs] if runs < len(_NUMBERS) else str(runs)
    orders = "order" if runs == 1 else "orders"
    return f"{number} random {orders}" if protocol == "random" else f"{protocol}'s {number}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
