"""The answer in words: every sentence is made from the judgement's own figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from edgecil.estimation import Estimate, MethodAnalysis, Truth, default_estimator
from edgecil.estimation.correlation import Trust, trust_in
from edgecil.report.evidence import Evidence
from edgecil.report.figures.canvas import missing_letters
from edgecil.sequences.protocols import PROTOCOLS

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
PAPER = "gaussian"  # the paper's estimator, whose ends are those of the runs

_T = TypeVar("_T")


def of_default_estimator(found: Mapping[str, Mapping[str, _T]], protocol: str) -> _T | None:
    """Of what was found by protocol and estimator, that by which a protocol is compared."""
    return found.get(protocol, {}).get(default_estimator(protocol))


def found_range(method: MethodAnalysis, protocol: str) -> tuple[float, float] | None:
    """Worst and best accuracy that a protocol finds: on average over draws, or in its one run."""
    average = method.averages.get(protocol, {}).get(PAPER)
    if average is not None:
        return average.min, average.max
    made = method.estimates.get(protocol, {}).get(PAPER)
    if made is None or made.estimate is None:
        return None
    return made.estimate.min, made.estimate.max


def budget(method: MethodAnalysis, protocol: str) -> int:
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
    methods = count(len(evidence.judgement.methods), "learner")
    return (
        f"{methods} on {table.dataset or 'your data'}: "
        f"{len(table.classes)} classes in {table.space.tasks} tasks"
    )


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
            asked = (config for config in evidence.journal.configs if name in config.protocol)
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
    orders = {protocol: whose(budget(method, protocol), protocol) for protocol in found}
    if method.truth is None:
        ranges = [f"{orders[key]} {low:.1f} to {high:.1f}" for key, (low, high) in found.items()]
        return [f"Accuracy of {name}: {', '.join(ranges)}.", *_estimated(evidence, name)]
    widths = [f"{orders[key]} {high - low:.1f}" for key, (low, high) in found.items()]
    sentences = [_spread(evidence, name, method.truth)]
    if widths:
        sentences.append(f"Of these, found on average: {', '.join(widths)}.")
    r = None if method.predictor is None else method.correlations[method.predictor].pearson
    if r is not None:
        sentences.append(f"Correlation with {evidence.predictor_name}: r = {r:+.2f}.")
    return sentences


def remarks(evidence: Evidence) -> list[str]:
    """What was left out and why, and which letters the figures lack."""
    sentences = list(evidence.remarks)
    names = [*evidence.judgement.methods, *evidence.compared, evidence.predictor_name]
    letters = missing_letters("".join(names))
    if letters:
        sentences.append(
            f"No font here has the letters {letters}, so figures show boxes in their place; "
            "install one that has them, such as Noto Sans CJK, and make the report again."
        )
    return sentences


def _spread(evidence: Evidence, name: str, truth: Truth) -> str:
    """How far the accuracies of a method lie apart, and over how many orders."""
    (low, high), mean = evidence.ends(name), f"mean {truth.accuracies.mean():.1f}"
    orders, bound = len(truth.accuracies), ""
    if truth.kind == "sample":
        bound, whole = "at least ", f"all runs; {orders:,} random orders stand for the truth"
    elif orders == truth.space_size:
        whole = f"all {orders} orders"
    else:
        whole = f"{orders} of all {truth.space_size} orders"
    return (
        f"Accuracy of {name} depends on the class order by {bound}{high - low:.1f} points "
        f"({low:.1f} to {high:.1f} over {whole}, {mean})."
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


def whose(runs: int, protocol: str) -> str:
    """Orders by their number and by who chose them."""
    if protocol != "random":
        return f"{protocol}'s {spell(runs)}"
    return f"{spell(runs)} random {'order' if runs == 1 else 'orders'}"


def spell(number: int) -> str:
    """A small number as a word."""
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


def count(number: int, noun: str) -> str:
    """A number of things."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
