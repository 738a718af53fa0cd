"""What holds over all learners: how much the order matters, how protocols fare beside random."""

from __future__ import annotations

from collections.abc import Mapping

from edgecil.estimation import AverageCloseness, MethodAnalysis, clearly_closer
from edgecil.report.evidence import Evidence
from edgecil.report.words import budget, count, of_default_estimator, spell, whose
from edgecil.sequences.counting import count_text

COUNTED = (
    "Counted are differences that exceed a tenth by two standard errors, on average over draws of "
    "what is random in a protocol."
)
_DISTANCES = {"wasserstein": "W₁", "jsd": "JSD"}

Pair = tuple[AverageCloseness, AverageCloseness]


def verdict(evidence: Evidence) -> list[str]:
    """How much the order matters, and how much of that is training noise."""
    methods = evidence.judgement.methods
    known = {name: method.truth for name, method in methods.items() if method.truth is not None}
    if not known:
        return [
            f"The truth is not known here (there are {count_text(evidence.table.space.size)} "
            "orders): the figures are estimates, and nothing says how close they are."
        ]
    ranges = {name: high - low for name in known for low, high in [evidence.ends(name)]}
    least, most = min(ranges, key=ranges.__getitem__), max(ranges, key=ranges.__getitem__)
    between = "" if least == most else f"{ranges[least]:.1f} ({least}) to "
    bound = "at least " if known[most].kind == "sample" else ""
    return [
        f"Between its worst and its best class order a learner's accuracy differs by {bound}"
        f"{between}{ranges[most]:.1f} points ({most}).",
        *_noise(methods),
    ]


def beside_random(evidence: Evidence) -> list[str]:
    """A sentence for each protocol whose draws can be compared with those of random."""
    rivals = [name for name in evidence.protocols if name not in ("random", "random-legacy")]
    fares = (_fare(evidence.judgement.methods, name) for name in rivals)
    return [fare for fare in fares if fare is not None]


def _fare(methods: Mapping[str, MethodAnalysis], name: str) -> str | None:
    """For how many learners a protocol is clearly better or worse than random."""
    able = {
        learner: (mine, random)
        for learner, method in methods.items()
        if (mine := of_default_estimator(method.averages, name)) is not None
        and (random := of_default_estimator(method.averages, "random")) is not None
    }
    if not able:
        return None
    first = methods[next(iter(able))]
    runs, others = budget(first, name), budget(first, "random")
    who = name if runs == others else f"{name} with {spell(runs)}"
    pairs = list(able.values())
    swapped = [(random, mine) for mine, random in pairs]
    learners = f" of {len(pairs)} learners"
    return (
        f"{who} comes closer to the truth than {whose(others, 'random')} "
        f"{_tell_closer(pairs, learners)}, is farther {_tell_closer(swapped)}; "
        f"it finds {_tell_range(pairs, swapped)}."
    )


def _tell_closer(pairs: list[Pair], learners: str = "") -> str:
    """For how many learners the first of a pair is clearly closer, by each distance."""
    counts = {title: _count(pairs, measure) for measure, title in _DISTANCES.items()}
    told: list[str] = []
    for title, number in counts.items():
        if number:
            many = f"for {number}{'' if told else learners} "
            told.append(f"{many if len(pairs) > 1 else ''}by {title}")
    nobody = f"for none{learners}" if len(pairs) > 1 else "by no distance"
    return " and ".join(told) or nobody


def _tell_range(pairs: list[Pair], swapped: list[Pair]) -> str:
    """For how many learners the first of a pair finds clearly more of the range."""
    more, less = _count(pairs, "missed_range"), _count(swapped, "missed_range")
    if not more and not less:
        return "about as much of the range"
    if len(pairs) == 1:
        return f"{'more' if more else 'less'} of the range"
    return f"more of the range for {more or 'none'}, less for {less or 'none'}"


def _count(pairs: list[Pair], measure: str) -> int:
    return sum(clearly_closer(mine, theirs, measure) for mine, theirs in pairs)


def _noise(methods: Mapping[str, MethodAnalysis]) -> list[str]:
    """How much of the differences between orders is not due to the order."""
    if all(method.variance is None for method in methods.values()):
        return ["Every order was trained once, so that training noise is part of this."]
    shares, unknown = [], []
    for name, method in methods.items():
        found = method.variance
        if found is None:
            unknown.append(f"{name} (every order was trained once)")
        elif found.order_share is None:
            unknown.append(f"{name} ({found.reason})")
        else:
            again = count(found.repeated_orders, "order")
            shares.append(f"{found.order_share:.0%} ({name}, from {again} trained again)")
    sentences = []
    if shares:
        told = ", ".join(shares)
        sentences.append(f"Of the variance, due to the order and not to the training seed: {told}.")
    if unknown:
        told = ", ".join(unknown)
        sentences.append(f"How much of this is training noise cannot be said for {told}.")
    return sentences
